"""Pictures of distributions and ranks, from made-up records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from make_records import FakePoint, Series, regimes, steady, write_folder
from steelyard.base.units import format_bytes
from steelyard.records.schema import End
from steelyard.render.chart import Band, Bars, Boxes, Chart, Curve, Dots, Outline
from steelyard.report import write_report
from steelyard.results.facets import Messages, Rate, Samples
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.rows.figure_groups import FigureGroup, Shown, group_items
from steelyard.rows.pictures.distributions import (
    BINS,
    MOST_RIDGES,
    TAIL_POINTS,
    distribution_charts,
    histogram_charts,
    tail_charts,
)
from steelyard.rows.pictures.panels import MOST_SHAPES, legend_of
from steelyard.rows.pictures.points import bandwidth_charts, count_charts, dots_chart, latency_charts
from steelyard.rows.pictures.ranks import MOST_ROWS, rank_charts


def group_of(folder: Path, made: Sequence[FakePoint], launches: int = 2) -> FigureGroup:
    measured = load(write_folder(folder / "out", made, launches=launches))
    (group,) = group_items(
        Shown(row, point, "") for row, point in zip(rows_of(measured), measured.points, strict=True)
    )
    return group


def with_tail(median: float, share: float, factor: float) -> Series:
    """A share of the values takes `factor` times as long."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        values = median * np.exp(0.01 * rng.standard_normal(4000))
        values[: round(share * values.size)] *= factor
        return np.asarray(rng.permutation(values))

    return draw


def test_a_histogram_for_each_size_and_its_marks(tmp_path: Path) -> None:
    """Modes are two hills where they lie; the typical time and p99 are those of the row."""
    made = [
        FakePoint("mpi.bcast", regimes(200.0, 400.0), bytes=8),
        FakePoint("mpi.bcast", with_tail(5e6, 0.05, 3.0), bytes=2**20, reps=1),
    ]
    group = group_of(tmp_path, made)
    (chart,) = histogram_charts(group)
    ridges = chart.marks_of(Outline)
    assert len(ridges) == 2
    assert max(ridge.x.size for ridge in ridges) <= 2 * BINS + 2
    rows = [item.row for item in group.lines[0].items]

    def height(near: float) -> float:
        """For the first histogram at a time; bins are even on a logarithmic axis."""
        return float(np.interp(near / (rows[0].time or 1), ridges[0].x, ridges[0].y))

    assert max(height(time) for time in range(195, 206)) > 0.5
    assert max(height(time) for time in range(390, 411)) > 0.25
    assert max(height(time) for time in range(260, 321)) < 0.05
    marks = [float(bar.x0[0]) for bar in chart.marks_of(Bars)]
    late = [(row.get(Samples).p99 or 0) / (row.time or 1) for row in rows]
    assert marks == pytest.approx([1.0, late[0], 1.0, late[1]])
    assert late[1] == pytest.approx(3.0, rel=0.05)


def test_of_many_sizes_some_are_drawn_and_the_picture_says_so(tmp_path: Path) -> None:
    sizes = [8 * (number + 1) for number in range(MOST_RIDGES + 20)]
    made = [FakePoint("mpi.bcast", regimes(200.0, 400.0), bytes=size) for size in sizes]
    (chart,) = histogram_charts(group_of(tmp_path, made))
    assert len(chart.marks_of(Outline)) == len(chart.y.ticks) == MOST_RIDGES
    names = [name for _, name in chart.y.ticks]
    assert names[0].startswith("8 B,")
    assert names[-1].startswith("544 B,")
    assert chart.note == "48 of 68 histograms are drawn, evenly chosen"


def test_a_p99_beyond_the_axis_is_a_triangle(tmp_path: Path) -> None:
    made = [FakePoint("mpi.bcast", with_tail(1e4, 0.03, 500.0), bytes=size, reps=1) for size in (8, 16)]
    (chart,) = histogram_charts(group_of(tmp_path, made))
    (triangles,) = chart.marks_of(Dots)
    assert len(triangles.x) == 2
    assert max(triangles.x) < chart.x.high < 20


