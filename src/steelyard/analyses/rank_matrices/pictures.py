"""Matrices of ranks as pictures: a cell for each rank and the rank that it calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.analyses.rank_matrices.model import Matrix
from steelyard.base.units import format_time
from steelyard.render.axes import names_axis, shade
from steelyard.render.chart import HALF, Boxes, Chart, Shades


def matrix_charts(matrices: Sequence[Matrix]) -> list[Chart]:
    """Draw a cell for each rank and the rank that it calls, in the colour of its time over the median one."""
    return [_matrix_chart(matrix) for matrix in matrices]


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
