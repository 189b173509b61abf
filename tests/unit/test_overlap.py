"""Overlap from times that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flat_rows import flat_row, row_launch
from steelyard.analyses.analysis import Made
from steelyard.analyses.overlap.model import (
    availability_of,
    curves,
    overlap_interval,
    overlap_of,
    overlap_point,
)
from steelyard.analyses.overlap.pictures import overlap_charts
from steelyard.analyses.overlap.tables import overlap_tables
from steelyard.analyses.registry import analysis_tables
from steelyard.results.row import Row
from steelyard.stats import Interval

times = st.floats(min_value=1.0, max_value=1e6)


@pytest.mark.parametrize(
    ("pure", "work", "both", "overlap", "availability"),
    [
        (100, 50, 150, 0.0, 0.0),  # one after the other
        (100, 50, 100, 1.0, 0.5),  # the work is free
        (100, 200, 200, 1.0, 1.0),  # the message is free
        (100, 200, 300, 0.0, 0.0),
        (100, 200, 250, 0.5, 0.5),
        (100, 100, 150, 0.5, 0.5),
        (100, 50, 160, -0.2, -0.1),  # they disturb each other
    ],
)
def test_known_times(pure: float, work: float, both: float, overlap: float, availability: float) -> None:
    assert overlap_of(pure, work, both) == pytest.approx(overlap)
    assert availability_of(pure, work, both) == pytest.approx(availability)


@given(times, times)
def test_one_after_the_other_is_none_and_all_at_once_is_all(pure: float, work: float) -> None:
    assert overlap_of(pure, work, pure + work) == 0
    assert overlap_of(pure, work, max(pure, work)) == pytest.approx(1)


@given(times, times, times)
def test_with_long_work_overlap_is_availability(pure: float, more: float, both: float) -> None:
    assert overlap_of(pure, pure + more, both) == pytest.approx(
        availability_of(pure, pure + more, both), rel=1e-6, abs=1e-6
    )


@given(times, times, times, *[st.floats(0, 1)] * 3, st.floats(1.0, 1.5))
def test_the_interval_holds_whatever_times_are_in_theirs(
    pure: float, work: float, both: float, a: float, b: float, c: float, width: float
) -> None:
    spans = [Interval(value, value, value * width) for value in (pure, work, both)]
    interval = overlap_interval(*spans)
    assert interval is not None
    inside = (
        value * (1 + share * (width - 1)) for value, share in zip((pure, work, both), (a, b, c), strict=True)
    )
    value = overlap_of(*inside)
    slack = 1e-9 * (1 + abs(value))
    assert interval[0] - slack <= value <= interval[1] + slack


def test_no_time_has_no_overlap() -> None:
    with pytest.raises(ValueError, match="take time"):
        overlap_of(0, 5, 5)
    with pytest.raises(ValueError, match="takes time"):
        availability_of(0, 5, 5)
    assert overlap_interval(Interval(5, 4, 6), Interval(5), Interval(5, 4, 6)) is None
    assert overlap_point(1, Interval(5, 4, 6), Interval(5), Interval(5)).low is None


def row(op: str, median: float, *, method: str = "barrier", **params: float | str) -> Row:
    return flat_row(
        point=0,
        op=op,
        method=method,
        bytes=0 if op == "self.work" else 8,
        ranks=2,
        threads=1,
        params=params,
        placement=None,
        mpi="x",
        launch_count=3,
        count=10,
        rejected=0,
        median=median,
        ci_low=median - 1,
        ci_high=median + 1,
        ci_level=0.95,
        status="ok",
    )


ROWS = (
    row("mpi.overlap.ibcast", 1000, work_us=0, tests=0),
    row("mpi.overlap.ibcast", 1500, work_us=1, tests=0),
    row("mpi.overlap.ibcast", 2000, work_us=2, tests=0),
    row("mpi.overlap.ibcast", 1400, work_us=1, tests=4),  # without its pure time: no curve
    row("self.work", 1000, method="batch", work_us=1),
    row("self.work", 1900, method="batch", work_us=2),
)


def test_launches_are_paired_and_their_interval_holds_the_truth() -> None:
    """Half is hidden. Launches differ by 20 %, in all three times alike, and by 1 % in each."""
    rng, held, widths = np.random.default_rng(5), [], []
    for _ in range(300):
        common = np.exp(0.2 * rng.standard_normal(10))
        rows = []
        for op, work, median in (
            ("mpi.overlap.ibcast", 0, 1000.0),
            ("mpi.overlap.ibcast", 1, 1500.0),
            ("self.work", 1, 1000.0),
        ):
            times = median * common * np.exp(0.01 * rng.standard_normal(10))
            launches = tuple(row_launch(number, float(one)) for number, one in enumerate(times, 1))
            rows.append(replace(row(op, float(np.median(times)), work_us=work), launches=launches))
        (curve,) = curves(rows)
        (point,) = curve.points
        assert point.launches == 10
        assert point.low is not None
        assert point.high is not None
        held.append(point.low <= 0.5 <= point.high)
        widths.append((point.high - point.low) / 2)
    assert np.mean(held) == pytest.approx(0.98, abs=0.025)
    assert np.median(widths) < 0.05


@pytest.mark.parametrize(
    ("scatter", "is_known"), [((0.99, 1.0, 1.01), True), ((0.2, 1.0, 900.0), False), ((900.0,), False)]
)
def test_an_interval_wider_than_what_can_be_is_no_number(scatter: tuple[float, ...], is_known: bool) -> None:
    """The communication takes as long as the work, and both together 1.5 times as long, but for scatter."""
    times = {("mpi.overlap.ibcast", 0): 1e3, ("mpi.overlap.ibcast", 1): 1.5e3, ("self.work", 1): 1e3}
    rows = [
        replace(
            row(op, ns, work_us=work),
            launches=tuple(
                row_launch(number, ns * (more if ns == 1.5e3 else 1.0))
                for number, more in enumerate(scatter, 1)
            ),
            time=ns * (scatter[0] if ns == 1.5e3 else 1.0),
        )
        for (op, work), ns in times.items()
    ]
    (curve,) = curves([replace(one, time_low=None, time_high=None) for one in rows])
    (point,) = curve.points
    assert (point.overlap is not None) == (point.availability is not None) == is_known
    assert bool(point.why) == (not is_known)
    (table,) = overlap_tables([curve])
    assert ("cannot tell" in table.lines[0].cells[-1]) == (not is_known)
    assert overlap_charts([curve, replace(curve, points=(point, point))])


def test_rows_make_a_curve() -> None:
    (curve,) = curves(ROWS)
    assert (curve.op, curve.axis, curve.bytes, curve.params, curve.lacks) == (
        "mpi.overlap.ibcast",
        "work_us",
        8,
        {"tests": 0},
        (),
    )
    assert [(point.work, point.work_ns) for point in curve.points] == [(1, 1000), (2, 1900)]
    assert [point.overlap for point in curve.points] == pytest.approx([0.5, 0.9])
    for point in curve.points:
        assert point.low is not None
        assert point.high is not None
        assert point.overlap is not None
        assert point.low < point.overlap < point.high


def test_work_that_was_not_measured_alone_is_named() -> None:
    (curve,) = curves(ROWS[:3])
    assert (curve.points, curve.lacks) == ((), (1, 2))


def test_skew_makes_a_curve_of_its_own() -> None:
    rows = (
        row("mpi.part.send", 1000, work_us=0, skew_us=0),
        row("mpi.part.send", 1200, work_us=0, skew_us=1),
        row("mpi.part.send", 2000, work_us=1, skew_us=1),  # both at once: of neither curve
        row("mpi.part.send", 1900, work_us=1, skew_us=0),
        row("self.work", 1000, work_us=1),
    )
    found = {curve.axis: [point.overlap for point in curve.points] for curve in curves(rows)}
    assert found == {"work_us": pytest.approx([0.1]), "skew_us": pytest.approx([0.8])}


def test_curves_stand_under_the_results() -> None:
    without = analysis_tables(Made(ROWS[:1]))
    assert not any("overlap of" in table.title for table in without)
    (table,) = analysis_tables(Made(ROWS))
    assert table.title == "overlap of mpi.overlap.ibcast"
    assert len(table.lines) == 2
