"""Counts of simulated campaigns as rates, with their exact interval."""

from scipy.stats import binomtest


def rate_words(count: int, of: int) -> str:
    """`3 of 400, 0.8 % [0.2, 2.2]`: at 95 % (Clopper and Pearson)."""
    interval = binomtest(count, of).proportion_ci(0.95, "exact")
    return f"{count} of {of}, {100 * count / of:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
