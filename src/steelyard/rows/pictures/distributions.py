"""Pictures of distributions: histograms, cumulated, and tails. They are binned here, so no page holds
samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.base.units import format_bytes, format_time
from steelyard.render.axes import PALETTE, log_ticks, worded
from steelyard.render.chart import FULL, HALF, QUARTER, Axis, Bars, Chart, Curve, Dots, Mark, Outline, Style
from steelyard.render.svg import INK
from steelyard.results.facets import Messages, Samples
from steelyard.results.load import PointLaunch
from steelyard.rows.figure_groups import FigureGroup, FigureLine, Shown
from steelyard.rows.pictures.panels import MOST_PANELS, ShapeCurve, ShapePanel, left_out_words, shapes_of
from steelyard.rows.pictures.points import share_axis
from steelyard.rows.pictures.style import line_style
from steelyard.rows.words import time_words
from steelyard.stats import binned, cumulated, exceeded, pooled_quantile
from steelyard.stats.arrays import FloatArray

CURVE_POINTS = 100  # of a distribution: finer than a small picture shows
TAIL_POINTS = 96  # of a tail: 32 for each power of ten down to a thousandth
BINS = 120  # of a histogram, across its picture
MOST_RIDGES = 48  # histograms of a picture, which is then as high as a screen
RIDGE_HEIGHT = 0.86  # of a histogram, in rows
LEAST_BAR = 0.004  # of the highest bar: lower ones are not drawn
RIDGE_START, RIDGE_END = 0.2, 10.0  # medians to which the picture of histograms may reach down and up
LATE = "#a8123f"  # the mark of p99


def good_cells(item: Shown) -> list[PointLaunch]:
    """List the launches of a point that ended well and have values."""
    return [cell for cell in item.point.cells if cell.status == "ok" and cell.values.size]


@dataclass(frozen=True, slots=True)
class Direction:
    """The values of a point, launch by launch: all, or the messages of one direction."""

    name: str
    series: tuple[FloatArray, ...]
    ticks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ridge:
    """A row of histograms: its line and item, the ways of the item, and their quantiles over all launches.

    `quantiles` are those of 1, 50 and 99 %, a triple for each of `ways`, with equal weight for each launch.
    """

    line: FigureLine
    item: Shown
    ways: tuple[Direction, ...]
    quantiles: tuple[tuple[float, ...], ...]


def _ridge(line: FigureLine, item: Shown) -> Ridge:
    ways = ways_of(item)
    found = (pooled_quantile(way.series, (0.01, 0.5, 0.99), float(np.median(way.ticks))) for way in ways)
    return Ridge(line, item, ways, tuple(found))


def ways_of(item: Shown) -> tuple[Direction, ...]:
    """Split values into there and back if each message is timed, else take all together."""
    cells = good_cells(item)
    ticks = tuple(cell.taken.tick for cell in cells)
    if item.row.get(Messages).ways is None:
        return (Direction("", tuple(cell.values for cell in cells), ticks),)
    cells = [cell for cell in cells if cell.values.size > 1]
    there, back = (tuple(cell.values[way::2] for cell in cells) for way in (0, 1))
    return Direction("there", there, ticks[: len(cells)]), Direction("back", back, ticks[: len(cells)])


def distribution_charts(group: FigureGroup) -> list[Chart]:
    """Draw cumulated distributions of all samples; modes are steps."""
    panels, left_out = shapes_of(group)
    return _with_note([_distribution_chart(panel) for panel in panels], left_out, "distribution")


def _with_note(charts: list[Chart], left_out: Sequence[str], noun: str) -> list[Chart]:
    """Add to the last picture what has no room."""
    return [*charts[:-1], replace(charts[-1], note=left_out_words(left_out, noun))] if charts else []


def _shape(panel: ShapePanel, x: Axis, y: Axis, marks: Iterable[Mark]) -> Chart:
    width, height = (HALF, 230) if panel.is_relative else (QUARTER, 190)
    return Chart(panel.title, x, y, tuple(marks), height, width, panel.legend)


def _time_axis(panel: ShapePanel, low: float, high: float) -> Axis:
    """Make an axis of times, or of times over those of the table."""
    words, most, label = ("{:g}".format, 8, "time / median") if panel.is_relative else (format_time, 3, "")
    return Axis(label, low, high, log_ticks(low, high, words, most), is_log=True)


def _unit(panel: ShapePanel, curve: ShapeCurve) -> float:
    return (curve.item.row.time or 1.0) if panel.is_relative else 1.0


def _distribution_chart(panel: ShapePanel) -> Chart:
    """Draw distributions; the axis ends at 1.5 times p99, and the tails show the rest."""
    curves = [
        cumulated([cell.values for cell in good_cells(curve.item)], CURVE_POINTS) / _unit(panel, curve)
        for curve in panel.curves
    ]
    shares = np.linspace(0.0, 1.0, CURVE_POINTS)
    low = min(float(curve[0]) for curve in curves)
    high = max(float(np.interp(0.99, shares, curve)) for curve in curves) * 1.5
    low = max(low, high * 1e-4) * 0.95
    marks = (
        Curve(np.clip(curve, low, high * 2), shares, one.style, width=1.5, tip=one.label)
        for one, curve in zip(panel.curves, curves, strict=True)
    )
    return _shape(panel, _time_axis(panel, low, high), share_axis(""), marks)


def histogram_charts(group: FigureGroup) -> list[Chart]:
    """Draw histograms of all samples, one below the other, relative to the times of the table.

    With sizes there is a picture for each line and a histogram for each size; without, one picture and a
    histogram for each line.
    """
    pairs = [(line, item) for line in group.lines for item in line.items if (item.row.time or 0) > 0]
    if not group.is_sized:
        return [_ridge_chart("", [line.label for line, _ in pairs], pairs, "")] if pairs else []
    by_line: dict[str, list[tuple[FigureLine, Shown]]] = {}
    for line, item in pairs:
        by_line.setdefault(line.label, []).append((line, item))
    note = left_out_words(list(by_line)[MOST_PANELS:], "line")
    shown = list(by_line.items())[:MOST_PANELS]
    return [
        _ridge_chart(
            label if len(group.lines) > 1 else "",
            [f"{format_bytes(item.row.bytes)}, {format_time(item.row.time or 0)}" for _, item in members],
            members,
            note if number == len(shown) else "",
        )
        for number, (label, members) in enumerate(shown, start=1)
    ]


def _ridge_chart(
    title: str, names: Sequence[str], pairs: Sequence[tuple[FigureLine, Shown]], note: str
) -> Chart:
    """Draw a row for each item, or for as many as there is room for, with the first and the last.

    The axis ends at the last p99, or a triangle marks one beyond it.
    """
    if len(pairs) > MOST_RIDGES:
        chosen = np.linspace(0, len(pairs) - 1, MOST_RIDGES).round().astype(int).tolist()
        some = f"{MOST_RIDGES} of {len(pairs)} histograms are drawn, evenly chosen"
        names, pairs = [names[i] for i in chosen], [pairs[i] for i in chosen]
        note = "; ".join(part for part in (some, note) if part)
    ridges = [_ridge(*pair) for pair in pairs]
    edges = _ridge_edges(ridges)
    two_ways = any(item.row.get(Messages).ways is not None for _, item in pairs)
    feet = [
        -row + (RIDGE_HEIGHT / 2 if item.row.get(Messages).ways else 0.0)
        for row, (_, item) in enumerate(pairs)
    ]
    low, high = float(edges[0]), float(edges[-1])
    ticks = log_ticks(low, high, "{:g}".format)
    names_down = tuple(zip(feet, names, strict=True))
    row_height = 30 if two_ways or len(pairs) < 8 else 20
    return Chart(
        title=title,
        x=Axis("time per operation / median", low, high, ticks, is_log=True),
        y=Axis("", -len(pairs) + 0.9, 1.0, names_down),
        marks=(*_ridges(names, ridges, edges), *_beyond(pairs, edges)),
        height=60 + row_height * len(pairs),
        width=FULL if len(max(names, key=len)) > 24 else FULL // 2 - 12,
        note=note,
    )


def _ridges(names: Sequence[str], ridges: Sequence[Ridge], edges: FloatArray) -> Iterator[Mark]:
    """Make outlines, and marks of medians and p99; row r stands at -r.

    Messages there stand above the middle of their row, messages back hang below it.
    """
    for row, (name, ridge) in enumerate(zip(names, ridges, strict=True)):
        line, item, ways, median = ridge.line, ridge.item, ridge.ways, ridge.item.row.time or 1
        densities = [binned(way.series, way.ticks, edges * median) for way in ways]
        height = RIDGE_HEIGHT / len(ways)
        scale = height / max(float(density.max()) for density in densities)
        foot = -row + (height if len(ways) > 1 else 0.0)
        colours = line_style(line).colour, PALETTE[(line.colour + 1) % len(PALETTE)]
        each = zip(ways, ridge.quantiles, densities, colours, (1, -1), strict=False)
        for way, (_, middle, late), density, colour, sign in each:
            x, y = _outline(edges, density * scale)
            if not way.name:  # as the table has them
                middle, late = median, item.row.get(Samples).p99 or median
            tip = f"{name} {way.name}\nmedian {time_words(middle)}, p99 {time_words(late)}"
            yield Outline(x, foot + sign * y, colour, tip=tip)
            tip_height = foot + sign * height
            yield Bars([middle / median], [foot], [middle / median], [tip_height], INK)
            yield Bars([late / median], [foot], [late / median], [tip_height], LATE, dash="3 2")


def _beyond(pairs: Sequence[tuple[FigureLine, Shown]], edges: FloatArray) -> Iterator[Mark]:
    """Mark each p99 beyond the edge by a triangle."""
    rows = [
        row
        for row, (_, item) in enumerate(pairs)
        if (item.row.get(Samples).p99 or 0) > edges[-1] * (item.row.time or 1)
    ]
    if rows:
        heights = [-row + RIDGE_HEIGHT / 2 for row in rows]
        yield Dots([float(edges[-1]) * 0.985] * len(rows), heights, Style(LATE, marker="right"))


def _ridge_edges(ridges: Sequence[Ridge]) -> FloatArray:
    """Make bins even on a logarithmic axis of ratios to the median, from the lowest 1 % to the last
    p99.
    """
    ratios = [
        value / (ridge.item.row.time or 1)
        for ridge in ridges
        for low, _, high in ridge.quantiles
        for value in (low, high)
    ]
    low, high = max(min(ratios), RIDGE_START), min(max(ratios), RIDGE_END)
    return np.geomspace(min(low * 0.95, 0.9), max(high * 1.08, 1.12), BINS + 1)


def _outline(edges: FloatArray, heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Make the upper outline of a histogram's steps, closed at the foot, without empty ends and
    flat corners.
    """
    least = LEAST_BAR * heights.max()
    high = np.flatnonzero(heights > least) if heights.max() > 0 else np.zeros(1, dtype=int)
    first, last = int(high[0]), int(high[-1]) + 1
    x = np.repeat(edges[first : last + 1], 2)
    y = np.concatenate(([0.0], np.repeat(heights[first:last], 2), [0.0]))
    corner = np.ones(y.size, dtype=bool)
    corner[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return x[corner], y[corner]


@dataclass(frozen=True, slots=True)
class TailCurve:
    """Times, in ns or over the median, and the shares at or above them."""

    label: str
    style: Style
    times: FloatArray
    shares: FloatArray
    median: float


def tail_charts(group: FigureGroup) -> list[Chart]:
    """Draw the share of samples at or above a time, both axes logarithmic: how rare and how slow they are."""
    panels, left_out = shapes_of(group)
    return _with_note([_tail_chart(panel) for panel in panels], left_out, "tail")


def _tails(panel: ShapePanel, curve: ShapeCurve) -> Iterator[TailCurve]:
    """Make the curves of tails; messages back are dotted."""
    unit = _unit(panel, curve)
    for way in ways_of(curve.item):
        times, shares = exceeded(way.series, TAIL_POINTS)
        style = replace(curve.style, dash="2 3") if way.name == "back" else curve.style
        label = ", ".join(part for part in (curve.label, way.name) if part)
        yield TailCurve(label, style, times / unit, shares, (curve.item.row.time or 1.0) / unit)


def _tail_chart(panel: ShapePanel) -> Chart:
    """Draw tails; the axis begins at half the smallest median, below which all curves are at one."""
    curves = [tail for curve in panel.curves for tail in _tails(panel, curve)]
    low = 0.5 * min(curve.median for curve in curves)
    high = max(1.2 * max(float(curve.times[-1]) for curve in curves), 4 * low)
    least = min(float(curve.shares[-1]) for curve in curves)
    decades = [10.0**-power for power in range(0, 8, 2 if least < 1e-4 else 1) if 10.0**-power >= least / 1.5]
    y = Axis("", least / 1.5, 1.3, worded(decades, lambda share: f"{100 * share:.6g} %"), is_log=True)
    marks = (
        Curve(
            np.maximum(curve.times, low), curve.shares, curve.style, width=1.5, is_step=True, tip=curve.label
        )
        for curve in curves
    )
    return _shape(panel, _time_axis(panel, low, high), y, marks)
