"""Pictures of distributions: cumulated, as histograms, and their tails. Binned here: no sample is shipped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.groups import Group, Item, Line
from steelyard.observations import Cell
from steelyard.plots.axes import (
    FIGURE,
    INK,
    PALETTE,
    dress,
    figure,
    label_ticks,
    line_style,
    models,
    set_ticks,
)
from steelyard.stats import binned, cumulated, exceeded, quantile
from steelyard.units import format_bytes, format_time
from steelyard.wording import time_words

FloatArray = NDArray[np.float64]

CURVE_POINTS = 200  # of a distribution: finer than a screen shows
TAIL_POINTS = 160  # of a tail: 32 for each power of ten down to a hundred thousandth
BINS = 120  # of a histogram, across its picture
MOST_SIZES = 4  # small multiples of distributions in one row
MOST_SHAPES = 12  # pictures of distributions for ops without sizes
MOST_CURVES = 12  # in one picture of distributions
MOST_RIDGES = 8  # pictures of histograms in a group, a line each
RIDGE_HEIGHT = 0.86  # of a histogram, in rows
LEAST_BAR = 0.004  # of the highest bar: what is lower is not drawn
RIDGE_START, RIDGE_END = 0.2, 10.0  # medians that the picture of histograms may reach down and up to
P99 = "#b3174d"


def distribution_figures(group: Group) -> list[Any]:
    """Cumulated distributions of all observations; modes are steps. One for each of a few sizes, or op."""
    pairs = [(line, item) for line in group.lines for item in line.items if (item.row.median or 0) > 0]
    by_title: dict[str, list[tuple[Line, Item]]] = {}
    sizes = chosen_sizes(group)
    for line, item in pairs:
        if not group.is_sized:
            by_title.setdefault(item.row.op, []).append((line, item))
        elif item.row.bytes in sizes:
            by_title.setdefault(format_bytes(item.row.bytes), []).append((line, item))
    chosen = list(by_title.items())[:MOST_SHAPES]
    return [_distribution_figure(members[:MOST_CURVES], title) for title, members in chosen]


def _distribution_figure(pairs: Sequence[tuple[Line, Item]], title: str) -> Any:
    """One size. The axis ends at three times p99: beyond is what the table's `max` says."""
    curves = [cumulated([cell.values for cell in good_cells(item)], CURVE_POINTS) for _, item in pairs]
    shares = np.linspace(0.0, 1.0, CURVE_POINTS)
    low = min(float(curve[0]) for curve in curves)
    high = max(float(np.interp(0.99, shares, curve)) for curve in curves) * 1.5
    low = max(low, high * 1e-4) * 0.95
    plot = figure(
        x_axis_type="log",
        x_range=models.Range1d(low, high),
        y_range=models.Range1d(-0.02, 1.02),
        height=280,
        title=title,
        **FIGURE,
    )
    dress(plot)
    label_ticks(plot.xaxis[0], low, high, format_time, most=4)
    plot.xaxis.axis_label = "time per operation"
    plot.yaxis.axis_label = "share of observations"
    for (line, _), curve in zip(pairs, curves, strict=True):
        colour, dash = line_style(line)
        source = models.ColumnDataSource(
            {"x": np.maximum(curve, low).astype(np.float32), "y": shares.astype(np.float32)}
        )
        plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=dash)
    return plot


def chosen_sizes(group: Group) -> tuple[int, ...]:
    """A few sizes for distributions: the ends, those with several modes, and some between."""
    sizes = list(group.sizes)
    if len(sizes) <= MOST_SIZES:
        return tuple(sizes)
    moded = {item.row.bytes for line in group.lines for item in line.items if len(item.row.modes) > 1}
    picked = {sizes[0], sizes[-1]}
    spread = [sizes[round(i * (len(sizes) - 1) / (MOST_SIZES - 1))] for i in range(MOST_SIZES)]
    for size in [*sorted(moded), *spread]:
        if len(picked) < MOST_SIZES:
            picked.add(size)
    return tuple(sorted(picked))


