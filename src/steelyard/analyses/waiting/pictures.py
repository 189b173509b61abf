"""Pictures of waiting: how late a receiver learns of a message, over how long it waited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.waiting.model import Waiting
from steelyard.analyses.waiting.tables import waiting_labels
from steelyard.base.units import format_time
from steelyard.render.axes import MOST_COLOURS, drawn_ends, log_axis, style_of
from steelyard.render.chart import Bars, Chart, Curve, Dots, Key, Mark, Style

_LEAST = 2  # waits of a line


def waiting_charts(waits: Sequence[Waiting]) -> list[Chart]:
    """Draw one picture, a line for each setting that was tried with two waits or more."""
    labels = waiting_labels(waits)
    lines: dict[str, list[Waiting]] = {}
    for i, wait in enumerate(waits):
        lines.setdefault(labels.label(i), []).append(wait)
    shown = [(name, sorted(line, key=_wait)) for name, line in lines.items() if len(line) >= _LEAST]
    shown, left_out = shown[:MOST_COLOURS], shown[MOST_COLOURS:]
    if not shown:
        return []
    drawn = [wait for _, line in shown for wait in line]
    spans = [wait.woken for wait in drawn]
    ends = [end for span in spans for end in (span.value, *drawn_ends(span.value, span.low, span.high))]
    return [
        Chart(
            title="woken after waiting",
            x=log_axis("wait for a message", [wait.wait for wait in drawn], format_time),
            y=log_axis("from when it was due", [end for end in ends if end > 0], format_time),
            marks=tuple(
                mark for i, (name, line) in enumerate(shown) for mark in _marks(style_of(i), name, line)
            ),
            height=320,
            legend=tuple(Key(name or "all", style_of(i)) for i, (name, _) in enumerate(shown)),
            note=f"not drawn, and in the table: {'; '.join(name for name, _ in left_out)}"
            if left_out
            else "",
        )
    ]


def _wait(wait: Waiting) -> float:
    return wait.wait


def _marks(style: Style, name: str, line: Sequence[Waiting]) -> Iterator[Mark]:
    x = [wait.wait for wait in line]
    y = [wait.woken.value for wait in line]
    ends = [drawn_ends(wait.woken.value, wait.woken.low, wait.woken.high) for wait in line]
    yield Curve(x, y, style, width=1.5, tip=name)
    yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour)
    tips = [f"after {format_time(wait.wait)}: {format_time(wait.woken.value)}" for wait in line]
    yield Dots(x, np.array(y), style, tips=tips)
