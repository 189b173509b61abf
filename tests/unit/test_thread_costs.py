"""What threads cost: rates over threads, what is left of them for each, and how alike threads are served."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from flat_rows import made_row, row_launch
from steelyard.analyses.thread_costs.model import ThreadCurve, thread_curves
from steelyard.analyses.thread_costs.pictures import each_thread_charts, thread_charts
from steelyard.analyses.thread_costs.tables import all_threads_table, thread_tables
from steelyard.records.parts import Phase
from steelyard.records.schema import Lanes, Phases, Point
from steelyard.render.chart import Bars, Dots
from steelyard.render.chart import Curve as Line
from steelyard.render.table import Table
from steelyard.render.terminal import Paper, table_text
from steelyard.results.combined import Combined
from steelyard.results.facets import Fairness, ThreadTimes
from steelyard.results.row import Row
from steelyard.rows.columns import columns_of
from steelyard.stats.autocorrelation import NOT_ALIKE

LAUNCHES, CALLS, SIZE = 8, 64, 8


def _row(threads: int, median: float, op: str = "mpi.mt.put.bandwidth", **more: object) -> Row:
    """Times of a repetition in which each thread makes `CALLS` calls; launches within 1 %."""
    noise = np.random.default_rng(int(median)).uniform(0.99, 1.01, LAUNCHES)
    times = median * noise
    time = float(np.median(times))
    params = {"sync": "lock_all", "complete": "flush", "windows": "one", "phases": "off"}
    wanted = {
        "op": op, "bytes": SIZE, "ranks": 2, "threads": threads, "median": time, "time": time,
        "time_low": 0.99 * time, "time_high": 1.01 * time,
        "mops": threads * CALLS / time * 1e3, "launch_count": LAUNCHES,
        "launches": tuple(row_launch(i + 1, float(one)) for i, one in enumerate(times)),
        **more,
    }  # fmt: skip
    asked = more.get("params")
    wanted["params"] = params | (asked if isinstance(asked, dict) else {})
    return made_row(**wanted)


def _rows() -> list[Row]:
    """In one window threads take turns; with one for each, they do not hinder each other."""
    shared = [_row(threads, 1000.0 * threads) for threads in (4, 1, 2)]
    apart = [_row(threads, 1000.0, params={"windows": "thread"}) for threads in (1, 2, 4)]
    return [*shared, *apart]


def test_what_is_left_of_the_rate_of_a_thread() -> None:
    shared, apart = thread_curves(_rows())
    for curve, left in ((shared, (1, 1 / 2, 1 / 4)), (apart, (1, 1, 1))):
        assert [point.threads for point in curve.points] == [1, 2, 4]
        assert [point.kept for point in curve.points] == pytest.approx(left, rel=0.02)
        for point, truth in zip(curve.points[1:], left[1:], strict=True):
            assert point.kept_low is not None
            assert point.kept_high is not None
            assert point.kept_low <= truth <= point.kept_high
            assert point.kept_high < 1.05 * point.kept_low
            assert point.rate == pytest.approx(point.threads * CALLS * truth * 1e6, rel=0.02)
            assert point.rate_low is not None
            assert point.rate_high is not None
            assert point.rate_low < point.rate < point.rate_high
        assert curve.points[0].kept_low is None


def test_messages_count_by_their_bytes_and_collectives_by_their_threads() -> None:
    stream = [
        _row(threads, 1000.0, "mpi.mt.bandwidth", mops=None, bandwidth=threads * CALLS * SIZE / 1000.0 * 1e9)
        for threads in (1, 2)
    ]
    sums = [
        _row(threads, 1000.0, "mpi.mt.allreduce", mops=None, bandwidth=1e9, role="collective")
        for threads in (1, 2)
    ]
    messages, calls = thread_curves([*stream, *sums])
    assert messages.points[1].rate == pytest.approx(2 * CALLS / 1e-6, rel=0.02)
    assert calls.points[1].rate == pytest.approx(2 / 1e-6, rel=0.02)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [_row(2, 1000.0)],
        [_row(1, 1000.0), _row(2, 1000.0, params={"windows": "thread"})],
        [_row(1, 1000.0), _row(2, 1000.0, bytes=64)],
        [_row(1, 1000.0), _row(2, 1000.0, mpi="other")],
        [_row(1, 1000.0), _row(2, 1000.0, mops=64.0)],  # as much for two threads as for one
        [_row(threads, 1000.0, "mpi.mt.serve") for threads in (1, 2)],
        [_row(threads, 1000.0, "omp.barrier") for threads in (1, 2)],
    ],
)
def test_what_makes_no_curve(rows: Sequence[Row]) -> None:
    assert thread_curves(rows) == ()
    assert thread_tables(()) == ()
    assert thread_charts(()) == []


def test_rates_are_of_threads_that_read_no_clock_and_fairness_of_those_that_do() -> None:
    noted = [
        _row(threads, 1500.0 * threads, params={"phases": "on"}, fairness=fair, half_done=0.75)
        for threads, fair in ((1, None), (2, 0.5))
    ]
    (both,) = thread_curves([*noted, _row(1, 1000.0), _row(2, 2000.0)])
    assert both.points[0].rate == pytest.approx(CALLS / 1e-6, rel=0.02)
    assert (both.points[1].fairness, both.points[1].half_done) == (0.5, 0.75)
    (alone,) = thread_curves(noted)
    assert alone.points[0].rate == pytest.approx(CALLS / 1.5e-6, rel=0.02)
    (table,) = thread_tables([both])
    assert table.lines[0].cells[-1] == "2.00"


def _launched(*done: Sequence[int], threads: int = 3) -> Combined:
    """A launch for each three times of a rank's threads, of which a second rank has one alone."""
    names = ("first thread", "middle thread", "last thread")

    class Launch:
        def __init__(self, times: Sequence[int]) -> None:
            steps = np.diff([0, *times]).tolist()
            spans = zip(names, steps, (times[-1], 0, 0), strict=True)
            phases = tuple(
                Phase(name=name, communicates=True, ns=(own, other), calls=(1, 1))
                for name, own, other in spans
            )
            self.phases = (Phases(point=0, first=0, count=1, phases=phases),)
            self.point = Point(
                point=0, op="mpi.mt.put", bytes=8, ranks=2, threads=threads, method="batch", rule="median",
                reps=1, parts=1, report="root", moved_bytes=8,
            )  # fmt: skip

    class Together:
        launches = tuple(Launch(times) for times in done)
        level, groups, alike, span = 0.95, dict[str, tuple[int, ...]](), NOT_ALIKE, Combined.span

    return Together()  # type: ignore[return-value]


