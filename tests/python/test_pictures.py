"""Pictures of distributions and ranks, from made-up records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from make_records import FakePoint, Series, regimes, steady, write_folder
from steelyard.groups import Group, Item, group_items
from steelyard.observations import load
from steelyard.plots import histogram_figures, latency_figure, rank_figures, tail_figures
from steelyard.plots.ranks import MOST_ROWS
from steelyard.plots.shapes import BINS, TAIL_POINTS
from steelyard.report import write_report
from steelyard.results import rows_of


def group_of(folder: Path, made: Sequence[FakePoint], launches: int = 2) -> Group:
    measured = load(write_folder(folder / "out", made, launches=launches))
    (group,) = group_items(
        Item(row, point, "") for row, point in zip(rows_of(measured), measured.points, strict=True)
    )
    return group


def with_tail(median: float, share: float, factor: float) -> Series:
    """A share of the values takes `factor` times as long."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        values = median * np.exp(0.01 * rng.standard_normal(4000))
        values[: round(share * values.size)] *= factor
        return np.asarray(rng.permutation(values))

    return draw


def glyphs(plot: Any, kind: str) -> list[dict[str, Any]]:
    return [one.data_source.data for one in plot.renderers if type(one.glyph).__name__ == kind]


def test_a_histogram_for_each_size_and_its_marks(tmp_path: Path) -> None:
    """Modes are two hills where they lie; median and p99 are those of the row."""
    made = [
        FakePoint("mpi.bcast", regimes(200.0, 400.0), bytes=8),
        FakePoint("mpi.bcast", with_tail(5e6, 0.05, 3.0), bytes=2**20, reps=1),
    ]
    group = group_of(tmp_path, made)
    (plot,) = histogram_figures(group)
    (ridges,) = glyphs(plot, "Patches")
    assert len(ridges["x"]) == 2
    assert max(x.size for x in ridges["x"]) <= 2 * BINS + 2
    rows = [item.row for item in group.lines[0].items]
    times = ridges["x"][0] * rows[0].median
    heights = ridges["y"][0]
    assert heights[np.abs(times - 200) < 5].max() > 0.5
    assert heights[np.abs(times - 400) < 10].max() > 0.25  # bins are even on a logarithmic axis
    assert heights[np.abs(times - 290) < 30].max() < 0.05
    medians, late = glyphs(plot, "Segment")
    assert medians["x0"] == pytest.approx([1.0, 1.0])
    assert late["x0"] == pytest.approx([(row.p99 or 0) / (row.median or 1) for row in rows])
    assert late["x0"][1] == pytest.approx(3.0, rel=0.05)


def test_a_p99_beyond_the_axis_is_a_triangle(tmp_path: Path) -> None:
    made = [FakePoint("mpi.bcast", with_tail(1e4, 0.03, 500.0), bytes=size, reps=1) for size in (8, 16)]
    (plot,) = histogram_figures(group_of(tmp_path, made))
    (triangles,) = glyphs(plot, "Scatter")
    assert len(triangles["x"]) == 2
    assert max(triangles["x"]) < plot.x_range.end < 20