def test_messages_there_stand_and_messages_back_hang(tmp_path: Path) -> None:
    def ways(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        return np.tile([300.0, 600.0], 500) * np.exp(0.01 * rng.standard_normal(1000))

    made = [
        FakePoint("mpi.pingpong", ways, bytes=size, reps=1, report="message", method="each", clock_error=20.0)
        for size in (0, 8)
    ]
    group = group_of(tmp_path, made)
    row = group.lines[0].items[0].row
    assert row.get(Messages).ways == pytest.approx((300, 600), rel=0.03)
    (chart,) = histogram_charts(group)
    there, back, *_ = chart.marks_of(Outline)
    assert there.y.min() == back.y.max()  # they share a foot
    middles = [float(np.median(one.x)) * (row.time or 1) for one in (there, back)]
    assert middles == pytest.approx([300, 600], rel=0.1)
    (tails,) = tail_charts(group)
    labels = [curve.tip for curve in tails.marks_of(Curve)]
    assert labels == ["0 B, there", "0 B, back", "8 B, there", "8 B, back"]


def test_tails_of_several_lines_are_compared_size_by_size(tmp_path: Path) -> None:
    """More ranks, more contention: the share above twice the median is that which was made."""
    made = [
        FakePoint("mpi.bcast", with_tail(1e4, share, 4.0), bytes=size, ranks=ranks, reps=1)
        for ranks, share in ((2, 0.01), (8, 0.1))
        for size in (8, 1024)
    ]
    charts = tail_charts(group_of(tmp_path, made))
    assert [chart.title for chart in charts] == ["8 B", "1 KiB"]
    curves = charts[0].marks_of(Curve)
    assert max(len(curve.x) for curve in curves) <= TAIL_POINTS
    above = [float(curve.y[int(np.searchsorted(curve.x, 2e4))]) for curve in curves]
    assert above == pytest.approx([0.01, 0.1], rel=0.09)  # a curve has 24 points a decade


@pytest.mark.parametrize("chart_of", [distribution_charts, tail_charts])
@pytest.mark.parametrize("mpis", [("mpich-4.0.2",), ("mpich-4.0.2", "openmpi-4.1.4")])
def test_every_size_is_drawn(
    tmp_path: Path, chart_of: Callable[[FigureGroup], list[Chart]], mpis: Sequence[str]
) -> None:
    """For rivals there is a picture for each size, of one MPI eight sizes share one, over their medians."""
    sizes = [2**power for power in range(24)]
    made = [
        FakePoint("mpi.bcast", steady(300.0, count=30), bytes=size, mpi=mpi) for size in sizes for mpi in mpis
    ]
    charts = chart_of(group_of(tmp_path, made, launches=1))
    names = [format_bytes(size) for size in sizes]
    if len(mpis) > 1:
        assert [chart.title for chart in charts] == names
        assert {len(chart.marks_of(Curve)) for chart in charts} == {2}
    else:
        assert [key.label for chart in charts for key in chart.legend] == names
        assert [len(chart.marks_of(Curve)) for chart in charts] == [8, 8, 8]
    assert not any(chart.note for chart in charts)


def test_what_has_no_room_is_named(tmp_path: Path) -> None:
    """60 sizes of two MPIs: 48 pictures, and the names of the other 12."""
    made = [
        FakePoint("mpi.bcast", steady(300.0, count=20), bytes=8 * size, mpi=mpi)
        for size in range(1, 61)
        for mpi in ("mpich-4.0.2", "openmpi-4.1.4")
    ]
    charts = distribution_charts(group_of(tmp_path, made, launches=1))
    assert len(charts) == MOST_SHAPES
    assert charts[-1].note == "12 more distributions are not drawn, and in the table: " + "; ".join(
        f"{8 * size} B" for size in range(49, 61)
    )


def test_many_lines_are_small_multiples_of_a_few_colours(tmp_path: Path) -> None:
    """Eleven roots under two MPIs: a picture for each root, a colour for each MPI."""
    made = [
        FakePoint("mpi.bcast", steady(300.0, count=30), bytes=size, mpi=mpi, params={"root": root})
        for root in range(11)
        for mpi in ("mpich-4.0.2", "openmpi-4.1.4")
        for size in (8, 64)
    ]
    group = group_of(tmp_path, made, launches=1)
    charts = latency_charts(group)
    assert [chart.title for chart in charts] == [f"root={root}" for root in range(11)]
    assert [key.label for key in legend_of(group)] == ["mpich-4.0.2", "openmpi-4.1.4"]
    assert all(len({curve.style.colour for curve in chart.marks_of(Curve)}) == 2 for chart in charts)


def test_lines_with_nothing_in_common_have_a_legend_in_each_picture(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(300.0, count=30), bytes=size, params={"root": root})
        for root in range(10)
        for size in (8, 64)
    ]
    group = group_of(tmp_path, made, launches=1)
    charts = latency_charts(group)
    assert legend_of(group) == ()
    assert [[key.label for key in chart.legend] for chart in charts] == [
        [f"root={root}" for root in range(8)],
        ["root=8", "root=9"],
    ]


