"""Pictures of several points together: overlap over work, and matrices of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.base.units import format_bytes, format_time, format_values
from steelyard.models.host_matrix import hosts_of_ranks
from steelyard.models.overlap import OverlapCurve
from steelyard.plots.axes import linear_axis, names_axis, shade, style_of
from steelyard.plots.chart import HALF, Bars, Boxes, Chart, Curve, Dots, Key, Mark, Shades, Style
from steelyard.plots.svg import RULE
from steelyard.records.kinds import PATTERN
from steelyard.results.facets import Messages, Ranks
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row
from steelyard.show.figure_groups import MOST_COLOURS
from steelyard.show.labels import Fact, Facts, labels_of, param_facts

FloatArray = NDArray[np.float64]

# Parameters of a pair, a shift, a round: each value gives other cells of one matrix.
OWN_PARAMS = ("a", "b", "d", "round")
LEAST_CELLS = 3  # in a matrix that deserves a picture
LEAST_OVERLAP, MOST_OVERLAP = -0.6, 1.3


@dataclass(frozen=True, slots=True)
class Matrix:
    """`ns[a, b]`: the time of rank a with rank b that it calls, NaN if there is none.

    `hosts` are those of the ranks, if each has one of its own.
    """

    title: str
    ns: FloatArray
    hosts: tuple[str, ...] = ()


def overlap_charts(found: Sequence[OverlapCurve]) -> list[Chart]:
    """Draw, for each op and size, overlap against work in units of the pure time."""
    together: dict[tuple[str, int, int, str | None], list[OverlapCurve]] = {}
    for curve in found:
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


def matrices(rows: Sequence[Row]) -> tuple[Matrix, ...]:
    """Make matrices of patterns: shifts by each d, pairs of ranks a and b, or rounds.

    In a shift by d each rank a calls rank a + d, and its own median is the cell (a, a + d): all pairs of a
    shift communicate at once. In a pair only the two do. In a round each rank is in one pair: if messages are
    timed one by one, their median is the cell, whichever rank sent them.
    """
    cells: dict[RowKey, tuple[Row, FloatArray]] = {}
    for row in rows:
        is_pair, is_shift = {"a", "b"} <= row.params.keys(), "d" in row.params
        is_round = "round" in row.params
        if (
            row.role != PATTERN
            or not (is_pair or is_shift or is_round)
            or row.status != "ok"
            or row.time is None
        ):
            continue
        key = key_of(row, [f"param.{name}" for name in OWN_PARAMS])
        _, ns = cells.setdefault(key, (row, np.full((row.ranks, row.ranks), np.nan)))
        if is_pair:
            ns[int(row.params["a"]) % row.ranks, int(row.params["b"]) % row.ranks] = row.time
        elif is_round:
            for one in row.get(Messages).pairs:
                ns[one.low, one.high] = ns[one.high, one.low] = one.median
        elif len(row.get(Ranks).rank_medians) == row.ranks:
            callers = np.arange(row.ranks)
            ns[callers, (callers + int(row.params["d"])) % row.ranks] = row.get(Ranks).rank_medians
    return tuple(
        Matrix(_matrix_title(row), ns, hosts_of_ranks(row))
        for row, ns in cells.values()
        if np.isfinite(ns).sum() >= LEAST_CELLS
    )


def _matrix_title(row: Row) -> str:
    rest = format_values({key: value for key, value in row.params.items() if key not in OWN_PARAMS})
    return f"{row.op}, {row.method}, {format_bytes(row.bytes)}, {row.ranks} ranks, {row.mpi}: {rest}"


def matrix_charts(rows: Sequence[Row]) -> list[Chart]:
    """Draw a cell for each rank and the rank that it calls, in the colour of its time over the median one."""
    return [_matrix_chart(matrix) for matrix in matrices(rows)]


def _matrix_chart(matrix: Matrix) -> Chart:
    ns = matrix.ns
    a, b = np.nonzero(np.isfinite(ns))
    middle = float(np.median(ns[a, b]))
    x, y = b.astype(float), a.astype(float)
    shares = (np.log2(ns[a, b] / middle) + 1.0) / 2.0
    ranks = matrix.hosts or tuple(str(rank) for rank in range(ns.shape[0]))
    what = "host" if matrix.hosts else "rank"
    boxes = Boxes(
        list(x - 0.5),
        list(y - 0.5),
        list(x + 0.5),
        list(y + 0.5),
        [shade(float(share), is_even=False) for share in shares],
        tips=[
            f"{ranks[one]} calls {ranks[other]}: {format_time(ns[one, other])}"
            for one, other in zip(a, b, strict=True)
        ],
    )
    return Chart(
        title=f"time / {format_time(middle)}, the middle one; {matrix.title}",
        x=names_axis(f"{what} that is called", ranks, 16),
        y=names_axis(f"{what} that calls", ranks, 16, is_down=True),
        marks=(boxes,),
        height=90 + round(max(6, min(26, 400 / len(ranks))) * len(ranks)),
        width=HALF,
        shades=Shades(tuple(shade(i / 15, is_even=False) for i in range(16)), ("0.5", "1", "2")),
        has_grid=False,
    )
