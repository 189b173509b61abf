"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.broadcast_algorithm.model import algorithms_of
from steelyard.analyses.broadcast_algorithm.pictures import tree_charts
from steelyard.analyses.broadcast_algorithm.tables import tree_tables, unseen_tree_tables

TREES = Analysis(
    key="trees",  # the algorithms that broadcasts seem to use
    make=algorithms_of,
    tables=tree_tables,
    unanswered=unseen_tree_tables,
    pictures=tree_charts,
)
