"""The rows of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.waiting.answers import (
    is_beside_waiting,
    is_wait,
    neighbour_answers,
    waiting_answers,
)
from steelyard.analyses.waiting.model import waitings
from steelyard.analyses.waiting.neighbours import neighbour_tables, waiting_neighbours
from steelyard.analyses.waiting.pictures import waiting_charts
from steelyard.analyses.waiting.tables import waiting_tables

WAITING = Analysis(
    key="waiting",  # what a rank burns while it waits for a message, and when it is woken
    make=waitings,
    tables=waiting_tables,
    pictures=waiting_charts,
    answers=waiting_answers,
    is_answered=is_wait,
)
NEIGHBOURS = Analysis(
    key="waiting_neighbours",  # what a waiting rank takes from its neighbour
    make=waiting_neighbours,
    tables=neighbour_tables,
    answers=neighbour_answers,
    is_answered=is_beside_waiting,
)
