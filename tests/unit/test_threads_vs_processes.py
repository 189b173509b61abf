"""Threads or processes: which rows are streams between as many cores, and how their rates compare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from flat_rows import made_row, row_launch
from steelyard.analyses.threads_vs_processes.model import Stream, streams_of
from steelyard.analyses.threads_vs_processes.tables import stream_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

LAUNCHES = 8
SIZE, WINDOW = 8, 64


def _row(
    op: str, ranks: int, threads: int, times: Sequence[float], ways: float = 1.0, **params: str | int
) -> Row:
    """Times of a repetition, in which each pair of cores moves a window `ways` ways."""
    time = float(np.median(times))
    moved = ways * ranks * threads / 2 * WINDOW * SIZE
    return made_row(
        op=op, bytes=SIZE, ranks=ranks, threads=threads, params=params, median=time, time=time,
        launches=tuple(row_launch(i + 1, one) for i, one in enumerate(times)),
        launch_count=len(times), role="bandwidth", bandwidth=moved / time * 1e9,
    )  # fmt: skip


def _times(median: float) -> list[float]:
    """Within 1 %, in an order of its own for each median."""
    return list(median * np.random.default_rng(int(median)).uniform(0.99, 1.01, LAUNCHES))


def _rows() -> list[Row]:
    return [
        _row("mpi.bandwidth", 2, 1, _times(10_000), window=WINDOW),
        _row("mpi.pattern.bisection", 4, 1, _times(10_000.0), window=WINDOW, kind="window"),
        _row("mpi.put.pattern", 4, 1, _times(5000.0), calls=WINDOW, sync="lock_all", who="bisection"),
        _row("mpi.mt.put.bandwidth", 2, 2, _times(40_000.0), calls=WINDOW, sync="lock_all", windows="one"),
        _row("mpi.mt.put.bandwidth", 2, 2, _times(10_000.0), calls=WINDOW, sync="lock_all", windows="thread"),
        _row("mpi.mt.put.bibandwidth", 2, 2, _times(100.0), ways=2, calls=WINDOW, sync="lock_all"),
        _row("mpi.put.pattern", 4, 1, _times(90.0), ways=6, calls=WINDOW, sync="lock_all", who="all"),
    ]


def _found(rows: Sequence[Row]) -> dict[tuple[str, object, int], Stream]:
    return {(one.op, one.params.get("windows"), one.cores): one for one in streams_of(rows)}


def test_rates_are_compared_with_processes_that_send_and_receive() -> None:
    found = _found(_rows())
    assert [key for key in found if "bibandwidth" in key[0]] == []
    assert len(found) == len(_rows()) - 2  # neither both ways nor all to all
    base = found["mpi.pattern.bisection", None, 4]
    assert (base.is_base, base.ratio, base.low, base.high) == (True, 1.0, None, None)
    assert base.rate == pytest.approx(2 * WINDOW / 10e-6, rel=0.01)
    for key, ratio in {
        ("mpi.put.pattern", None, 4): 2.0,
        ("mpi.mt.put.bandwidth", "one", 4): 0.25,
        ("mpi.mt.put.bandwidth", "thread", 4): 1.0,
        ("mpi.bandwidth", None, 2): 0.5,  # one pair has half the rate of two
    }.items():
        one = found[key]
        assert one.ratio == pytest.approx(ratio, rel=0.02), key
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.ratio <= one.high < 1.05 * one.ratio, key
    assert [one.rate for one in streams_of(_rows())] == sorted(
        (one.rate for one in found.values()), reverse=True
    )


def test_a_line_says_what_is_slower_in_eighty_columns() -> None:
    (table,) = stream_tables(streams_of(_rows()))
    assert {line.cells[-1] for line in table.lines} == {"base", "slower", "faster", ""}
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert stream_tables(()) == ()


def test_without_threads_or_without_processes_there_is_no_table() -> None:
    rows = _rows()
    assert streams_of(rows[:3]) == ()
    assert streams_of(rows[3:]) == ()
