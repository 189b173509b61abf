"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.one_sided.model import questions_of
from steelyard.analyses.one_sided.pictures import one_sided_charts
from steelyard.analyses.one_sided.tables import one_sided_tables

ONE_SIDED = Analysis(
    key="one_sided",  # the same one-sided call by several libraries
    make=questions_of,
    tables=one_sided_tables,
    pictures=one_sided_charts,
    title="one-sided calls",
    explained="The time of the same call by each library, in its fastest way.",
)