def test_dots_have_a_row_for_what_differs_and_a_colour_for_rivals(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.barrier", steady(300.0, count=30), bytes=0, mpi=mpi, ranks=2, params={"way": way})
        for way in ("a", "b", "c")
        for mpi in ("mpich-4.0.2", "openmpi-4.1.4")
    ]
    lost = dict.fromkeys((1, 2), End(point=0, status="failed", why="hang"))
    made.append(FakePoint("mpi.barrier", steady(1.0), bytes=0, params={"way": "d"}, ends=lost))
    chart = dots_chart(group_of(tmp_path, made))
    assert [text for _, text in chart.y.ticks] == ["way=a", "way=b", "way=c", "way=d"]
    assert chart.note == "without a number: mpich-4.0.2, way=d"
    medians = [dots for dots in chart.marks_of(Dots) if dots.tips]
    assert len({dots.style.colour for dots in medians}) == 2
    assert [float(dots.y[0]) for dots in medians] == [0, 0, 1, 1, 2, 2]


def test_a_slow_rank_is_seen(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e4), bytes=size, ranks=4, reps=1, pace=(0.5, 0.5, 1.0, 0.5))
        for size in (8, 64)
    ]
    ((label, last, own),) = rank_charts(group_of(tmp_path, made))
    assert label == ""
    (shares,), (ratios,) = last.marks_of(Boxes), own.marks_of(Boxes)
    assert shares.texts == ["0", "0", "0", "0", "100", "100", "0", "0"]
    assert [float(text) for text in ratios.texts[4:6]] == pytest.approx([2, 2], abs=0.02)
    assert shares.tips[4].startswith("rank 2, 8 B\nlast in 100.0 %\nown median ")
    assert shares.colours[4] != shares.colours[0]


@pytest.mark.parametrize(
    ("ranks", "method", "pace"),
    [
        (1, "batch", (1.0,)),
        (4, "batch", (1.0, 1.0, 1.0, 1.0)),
        (2, "bounds", (1.0, 0.5)),
    ],
    ids=["one rank", "all alike", "the method does not see ranks"],
)
def test_ranks_that_say_nothing_have_no_picture(
    tmp_path: Path, ranks: int, method: str, pace: tuple[float, ...]
) -> None:
    low = 500.0 if method == "bounds" else None

    def alike(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        return 1e4 * np.exp(0.01 * rng.standard_normal(400))

    made = [
        FakePoint("mpi.bcast", alike, bytes=size, ranks=ranks, reps=1, method=method, pace=pace, low=low)
        for size in (8, 64)
    ]
    group = group_of(tmp_path, made)
    if method == "batch" and ranks == 4:  # argmax of equal times is the first: make the last one random
        for item in group.lines[0].items:
            for cell in item.point.cells:
                cell.taken.slowest[:] = 100
    assert rank_charts(group) == []


def test_of_many_ranks_neighbours_stand_together(tmp_path: Path) -> None:
    ranks = 200
    pace = tuple(1.0 if rank == 150 else 0.5 for rank in range(ranks))
    made = [
        FakePoint("mpi.bcast", steady(1e4, count=20), bytes=size, ranks=ranks, reps=1, pace=pace)
        for size in (8, 64)
    ]
    ((_, last, _),) = rank_charts(group_of(tmp_path, made))
    (cells,) = last.marks_of(Boxes)
    assert len(cells.x0) == 2 * 50
    assert MOST_ROWS >= 50
    (row,) = {tip.partition(",")[0] for tip in cells.tips if "last in 100.0 %" in tip}
    assert row == "rank 148–151"


def test_bounds_are_two_triangles_with_a_band(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e4), bytes=size, reps=1, method="bounds", low=4e3) for size in (8, 64)
    ]
    (chart,) = latency_charts(group_of(tmp_path, made))
    marks = {dots.style.marker: dots for dots in chart.marks_of(Dots)}
    assert set(marks) == {"up", "down"}
    assert marks["up"].y == pytest.approx([4000, 4000], rel=0.01)
    assert chart.y.low < 4000
    assert all("≤ " in tip for tip in marks["down"].tips)


