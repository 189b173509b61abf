"""One-sided calls of many ranks: who calls whom, by each way to synchronise, with each byte checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ends import all_are_refused, all_are_right, measured
from points import engine_of, measure
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End, Point

_WHO = ("bisection", "neighbours", "first_last", "ring", "fan_in", "fan_out", "all")
_CALLS = ("put", "get", "accumulate", "get_accumulate", "rput", "rget", "raccumulate", "rget_accumulate")
_SINGLES = ("fetch_and_op", "compare_and_swap")
_EPOCHS = (
    *itertools.product(("fence", "pscw", "lock", "lock_shared", "lock_all"), ("close",)),
    *itertools.product(("lock", "lock_shared", "lock_all"), ("flush", "flush_local", "flush_all")),
    ("lock_all", "flush_local_all"),
)
_WINDOWS = ("create", "shared", "dynamic", "allocate")
_SHORT = "method=batch reps=2 rule=fixed count=2 check=sample"
_PLACES = ("calls=3", "calls=3 per=call", "calls=1")


def _line(call: str, form: str, epoch: tuple[str, str], window: str, places: str) -> str:
    """A swap of 8 bytes ends Open MPI 4.1 where the library has the window's memory: see points.py."""
    window = "create" if call == "compare_and_swap" else window
    size = "" if call in _SINGLES else " bytes=40"
    return f"op=mpi.{call}.{form} sync={epoch[0]} complete={epoch[1]} window={window} {places}{size}"


def _lines() -> Iterator[str]:
    """Each call with each form, each layout by each epoch; the rest in turn."""
    calls, windows = itertools.cycle((*_CALLS[:4], *_SINGLES)), itertools.cycle(_WINDOWS)
    places = itertools.cycle(_PLACES)
    forms = (*(f"pattern who={who}" for who in _WHO), *(f"halo neighbours={n}" for n in (1, 2, 5, 26)))
    for form, epoch in itertools.product(forms, _EPOCHS):
        yield _line(next(calls), form, epoch, next(windows), next(places))
    for call, complete in itertools.product(_CALLS[4:], ("request", "flush_all", "close")):
        yield _line(call, f"pattern who={_WHO[-1]}", ("lock_all", complete), next(windows), next(places))
    yield f"{_line('put', 'halo', _EPOCHS[0], 'allocate', '')} info=same_size buffer=written"
    yield f"{_line('get', 'pattern who=fan_in', _EPOCHS[0], 'allocate', '')} info=same_size"


def _ends(tmp_path: Path, mpi: Mpi, ranks: int, lines: Sequence[str]) -> list[End]:
    return measured(mpi, ranks, lines, _SHORT, tmp_path / "out.jsonl")


# Ranks -> of so many lines one is measured there.
_SHARES = {2: 4, 3: 11, 4: 23, 5: 29, 8: 59}


@pytest.mark.parametrize("ranks", list(_SHARES))
def test_everybody_gets_what_was_meant(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    lines = list(_lines())[ranks % 3 :: _SHARES[ranks]]
    all_are_right(lines, _ends(tmp_path, mpi, ranks, lines))


# Form, call -> the ranks of three that receive something.
_RECEIVE = {
    ("pattern who=fan_in", "put"): {0},
    ("pattern who=fan_in", "get"): {1, 2},
    ("pattern who=fan_out", "accumulate"): {1, 2},
    ("pattern who=fan_out", "get_accumulate"): {0, 1, 2},
    ("pattern who=bisection", "rput"): {1},
    ("pattern who=ring", "compare_and_swap"): {0, 1, 2},
    ("halo neighbours=3", "rget"): {0, 1, 2},
}


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 2])
def test_a_flipped_bit_is_found(tmp_path: Path, mpi: Mpi, rank: int) -> None:
    epoch = ("lock_all", "flush")
    lines = [f"{_line(call, form, epoch, 'create', '')} plant={rank}" for form, call in _RECEIVE]
    for line, receive, end in zip(lines, _RECEIVE.values(), _ends(tmp_path, mpi, 3, lines), strict=True):
        if rank in receive:
            assert (end.status, end.verified) == ("failed", False), line
            assert (end.why or "").startswith(f"wrong: rank {rank}: calls "), line
        else:
            assert (end.status, end.verified) == ("ok", True), line


# What cannot be -> words of the sentence, on all ranks alike.
_REFUSED = {
    "op=mpi.put.pattern who=fan_in sync=fence bytes=8": "sync=fence completes mpi.put.pattern by closing",
    "op=mpi.rput.halo sync=pscw complete=close bytes=8": "MPI defines MPI_Rput for epochs of locks alone",
    "op=mpi.accumulate.pattern who=first_last info=same_size bytes=9": "9 bytes are no multiple of 8",
    "op=mpi.put.pattern info=no_locks bytes=8": "info=no_locks promises the library that nobody locks",
}


@pytest.mark.ours
def test_what_cannot_be_is_refused_by_all_ranks(tmp_path: Path, mpi: Mpi) -> None:
    lines = [*_REFUSED, "op=mpi.put.pattern bytes=8"]
    ends = _ends(tmp_path, mpi, 3, lines)
    all_are_refused(_REFUSED, ends)


def test_a_record_says_how_much_all_ranks_move(tmp_path: Path, mpi: Mpi) -> None:
    lines = ["op=mpi.put.pattern who=all calls=3 bytes=7", "op=mpi.get.halo neighbours=4 calls=3 bytes=7"]
    lines += ["op=mpi.fetch_and_op.pattern who=fan_in calls=2"]
    records = measure(engine_of(mpi), 3, 1, [f"{line} {_SHORT}" for line in lines], tmp_path / "out.jsonl")
    points = [record for record in records if isinstance(record, Point)]
    assert [(one.moved_bytes, one.work) for one in points] == [(126, 18), (252, 36), (0, 4)]
