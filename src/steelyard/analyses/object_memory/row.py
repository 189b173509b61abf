"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.object_memory.answers import counts_memory, object_memory_answers
from steelyard.analyses.object_memory.model import object_memories
from steelyard.analyses.object_memory.tables import object_memory_tables

OBJECT_MEMORY = Analysis(
    key="object_memory",  # what a library keeps for each communicator, window, datatype and message
    make=object_memories,
    tables=object_memory_tables,
    answers=object_memory_answers,
    is_answered=counts_memory,
)
