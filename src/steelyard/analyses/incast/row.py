"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.incast.answers import incast_answers, is_incast
from steelyard.analyses.incast.model import incasts
from steelyard.analyses.incast.tables import incast_tables

INCAST = Analysis(
    key="incast",  # what many senders to one receiver reach together
    make=incasts,
    tables=incast_tables,
    answers=incast_answers,
    is_answered=is_incast,
)
