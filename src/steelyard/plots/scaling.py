"""Pictures of scaling: the speed-up of a kernel over ranks or threads, with its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from steelyard.plots.axes import FIGURE, GREY, PALETTE, dress, figure, label_ticks, limits, models, set_ticks
from steelyard.scaling import Curve, fit_speedup

_MODEL_POINTS = 33
_TOOLTIPS = [("", "@label"), ("on", "@count"), ("speed-up", "@y"), ("interval", "@interval")]


def scaling_figures(curves: Sequence[Curve], names: Sequence[str]) -> list[Any]:
    """A picture for each kernel and axis: speed-up with its interval, and each curve's last model dashed.

    The grey line is the ideal. Axes are logarithmic. `names` are those of the curves.
    """
    groups: dict[tuple[str, str], list[tuple[str, Curve]]] = {}
    for name, curve in zip(names, curves, strict=True):
        groups.setdefault((curve.op, curve.axis), []).append((name, curve))
    return [_figure(op, axis, members) for (op, axis), members in groups.items()]


def _figure(op: str, axis: str, members: Sequence[tuple[str, Curve]]) -> Any:
    counts = sorted({point.count for _, curve in members for point in curve.points})
    spans = [point.speedup for _, curve in members for point in curve.points]
    shown = [value for span in spans for value in (span.value, *_ends(span.value, span.low, span.high))]
    low, high = limits([*shown, counts[-1] / counts[0]])
    plot = figure(
        title=f"{op} over {axis}",
        x_axis_type="log",
        y_axis_type="log",
        x_range=models.Range1d(counts[0] / 1.15, counts[-1] * 1.15),
        y_range=models.Range1d(low, high),
        height=340,
        **FIGURE,
    )
    dress(plot)
    set_ticks(plot.xaxis, counts, lambda count: f"{count:g}")
    label_ticks(plot.yaxis[0], low, high, lambda value: f"{value:g}")
    plot.xaxis.axis_label, plot.yaxis.axis_label = axis, "speed-up"
    plot.line(
        [counts[0], counts[-1]], [1.0, counts[-1] / counts[0]], line_color=GREY, line_width=1, line_alpha=0.7
    )
    marks = [_draw(plot, PALETTE[i % len(PALETTE)], name, curve) for i, (name, curve) in enumerate(members)]
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=_TOOLTIPS))
    plot.legend.location = "top_left"
    plot.legend.background_fill_alpha = 0.7
    plot.legend.border_line_color = None
    plot.legend.label_text_font_size = "11px"
    return plot


def _ends(value: float, low: float | None, high: float | None) -> tuple[float, float]:
    """The interval, but no further than a factor of ten: a wider one would leave no room for the rest."""
    return max(low or value, value / 10), min(high or value, value * 10)


def _draw(plot: Any, colour: str, name: str, curve: Curve) -> Any:
    """Marks, whiskers and model of one curve; returns what the pointer finds."""
    x, y = [point.count for point in curve.points], [point.speedup.value for point in curve.points]
    ends = [_ends(one.speedup.value, one.speedup.low, one.speedup.high) for one in curve.points]
    plot.segment(
        x, [low for low, _ in ends], x, [high for _, high in ends], line_color=colour, line_width=1.5
    )
    if curve.fits:
        grid = np.geomspace(x[0], x[-1], _MODEL_POINTS)
        said = [fit_speedup(curve, curve.fits[-1], float(count)) for count in grid]
        plot.line(grid.tolist(), said, line_color=colour, line_width=1.5, line_dash="dashed")
    source = models.ColumnDataSource(
        {
            "x": x,
            "y": y,
            "label": [name] * len(x),
            "count": [f"{count} {curve.axis}" for count in x],
            "interval": [
                "–" if one.speedup.low is None else f"{one.speedup.low:.3g} to {one.speedup.high:.3g}"
                for one in curve.points
            ],
        }
    )
    return plot.scatter(
        "x", "y", source=source, size=8, color=colour, legend_label=name.removeprefix(f"{curve.op}, ")
    )