def good_cells(item: Item) -> list[Cell]:
    """The launches of a point that ended well and have values."""
    return [cell for cell in item.point.cells if cell.status == "ok" and cell.values.size]


@dataclass(frozen=True, slots=True)
class Way:
    """The values of a point, launch by launch: all, or the messages of one direction."""

    name: str
    series: tuple[FloatArray, ...]
    ticks: tuple[float, ...]

    def quantile(self, probability: float) -> float:
        """Of all launches together, as the table has it."""
        return quantile(np.concatenate(self.series), (probability,), float(np.median(self.ticks)))[0]


def ways_of(item: Item) -> tuple[Way, ...]:
    """There and back where each message is timed, else all values."""
    cells = good_cells(item)
    ticks = tuple(cell.taken.tick for cell in cells)
    if item.row.ways is None:
        return (Way("", tuple(cell.values for cell in cells), ticks),)
    cells = [cell for cell in cells if cell.values.size > 1]
    there, back = (tuple(cell.values[way::2] for cell in cells) for way in (0, 1))
    return Way("there", there, ticks[: len(cells)]), Way("back", back, ticks[: len(cells)])


def _shown(items: Sequence[tuple[Line, Item]]) -> list[tuple[Line, Item]]:
    return [(line, item) for line, item in items if (item.row.median or 0) > 0]


def histogram_figures(group: Group) -> list[Any]:
    """Histograms of all observations, one below the other.

    With sizes, a picture for each line and a histogram for each size; without, one picture, a histogram for
    each op. All are relative to their medians, so that those of 100 ns and of 10 ms have one axis.
    """
    if not group.is_sized:
        pairs = _shown([(line, item) for line in group.lines for item in line.items])
        return [_ridge_figure("", [line.label for line, _ in pairs], pairs)] if pairs else []
    figures: list[Any] = []
    for line in group.lines:
        pairs = _shown([(line, item) for item in line.items])
        if pairs and len(figures) < MOST_RIDGES:
            names = [
                f"{format_bytes(item.row.bytes)}, {format_time(item.row.median or 0)}" for _, item in pairs
            ]
            figures.append(_ridge_figure(line.label if len(group.lines) > 1 else "", names, pairs))
    return figures


def _ridge_figure(title: str, names: Sequence[str], pairs: Sequence[tuple[Line, Item]]) -> Any:
    """A row for each item. The axis ends where the last p99 does, or a triangle says that it lies beyond."""
    edges = _ridge_edges([item for _, item in pairs])
    two_ways = any(item.row.ways is not None for _, item in pairs)
    row_height = 30 if two_ways or len(pairs) < 8 else 22
    plot = figure(
        x_axis_type="log",
        x_range=models.Range1d(edges[0], edges[-1]),
        y_range=models.Range1d(-len(pairs) + 0.9, 1.0),
        height=110 + row_height * len(pairs),
        **({"title": title} if title else {}),
        **FIGURE,
    )
    dress(plot)
    label_ticks(plot.xaxis[0], edges[0], edges[-1], "{:g}".format)
    feet = [-row + (RIDGE_HEIGHT / 2 if item.row.ways else 0.0) for row, (_, item) in enumerate(pairs)]
    plot.yaxis.ticker = models.FixedTicker(ticks=feet)
    plot.yaxis.major_label_overrides = dict(zip(feet, names, strict=True))
    plot.xaxis.axis_label = "time per operation / median"
    shapes, marks = _ridges(names, pairs, edges)
    drawn = plot.patches(
        "x",
        "y",
        source=models.ColumnDataSource(shapes),
        fill_color="colour",
        fill_alpha=0.55,
        line_color=None,
    )
    for colour, places in marks.items():
        x, y0, y1 = (np.asarray(column, dtype=np.float32) for column in zip(*places, strict=True))
        plot.segment(x0=x, x1=x, y0=y0, y1=y1, line_color=colour, line_width=1.5)
        beyond = x > edges[-1]
        if beyond.any():
            at = {"x": np.full(int(beyond.sum()), edges[-1] * 0.98), "y": ((y0 + y1) / 2)[beyond]}
            plot.scatter(**at, marker="triangle", angle=-math.pi / 2, size=7, color=colour)
    tips = [("", "@label"), ("", "@way"), ("median", "@median"), ("p99", "@p99")]
    plot.add_tools(models.HoverTool(renderers=[drawn], tooltips=tips if two_ways else [tips[0], *tips[2:]]))
    return plot


