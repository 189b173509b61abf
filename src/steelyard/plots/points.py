"""Pictures of points: curves over sizes, dots without, and the launches behind them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steelyard.groups import Group, Line
from steelyard.plots.axes import (
    FIGURE,
    TOOLTIPS,
    dress,
    figure,
    label_ticks,
    limits,
    line_style,
    models,
    position_of,
    row_source,
    set_ticks,
    size_figure,
)
from steelyard.row import Row
from steelyard.units import format_bytes, format_rate, format_time
from steelyard.wording import AT_LEAST, AT_MOST, method_words

RATIO_TICKS = (*np.arange(2, 13) / 10, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0)
FAR_APART = 10.0  # launches, slowest over fastest, from which the ticks above would be too many
MARKERS = {AT_MOST: "inverted_triangle", AT_LEAST: "triangle"}


def latency_figure(group: Group) -> Any:
    """Median time per operation against size, logarithmic axes, with the confidence band of each line.

    Hollow marks are points whose flag is not SETTLED, short bars their modes, crosses at the foot failed
    points. Triangles are bounds and point to where the truth is; between two of one point there is a band.
    """
    rows = [item.row for line in group.lines for item in line.items]
    values = [x for row in rows for x in (row.median, row.ci_low, row.ci_high, *(m.value for m in row.modes))]
    values += [_lower_bound(row) for row in rows]
    plot = size_figure(group, "time per operation", [x for x in values if x is not None], format_time)
    foot = float(plot.y_range.start) * 1.03
    marks = []
    for line in group.lines:
        colour, dash = line_style(line)
        good = [item.row for item in line.items if item.row.median is not None and item.row.median > 0]
        x = [position_of(row.bytes, group) for row in good]
        low = [max(row.ci_low, foot) if row.ci_low is not None else row.median for row in good]
        high = [row.ci_high if row.ci_high is not None else row.median for row in good]
        plot.varea(x=x, y1=low, y2=high, fill_color=colour, fill_alpha=0.15)
        source = row_source(good, group, [row.median for row in good], line.label)
        source.data["fill"] = [colour if row.flag == "SETTLED" else "white" for row in good]
        plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=dash)
        marks.append(
            plot.scatter(
                "x",
                "y",
                source=source,
                size=7,
                marker=_marker(line),
                line_color=colour,
                fill_color="fill",
                line_width=1.5,
            )
        )
        _lower_bounds(plot, colour, [row for row in good if _lower_bound(row)], group)
        several = [(row.bytes, mode.value) for row in good if len(row.modes) > 1 for mode in row.modes]
        _bars(plot, colour, [(position_of(size, group), value) for size, value in several])
        lost = [position_of(item.row.bytes, group) for item in line.items if item.row.status == "failed"]
        if lost:
            plot.scatter(lost, [foot] * len(lost), marker="x", size=11, line_color=colour, line_width=2.5)
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=TOOLTIPS))
    return plot


def _lower_bound(row: Row) -> float | None:
    """The lower end, where the median is an upper one."""
    return row.low_ns if method_words(row).sign == AT_MOST and row.low_ns and row.low_ns > 0 else None


def _marker(line: Line) -> str:
    return MARKERS.get(method_words(line.items[0].row).sign, "circle")


def _lower_bounds(plot: Any, colour: str, rows: list[Row], group: Group) -> None:
    """Triangles at what operations take at least, and a band up to what they take at most."""
    if rows:
        x, low = [position_of(row.bytes, group) for row in rows], [row.low_ns for row in rows]
        plot.varea(x=x, y1=low, y2=[row.median for row in rows], fill_color=colour, fill_alpha=0.08)
        plot.line(x, low, line_color=colour, line_width=1, line_alpha=0.6)
        plot.scatter(x, low, marker=MARKERS[AT_LEAST], size=7, line_color=colour, fill_color=colour)


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
    plot = size_figure(group, "bandwidth", rates, format_rate)
    marks = []
    for line in group.lines:
        colour, dash = line_style(line)
        good = [item.row for item in line.items if item.row.bandwidth]
        source = row_source(good, group, [row.bandwidth for row in good], line.label)
        plot.line("x", "y", source=source, color=colour, line_width=2, line_dash=dash)
        turned = {"triangle": "inverted_triangle", "inverted_triangle": "triangle"}
        marker = turned.get(_marker(line), "circle")  # what takes at most so long is at least so fast
        marks.append(plot.scatter("x", "y", source=source, size=6, marker=marker, color=colour))
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=TOOLTIPS))
    return plot


def dots_figure(group: Group) -> Any:
    """Ops that have no curve, a row each: median (mark), interval (bar), medians of launches (pale dots)."""
    rows = [(line, item.row) for line in group.lines for item in line.items]
    shown = [(line, row) for line, row in rows if row.median is not None and row.median > 0]
    values = [x for _, row in shown for x in (row.median, row.ci_low, row.ci_high, *_launch_medians(row))]
    values += [_lower_bound(row) for _, row in shown]
    low, high = limits([x for x in values if x is not None])
    labels = list(dict.fromkeys(line.label for line, _ in rows))
    plot = figure(
        y_range=labels[::-1],
        x_axis_type="log",
        x_range=models.Range1d(low, high),
        height=90 + 26 * len(labels),
        **FIGURE,
    )
    dress(plot)
    label_ticks(plot.xaxis[0], low, high, format_time)
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
        source = row_source([row], group, [row.median], line.label)
        marks.append(
            plot.scatter(
                "y",
                "label",
                source=source,
                size=8,
                marker=_marker(line),
                line_color=colour,
                fill_color=fill,
            )
        )
        if (least := _lower_bound(row)) is not None:
            plot.line([least, row.median], [line.label] * 2, line_color=colour, line_width=1)
            plot.scatter([least], [line.label], marker=MARKERS[AT_LEAST], size=8, color=colour)
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=TOOLTIPS))
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


def launches_figure(group: Group) -> Any:
    """The median of each launch relative to the median over launches: clusters are modes between launches."""
    labels = [format_bytes(size) for size in group.sizes]
    plot = figure(x_range=labels, y_axis_type="log", height=300, **FIGURE)
    dress(plot)
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
    if high / low > FAR_APART:
        label_ticks(plot.yaxis[0], low, high, "{:g}".format)
    else:
        set_ticks(plot.yaxis[0], [tick for tick in RATIO_TICKS if low <= tick <= high], "{:g}".format)
    return plot
