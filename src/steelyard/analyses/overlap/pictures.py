"""Overlap over work, as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.overlap.model import OverlapCurve
from steelyard.base.units import format_bytes, format_time
from steelyard.render.axes import MOST_COLOURS, linear_axis, style_of
from steelyard.render.chart import Bars, Chart, Curve, Dots, Key, Mark, Style
from steelyard.render.svg import RULE
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts

LEAST_OVERLAP, MOST_OVERLAP = -0.6, 1.3


def overlap_charts(curves: Sequence[OverlapCurve]) -> list[Chart]:
    """Draw, for each op and size, overlap against work in units of the pure time."""
    together: dict[tuple[str, int, int, str | None], list[OverlapCurve]] = {}
    for curve in curves:
        if len(curve.points) > 1:
            together.setdefault((curve.op, curve.bytes, curve.ranks, curve.mpi), []).append(curve)
    return [
        _overlap_chart(f"{op}, {format_bytes(size)}, {ranks} ranks, {mpi}", members)
        for (op, size, ranks, mpi), members in together.items()
    ]


def _overlap_chart(title: str, members: Sequence[OverlapCurve]) -> Chart:
    """Draw overlap: 0 if one runs after the other, 1 if the shorter costs nothing; bars are intervals."""
    shown, left_out = members[:MOST_COLOURS], len(members) - MOST_COLOURS
    most = max(point.work_ns / point.pure_ns for curve in shown for point in curve.points)
    labels = labels_of([_own_facts(curve) for curve in members])
    keys = [Key(labels.label(i) or shown[i].method, style_of(i)) for i in range(len(shown))]
    levels = Bars([0, 0], [0, 1], [most * 1.1] * 2, [0, 1], RULE, width=1, dash="2 3")
    marks = [mark for curve, key in zip(shown, keys, strict=True) for mark in _overlap_marks(curve, key)]
    return Chart(
        title=title,
        x=linear_axis("work alone / pure time", 0.0, most * 1.05),
        y=linear_axis("overlap", LEAST_OVERLAP, MOST_OVERLAP),
        marks=(levels, *marks),
        height=280,
        legend=tuple(keys) if len(keys) > 1 else (),
        note=f"{left_out} more are in the table" if left_out > 0 else "",
    )


def _own_facts(curve: OverlapCurve) -> Facts:
    return {"method": Fact("method", curve.method, curve.method), **param_facts(curve.params)}


def _overlap_marks(curve: OverlapCurve, key: Key) -> Iterator[Mark]:
    points = sorted(
        ((point, point.overlap) for point in curve.points if point.overlap is not None),
        key=lambda pair: pair[0].work_ns / pair[0].pure_ns,
    )
    x, y = [point.work_ns / point.pure_ns for point, _ in points], [value for _, value in points]
    low = [value if point.low is None else point.low for point, value in points]
    high = [value if point.high is None else point.high for point, value in points]
    yield Bars(x, low, x, high, key.style.colour, alpha=0.5)
    yield Curve(x, y, Style(key.style.colour))
    tips = [
        f"{key.label}\nwork {format_time(point.work_ns)}, both {format_time(point.both_ns)}\n"
        f"overlap {value:.2f}"
        for point, value in points
    ]
    yield Dots(x, y, key.style, tips=tips)
