"""Pictures: Bokeh figures of groups of rows. Nothing is loaded from a network when they are shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh import models as bokeh_models
from bokeh import plotting as bokeh_plotting

from steelyard.groups import NONBLOCKING, PERSISTENT, Group, Item, Line
from steelyard.results import Row
from steelyard.units import format_bytes, format_rate, format_time
from steelyard.wording import interval_words, rate_words, time_words

Words = Callable[[float], str]
models: Any = bokeh_models  # Bokeh's annotations do not describe how its models are made
figure: Any = bokeh_plotting.figure

PALETTE = (
    "#0b5fa5",
    "#c4520a",
    "#1b7f4d",
    "#8c3fa0",
    "#7a6a00",
    "#b3174d",
    "#3b8ea5",
    "#5b5b5b",
)  # dark on white
DASHES = {NONBLOCKING: "dashed", PERSISTENT: "dotted"}
INK, GREY, PALE = "#1c1c1c", "#6b6b6b", "#e4e4e4"
TICK_STEPS = (1.0, 3.0, 2.0, 5.0, 1.5, 7.0, 2.5, 4.0, 6.0, 8.0, 9.0, 1.2, 1.1, 1.3, 1.4, 1.7, 3.5, 4.5, 5.5)
RATIO_TICKS = (*np.arange(2, 13) / 10, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0)
CURVE_POINTS = 200  # of a distribution: finer than a screen shows
MOST_SIZES = 4  # small multiples of distributions in one row
MOST_SHAPES = 12  # pictures of distributions for ops without sizes
MOST_CURVES = 12  # in one picture of distributions


def latency_figure(group: Group) -> Any:
    """Median time per operation against size, logarithmic axes, with the confidence band of each line.

    Hollow marks are points whose flag is not SETTLED, short bars their modes, crosses at the foot failed
    points.
    """
    rows = [item.row for line in group.lines for item in line.items]
    values = [x for row in rows for x in (row.median, row.ci_low, row.ci_high, *(m.value for m in row.modes))]
    plot = _size_figure(group, "time per operation", [x for x in values if x is not None], format_time)
    foot = float(plot.y_range.start) * 1.03
    marks = []
    for line in group.lines:
        colour, dash = line_style(line)
        good = [item.row for item in line.items if item.row.median is not None and item.row.median > 0]
        x = [_position(row.bytes, group) for row in good]
        low = [max(row.ci_low, foot) if row.ci_low is not None else row.median for row in good]
        high = [row.ci_high if row.ci_high is not None else row.median for row in good]
        plot.varea(x=x, y1=low, y2=high, fill_color=colour, fill_alpha=0.15)
        source = _source(good, group, [row.median for row in good], line.label)
        source.data["fill"] = [colour if row.flag == "SETTLED" else "white" for row in good]
        plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=dash)
        marks.append(
            plot.scatter(
                "x", "y", source=source, size=7, line_color=colour, fill_color="fill", line_width=1.5
            )
        )
        several = [(row.bytes, mode.value) for row in good if len(row.modes) > 1 for mode in row.modes]
        _bars(plot, colour, [(_position(size, group), value) for size, value in several])
        lost = [_position(item.row.bytes, group) for item in line.items if item.row.status == "failed"]
        if lost:
            plot.scatter(lost, [foot] * len(lost), marker="x", size=11, line_color=colour, line_width=2.5)
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=_TOOLTIPS))
    return plot


def _bars(plot: Any, colour: str, places: list[tuple[float, float]]) -> None:
    """A short bar at each place: the value of a mode."""
    if places:
        x, y = zip(*places, strict=True)
        plot.scatter(list(x), list(y), marker="dash", size=16, line_color=colour, line_width=2.5)


def bandwidth_figure(group: Group) -> Any | None:
    """Bandwidth against size, logarithmic axes; None where nothing moves bytes."""
    rates = [item.row.bandwidth for line in group.lines for item in line.items if item.row.bandwidth]
    if not rates:
        return None
    plot = _size_figure(group, "bandwidth", rates, format_rate)
    marks = []
    for line in group.lines:
        colour, dash = line_style(line)
        good = [item.row for item in line.items if item.row.bandwidth]
        source = _source(good, group, [row.bandwidth for row in good], line.label)
        plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=dash)
        marks.append(plot.scatter("x", "y", source=source, size=6, color=colour))
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=_TOOLTIPS))
    return plot


def dots_figure(group: Group) -> Any:
    """Ops that have no curve, a row each: median (mark), interval (bar), medians of launches (pale dots)."""
    rows = [(line, item.row) for line in group.lines for item in line.items]
    shown = [(line, row) for line, row in rows if row.median is not None and row.median > 0]
    values = [x for _, row in shown for x in (row.median, row.ci_low, row.ci_high, *_launch_medians(row))]
    low, high = _limits([x for x in values if x is not None])
    labels = list(dict.fromkeys(line.label for line, _ in rows))
    plot = figure(
        y_range=labels[::-1],
        x_axis_type="log",
        x_range=models.Range1d(low, high),
        height=90 + 26 * len(labels),
        **_FIGURE,
    )
    _dress(plot)
    _ticks(plot.xaxis[0], low, high, format_time)
    plot.xaxis.axis_label = "time per operation"
    marks = []
    for line, row in shown:
        colour, _ = line_style(line)
        ends = [max(row.ci_low, low) if row.ci_low is not None else row.median, row.ci_high or row.median]
        plot.line(ends, [line.label] * 2, line_color=colour, line_width=6, line_alpha=0.3)
        medians = _launch_medians(row)
        plot.scatter(medians, [line.label] * len(medians), size=6, color=colour, alpha=0.35)
        _level_bars(plot, colour, line.label, row)
        fill = colour if row.flag == "SETTLED" else "white"
        source = _source([row], group, [row.median], line.label)
        marks.append(plot.scatter("y", "label", source=source, size=8, line_color=colour, fill_color=fill))
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=_TOOLTIPS))
    return plot


def _launch_medians(row: Row) -> list[float]:
    return [one.median for one in row.launches if one.median is not None and row.launch_count > 1]


def _level_bars(plot: Any, colour: str, label: str, row: Row) -> None:
    """An upright bar at each mode of a row that has several."""
    if len(row.modes) > 1:
        values = [mode.value for mode in row.modes]
        plot.scatter(
            values,
            [label] * len(values),
            marker="dash",
            angle=math.pi / 2,
            size=14,
            line_color=colour,
            line_width=2.5,
        )


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
    curves = [_curve(item) for _, item in pairs]
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
        **_FIGURE,
    )
    _dress(plot)
    _ticks(plot.xaxis[0], low, high, format_time, most=4)
    plot.xaxis.axis_label = "time per operation"
    plot.yaxis.axis_label = "share of observations"
    for (line, _), curve in zip(pairs, curves, strict=True):
        colour, dash = line_style(line)
        source = models.ColumnDataSource(
            {"x": np.maximum(curve, low).astype(np.float32), "y": shares.astype(np.float32)}
        )
        plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=dash)
    return plot


def _curve(item: Item) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Quantiles of the observations of good launches, each weighing alike, shape (CURVE_POINTS,)."""
    series = [cell.values for cell in item.point.cells if cell.status == "ok"]
    pooled = np.concatenate(series)
    weights = np.concatenate([np.full(values.size, 1.0 / values.size) for values in series])
    order = np.argsort(pooled)
    shares = np.cumsum(weights[order]) / len(series)
    where = np.searchsorted(shares, np.linspace(0.0, 1.0, CURVE_POINTS) - 1e-9)
    return np.asarray(pooled[order][np.minimum(where, pooled.size - 1)])


