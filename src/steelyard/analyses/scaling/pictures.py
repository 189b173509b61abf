"""Pictures of scaling: the speed-up of a kernel over ranks or threads, with its models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.scaling.model import ScalingCurve, fit_speedup
from steelyard.analyses.scaling.tables import curve_names
from steelyard.render.axes import MOST_COLOURS, drawn_ends, limits, log_axis, style_of, worded
from steelyard.render.chart import Axis, Bars, Chart, Curve, Dots, Key, Mark, Style
from steelyard.render.svg import RULE

_MODEL_POINTS = 33


def scaling_charts(curves: Sequence[ScalingCurve]) -> list[Chart]:
    """Draw a picture for each kernel and axis: speed-up with its interval, and each curve's last model
    dashed.

    The grey line is the ideal. Axes are logarithmic.
    """
    groups: dict[tuple[str, str], list[tuple[str, ScalingCurve]]] = {}
    for name, curve in zip(curve_names(curves), curves, strict=True):
        groups.setdefault((curve.op, curve.axis), []).append((name, curve))
    return [_chart(op, axis, members) for (op, axis), members in groups.items()]


def _chart(op: str, axis: str, members: Sequence[tuple[str, ScalingCurve]]) -> Chart:
    shown, left_out = members[:MOST_COLOURS], members[MOST_COLOURS:]
    counts = sorted({point.count for _, curve in shown for point in curve.points})
    spans = [point.speedup for _, curve in shown for point in curve.points]
    values = [value for span in spans for value in (span.value, *drawn_ends(span.value, span.low, span.high))]
    first, last = counts[0], counts[-1]
    ideal = Curve([first, last], [1.0, last / first], Style(RULE), width=1, tip="ideal")
    drawn = [mark for i, (name, curve) in enumerate(shown) for mark in _marks(style_of(i), name, curve)]
    low, high = limits([first, last])
    return Chart(
        title=f"{op} over {axis}",
        x=Axis(axis, low, high, worded(counts, "{:g}".format), is_log=True),
        y=log_axis("speed-up", [*values, last / first], "{:g}".format),
        marks=(ideal, *drawn),
        height=320,
        legend=tuple(Key(name.removeprefix(f"{op}, "), style_of(i)) for i, (name, _) in enumerate(shown)),
        note=f"not drawn, and in the table: {'; '.join(name for name, _ in left_out)}" if left_out else "",
    )


def _marks(style: Style, name: str, curve: ScalingCurve) -> Iterator[Mark]:
    """Draw whiskers, model and marks of one curve."""
    x, y = [point.count for point in curve.points], [point.speedup.value for point in curve.points]
    ends = [drawn_ends(point.speedup.value, point.speedup.low, point.speedup.high) for point in curve.points]
    yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour)
    if curve.fits:
        grid = np.geomspace(x[0], x[-1], _MODEL_POINTS)
        said = [fit_speedup(curve, curve.fits[-1], float(count)) for count in grid]
        yield Curve(grid, said, Style(style.colour, dash="5 4"), width=1.5)
    tips = [
        f"{name}\n{point.count} {curve.axis}: speed-up {point.speedup.value:.3g}"
        + ("" if point.speedup.low is None else f" ({point.speedup.low:.3g} – {point.speedup.high:.3g})")
        for point in curve.points
    ]
    yield Dots(x, y, style, tips=tips)
