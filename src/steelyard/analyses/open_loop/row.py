"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.open_loop.answers import is_offered, open_loop_answers
from steelyard.analyses.open_loop.model import open_loops
from steelyard.analyses.open_loop.pictures import open_loop_charts
from steelyard.analyses.open_loop.tables import open_loop_tables

OPEN_LOOP = Analysis(
    key="open_loop",  # the latency of messages that are offered at a rate
    make=open_loops,
    tables=open_loop_tables,
    pictures=open_loop_charts,
    answers=open_loop_answers,
    is_answered=is_offered,
)
