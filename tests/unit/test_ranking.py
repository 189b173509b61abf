"""Which options to choose: ways to call an op are ranked, and one is named only where it is the fastest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from flat_rows import made_row, row_launch
from steelyard.analyses.best_arms import leaders_of
from steelyard.analyses.ranking.model import Ranking, choices_of, pattern_of, rankings_of
from steelyard.analyses.ranking.tables import all_ways_ranked, choice_tables, ranking_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

LAUNCHES = 12


def _row(times: Sequence[float], op: str = "mpi.put", size: int = 8, threads: int = 1, **params: str) -> Row:
    words = {"sync": "lock_all", "complete": "flush", "window": "allocate", **params}
    launches = tuple(row_launch(i + 1, time) for i, time in enumerate(times))
    median = float(np.median(times))
    return made_row(
        op=op, bytes=size, ranks=2, threads=threads, params=words, launches=launches, median=median,
        launch_count=len(times), ci_low=0.9 * median, ci_high=1.1 * median,
    )  # fmt: skip


def _times(median: float, launches: int = LAUNCHES) -> list[float]:
    """Within 1 %, in an order of its own for each median."""
    rng = np.random.default_rng(int(median))
    return list(median * rng.uniform(0.99, 1.01, launches))


def _found(rows: Sequence[Row]) -> dict[tuple[int, str], Ranking]:
    return {(one.bytes, one.done_at): one for one in rankings_of(rows)}


def test_the_fastest_way_is_named_where_it_is_faster_and_only_there() -> None:
    rows = [
        *(_row(_times(1000.0 * i), sync=sync) for i, sync in enumerate(("lock", "fence", "pscw"), 1)),
        _row(_times(500.0), complete="flush_local"),  # less is done: ranked apart, and alone there
        *(_row(_times(1000.0 + i), size=64, sync=sync) for i, sync in enumerate(("lock", "fence", "pscw"))),
        _row(_times(3000.0), size=64, sync="lock_shared"),
    ]
    found = _found(rows)
    assert set(found) == {(8, "target"), (64, "target")}
    clear, tied = found[8, "target"], found[64, "target"]
    assert [way.options["sync"] for way in clear.ways] == ["lock", "fence", "pscw"]
    assert (clear.alike, clear.tells) == (1, True)
    assert clear.best is clear.ways[0]
    assert (tied.alike, tied.best) == (3, None)
    assert tied.ways[3].options["sync"] == "lock_shared"
    best, all_ways = *ranking_tables([clear, tied]), all_ways_ranked([clear, tied])
    assert [line.cells[1:] for line in best.lines] == [
        ("lock", best.lines[0].cells[2], "3", best.lines[0].cells[4]),
        ("none: the first 3 are alike", best.lines[1].cells[2], "4", best.lines[1].cells[4]),
    ]
    assert 1.9 < float(best.lines[0].cells[4].rstrip("x")) < 2.1
    assert [line.cells[-1] for line in all_ways.lines] == ["best", "", "", "alike", "alike", "alike", ""]
    for table in (best, all_ways):
        text = table_text(table, Paper(80, is_pipe=False))
        assert max(map(len, text.splitlines())) <= 80


def test_the_best_that_are_alike_are_told_by_what_they_share() -> None:
    """Two ways with locks are faster than two with fences, and not told from each other."""
    rows = [
        *(
            _row(_times(1000.0 + i), sync="lock_all", window=kind)
            for i, kind in enumerate(("create", "shared"))
        ),
        *(_row(_times(3000.0 + i), sync="fence", window=kind) for i, kind in enumerate(("create", "shared"))),
    ]
    (table,) = ranking_tables(rankings_of(rows))
    assert "one of 2 with lock_all" in table.lines[0].cells


def test_few_launches_name_nobody_and_one_makes_no_ranking() -> None:
    few = [_row(_times(1000.0 * i, 3), sync=sync) for i, sync in enumerate(("lock", "fence"), 1)]
    (ranking,) = rankings_of(few)
    assert (ranking.best, ranking.tells) == (None, False)
    (table,) = ranking_tables([ranking])
    assert (table.explained, table.lines) == ("too few launches to tell for any of 1 test case", ())
    assert rankings_of([_row([1000.0], sync="lock"), _row([2000.0], sync="fence")]) == ()
    assert ranking_tables(()) == ()


def test_threads_are_an_option_and_what_is_no_option_is_another_thing() -> None:
    rows = [
        _row(_times(1000.0), threads=1),
        _row(_times(3000.0), threads=4),
        _row(_times(1000.0), target="word"),
    ]
    (ranking,) = rankings_of(rows)
    assert [way.options["threads"] for way in ranking.ways] == [1, 4]


def test_calls_that_do_the_same_are_ranked_together() -> None:
    """By their options and by their threads; each with as many calls as a thread makes, on as many ranks."""
    rows = [
        _row(_times(3000.0)),
        _row(_times(2000.0), "mpi.rput"),
        _row(_times(1000.0), "mpi.mt.get", threads=2, target="disjoint", phases="off"),
        _row(_times(1000.0), "mpi.mt.get", threads=2, target="line", phases="off"),  # laid out otherwise
        _row(_times(500.0), "mpi.put.bandwidth"),  # another pattern, which one op alone makes
        _row(_times(900.0), "mpi.accumulate"),
        _row(_times(901.0), "mpi.raccumulate"),
        _row(_times(100.0), "mpi.fetch_and_op"),
    ]
    moved, summed = choices_of(rows)
    assert (moved.op, summed.op) == ("put or get", "accumulate")
    assert [way.options["op"] for way in moved.ways] == ["mpi.mt.get", "mpi.rput", "mpi.put"]
    assert moved.best is moved.ways[0]
    assert (summed.alike, summed.best) == (2, None)
    (table,) = choice_tables([moved, summed])
    assert table.columns[0].name == "pattern"
    assert [line.cells[1] for line in table.lines] == ["mpi.mt.get threads=2", "none is clearly best"]
    assert choice_tables(choices_of(rows[:1])) == ()


def test_what_an_op_brings_about() -> None:
    ops = {
        "mpi.put": "put or get",
        "mpi.mt.rget.bandwidth": "put or get, bandwidth",
        "mpi.raccumulate.pattern": "accumulate, pattern",
        "mpi.get_accumulate": "get_accumulate",
        "mpi.fetch_and_op": None,
        "omp.put": None,
    }
    assert {op: pattern_of(made_row(op=op)) for op in ops} == ops


@pytest.mark.further
def test_a_table_of_equals_has_a_false_best_in_few_cases() -> None:
    """5 % at most over all lines; a hundred tables of 3 lines and 4 arms each."""
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(100):
        table = [
            {arm: dict(enumerate(1000 * np.exp(rng.normal(0, 0.2, LAUNCHES)))) for arm in "abcd"}
            for _ in range(3)
        ]
        false += any(len(best.best) < 4 for best in leaders_of(table))
    assert false <= 11  # P < 1e-2 at a rate of 5 %
