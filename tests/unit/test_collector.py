"""Lines of records as they come: which are missing, which are there twice, and whom damage concerns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.base.errors import InputError
from steelyard.records.collector import Collector, with_obs
from steelyard.records.consistency import contradiction
from steelyard.records.job_file import PointRun
from steelyard.records.schema import SCHEMA, Close, Job, Lanes, Obs, Point, Record, Sync, Watch

_PATH = Path("records/l01.jsonl")
_BAD = "is not a record"
_JOB = Job(schema=SCHEMA, job="l01", launch=1, ranks=2)


def _watch(host: str) -> Watch:
    return Watch(host=host, seconds=1.0, looks=1, cost_ns=1)


def _close(rank: int) -> Close:
    return Close(rank=rank, finalize_ns=1)


def _point() -> Point:
    usual: dict[str, Any] = {"op": "self.empty", "bytes": 0, "ranks": 2, "threads": 1, "method": "batch"}
    return Point(point=0, start_ns=1, rule="fixed", reps=1, parts=1, report="slowest", **usual)


@pytest.mark.parametrize(
    ("lines", "taken", "words"),
    [
        ((1, 2, 3), 3, ()),
        ((2,), 1, ("1 line is missing before line 1",)),
        ((1, 3), 2, ("1 line is missing before line 2",)),
        ((1, 4), 2, ("2 lines are missing before line 2",)),
        ((1, 2, 2), 2, ("line 3 of l01.jsonl is there twice, or at another place",)),
        ((1, 2, 1, 3), 3, ("line 3 of l01.jsonl is there twice, or at another place",)),
        ((1, _BAD, 3), 2, (f"line 2 of l01.jsonl {_BAD}",)),
        ((1, _BAD, _BAD, 4), 2, ("line 2 of", "line 3 of")),
        ((1, _BAD, 4), 2, ("line 2 of", "1 line is missing before line 3")),
        ((1, _BAD, 3, 5), 3, ("line 2 of", "1 line is missing before line 4")),
    ],
)
def test_numbers_of_lines(lines: tuple[int | str, ...], taken: int, words: tuple[str, ...]) -> None:
    """The engine counts its lines; what cannot be read counts as one of them."""
    collector = Collector(_PATH, _JOB)
    for number, line in enumerate(lines, 1):
        if isinstance(line, str):
            collector.skip(number, line, is_cut=False)
        else:
            collector.take(_watch(f"n{number}"), number, line)
    assert len(collector.watches) == taken
    assert len(collector.damage) == len(words)
    for told, word in zip(collector.damage, words, strict=True):
        assert told.startswith(word)


def test_a_host_and_a_rank_tell_once() -> None:
    collector = Collector(_PATH, _JOB)
    records: tuple[Record, ...] = (
        _watch("a"), _watch("b"), _close(0), _close(1), _watch("a"), _close(1),
    )  # fmt: skip
    for number, record in enumerate(records, 1):
        collector.take(record, number)
    assert [watch.host for watch in collector.watches] == ["a", "b"]
    assert [close.rank for close in collector.closes] == [0, 1]
    assert collector.damage == [f"line {number} of l01.jsonl is there twice" for number in (5, 6)]


def test_damage_concerns_who_is_measured_then_or_nobody() -> None:
    collector = Collector(_PATH, _JOB)
    collector.take(_point(), 1)
    collector.skip(2, _BAD, is_cut=False)
    collector.skip(3, _BAD, is_cut=False)
    (run,) = collector.unfinished()
    assert run.damage == f"line 2 of l01.jsonl {_BAD}"  # the first says it
    assert collector.damage == []
    collector.skip(4, _BAD, is_cut=False)
    assert collector.damage == [f"line 4 of l01.jsonl {_BAD}"]


@pytest.mark.parametrize(
    ("start_ns", "stop_ns", "is_wrong"),
    [
        (
            ((0, 0), (5, 6)),
            ((0, 0), (5, 9)),
            False,
        ),  # a rank whose threads had nothing to do; a call of no time
        (((3, 4),), ((3, 3),), True),
        (((3, 4),), ((9,),), True),  # a thread that never ended
        (((3,),), ((9, 9),), True),  # one that never began
    ],
)
def test_threads_end_after_they_begin(start_ns: Any, stop_ns: Any, is_wrong: bool) -> None:
    lanes = Lanes(point=0, reps=1, start_ns=start_ns, stop_ns=stop_ns)
    told = contradiction(lanes, None, None, None)
    assert told == ("a thread is done before it begins" if is_wrong else None)


@pytest.mark.parametrize(
    ("before", "last_ns", "is_wrong"),
    [(0, (6, 7), False), (0, (6, 6), True), (0, (4, 7), True), (None, (5, 6), False)],
)
def test_a_synchronisation_after_a_chunk_is_later_on_each_rank(
    before: int | None, last_ns: tuple[int, int], is_wrong: bool
) -> None:
    rest: dict[str, Any] = dict.fromkeys(("offset_ns", "drift_ppm", "error_ns", "bound_ns"), (0.0, 0.0))
    syncs = {
        index: Sync(index=index, algorithm="skampi", domains=2, at_ns=at_ns, **rest)
        for index, at_ns in enumerate([(5, 6), last_ns])
    }
    obs = Obs(point=0, first=0, count=1, start_ns=[[1]], stop_ns=[[2]], sync_before=before, sync_after=1)
    run = PointRun(0, _point(), (), None)
    if is_wrong:
        with pytest.raises(InputError, match="synchronisation 1 of point 0 is not after 0"):
            with_obs(run, (obs,), syncs)
    else:
        assert with_obs(run, (obs,), syncs).syncs == tuple(syncs.values())[before is None :]
