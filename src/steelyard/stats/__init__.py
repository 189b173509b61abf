"""Statistics of samples, by numpy. It does not know records."""

from steelyard.stats.differences import difference_interval
from steelyard.stats.interval import (
    Blocks,
    Estimate,
    Interval,
    block_interval,
    block_medians,
    block_quantiles,
    launch_interval,
    span_of,
    with_tick,
)
from steelyard.stats.line_fits import Piece, find_breaks, fit_pieces, pieces_at, relative_fit, slope_interval
from steelyard.stats.modes import Mode, drift_of, find_modes, mode_interval, share_interval, typical_mode
from steelyard.stats.pooled_shape import binned, cumulated, exceeded
from steelyard.stats.quantile import median, pooled_quantile, quantile
from steelyard.stats.ranks import holm, kendall, shift_interval
from steelyard.stats.spectrum import spectrum, spectrum_peaks

__all__ = [
    "Blocks",
    "Estimate",
    "Interval",
    "Mode",
    "Piece",
    "binned",
    "block_interval",
    "block_medians",
    "block_quantiles",
    "cumulated",
    "difference_interval",
    "drift_of",
    "exceeded",
    "find_breaks",
    "find_modes",
    "fit_pieces",
    "holm",
    "kendall",
    "launch_interval",
    "median",
    "mode_interval",
    "pieces_at",
    "pooled_quantile",
    "quantile",
    "relative_fit",
    "share_interval",
    "shift_interval",
    "slope_interval",
    "span_of",
    "spectrum",
    "spectrum_peaks",
    "typical_mode",
    "with_tick",
]
