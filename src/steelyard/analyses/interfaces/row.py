"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.interfaces.model import interface_uses
from steelyard.analyses.interfaces.tables import interface_tables

INTERFACES = Analysis(
    key="interface_uses",  # which network interface of each host moved the bytes
    make=interface_uses,
    tables=interface_tables,
)
