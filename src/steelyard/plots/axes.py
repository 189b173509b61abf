"""What pictures share: axes, ticks, colours and the words at the pointer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from bokeh import models as bokeh_models
from bokeh import plotting as bokeh_plotting

from steelyard.groups import NONBLOCKING, PERSISTENT, Group, Line
from steelyard.row import Row
from steelyard.units import format_bytes
from steelyard.wording import bandwidth_words, interval_words, time_words, value_words

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
FIGURE: dict[str, Any] = {
    "sizing_mode": "stretch_width",
    "tools": "pan,box_zoom,wheel_zoom,reset,save",
    "toolbar_location": "above",
    "output_backend": "svg",
    "min_width": 260,
}
TOOLTIPS = [
    ("", "@label"),
    ("size", "@size"),
    ("median", "@median"),
    ("interval", "@interval"),
    ("p99", "@p99"),
    ("bandwidth", "@bandwidth"),
    ("flag", "@flag"),
]


def row_source(rows: Sequence[Row], group: Group, y: Sequence[float | None], label: str) -> Any:
    """Positions and tooltip texts of rows."""
    return models.ColumnDataSource(
        {
            "x": [position_of(row.bytes, group) for row in rows],
            "y": list(y),
            "label": [label] * len(rows),
            "size": [format_bytes(row.bytes) for row in rows],
            "median": [value_words(row) for row in rows],
            "interval": [interval_words(row.ci_low, row.ci_high, row.median) for row in rows],
            "p99": [time_words(row.p99) for row in rows],
            "bandwidth": [bandwidth_words(row) for row in rows],
            "flag": [" ".join(row.flags) for row in rows],
        }
    )


def line_style(line: Line) -> tuple[str, str]:
    """Colour and dash of a line."""
    return PALETTE[line.colour % len(PALETTE)], DASHES.get(line.form, "solid")


def position_of(size: int, group: Group) -> float:
    """log2 of a size; 0 bytes stand one octave left of the smallest other size."""
    if size > 0:
        return math.log2(size)
    least = min((one for one in group.sizes if one > 0), default=2)
    return math.log2(least) - 1.0


def size_figure(group: Group, label: str, values: Sequence[float], words: Words) -> Any:
    """An empty figure over sizes with a logarithmic y axis that fits `values`."""
    low, high = limits(values)
    positions = [position_of(size, group) for size in group.sizes]
    plot = figure(
        y_axis_type="log",
        x_range=models.Range1d(positions[0] - 0.5, positions[-1] + 0.5),
        y_range=models.Range1d(low, high),
        height=360,
        **FIGURE,
    )
    dress(plot)
    step = max(1, math.ceil(len(positions) / 9))
    ticks = [position for index, position in enumerate(positions) if index % step == 0]
    plot.xaxis.ticker = models.FixedTicker(ticks=ticks)
    names = {p: format_bytes(size) for p, size in zip(positions, group.sizes, strict=True)}
    plot.xaxis.major_label_overrides = {p: names[p] for p in ticks}
    plot.xaxis.axis_label = "size"
    plot.yaxis.axis_label = label
    label_ticks(plot.yaxis[0], low, high, words)
    return plot


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of a logarithmic axis, an eighth of its length beyond the values, and at least a factor of 2."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    margin = max(0.08 * (high - low), (0.30103 - (high - low)) / 2, 0.05)
    return 10 ** (low - margin), 10 ** (high + margin)


def label_ticks(axis: Any, low: float, high: float, words: Words, most: int = 8) -> None:
    """Labelled ticks of a logarithmic axis: round numbers first, finer ones where there is room."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    gap = math.log10(high / low) / most
    ticks: list[float] = []
    for step in TICK_STEPS:
        for decade in decades:
            tick = step * 10.0**decade
            if low <= tick <= high and all(abs(math.log10(tick / other)) >= gap for other in ticks):
                ticks.append(tick)
    set_ticks(axis, sorted(ticks) or [low], words)


def set_ticks(axis: Any, ticks: Sequence[float], words: Words) -> None:
    """Labelled ticks at given places."""
    axis.ticker = models.FixedTicker(ticks=list(ticks))
    axis.major_label_overrides = {tick: _short(words(tick)) for tick in ticks}


def name_axis(axis: Any, names: Sequence[str], most: int) -> None:
    """Every name, or every second or third where they are many."""
    step = max(1, -(-len(names) // most))
    axis.ticker = models.FixedTicker(ticks=list(range(0, len(names), step)))
    axis.major_label_overrides = {place: names[place] for place in range(0, len(names), step)}


def _short(text: str) -> str:
    """`10.0 us` as `10 us`: a tick is exact."""
    number, space, unit = text.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def dress(plot: Any) -> None:
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
