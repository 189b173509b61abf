"""Scaling from rows whose speed-ups, serial fractions and growths are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from macro_rows import row
from steelyard.analyses.analysis import Made
from steelyard.analyses.registry import analysis_tables
from steelyard.analyses.scaling.model import ScalingCurve, fit_speedup, scaling_curves
from steelyard.analyses.scaling.pictures import scaling_charts
from steelyard.analyses.scaling.tables import curve_names, scaling_tables
from steelyard.render.chart import Bars, Dots
from steelyard.render.chart import Curve as Line
from steelyard.results.row import Row
from steelyard.stats import relative_fit

WORK = 1e3  # millions of operations of class S; W has twice, A four times as much
CLASSES = {"S": 1.0, "W": 2.0, "A": 4.0}
LAUNCHES = 5


def kernel(ranks: int, times: Sequence[float], size: str = "S", mpi: str | None = "a", **more: object) -> Row:
    """A kernel whose launches took `times` ns."""
    mops = CLASSES[size] * WORK / float(np.median(times)) * 1e3
    return row("npb.lu", mpi, times, **{"mops": mops, "ranks": ranks, "params": {"class": size}, **more})


def strong(counts: Sequence[int], law: dict[int, float], noise: float = 0.0, seed: int = 1) -> list[Row]:
    rng = np.random.default_rng(seed)
    return [kernel(p, (law[p] * np.exp(rng.normal(0, noise, LAUNCHES))).tolist()) for p in counts]


def amdahl(counts: Sequence[int], serial: float, first: float = 1e9) -> dict[int, float]:
    return {p: first * (serial + (1 - serial) / p) for p in counts}


def one(rows: Sequence[Row], kind: str = "strong") -> ScalingCurve:
    (curve,) = (curve for curve in scaling_curves(rows) if curve.kind == kind)
    return curve


@pytest.mark.parametrize("serial", [0.0, 0.02, 0.3, 1.0, -0.05])  # below 0: more than linear
def test_the_serial_fraction_is_found(serial: float) -> None:
    counts = (1, 2, 4, 8)
    curve = one(strong(counts, amdahl(counts, serial)))
    assert [point.count for point in curve.points] == [1, 2, 4, 8]
    for point in curve.points:
        true = 1 / (serial + (1 - serial) / point.count)
        assert point.speedup.value == pytest.approx(true)
        assert point.efficiency.value == pytest.approx(true / point.count)
        assert fit_speedup(curve, curve.fits[0], point.count) == pytest.approx(true)
    first, second = curve.fits
    assert first.terms[0].span.value == pytest.approx(serial, abs=1e-9)
    assert first.missed == pytest.approx(0, abs=1e-9)
    assert second.terms[1].span.value == pytest.approx(0, abs=1)  # ns of a second: no doubling adds anything


def test_what_each_doubling_adds_is_found() -> None:
    counts = (1, 2, 4, 8, 16)
    law = {p: 1e7 + 1e9 / p + 3e7 * math.log2(p) for p in counts}
    simple, whole = one(strong(counts, law)).fits
    assert simple.missed > 0.01  # Amdahl's law has no such term, and shows it
    assert whole.missed < 1e-9
    assert whole.factors == pytest.approx((1e7, 1e9, 3e7))
    assert [term.span.value for term in whole.terms] == pytest.approx([1e7 / (1e7 + 1e9), 3e7])


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """500 campaigns of five launches with noise of 3 %: the serial fraction lies in 95 % of the intervals.

    The medians of launches are drawn symmetrically about the truth, so that their median is it; four standard
    errors of a share of 500 are 4 %.
    """
    counts, serial, hits = (1, 2, 4, 8), 0.05, []
    law = amdahl(counts, serial)
    for seed in range(500):
        span = one(strong(counts, law, 0.03, seed)).fits[0].terms[0].span
        assert span.low is not None
        assert span.high is not None
        hits.append(span.low <= serial <= span.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.04)


def test_intervals_of_speedups_cover_the_truth() -> None:
    law, hits = amdahl((1, 4), 0.1), []
    for seed in range(500):
        span = one(strong((1, 4), law, 0.05, seed)).points[1].speedup
        assert span.low is not None
        assert span.high is not None
        hits.append(span.low <= law[1] / law[4] <= span.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.04)


def test_launches_are_compared_with_themselves() -> None:
    """What slows a whole launch down is in no ratio."""
    slow = np.array([1.0, 1.5, 2.0, 1.2, 3.0])
    curve = one([kernel(1, (1e9 * slow).tolist()), kernel(2, (6e8 * slow).tolist())])
    span = curve.points[1].speedup
    assert (span.value, span.low, span.high) == pytest.approx((5 / 3, 5 / 3, 5 / 3))


def test_one_launch_has_values_without_intervals() -> None:
    curve = one([kernel(1, [1e9]), kernel(2, [6e8])])
    assert curve.points[1].speedup.value == pytest.approx(5 / 3)
    assert curve.points[1].speedup.low is None
    assert curve.fits[0].is_exact
    assert curve.fits[0].terms[0].span.value == pytest.approx(0.2)


def test_weak_scaling_joins_classes_whose_work_grows_with_the_ranks() -> None:
    """S on 1, W on 2, A on 4; A on 2 would be too much for each. Each doubling costs 5 %."""
    times = {(1, "S"): 1e9, (2, "W"): 1.05e9, (4, "A"): 1.10e9, (2, "A"): 2.2e9}
    rows = [kernel(ranks, [time] * LAUNCHES, size) for (ranks, size), time in times.items()]
    curve = one(rows, "weak")
    assert [(point.count, point.size) for point in curve.points] == [(1, "S"), (2, "W"), (4, "A")]
    assert [point.efficiency.value for point in curve.points] == pytest.approx([1, 1 / 1.05, 1 / 1.1])
    assert [point.speedup.value for point in curve.points] == pytest.approx([1, 2 / 1.05, 4 / 1.1])
    (fit,) = curve.fits
    assert fit.terms[0].span.value == pytest.approx(0.05)
    assert fit_speedup(curve, fit, 4) == pytest.approx(4 / 1.1)


def test_weak_scaling_takes_account_of_work_that_grows_not_quite_alike() -> None:
    """Twice the ranks, 2.2 times the work, 2.2 / 2 times the time: nothing is lost."""
    base = kernel(1, [1e9] * LAUNCHES)
    grown = row(
        "npb.lu", "a", [1.1e9] * LAUNCHES, mops=2.2 * WORK / 1.1e9 * 1e3, ranks=2, params={"class": "W"}
    )
    assert one([base, grown], "weak").points[1].efficiency.value == pytest.approx(1.0)


def test_the_rank_without_mpi_is_where_the_curve_of_each_mpi_begins() -> None:
    rows = [kernel(1, [1e9] * LAUNCHES, mpi=None)]
    rows += [kernel(2, [time] * LAUNCHES, mpi=mpi) for mpi, time in (("a", 5e8), ("b", 8e8))]
    speedups = {curve.mpi: curve.points[-1].speedup.value for curve in scaling_curves(rows)}
    assert speedups == {"a": pytest.approx(2.0), "b": pytest.approx(1.25)}
    rows.append(kernel(1, [2e9] * LAUNCHES, mpi="a"))  # its own, if there is one
    speedups = {curve.mpi: curve.points[-1].speedup.value for curve in scaling_curves(rows)}
    assert speedups == {"a": pytest.approx(4.0), "b": pytest.approx(1.25)}


def test_threads_scale_as_ranks_do() -> None:
    rows = [kernel(1, [1e9 / threads] * LAUNCHES, mpi=None, threads=threads) for threads in (1, 2, 4)]
    curve = one(rows)
    assert (curve.axis, curve.fixed, curve.mpi) == ("threads", 1, None)
    assert curve.points[-1].efficiency.value == pytest.approx(1.0)


def test_what_makes_no_curve() -> None:
    assert scaling_curves([]) == ()
    assert scaling_curves([kernel(2, [1e9])]) == ()
    assert scaling_curves([kernel(2, [1e9]), kernel(1, [1e9], mpi="b")]) == ()  # another MPI
    assert scaling_curves([row("mpi.barrier", "a", [1e3], ranks=p) for p in (2, 4)]) == ()  # no work to share
    for op, who in (("mpi.put.pattern", "bisection"), ("mpi.mt.put.bandwidth", "one")):  # counts, no problem
        calls = [row(op, "a", [1e3], mops=p, ranks=p, threads=p, params={"who": who}) for p in (2, 4)]
        assert scaling_curves(calls) == ()


def test_curves_have_names_of_their_own() -> None:
    """A kernel was measured with two values of a parameter, and another has no such parameter."""
    rows = [
        kernel(ranks, [1e9 / ranks], params={"class": "S", "movers": movers})
        for movers in (1, 2)
        for ranks in (1, 2)
    ]
    rows += [row("npb.ep", "a", [1e9 / p], mops=p, ranks=p, params={"class": "S"}) for p in (1, 2)]
    names = curve_names(scaling_curves(rows))
    assert names == ("npb.lu, movers=1, strong", "npb.lu, movers=2, strong", "npb.ep, strong")


def test_relative_fit_weighs_times_by_their_size() -> None:
    shapes = np.array([[1.0], [1.0]])
    assert relative_fit(shapes, [1.0, 3.0])[0] == pytest.approx((1 + 1 / 3) / (1 + 1 / 9))


def test_tables_say_it() -> None:
    counts = (1, 2, 4, 8)
    rows = [*strong(counts, amdahl(counts, 0.1)), kernel(2, [1.1e9] * LAUNCHES, "W")]
    curves = scaling_curves(rows)
    assert curve_names(curves) == ("npb.lu class=S, strong", "npb.lu, weak")
    scaling, models = scaling_tables(curves)
    assert scaling.lines[1].cells[:4] == ("npb.lu class=S, strong", "2 ranks", "550 ms", "1.82")
    assert scaling.lines[-1].cells[1] == "2 ranks, class W"
    assert models.lines[0].cells[2] == "serial fraction 0.1 (0.1 to 0.1)"
    assert [line.cells[-1] for line in models.lines] == ["0.0 %", "0.0 %", "exact"]
    assert any(table.title.startswith("scaling") for table in analysis_tables(Made(rows)))


def test_a_serial_fraction_above_one_is_no_speed_up() -> None:
    """Two ranks that wait for each other took 1.8 times as long as one."""
    _, models = scaling_tables(scaling_curves(strong((1, 2), {1: 1e9, 2: 1.8e9}, noise=0.0)))
    assert models.lines[0].cells[2] == "serial fraction 2.6 (2.6 to 2.6), no speed-up"


def test_a_picture_for_each_kernel_with_its_marks_and_its_model() -> None:
    counts = (1, 2, 4, 8)
    curves = scaling_curves(strong(counts, amdahl(counts, 0.1), 0.02))
    (chart,) = scaling_charts(curves)
    ideal, model = chart.marks_of(Line)
    assert list(ideal.y) == [1, 8]
    assert model.style.dash
    (intervals,), (dots,) = chart.marks_of(Bars), chart.marks_of(Dots)
    assert list(dots.x) == list(intervals.x0) == [1, 2, 4, 8]
    assert dots.y == [point.speedup.value for point in curves[0].points]
    assert chart.title == "npb.lu over ranks"
