"""Pictures of groups of rows: charts as data, and as SVG inside a page."""

from steelyard.plots.across import matrix_charts, overlap_charts
from steelyard.plots.axes import line_style
from steelyard.plots.chart import Chart, Key
from steelyard.plots.core_matrix import matrix_chart
from steelyard.plots.distributions import (
    CURVE_POINTS,
    distribution_charts,
    histogram_charts,
    tail_charts,
)
from steelyard.plots.exchanges import exchange_charts
from steelyard.plots.growth import growth_charts
from steelyard.plots.noise import noise_charts
from steelyard.plots.panels import legend_of
from steelyard.plots.points import bandwidth_charts, count_charts, dots_chart, latency_charts, launches_charts
from steelyard.plots.ranks import rank_charts
from steelyard.plots.ratios import overview_chart, ratio_charts
from steelyard.plots.rooflines import roofline_charts
from steelyard.plots.scaling import scaling_charts
from steelyard.plots.svg import svg, swatch
from steelyard.plots.threads import each_thread_charts, thread_charts
from steelyard.plots.trees import tree_charts

__all__ = [
    "CURVE_POINTS",
    "Chart",
    "Key",
    "bandwidth_charts",
    "count_charts",
    "distribution_charts",
    "dots_chart",
    "each_thread_charts",
    "exchange_charts",
    "growth_charts",
    "histogram_charts",
    "latency_charts",
    "launches_charts",
    "legend_of",
    "line_style",
    "matrix_chart",
    "matrix_charts",
    "noise_charts",
    "overlap_charts",
    "overview_chart",
    "rank_charts",
    "ratio_charts",
    "roofline_charts",
    "scaling_charts",
    "svg",
    "swatch",
    "tail_charts",
    "thread_charts",
    "tree_charts",
]