def launches_figure(group: Group) -> Any:
    """The median of each launch relative to the median over launches: clusters are modes between launches."""
    labels = [format_bytes(size) for size in group.sizes]
    plot = figure(x_range=labels, y_axis_type="log", height=300, **_FIGURE)
    _dress(plot)
    plot.yaxis.axis_label = "launch median / median"
    ratios: list[float] = []
    marks = []
    for number, line in enumerate(group.lines):
        colour, _ = line_style(line)
        offset = 0.7 * ((number + 0.5) / len(group.lines) - 0.5)
        dots = [
            ((format_bytes(item.row.bytes), offset), one.median / item.row.median, one.launch, one.median)
            for item in line.items
            for one in item.row.launches
            if item.row.median and item.row.median > 0 and one.median is not None and one.median > 0
        ]
        if not dots:
            continue
        x, y, launch, value = (list(column) for column in zip(*dots, strict=True))
        ratios += y
        words = {"x": x, "y": y, "launch": launch, "median": [format_time(one) for one in value]}
        source = models.ColumnDataSource({**words, "label": [line.label] * len(x)})
        marks.append(
            plot.scatter("x", "y", source=source, size=7, color=colour, fill_alpha=0.45, line_alpha=0.8)
        )
    tips = [("", "@label"), ("launch", "@launch"), ("median", "@median")]
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=tips))
    low, high = min([0.8, *ratios]) / 1.05, max([1.25, *ratios]) * 1.05
    plot.y_range = models.Range1d(low, high)
    _set_ticks(plot.yaxis[0], [tick for tick in RATIO_TICKS if low <= tick <= high], "{:g}".format)
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


