"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.hosts.model import host_matrices
from steelyard.analyses.hosts.tables import host_tables

HOSTS = Analysis(
    key="hosts",  # messages from host to host
    make=host_matrices,
    tables=host_tables,
    is_written=False,
)