def test_messages_there_stand_and_messages_back_hang(tmp_path: Path) -> None:
    def ways(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        return np.tile([300.0, 600.0], 500) * np.exp(0.01 * rng.standard_normal(1000))

    made = [
        FakePoint("mpi.pingpong", ways, bytes=size, reps=1, report="message", method="each", clock_error=20.0)
        for size in (0, 8)
    ]
    group = group_of(tmp_path, made)
    row = group.lines[0].items[0].row
    assert row.ways == pytest.approx((300, 600), rel=0.03)
    (plot,) = histogram_figures(group)
    (ridges,) = glyphs(plot, "Patches")
    assert ridges["way"] == ["there", "back", "there", "back"]
    there, back = ridges["y"][:2]
    assert there.min() == back.max()  # they share a foot
    middles = [float(np.median(x)) * (row.median or 1) for x in ridges["x"][:2]]
    assert middles == pytest.approx([300, 600], rel=0.1)
    (tail,) = tail_figures(group)
    labels = [item.label.value for item in tail.legend[0].items]
    assert labels == ["0 B there", "0 B back", "8 B there", "8 B back"]


def test_tails_of_several_lines_are_compared_size_by_size(tmp_path: Path) -> None:
    """More ranks, more contention: the share above twice the median is that which was made."""
    made = [
        FakePoint("mpi.bcast", with_tail(1e4, share, 4.0), bytes=size, ranks=ranks, reps=1)
        for ranks, share in ((2, 0.01), (8, 0.1))
        for size in (8, 1024)
    ]
    plots = tail_figures(group_of(tmp_path, made))
    assert [plot.title.text for plot in plots] == ["8 B", "1 KiB"]
    curves = glyphs(plots[0], "Step")
    assert max(curve["x"].size for curve in curves) <= TAIL_POINTS
    above = [float(curve["y"][np.searchsorted(curve["x"], 2e4)]) for curve in curves]
    assert above == pytest.approx([0.01, 0.1], rel=0.07)  # a curve has 32 points a decade


def test_tails_of_one_line_are_relative_and_named(tmp_path: Path) -> None:
    made = [FakePoint("mpi.bcast", with_tail(1e4 * size, 0.02, 4.0), bytes=size, reps=1) for size in (8, 64)]
    (plot,) = tail_figures(group_of(tmp_path, made))
    assert [item.label.value for item in plot.legend[0].items] == ["8 B", "64 B"]
    assert [float(curve["x"][-1]) for curve in glyphs(plot, "Step")] == pytest.approx([4, 4], rel=0.1)


def test_a_slow_rank_is_seen(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e4), bytes=size, ranks=4, reps=1, pace=(0.5, 0.5, 1.0, 0.5))
        for size in (8, 64)
    ]
    ((label, last, own),) = rank_figures(group_of(tmp_path, made))
    assert label == ""
    (cells,) = glyphs(last, "Rect")
    assert cells["share"].tolist() == [0, 0, 0, 0, 1, 1, 0, 0]
    assert cells["own"][4] == "10.0 us" or cells["own"][4].startswith(("9.", "10."))
    assert cells["log_ratio"][4:6] == pytest.approx([1, 1], abs=0.01)
    assert cells["share_words"][4] == "100"
    assert glyphs(own, "Rect") == [cells]  # one source, shipped once


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
    assert rank_figures(group) == []


def test_of_many_ranks_neighbours_stand_together(tmp_path: Path) -> None:
    ranks = 200
    pace = tuple(1.0 if rank == 150 else 0.5 for rank in range(ranks))
    made = [
        FakePoint("mpi.bcast", steady(1e4, count=20), bytes=size, ranks=ranks, reps=1, pace=pace)
        for size in (8, 64)
    ]
    ((_, last, _),) = rank_figures(group_of(tmp_path, made))
    (cells,) = glyphs(last, "Rect")
    assert len(set(cells["rank"])) == 50 <= MOST_ROWS
    (row,) = {rank for rank, share in zip(cells["rank"], cells["share"], strict=True) if share > 0.5}
    assert row == "148–151"


def test_bounds_are_two_triangles_with_a_band(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e4), bytes=size, reps=1, method="bounds", low=4e3) for size in (8, 64)
    ]
    plot = latency_figure(group_of(tmp_path, made))
    marks = {one.glyph.marker: one.data_source.data for one in plot.renderers if hasattr(one.glyph, "marker")}
    assert set(marks) == {"inverted_triangle", "triangle"}
    assert marks["triangle"]["y"] == pytest.approx([4000, 4000], rel=0.01)
    assert plot.y_range.start < 4000
    assert all(text.startswith("≤ ") for text in marks["inverted_triangle"]["median"])


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
