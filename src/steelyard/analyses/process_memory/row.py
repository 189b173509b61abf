"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.process_memory.model import process_memories
from steelyard.analyses.process_memory.tables import process_memory_tables

PROCESS_MEMORY = Analysis(
    key="process_memory",  # what a process has in memory after first uses
    make=process_memories,
    tables=process_memory_tables,
)
