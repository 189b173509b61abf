"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.rank_ports.model import port_uses
from steelyard.analyses.rank_ports.tables import port_tables

RANK_PORTS = Analysis(
    key="port_uses",  # the network interfaces by which ranks are connected
    make=port_uses,
    tables=port_tables,
)
