"""The rows of these analyses."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.ranking.model import choices_of, rankings_of, settings_ranked
from steelyard.analyses.ranking.tables import all_ways, choice_tables, ranking_tables, setting_tables

RANKINGS = Analysis(
    key="rankings",  # the fastest way to call them
    make=rankings_of,
    tables=ranking_tables,
    folded=all_ways,
)
CHOICES = Analysis(
    key="choices",  # the same for calls with the same effect
    make=choices_of,
    tables=choice_tables,
    folded=all_ways,
)
SETTINGS = Analysis(
    key="settings",  # the same for settings of launches
    make=settings_ranked,
    tables=setting_tables,
    folded=all_ways,
)