def test_fairness_is_that_of_the_rank_whose_threads_are_least_alike() -> None:
    one = Fairness.of(_launched((20, 30, 40)))
    assert one == Fairness(fairness=0.5, half_done=0.75)
    several = Fairness.of(_launched((20, 30, 40), (22, 30, 40), (18, 30, 40)))
    assert several is not None
    assert several.fairness == pytest.approx(0.5)
    assert several.fairness_low is not None
    assert several.fairness_high is not None
    assert 0 <= several.fairness_low < 0.5 < several.fairness_high <= 1
    assert Fairness.of(_launched((20, 30, 40), threads=1)) is None


def _noted(*launches: Sequence[Sequence[int]], parts: int = 1) -> Combined:
    """A launch for each table of what threads of ranks took for ten repetitions, from 7 ns on."""

    class Launch:
        def __init__(self, took: Sequence[Sequence[int]]) -> None:
            self.lanes = Lanes(
                point=0,
                reps=10,
                start_ns=tuple(tuple(7 if own else 0 for own in rank) for rank in took),
                stop_ns=tuple(tuple(own + 7 if own else 0 for own in rank) for rank in took),
            )
            self.point = Point(
                point=0, op="mpi.mt.put", bytes=8, ranks=len(took), threads=len(took[0]), method="batch",
                rule="median", reps=1, parts=parts, report="root", moved_bytes=8,
            )  # fmt: skip

    class Together:
        level, groups, alike, span = 0.95, dict[str, tuple[int, ...]](), NOT_ALIKE, Combined.span

        def __init__(self) -> None:
            self.launches = tuple(Launch(took) for took in launches)

    return Together()  # type: ignore[return-value]


def test_own_times_are_those_of_the_rank_whose_threads_scatter_most() -> None:
    """A rank with an idle thread, as the target of a shared window is, has no such times."""
    one = ThreadTimes.of(_noted([[100, 110, 120], [100, 200, 300], [500, 0, 0]], parts=2))
    assert one is not None
    assert one.thread_times == pytest.approx((5, 10, 15))
    assert one.thread_ratio == 3
    assert one.thread_scatter == pytest.approx(np.std([1, 2, 3]) / 2)
    assert one.thread_ratio_low is None
    several = ThreadTimes.of(_noted(*([[100, own]] for own in (190, 200, 210))))
    assert several is not None
    assert several.thread_times == pytest.approx((10, 20))
    assert several.thread_ratio == pytest.approx(2)
    assert several.thread_ratio_low is not None
    assert several.thread_ratio_high is not None
    assert 1 <= several.thread_ratio_low < 2 < several.thread_ratio_high
    assert ThreadTimes.of(_noted([[100], [100]])) is None
    assert ThreadTimes.of(_noted([[100, 0], [0, 0]])) is None