def _ridges(
    names: Sequence[str], pairs: Sequence[tuple[Line, Item]], edges: FloatArray
) -> tuple[dict[str, list[Any]], dict[str, list[tuple[float, float, float]]]]:
    """Outlines with what the pointer says, and marks (x, foot, tip) by colour; row r stands at -r.

    Messages there stand above the middle of their row, messages back hang below it.
    """
    shapes: dict[str, list[Any]] = {key: [] for key in ("x", "y", "colour", "label", "way", "median", "p99")}
    marks: dict[str, list[tuple[float, float, float]]] = {INK: [], P99: []}
    for row, (name, (line, item)) in enumerate(zip(names, pairs, strict=True)):
        ways, median = ways_of(item), item.row.median or 1
        densities = [binned(way.series, way.ticks, edges * median) for way in ways]
        height = RIDGE_HEIGHT / len(ways)
        scale = height / max(float(density.max()) for density in densities)
        foot = -row + (height if len(ways) > 1 else 0.0)
        colours = line_style(line)[0], PALETTE[(line.colour + 1) % len(PALETTE)]
        for way, density, colour, sign in zip(ways, densities, colours, (1, -1), strict=False):
            x, y = _outline(edges, density * scale)
            middle = way.quantile(0.5) if way.name else median
            late = way.quantile(0.99) if way.name else item.row.p99 or median
            for key, value in (("colour", colour), ("label", name), ("way", way.name)):
                shapes[key].append(value)
            shapes["x"].append(x)
            shapes["y"].append((foot + sign * y).astype(np.float32))
            shapes["median"].append(time_words(middle))
            shapes["p99"].append(time_words(late))
            marks[INK].append((middle / median, foot, foot + sign * height))
            marks[P99].append((late / median, foot, foot + sign * height))
    return shapes, marks


def _ridge_edges(items: Sequence[Item]) -> FloatArray:
    """Bins even on a logarithmic axis of ratios to the median, from the lowest 1 % to the last p99."""
    ratios = [
        way.quantile(probability) / (item.row.median or 1)
        for item in items
        for way in ways_of(item)
        for probability in (0.01, 0.99)
    ]
    low, high = max(min(ratios), RIDGE_START), min(max(ratios), RIDGE_END)
    return np.geomspace(min(low * 0.95, 0.9), max(high * 1.08, 1.12), BINS + 1)


def _outline(edges: FloatArray, heights: FloatArray) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The upper outline of a histogram's steps, closed at the foot, without empty ends."""
    high = (
        np.flatnonzero(heights > LEAST_BAR * heights.max()) if heights.max() > 0 else np.zeros(1, dtype=int)
    )
    first, last = int(high[0]), int(high[-1]) + 1
    x = np.repeat(edges[first : last + 1], 2)
    y = np.concatenate(([0.0], np.repeat(heights[first:last], 2), [0.0]))
    return x.astype(np.float32), y.astype(np.float32)


def tail_figures(group: Group) -> list[Any]:
    """The share of observations at or above a time, both axes logarithmic: what is rare, and how slow it is.

    Several lines with sizes: a picture for each of a few sizes, a curve for each line. Else one picture, a
    curve for each size or op, relative to its median.
    """
    lines = [line for line in group.lines if _shown([(line, item) for item in line.items])]
    sizes = chosen_sizes(group)
    if group.is_sized and len(lines) > 1:
        figures = []
        for size in sizes:
            pairs = _shown([(line, item) for line in lines for item in line.items if item.row.bytes == size])
            curves = [one for line, item in pairs[:MOST_CURVES] for one in _line_tails(line, item)]
            if curves:
                figures.append(_tail_figure(curves, format_bytes(size), is_relative=False))
        return figures
    pairs = _shown([(line, item) for line in lines for item in line.items])
    if group.is_sized:
        pairs = [(line, item) for line, item in pairs if item.row.bytes in sizes]
        curves = [one for number, (_, item) in enumerate(pairs) for one in _size_tails(number, item)]
    else:
        curves = [one for line, item in pairs[:MOST_CURVES] for one in _line_tails(line, item)]
    return [_tail_figure(curves, "", is_relative=True)] if curves else []