_FIGURE: dict[str, Any] = {
    "sizing_mode": "stretch_width",
    "tools": "pan,box_zoom,wheel_zoom,reset,save",
    "toolbar_location": "above",
    "output_backend": "svg",
    "min_width": 260,
}
_TOOLTIPS = [
    ("", "@label"),
    ("size", "@size"),
    ("median", "@median"),
    ("interval", "@interval"),
    ("p99", "@p99"),
    ("bandwidth", "@bandwidth"),
    ("flag", "@flag"),
]


def _source(rows: Sequence[Row], group: Group, y: Sequence[float | None], label: str) -> Any:
    """Positions and tooltip texts of rows."""
    return models.ColumnDataSource(
        {
            "x": [_position(row.bytes, group) for row in rows],
            "y": list(y),
            "label": [label] * len(rows),
            "size": [format_bytes(row.bytes) for row in rows],
            "median": [time_words(row.median) for row in rows],
            "interval": [interval_words(row.ci_low, row.ci_high) for row in rows],
            "p99": [time_words(row.p99) for row in rows],
            "bandwidth": [rate_words(row.bandwidth) for row in rows],
            "flag": [" ".join(row.flags) for row in rows],
        }
    )


def line_style(line: Line) -> tuple[str, str]:
    """Colour and dash of a line."""
    return PALETTE[line.colour % len(PALETTE)], DASHES.get(line.form, "solid")


def _position(size: int, group: Group) -> float:
    """log2 of a size; 0 bytes stand one octave left of the smallest other size."""
    if size > 0:
        return math.log2(size)
    least = min((one for one in group.sizes if one > 0), default=2)
    return math.log2(least) - 1.0


def _size_figure(group: Group, label: str, values: Sequence[float], words: Words) -> Any:
    """An empty figure over sizes with a logarithmic y axis that fits `values`."""
    low, high = _limits(values)
    positions = [_position(size, group) for size in group.sizes]
    plot = figure(
        y_axis_type="log",
        x_range=models.Range1d(positions[0] - 0.5, positions[-1] + 0.5),
        y_range=models.Range1d(low, high),
        height=360,
        **_FIGURE,
    )
    _dress(plot)
    step = max(1, math.ceil(len(positions) / 9))
    ticks = [position for index, position in enumerate(positions) if index % step == 0]
    plot.xaxis.ticker = models.FixedTicker(ticks=ticks)
    names = {p: format_bytes(size) for p, size in zip(positions, group.sizes, strict=True)}
    plot.xaxis.major_label_overrides = {p: names[p] for p in ticks}
    plot.xaxis.axis_label = "size"
    plot.yaxis.axis_label = label
    _ticks(plot.yaxis[0], low, high, words)
    return plot


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of a logarithmic axis, an eighth of its length beyond the values, and at least a factor of 2."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    margin = max(0.08 * (high - low), (0.30103 - (high - low)) / 2, 0.05)
    return 10 ** (low - margin), 10 ** (high + margin)


def _ticks(axis: Any, low: float, high: float, words: Words, most: int = 8) -> None:
    """Labelled ticks of a logarithmic axis: round numbers first, finer ones where there is room."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    gap = math.log10(high / low) / most
    ticks: list[float] = []
    for step in TICK_STEPS:
        for decade in decades:
            tick = step * 10.0**decade
            if low <= tick <= high and all(abs(math.log10(tick / other)) >= gap for other in ticks):
                ticks.append(tick)
    _set_ticks(axis, sorted(ticks) or [low], words)


def _set_ticks(axis: Any, ticks: Sequence[float], words: Words) -> None:
    axis.ticker = models.FixedTicker(ticks=list(ticks))
    axis.major_label_overrides = {tick: _short(words(tick)) for tick in ticks}


def _short(text: str) -> str:
    """`10.0 us` as `10 us`: a tick is exact."""
    number, space, unit = text.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def _dress(plot: Any) -> None:
    """Sober: thin grid, no frame, dark text."""
    plot.outline_line_color = None
    plot.grid.grid_line_color = PALE
    plot.axis.axis_line_color = GREY
    plot.axis.major_tick_line_color = GREY
    plot.axis.minor_tick_line_color = None
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_color = INK
    plot.axis.major_label_text_color = INK
    plot.axis.axis_label_text_font_size = "12px"
    plot.axis.major_label_text_font_size = "11px"
    plot.title.text_font_style = "normal"
    plot.title.text_font_size = "12px"
    plot.title.text_color = INK
    plot.toolbar.autohide = True
    plot.toolbar.logo = None
