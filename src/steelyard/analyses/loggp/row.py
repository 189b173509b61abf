"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.loggp.model import log_models
from steelyard.analyses.loggp.tables import message_tables

MESSAGES = Analysis(
    key="messages",  # the cost of messages by their size
    make=log_models,
    tables=message_tables,
)
