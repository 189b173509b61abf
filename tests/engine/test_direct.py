"""One-sided calls through shared memory, UCX and libfabric, for real: ops, threads, TCP, planted bits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from ends import all_are_right, ends_of
from further import further
from points import describe, measure
from steelyard.engines.build import solo_engine
from steelyard.engines.description import Op
from steelyard.records.kinds import NETWORK, SHARED_MEMORY
from steelyard.system.process import run

_FIXED = "rule=fixed count=2 reps=3"
_SIZES = (1, 63, 70_000)
_FORMS = ("put", "get", "put.bandwidth", "get.bandwidth", "fetch_add", "put.pingpong")
_TRANSPORTS = {"ucx": "tls", "ofi": "provider"}


def _ops(library: str, threaded: bool = False) -> dict[str, Op]:
    """Those of a library that the engine was built with; skips without it."""
    prefix = f"{library}.mt." if threaded else f"{library}."
    described = {op.name: op for op in describe(solo_engine()).ops}
    found = {name: described[f"{prefix}{name}"] for name in _FORMS}
    why = next((op.why_not for op in found.values() if not op.available), None)
    if why is not None:
        pytest.skip(why)
    return found


def _lines(library: str, threads: int, words: str = "") -> Iterator[str]:
    for op in _ops(library, threads > 1).values():
        calls = " calls=5" if ".bandwidth" in op.name else ""
        sizes = [f" bytes={size}" for size in _SIZES] if op.sized else [""]
        yield from (f"op={op.name} threads={threads}{size}{calls}{words} {_FIXED}" for size in sizes)


@pytest.mark.parametrize(
    ("library", "threads"),
    [("shm", 1), ("ucx", 1), ("ofi", 1), ("shm", 2), further("ucx", 2), further("ofi", 2)],
)
def test_calls_are_right(library: str, threads: int, tmp_path: Path) -> None:
    lines = list(_lines(library, threads))
    ends = ends_of(measure(solo_engine(), 2, threads, lines, tmp_path / "out"), len(lines))
    all_are_right(lines, ends)
    layers = {end.transport.layer for end in ends if end.transport is not None}
    assert layers == (set() if library == "shm" else {SHARED_MEMORY})


@pytest.mark.parametrize("library", ["shm", "ucx", "ofi"])
def test_nothing_is_moved_or_refused(library: str, tmp_path: Path) -> None:
    """A write of 0 bytes never ends with the provider shm of libfabric."""
    lines = [f"op={op.name} bytes=0 {_FIXED}" for op in _ops(library).values() if op.sized]
    ends = ends_of(measure(solo_engine(), 2, 1, lines, tmp_path / "out"), len(lines))
    moved = [end.status != "skipped" or "end a write of 0 bytes" not in (end.why or "") for end in ends]
    all_are_right([*itertools.compress(lines, moved)], [*itertools.compress(ends, moved)])
    assert library == "ofi" or all(moved)


@pytest.mark.parametrize("library", [further("ucx"), further("ofi")])
def test_over_tcp(library: str, tmp_path: Path) -> None:
    """The other rank must bring forward what is done to its memory."""
    lines = list(_lines(library, 1, f" {_TRANSPORTS[library]}=tcp"))
    ends = ends_of(measure(solo_engine(), 2, 1, lines, tmp_path / "out"), len(lines))
    there = ["for atomics" not in (end.why or "") for end in ends]  # libfabric's tcp has none
    all_are_right([*itertools.compress(lines, there)], [*itertools.compress(ends, there)])
    assert sum(there) >= len(lines) - 1
    layers = {end.transport.layer for end in itertools.compress(ends, there) if end.transport is not None}
    assert layers == {NETWORK}


@pytest.mark.parametrize("threads", [1, further(2)])
def test_memory_that_is_registered_for_an_endpoint(
    threads: int, tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As some providers want it, by a libfabric that stands before the real one."""
    lines = list(_lines("ofi", threads))
    source = Path(__file__).parents[1] / "data" / "ofi_endpoint_memory.c"
    run([compiler, "-shared", "-fPIC", "-o", f"{tmp_path}/libfabric.so.1", str(source), "-ldl"], timeout=600)
    real = run([compiler, "-print-file-name=libfabric.so.1"], timeout=600).out.strip()
    if not Path(real).is_absolute():
        pytest.skip("the real libfabric is not found")
    monkeypatch.setenv("OFI_REAL", real)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    ends = ends_of(measure(solo_engine(), 2, threads, lines, tmp_path / "out"), len(lines))
    all_are_right(lines, ends)
    assert {end.transport.library for end in ends if end.transport is not None} == {"libfabric 9.9"}


@pytest.mark.parametrize("library", ["shm", "ucx", "ofi"])
def test_a_flipped_bit_is_found(library: str, tmp_path: Path) -> None:
    """On the rank where something arrives: both of a ping-pong and of a number, rank 0 of a get."""
    arrives = {0: ("get", "fetch_add", "pingpong"), 1: ("put", "fetch_add")}
    cases = [
        (
            f"op={op.name}{' bytes=9' if op.sized else ''} plant={rank} {_FIXED}",
            any(word in name for word in words),
        )
        for rank, words in arrives.items()
        for name, op in _ops(library).items()
    ]
    ends = ends_of(measure(solo_engine(), 2, 1, [line for line, _ in cases], tmp_path / "out"), len(cases))
    for (line, is_wrong), end in zip(cases, ends, strict=True):
        assert (end.status == "failed") == is_wrong, line