def test_rates_of_threads_stand_beside_that_of_all() -> None:
    noted = _row(2, 2000.0, params={"phases": "on"}, thread_times=(1000.0, 2000.0), thread_scatter=1 / 3)
    (curve,) = thread_curves([_row(1, 1000.0), _row(2, 2000.0), noted])
    assert curve.points[1].thread_rates == pytest.approx((CALLS * 1e6, CALLS / 2 * 1e6))
    (chart,) = each_thread_charts([curve])
    assert [list(dots.y) for dots in chart.marks_of(Dots)] == [pytest.approx([CALLS * 1e6, CALLS / 2 * 1e6])]
    assert each_thread_charts(thread_curves(_rows())) == []  # nobody noted it
    (short,), whole = thread_tables([curve]), all_threads_table([curve])
    assert short.lines[0].cells[-1] == "0.33"
    assert "scatter" in short.explained
    assert {"slowest", "fastest"} <= {column.name for column in whole.columns}


def _fits(table: Table, columns: int) -> bool:
    return max(map(len, table_text(table, Paper(columns, is_pipe=False)).splitlines())) <= columns


def test_tables_say_it_in_eighty_columns() -> None:
    found = thread_curves(_rows())
    (short,), whole = thread_tables(found), all_threads_table(found)
    assert [line.cells[0] for line in short.lines] == ["one", "thread"]
    assert [line.cells[2] for line in short.lines] == ["0.25", "1"]
    assert "4 threads" in short.explained
    assert "max/min" not in [column.name for column in short.columns]  # nobody noted it
    assert len(whole.lines) == 6
    assert _fits(short, 80)
    assert _fits(whole, 80)


def test_a_row_of_one_number_of_threads_says_how_alike_they_were_served() -> None:
    """No curve is drawn through one number, and nobody would see how far apart its threads are."""
    told = _row(512, 1e6, fairness=0.5, thread_scatter=0.063)
    assert thread_tables(thread_curves([told])) == ()
    columns = {column.name: column for column in columns_of("time", is_wide=False)}
    assert [columns[name].cell(told) for name in ("max/min", "scatter")] == ["2.00", "6.3 %"]
    assert [columns[name].cell(_row(512, 1e6)) for name in ("max/min", "scatter")] == ["-", "-"]
    assert columns["max/min"].cell(_row(512, 1e6, fairness=1e-5)) == "100000"


def _many() -> tuple[ThreadCurve, ...]:
    """Two ops, each in seven ways to synchronise and two layouts."""
    return thread_curves(
        [
            _row(threads, 1000.0 + i, op, params={"sync": f"s{i}", "windows": windows})
            for op in ("mpi.mt.put.bandwidth", "mpi.mt.get.bandwidth")
            for i in range(7)
            for windows in ("one", "thread")
            for threads in (1, 2, 4)
        ]
    )


def test_a_picture_has_a_curve_with_intervals_for_each_way() -> None:
    (chart,) = thread_charts(thread_curves(_rows()))
    ideal, shared, apart = chart.marks_of(Line)
    assert list(ideal.y) == pytest.approx([64e6, 256e6], rel=0.02)
    assert (shared.style.dash, bool(apart.style.dash)) == ("", True)
    assert shared.style.colour == apart.style.colour  # layouts of one way
    assert [list(dots.x) for dots in chart.marks_of(Dots)] == [[1, 2, 4]] * 2
    assert all(
        low < high for bars in chart.marks_of(Bars) for low, high in zip(bars.y0, bars.y1, strict=True)
    )
    assert [key.label for key in chart.legend] == ["windows=one", "windows=thread"]


def test_each_op_has_a_picture_where_colours_do_not_suffice() -> None:
    charts = thread_charts(_many())
    assert [chart.title for chart in charts] == ["mpi.mt.put.bandwidth", "mpi.mt.get.bandwidth"]
    assert all(len(chart.legend) == 14 and not chart.note for chart in charts)
    assert charts[0].legend == charts[1].legend  # which the report says once
    assert all(len({(key.style.colour, key.style.dash) for key in chart.legend}) == 14 for chart in charts)