@dataclass(frozen=True, slots=True)
class Tail:
    """A curve: times in ns, the shares at or above them, and the median that they may be held against."""

    label: str
    name: str  # in the legend; none where colours are known from elsewhere
    colour: str
    dash: str
    times: FloatArray
    shares: FloatArray
    median: float


def _line_tails(line: Line, item: Item) -> Iterator[Tail]:
    colour, dash = line_style(line)
    for way in ways_of(item):
        times, shares = exceeded(way.series, TAIL_POINTS)
        style = "dotted" if way.name == "back" else dash
        label = f"{line.label}, {way.name}" if way.name else line.label
        yield Tail(label, "", colour, style, times, shares, item.row.median or 1)


def _size_tails(number: int, item: Item) -> Iterator[Tail]:
    for way in ways_of(item):
        times, shares = exceeded(way.series, TAIL_POINTS)
        name = f"{format_bytes(item.row.bytes)} {way.name}".strip()
        style = "dotted" if way.name == "back" else "solid"
        yield Tail(name, name, PALETTE[number % len(PALETTE)], style, times, shares, item.row.median or 1)


def _tail_figure(curves: Sequence[Tail], title: str, is_relative: bool) -> Any:
    """One size or all. The axis begins at half the smallest median: below, all curves are at one."""
    scales = [curve.median if is_relative else 1.0 for curve in curves]
    low = 0.5 * min(curve.median / scale for curve, scale in zip(curves, scales, strict=True))
    high = 1.2 * max(float(curve.times[-1]) / scale for curve, scale in zip(curves, scales, strict=True))
    high = max(high, 4 * low)
    least = min(float(curve.shares[-1]) for curve in curves)
    plot = figure(
        x_axis_type="log",
        y_axis_type="log",
        x_range=models.Range1d(low, high),
        y_range=models.Range1d(least / 1.5, 1.3),
        height=280,
        **({"title": title} if title else {}),
        **FIGURE,
    )
    dress(plot)
    words, most = ("{:g}".format, 8) if is_relative else (format_time, 3)
    label_ticks(plot.xaxis[0], low, high, words, most)
    decades = [10.0**-power for power in range(8) if 10.0**-power >= least / 1.5]
    set_ticks(plot.yaxis[0], decades, lambda share: f"{100 * share:.6g} %")
    plot.xaxis.axis_label = "time per operation / median" if is_relative else "time per operation"
    plot.yaxis.axis_label = "share at or above"
    drawn = []
    for curve, scale in zip(curves, scales, strict=True):
        x = np.maximum(curve.times / scale, low).astype(np.float32)
        source = models.ColumnDataSource({"x": x, "y": curve.shares.astype(np.float32)})
        named = {"legend_label": curve.name} if curve.name else {}
        drawn.append(
            plot.step(
                "x",
                "y",
                mode="before",
                source=source,
                color=curve.colour,
                line_dash=curve.dash,
                line_width=2,
                name=curve.label,
                **named,
            )
        )
    for legend in plot.legend:  # above the curves, which fall to the right
        legend.location = "top_right"
        legend.ncols = 1 if len(legend.items) <= MOST_SIZES else 2
        legend.border_line_color = None
        legend.background_fill_alpha = 0.7
        legend.label_text_font_size = "11px"
        legend.label_text_color = INK
        legend.padding, legend.spacing = 2, 0
    plot.add_tools(
        models.HoverTool(renderers=drawn, tooltips=[("", "$name"), ("at or above", "@y{0.[00000] %}")])
    )
    return plot
