"""One-sided calls of several libraries: the time over the size, a picture for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.analyses.one_sided.model import QUESTIONS, OneSidedQuestion
from steelyard.analyses.one_sided.tables import USUAL, axes_beside_sizes
from steelyard.base.units import format_bytes, format_ratio, format_time
from steelyard.render.axes import MOST_COLOURS, log_axis, size_axis, style_of
from steelyard.render.chart import HALF, Chart, Curve, Dots, Key, Mark

_HEIGHT = 300


def one_sided_charts(questions: Sequence[OneSidedQuestion]) -> list[Chart]:
    """Draw a picture for each question of several sizes at one place; a library has one colour in all of
    them.
    """
    libraries = list(dict.fromkeys(answer.library for question in questions for answer in question.answers))
    return [chart for name in QUESTIONS for chart in _charts(name, questions, libraries[:MOST_COLOURS])]


def _charts(name: str, questions: Sequence[OneSidedQuestion], libraries: Sequence[str]) -> Iterator[Chart]:
    asked = [question for question in questions if question.name == name and question.bytes]
    axes = axes_beside_sizes(asked)
    groups: dict[tuple[str, ...], list[OneSidedQuestion]] = {}
    for question, key in zip(asked, zip(*axes.values(), strict=True), strict=True):
        groups.setdefault(key, []).append(question)
    for key, sized in groups.items():
        if len({question.bytes for question in sized}) < 2:
            continue
        marks = [mark for i, library in enumerate(libraries) for mark in _marks(i, library, sized)]
        times = [answer.time for question in sized for answer in question.answers]
        yield Chart(
            title=", ".join([name, *_unusual(dict(zip(axes, key, strict=True)))]),
            x=size_axis([question.bytes for question in sized]),
            y=log_axis("time", times, format_time),
            marks=tuple(marks),
            height=_HEIGHT,
            width=HALF,
            legend=tuple(Key(library, style_of(i)) for i, library in enumerate(libraries)),
        )


def _unusual(said: Mapping[str, str]) -> Iterator[str]:
    for head, cell in said.items():
        if cell != USUAL[head]:
            yield cell if head == "placement" else f"{cell} {head}"


def _marks(i: int, library: str, sized: Sequence[OneSidedQuestion]) -> Iterator[Mark]:
    points = [
        (question.bytes, answer)
        for question in sized
        for answer in question.answers
        if answer.library == library
    ]
    if not points:
        return
    x, y = [float(size) for size, _ in points], [answer.time for _, answer in points]
    tips = [
        f"{library}, {format_bytes(size)}\n{format_time(answer.time)}, "
        f"{format_ratio(answer.ratio)} times the fastest"
        for size, answer in points
    ]
    yield Curve(x, y, style_of(i))
    yield Dots(x, y, style_of(i), tips=tips)
