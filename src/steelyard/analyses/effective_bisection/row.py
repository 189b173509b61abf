"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.effective_bisection.answers import effective_bisection_answers, is_drawn
from steelyard.analyses.effective_bisection.model import effective_bisections
from steelyard.analyses.effective_bisection.tables import effective_bisection_tables

EFFECTIVE_BISECTION = Analysis(
    key="effective_bisection",  # the mean over drawn matchings of all ranks
    make=effective_bisections,
    tables=effective_bisection_tables,
    answers=effective_bisection_answers,
    is_answered=is_drawn,
)
