"""Pictures: Bokeh figures of groups of rows. Nothing is loaded from a network when they are shown."""

from steelyard.plots.across import matrix_figures, overlap_figures
from steelyard.plots.axes import line_style
from steelyard.plots.matrix import matrix_figure
from steelyard.plots.noise import noise_figures
from steelyard.plots.points import bandwidth_figure, dots_figure, latency_figure, launches_figure
from steelyard.plots.ranks import rank_figures
from steelyard.plots.scaling import scaling_figures
from steelyard.plots.shapes import (
    CURVE_POINTS,
    chosen_sizes,
    distribution_figures,
    histogram_figures,
    tail_figures,
)

__all__ = [
    "CURVE_POINTS",
    "bandwidth_figure",
    "chosen_sizes",
    "distribution_figures",
    "dots_figure",
    "histogram_figures",
    "latency_figure",
    "launches_figure",
    "line_style",
    "matrix_figure",
    "matrix_figures",
    "noise_figures",
    "overlap_figures",
    "rank_figures",
    "scaling_figures",
    "tail_figures",
]
