"""Statistics of observations. numpy, and scipy for distributions; knows nothing of records."""

from steelyard.stats.interval import (
    Blocks,
    Estimate,
    block_interval,
    block_medians,
    block_quantiles,
    difference_interval,
    launch_interval,
    with_tick,
)
from steelyard.stats.modes import Mode, drifts, find_modes
from steelyard.stats.quantile import median, quantile
from steelyard.stats.ranks import ranks_above
from steelyard.stats.shape import binned, cumulated, exceeded
from steelyard.stats.spectrum import spectrum, spectrum_peaks

__all__ = [
    "Blocks",
    "Estimate",
    "Mode",
    "binned",
    "block_interval",
    "block_medians",
    "block_quantiles",
    "cumulated",
    "difference_interval",
    "drifts",
    "exceeded",
    "find_modes",
    "launch_interval",
    "median",
    "quantile",
    "ranks_above",
    "spectrum",
    "spectrum_peaks",
    "with_tick",
]
