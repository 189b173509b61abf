"""Ops of MPI-IO under every MPI: each call, each pattern and view, planted bits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from further import further
from library_cases import io_lines, io_patterns
from points import describe, engine_of, measure
from preloaded import build_preloaded
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End, Point
from steelyard.system.process import run

_FIXED = "rule=fixed count=2 bytes=1000"
_HANGS = {"mpi.io.iread_shared": "openmpi"}  # seen with 4.1.4 and OMPIO: MPI_Waitall does not return


def _lines(engine: Engine) -> Iterator[str]:
    """Each call but that which hangs."""
    hangs = [op for op, family in _HANGS.items() if engine.mpi and engine.mpi.family == family]
    for line in io_lines(describe(engine).ops):
        if line.split()[0].removeprefix("op=") not in hangs:
            yield line


@pytest.fixture
def files() -> Iterator[Path]:
    """A folder in memory, where nothing waits for a disk; or in that of STEELYARD_FILES."""
    with TemporaryDirectory(
        prefix="files-of-tests-", dir=os.environ.get("STEELYARD_FILES", "/dev/shm")
    ) as folder:
        yield Path(folder) / "own"


def _ends(engine: Engine, ranks: int, lines: list[str], out: Path, files: Path) -> list[End]:
    records = measure(engine, ranks, 1, lines, out, words=("--files", str(files)))
    assert not files.exists(), "nothing is left"
    return [record for record in records if isinstance(record, End)]


@pytest.mark.parametrize("ranks", [2, *(further(one) for one in (1, 3, 4))])
def test_every_call(one_mpi: Mpi, ranks: int, tmp_path: Path, files: Path) -> None:
    lines = list(_lines(engine_of(one_mpi)))
    ends = _ends(engine_of(one_mpi), ranks, lines, tmp_path / "out", files)
    assert [(line, end.why) for line, end in zip(lines, ends, strict=True) if not end.verified] == []


@pytest.mark.further
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_call_and_pattern_under_every_mpi(mpi: Mpi, ranks: int, tmp_path: Path, files: Path) -> None:
    lines = [*_lines(engine_of(mpi)), *io_patterns()]
    ends = _ends(engine_of(mpi), ranks, lines, tmp_path / "out", files)
    assert [(line, end.why) for line, end in zip(lines, ends, strict=True) if not end.verified] == []


def test_records_name_what_is_below(one_mpi: Mpi, tmp_path: Path, files: Path) -> None:
    """The op that does the same without MPI, by which a row's share of the floor is found."""
    below = {
        "op=mpi.io.write_at": "file.pwrite",
        "op=mpi.io.write_all sync=inside": "file.pwrite.fsync",
        "op=mpi.io.read_ordered sync=inside": "file.pread",
        "op=mpi.io.sync": "file.fsync",
        "op=mpi.io.set_size": None,
    }
    engine = engine_of(one_mpi)
    lines = [f"{words} {_FIXED}" for words in below]
    records = measure(engine, 2, 1, lines, tmp_path / "out", words=("--files", str(files)))
    assert [one.below for one in records if isinstance(one, Point)] == list(below.values())
    assert {*below.values()} - {None} <= {op.name for op in describe(engine).ops}


# A library in which one rank has no room.
_FULL = """
#include <mpi.h>
int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *data, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 1 ? MPI_ERR_NO_SPACE : PMPI_File_write_at(file, at, data, count, type, status);
}
"""


