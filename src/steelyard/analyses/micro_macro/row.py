"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.loggp.row import MESSAGES
from steelyard.analyses.micro_macro.model import macro_of
from steelyard.analyses.micro_macro.tables import macro_tables

MACRO = Analysis(
    key="macro",  # predictions for kernels from messages
    make=macro_of,
    tables=macro_tables,
    includes=(MESSAGES,),
)
