"""Pictures of open loops: quantiles of latencies over the rate at which messages are offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.open_loop.model import QUANTILES, OpenLoop
from steelyard.analyses.open_loop.tables import open_loop_labels
from steelyard.base.units import format_count_rate, format_time
from steelyard.render.axes import drawn_ends, limits, log_axis, style_of, worded
from steelyard.render.chart import Axis, Bars, Chart, Curve, Dots, Key, Mark, Style
from steelyard.stats import Interval

_Points = list[tuple[float, Interval]]


def open_loop_charts(loops: Sequence[OpenLoop]) -> list[Chart]:
    """Draw a picture for each op, size, team and MPI, a line for each quantile."""
    labels = open_loop_labels(loops)
    return [_chart(labels.label(i), loop) for i, loop in enumerate(loops)]


def _chart(name: str, loop: OpenLoop) -> Chart:
    rates = [load.offered or 0.0 for load in loop.loads]
    lines: dict[str, _Points] = {
        quantile: [
            (load.offered or 0.0, load.quantiles[quantile])
            for load in loop.loads
            if quantile in load.quantiles
        ]
        for quantile in QUANTILES
    }
    drawn = {quantile: points for quantile, points in lines.items() if points}
    values = [
        value
        for points in drawn.values()
        for _, of in points
        for value in (of.value, *drawn_ends(of.value, of.low, of.high))
    ]
    low, high = limits([rates[0], rates[-1]])
    return Chart(
        title=", ".join(part for part in ("open loop", name) if part),
        x=Axis("offered messages a second", low, high, worded(rates, format_count_rate), is_log=True),
        y=log_axis("from when it was due", values, format_time),
        marks=tuple(
            mark
            for i, (quantile, points) in enumerate(drawn.items())
            for mark in _marks(style_of(i), quantile, points)
        ),
        height=320,
        legend=tuple(Key(quantile, style_of(i)) for i, quantile in enumerate(drawn)),
    )


def _marks(style: Style, quantile: str, points: _Points) -> Iterator[Mark]:
    x = [rate for rate, _ in points]
    y = [of.value for _, of in points]
    ends = [drawn_ends(of.value, of.low, of.high) for _, of in points]
    yield Curve(x, y, style, width=1.5, tip=quantile)
    yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour)
    tips = [f"{quantile} at {format_count_rate(rate)}: {format_time(of.value)}" for rate, of in points]
    yield Dots(x, np.array(y), style, tips=tips)