def test_a_rank_whose_call_fails_alone_keeps_nobody_waiting(
    one_mpi: Mpi, tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others wait for it in the barrier behind each call."""
    source = tmp_path / "full.c"
    source.write_text(_FULL)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(one_mpi), source, tmp_path)))
    line = f"op=mpi.io.write_at sync=visible calls=2 {_FIXED}"
    (end,) = _ends(engine_of(one_mpi), 2, [line], tmp_path / "out", files)
    assert end.status == "failed"
    assert "rank 1: MPI_File_write_at failed" in (end.why or "")


def test_patterns_and_views(one_mpi: Mpi, tmp_path: Path, files: Path) -> None:
    lines = [line for number, line in enumerate(io_patterns()) if number % 5 == 3]
    ends = _ends(engine_of(one_mpi), 2, lines, tmp_path / "out", files)
    assert [(line, end.why) for line, end in zip(lines, ends, strict=True) if not end.verified] == []


@pytest.mark.further
def test_a_flipped_bit_is_found(one_mpi: Mpi, tmp_path: Path, files: Path) -> None:
    lines = [f"{line} plant=1" for line in _lines(engine_of(one_mpi))]
    ends = _ends(engine_of(one_mpi), 2, lines, tmp_path / "out", files)
    assert [
        line for line, end in zip(lines, ends, strict=True) if not (end.why or "").startswith("wrong")
    ] == []


@pytest.mark.parametrize("fault", ["shift", *(further(one) for one in ("drop", "tear"))])
def test_a_library_that_lies_is_named(
    one_mpi: Mpi, tmp_path: Path, files: Path, compiler: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, library = Path(__file__).parents[1] / "data" / "pwrite_faults.c", tmp_path / "faults.so"
    run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], timeout=600)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("FAULT", fault)
    lines = [
        f"op={op} {_FIXED} calls=6" for op in ("mpi.io.write_at", "mpi.io.write_all", "mpi.io.write_ordered")
    ]
    for end in _ends(engine_of(one_mpi), 2, lines, tmp_path / "out", files):
        assert end.status == "failed"
        assert re.match(r"wrong: rank \d: offset \d+", end.why or ""), end.why


def test_a_quota_is_named_where_the_library_says_nothing(
    one_mpi: Mpi, tmp_path: Path, files: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open MPI 4.1 says that all is well. Its file ends early, and the check asks the file system why."""
    source, library = Path(__file__).parents[1] / "data" / "pwrite_faults.c", tmp_path / "faults.so"
    run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], timeout=600)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("FAULT", "quota")
    lines = [f"op=mpi.io.{op} {_FIXED} calls=6" for op in ("write_at", "write_at_all.new")]
    for end in _ends(engine_of(one_mpi), 2, lines, tmp_path / "out", files):
        assert end.status == "failed"
        assert re.search("[Qq]uota", end.why or ""), end.why


@pytest.mark.further
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_every_call_by_romio_of_open_mpi(
    mpi: Mpi, ranks: int, tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other implementation of MPI-IO, without nonblocking collectives, in which its ranks die."""
    if mpi.family != "openmpi" or not mpi.version.startswith("4."):
        pytest.skip("only Open MPI 4 has both")
    monkeypatch.setenv("OMPI_MCA_io", "romio321")
    lines = [
        line
        for line in (*_lines(engine_of(mpi)), *io_patterns())
        if not re.match(r"op=mpi\.io\.i\w+_all(\.new)? ", line)
    ]
    ends = _ends(engine_of(mpi), ranks, lines, tmp_path / "out", files)
    assert [(line, end.why) for line, end in zip(lines, ends, strict=True) if not end.verified] == []


_REFUSED = {
    "op=mpi.io.write_at pattern=random view=type bytes=8": "the type of a view cannot go backwards",
    "op=mpi.io.write_shared bytes=4": "to tell whose they are",
    "op=mpi.io.read_at atomic=overlapping bytes=8": "cannot have atomic=overlapping",
    "op=mpi.io.write_shared atomic=overlapping bytes=8": "cannot have atomic=overlapping",
    "op=mpi.io.write_at bytes=33000 calls=65536 view=once": "less than 2 GiB",
    "op=mpi.io.write_at bytes=8 memory=one view=once": "all pieces at once, so each needs memory",
    "op=mpi.io.iread_at bytes=8 memory=one": "needs memory of its own; give memory=each",
    "op=mpi.io.iwrite_at bytes=8 sync=visible": "nothing can be synced after each; give sync=inside",
}


def test_what_is_refused(one_mpi: Mpi, tmp_path: Path, files: Path) -> None:
    lines = [f"{words} rule=fixed count=2" for words in _REFUSED]
    for said, end in zip(
        _REFUSED.values(), _ends(engine_of(one_mpi), 2, lines, tmp_path / "out", files), strict=True
    ):
        assert (end.status, said in (end.why or "")) == ("skipped", True), end.why
