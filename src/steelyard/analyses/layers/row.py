"""The row of this analysis."""

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.layers.answers import has_layer, layer_answers
from steelyard.analyses.layers.model import layer_costs
from steelyard.analyses.layers.tables import layer_tables

LAYERS = Analysis(
    key="layers",  # what tools, checks and containers add to an operation
    make=layer_costs,
    tables=layer_tables,
    answers=layer_answers,
    is_answered=has_layer,
)
