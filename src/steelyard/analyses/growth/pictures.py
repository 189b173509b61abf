"""Pictures of growth: the time of a collective over ranks, its model, and predictions for more ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.growth.model import Growth
from steelyard.analyses.growth.tables import growth_names, model_words
from steelyard.base.units import format_bytes, format_time
from steelyard.render.axes import MOST_COLOURS, drawn_ends, limits, log_axis, style_of, worded
from steelyard.render.chart import Axis, Band, Bars, Chart, Curve, Dots, Key, Mark, Style


def growth_charts(growths: Sequence[Growth]) -> list[Chart]:
    """Draw a picture for each collective, a line for each size: dots are measured, dashes are the model.

    The band is the model's interval, beyond the last ranks.
    """
    groups: dict[str, list[Growth]] = {}
    for name, one in zip(growth_names(growths), growths, strict=True):
        groups.setdefault(name, []).append(one)
    return [_chart(name, members) for name, members in groups.items()]


def _chart(name: str, members: Sequence[Growth]) -> Chart:
    step = -(-len(members) // MOST_COLOURS)
    shown = members[::step]
    ranks = sorted({point.ranks for one in shown for point in one.points})
    ahead = sorted({point.ranks for one in shown for point in one.ahead})
    values = [point.time.value for one in shown for point in one.points]
    values += [
        end for one in shown for point in one.ahead for end in (point.time.value, point.time.high or 0.0)
    ]
    low, high = limits([ranks[0], ahead[-1]])
    return Chart(
        title=name,
        x=Axis("ranks", low, high, worded([*ranks, *ahead], "{:g}".format), is_log=True),
        y=log_axis("time", [value for value in values if value > 0], format_time),
        marks=tuple(mark for i, one in enumerate(shown) for mark in _marks(style_of(i), one)),
        height=320,
        legend=tuple(Key(format_bytes(one.bytes), style_of(i)) for i, one in enumerate(shown)),
        note="every other size is left out" if step > 1 else "",
    )


def _marks(style: Style, growth: Growth) -> Iterator[Mark]:
    x = [float(point.ranks) for point in growth.points]
    y = [point.time.value for point in growth.points]
    ends = [drawn_ends(point.time.value, point.time.low, point.time.high) for point in growth.points]
    last = growth.points[-1]
    far = [float(last.ranks), *(float(point.ranks) for point in growth.ahead)]
    lows = [last.said, *(max(point.time.low or 0.0, 0.01 * point.time.value) for point in growth.ahead)]
    highs = [last.said, *(point.time.high or point.time.value for point in growth.ahead)]
    yield Band(far, lows, highs, style.colour)
    said = [*(point.said for point in growth.points), *(point.time.value for point in growth.ahead)]
    yield Curve([*x, *far[1:]], said, Style(style.colour, dash="5 4"), width=1.5, tip=model_words(growth))
    yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour)
    tips = [
        f"{format_bytes(growth.bytes)}, {int(n)} ranks: {format_time(t)}" for n, t in zip(x, y, strict=True)
    ]
    yield Dots(x, np.array(y), style, tips=tips)
