"""Threads that were not where they were asked or meant to be, from the records of a launch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages import ROOT
from steelyard.diagnostics.results.binding import BINDS_ITSELF
from steelyard.records.job_file import JobFile
from steelyard.records.schema import Job, State
from steelyard.results.threads import moved_lanes, seen_lanes, sharing_lanes, stray_lanes

_NAMES = {7: "omp.barrier"}


def _file(seen: tuple[str, ...], meant: tuple[str, ...], asked: tuple[int, ...] = ()) -> JobFile:
    """Two ranks of two threads, of which the second is as it should be."""
    job = Job(schema=1, job="made", launch=3, ranks=2, threads=2, cpus=(*asked, 2, 3) if asked else ())
    began = State(at_ns=(0, 0), cpus=("0-1", "2-3"))
    after = State(
        at_ns=(1, 1), cpus=began.cpus, point=7, lanes=(seen, ("2", "3")), lanes_meant=(meant, ("2", "3"))
    )
    return JobFile(Path("made"), job, None, (), False, states=(began, after))


def test_threads_that_are_where_they_should_be_are_not_mentioned() -> None:
    file = _file(("0", "1"), ("0", "1"), (0, 1))
    assert [*stray_lanes(file), *moved_lanes(file, _NAMES), *sharing_lanes(file, _NAMES)] == []
    assert seen_lanes(file, 0) == [("0", "1")]


def test_a_point_that_had_no_team_says_nothing() -> None:
    file = _file((), (), (0, 1))
    assert [*stray_lanes(file), *moved_lanes(file, _NAMES), *sharing_lanes(file, _NAMES)] == []
    assert seen_lanes(file, 0) == []


def test_a_thread_that_was_moved_is_named() -> None:
    (told,) = moved_lanes(_file(("0", "0"), ("0", "1")), _NAMES)
    assert told == (
        "thread 1 of rank 0 of launch 3 was bound to 1 and moved to 0 while omp.barrier was measured"
    )


def test_a_thread_that_nobody_bound_has_not_moved() -> None:
    assert [*moved_lanes(_file(("0-1", "0-1"), ("", "")), _NAMES)] == []


def test_threads_on_other_cpus_than_asked_for_have_strayed() -> None:
    assert [*stray_lanes(_file(("1", "0"), ("1", "0"), (0, 1)))] == [
        "thread 0 of rank 0 was asked for CPU 0, was allowed 1",
        "thread 1 of rank 0 was asked for CPU 1, was allowed 0",
    ]


def test_unbound_threads_of_a_rank_may_have_its_cpus_between_them() -> None:
    assert [*stray_lanes(_file(("0-1", "0-1"), ("", ""), (0, 1)))] == []
    (told, _) = stray_lanes(_file(("0-2", "0-2"), ("", ""), (0, 1)))
    assert told == "thread 0 of rank 0 was asked for CPU 0, was allowed 0-2"


def test_threads_on_one_cpu_share_it() -> None:
    (told,) = sharing_lanes(_file(("1", "1"), ("1", "1")), _NAMES)
    assert told == "threads 0 and 1 of rank 0 shared CPU 1 while omp.barrier was measured"


def test_what_an_op_does_to_its_own_threads_is_no_finding() -> None:
    file = _file(("0", "0"), ("0", "1"))
    assert [*moved_lanes(file, {}), *sharing_lanes(file, {})] == []


def test_ops_that_bind_their_threads_are_known() -> None:
    source = ROOT / "engine/ops/pthread/sched.c"
    if not source.is_file():
        pytest.skip("no sources beside this package")
    rows = re.split(r"\{\.name = ", source.read_text())[1:]
    bound = {row.split('"')[1] for row in rows if ".same_cpu = true" in row or "migrate_open" in row}
    assert bound == set(BINDS_ITSELF)