def test_a_report_of_24_sizes_and_10_launches_is_small(tmp_path: Path) -> None:
    """No sample is shipped: 24 sizes weigh as much with ten times the observations."""
    sizes = []
    for count in (60, 600):
        made = [
            FakePoint("mpi.bcast", steady(300.0 + 2**power, count=count), bytes=2**power, ranks=4)
            for power in range(24)
        ]
        folder = write_folder(tmp_path / str(count), made, launches=10)
        sizes.append(write_report([folder], tmp_path / f"{count}.html").stat().st_size)
    assert sizes[1] < 1.1 * sizes[0] < 3 * 2**20


@pytest.mark.parametrize("count", [4, 5])
def test_intervals_of_many_lines_are_left_to_the_table(tmp_path: Path, count: int) -> None:
    made = [
        FakePoint("mpi.bcast", steady(300.0, count=30), bytes=size, params={"root": root})
        for root in range(count)
        for size in (8, 64)
    ]
    (chart,) = latency_charts(group_of(tmp_path, made))
    assert len(chart.marks_of(Curve)) == count
    assert bool(chart.marks_of(Band)) == (count == 4)
    assert ("in the table" in chart.note) == (count == 5)


def test_bandwidths_have_the_interval_of_their_times(tmp_path: Path) -> None:
    made = [FakePoint("mpi.bandwidth", steady(1000.0, count=30), bytes=size) for size in (8, 64)]
    group = group_of(tmp_path, made, launches=6)
    rows = [item.row for item in group.items]
    (chart,) = bandwidth_charts(group)
    (band,), (dots,) = chart.marks_of(Band), chart.marks_of(Dots)
    for row, low, value, high in zip(rows, band.low, dots.y, band.high, strict=True):
        assert value == row.get(Rate).bandwidth
        assert (low, high) == pytest.approx(
            (8e9 / 8 * row.bytes / (row.ci_high or 0), 8e9 / 8 * row.bytes / (row.ci_low or 0))
        )
        assert low < value < high


@pytest.mark.parametrize(
    ("headline", "counted"),
    [("messages", "messages"), ("names", "names"), ("bandwidth", "operations"), ("time", "operations")],
)
def test_rates_have_a_picture_that_says_what_is_counted(tmp_path: Path, headline: str, counted: str) -> None:
    made = [FakePoint("mpi.rate", steady(1000.0, count=30), bytes=size) for size in (8, 64)]
    items = [
        replace(
            item,
            row=msgspec.structs.replace(item.row, headline=headline, facets=(Rate(mops=item.row.bytes / 4),)),
        )
        for item in group_of(tmp_path, made).items
    ]
    (group,) = group_items(items)
    (chart,) = count_charts(group)
    (dots,) = chart.marks_of(Dots)
    assert chart.y.label == f"{counted} a second"
    assert dots.y == [2e6, 16e6]
    assert bandwidth_charts(group) == []
