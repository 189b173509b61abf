"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.ranks_a_host.answers import host_link_answers
from steelyard.analyses.ranks_a_host.model import host_links, is_between
from steelyard.analyses.ranks_a_host.tables import ranks_a_host_tables

RANKS_A_HOST = Analysis(
    key="host_links",  # what pairs between two hosts reach together, by the number of ranks a host
    make=host_links,
    tables=ranks_a_host_tables,
    answers=host_link_answers,
    is_answered=is_between,
)
