"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis, PagePlace
from steelyard.analyses.placement_pairs.model import pair_tables
from steelyard.analyses.placement_pairs.tables import pair_table

PAIRS = Analysis(
    key="pairs",  # pairs of CPUs or of hosts
    make=pair_tables,
    tables=lambda pairs: map(pair_table, pairs),
    place=PagePlace.WITH_ROWS,
    is_written=False,
)
