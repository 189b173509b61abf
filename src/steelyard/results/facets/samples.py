"""Quantiles of a row: the median over launches of each launch's own, as the median of a row is."""

from __future__ import annotations

import math

import numpy as np

from steelyard.results.combined import Combined, finite
from steelyard.results.row import Facet
from steelyard.stats import block_interval, quantile, with_tick
from steelyard.stats.fast_stats import mean, row_middles

SLOW = 3.0  # a sample above so many medians is slow
LEAST_BEYOND = 10  # samples of a launch beyond a quantile that is told of it
_TOLD = (0.05, 0.90, 0.95, 0.99)


class Samples(Facet, frozen=True, kw_only=True):
    """The samples of all launches, in ns.

    `p5`..`p99` are medians over launches of each launch's own quantiles: half of the launches have a higher
    one. A quantile of all samples together is another number, and a few slow launches of a hundred decide it:
    ten launches say nothing of them, so it would have no interval. `p99_low`..`p99_high` is the interval of
    p99, made as the median's; None where a launch has fewer than `least_samples` of it. `mean` weighs each
    launch alike, however many samples the stop rule gave it. `slow_share` is the share above 3 medians.
    """

    min: float | None = None
    p5: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_low: float | None = None
    p99_high: float | None = None
    max: float | None = None
    mean: float | None = None
    slow_share: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Samples:
        """Each row has them."""
        series = [launch.values for launch in combined.launches]
        own = np.array([quantile(launch.values, _TOLD, launch.taken.tick) for launch in combined.launches])
        p5, p90, p95, p99 = row_middles(own.T).tolist()
        low, high = tail_ends(combined, 0.99)
        value = combined.estimate.value
        return cls(
            min=float(combined.samples.min()),
            p5=p5,
            p90=p90,
            p95=p95,
            p99=p99,
            p99_low=low,
            p99_high=high,
            max=float(combined.samples.max()),
            mean=mean([mean(values) for values in series]),
            slow_share=mean([np.count_nonzero(values > SLOW * value) / values.size for values in series])
            if value > 0
            else None,
        )


def least_samples(probability: float) -> int:
    """Compute how many samples a launch needs, so that `LEAST_BEYOND` of them are beyond a quantile."""
    return math.ceil(LEAST_BEYOND / min(probability, 1 - probability) * (1 - 1e-9))


def tail_ends(combined: Combined, probability: float) -> tuple[float | None, float | None]:
    """Compute the interval of the launches' own quantiles; nothing where a launch has too few samples."""
    if any(launch.values.size < least_samples(probability) for launch in combined.launches):
        return None, None
    own = [
        block_interval(launch.values, launch.taken.tick, combined.level, probability).estimate
        for launch in combined.launches
    ]
    over = combined.over(own)
    over = with_tick(over, np.array([each.value for each in own]), combined.tick)
    low, high = finite(over.low), finite(over.high)
    return (low, high) if low is not None and high is not None else (None, None)


class RuleQuantile(Facet, frozen=True, kw_only=True):
    """The `quantile` (0 to 1) of the stop rule: its value in ns and its interval.

    The interval is made as the median's: from the launches' own quantiles, or inside the one launch.
    """

    quantile: float | None = None
    quantile_value: float | None = None
    quantile_low: float | None = None
    quantile_high: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> RuleQuantile | None:
        """None if the rule was about no quantile."""
        if combined.probability is None:
            return None
        estimate = combined.over([tail.estimate for tail in combined.tails])
        return cls(
            quantile=combined.probability,
            quantile_value=estimate.value,
            quantile_low=finite(estimate.low),
            quantile_high=finite(estimate.high),
        )
