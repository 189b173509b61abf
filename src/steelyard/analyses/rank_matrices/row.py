"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis, PagePlace
from steelyard.analyses.rank_matrices.model import matrices
from steelyard.analyses.rank_matrices.pictures import matrix_charts

MATRICES = Analysis(
    key="matrices",  # each rank with each other
    make=matrices,
    pictures=matrix_charts,
    title="rank by rank",
    explained="The median time of each rank with the rank that it calls; blank: not measured.",
    place=PagePlace.BEFORE_ROWS,
    is_written=False,
)
