"""One-sided calls of several libraries: the time over the size, a picture for each question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.one_sided.model import QUESTIONS, Question
from steelyard.base.units import format_bytes, format_ratio, format_time
from steelyard.render.axes import MOST_COLOURS, log_axis, size_axis, style_of
from steelyard.render.chart import HALF, Chart, Curve, Dots, Key, Mark

_HEIGHT = 300


def one_sided_charts(found: Sequence[Question]) -> list[Chart]:
    """Draw a picture for each question of several sizes; a library has one colour in all of them."""
    libraries = list(dict.fromkeys(answer.library for one in found for answer in one.answers))
    return [chart for name in QUESTIONS for chart in _charts(name, found, libraries[:MOST_COLOURS])]


def _charts(name: str, found: Sequence[Question], libraries: Sequence[str]) -> Iterator[Chart]:
    for threads in sorted({one.threads for one in found if one.name == name}):
        own = [one for one in found if one.name == name and one.threads == threads and one.bytes]
        if len({one.bytes for one in own}) < 2:
            continue
        marks = [mark for i, library in enumerate(libraries) for mark in _marks(i, library, own)]
        times = [answer.time for one in own for answer in one.answers]
        yield Chart(
            title=name if threads == 1 else f"{name}, {threads} threads",
            x=size_axis([one.bytes for one in own]),
            y=log_axis("time", times, format_time),
            marks=tuple(marks),
            height=_HEIGHT,
            width=HALF,
            legend=tuple(Key(library, style_of(i)) for i, library in enumerate(libraries)),
        )


def _marks(i: int, library: str, own: Sequence[Question]) -> Iterator[Mark]:
    points = [(one, answer) for one in own for answer in one.answers if answer.library == library]
    if not points:
        return
    x, y = [float(one.bytes) for one, _ in points], [answer.time for _, answer in points]
    tips = [
        f"{library}, {format_bytes(one.bytes)}\n{format_time(answer.time)}, "
        f"{format_ratio(answer.ratio)} times the fastest"
        for one, answer in points
    ]
    yield Curve(x, y, style_of(i))
    yield Dots(x, y, style_of(i), tips=tips)
