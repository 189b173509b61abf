"""Pictures that several points make together: overlap over work, and a matrix of who talks to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh import palettes
from numpy.typing import NDArray

from steelyard.overlap import Curve, curves, own_params
from steelyard.plots.axes import FIGURE, PALETTE, dress, figure, models
from steelyard.row import Row
from steelyard.units import format_bytes, format_time, format_values

FloatArray = NDArray[np.float64]

SHIFT, PAIR = "mpi.pattern.shift", "mpi.pattern.pair"
LEAST_CELLS = 3  # of a matrix that is worth a picture
MOST_CURVES = len(PALETTE)  # in one picture


@dataclass(frozen=True, slots=True)
class Matrix:
    """`ns[a, b]`: the time of rank a with rank b that it calls, NaN where there is none."""

    title: str
    ns: FloatArray


def overlap_figures(rows: Sequence[Row]) -> list[Any]:
    """For each op and size, overlap against work in units of the pure time."""
    together: dict[tuple[str, int, int, str | None], list[Curve]] = {}
    for curve in curves(rows):
        if len(curve.points) > 1:
            together.setdefault((curve.op, curve.bytes, curve.ranks, curve.mpi), []).append(curve)
    return [
        _overlap_figure(f"{op}, {format_bytes(size)}, {ranks} ranks, {mpi}", members[:MOST_CURVES])
        for (op, size, ranks, mpi), members in together.items()
    ]


def _overlap_figure(title: str, members: Sequence[Curve]) -> Any:
    """All one after the other is 0, the shorter of the two for nothing is 1; bars are intervals."""
    plot = figure(title=f"overlap of {title}", height=300, **FIGURE)
    dress(plot)
    plot.xaxis.axis_label = "work alone / pure time"
    plot.yaxis.axis_label = "overlap"
    plot.y_range = models.Range1d(-0.6, 1.3)
    for level in (0.0, 1.0):
        plot.add_layout(models.Span(location=level, dimension="width", line_dash="dotted"))
    marks = []
    for curve, colour in zip(members, PALETTE, strict=False):
        own = format_values(own_params(curve, members)) if len(members) > 1 else ""
        label = ", ".join(part for part in (curve.method, own) if part)
        points = sorted(curve.points, key=lambda point: point.work_ns / point.pure_ns)
        data = {
            "x": [point.work_ns / point.pure_ns for point in points],
            "y": [point.overlap for point in points],
            "low": [point.overlap if point.low is None else point.low for point in points],
            "high": [point.overlap if point.high is None else point.high for point in points],
            "work": [format_time(point.work_ns) for point in points],
            "both": [format_time(point.both_ns) for point in points],
            "label": [label] * len(points),
        }
        source = models.ColumnDataSource(data)
        plot.segment("x", "low", "x", "high", source=source, line_color=colour, line_alpha=0.5)
        plot.line("x", "y", source=source, line_color=colour, line_width=2, legend_label=label)
        marks.append(plot.scatter("x", "y", source=source, size=7, color=colour))
    plot.add_layout(plot.legend[0], "below")  # where it hides no point
    tips = [("", "@label"), ("work", "@work"), ("both", "@both"), ("overlap", "@y{0.00}")]
    plot.add_tools(models.HoverTool(renderers=marks, tooltips=tips))
    return plot


def matrices(rows: Sequence[Row]) -> tuple[Matrix, ...]:
    """What shifts by each d, or pairs of each two ranks, say together.

    In a shift by d each rank a calls rank a + d, and its own median is the cell (a, a + d): all pairs of a
    shift talk at once. In a pair only the two do.
    """
    cells: dict[tuple[object, ...], FloatArray] = {}
    for row in rows:
        if row.op not in (SHIFT, PAIR) or row.status != "ok" or row.median is None:
            continue
        rest = {key: value for key, value in row.params.items() if key not in ("d", "a", "b")}
        key = (row.op, row.method, row.bytes, row.ranks, row.mpi, format_values(rest))
        ns = cells.setdefault(key, np.full((row.ranks, row.ranks), np.nan))
        if row.op == PAIR:
            ns[int(row.params["a"]) % row.ranks, int(row.params["b"]) % row.ranks] = row.median
        elif len(row.rank_medians) == row.ranks:
            callers = np.arange(row.ranks)
            ns[callers, (callers + int(row.params["d"])) % row.ranks] = row.rank_medians
    return tuple(
        Matrix(f"{op}, {method}, {format_bytes(int(str(size)))}, {ranks} ranks, {mpi}: {rest}", ns)
        for (op, method, size, ranks, mpi, rest), ns in cells.items()
        if np.isfinite(ns).sum() >= LEAST_CELLS
    )


def matrix_figures(rows: Sequence[Row]) -> list[Any]:
    """A cell for each rank and the rank that it calls, in the colour of its time over the middle one's."""
    return [_matrix_figure(matrix) for matrix in matrices(rows)]


def _matrix_figure(matrix: Matrix) -> Any:
    ns = matrix.ns
    a, b = np.nonzero(np.isfinite(ns))
    middle = float(np.median(ns[a, b]))
    source = models.ColumnDataSource(
        {
            "a": a.astype(np.float32),
            "b": b.astype(np.float32),
            "log_ratio": np.log2(ns[a, b] / middle).astype(np.float32),
            "time": [format_time(value) for value in ns[a, b]],
        }
    )
    ranks = ns.shape[0]
    plot = figure(
        title=f"time / {format_time(middle)}, the middle one; {matrix.title}",
        x_range=models.Range1d(-0.5, ranks - 0.5),
        y_range=models.Range1d(ranks - 0.5, -0.5),
        height=110 + max(6, min(26, 400 // ranks)) * ranks,
        **FIGURE,
    )
    dress(plot)
    plot.grid.grid_line_color = None
    mapper = models.LinearColorMapper(palette=list(palettes.RdBu11), low=-1.0, high=1.0)
    fill = {"field": "log_ratio", "transform": mapper}
    drawn = plot.rect("b", "a", 1, 1, source=source, fill_color=fill, line_color="white", line_width=0.5)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "rank that is called", "rank that calls"
    plot.add_tools(models.HoverTool(renderers=[drawn], tooltips=[("", "@a calls @b"), ("time", "@time")]))
    return plot
