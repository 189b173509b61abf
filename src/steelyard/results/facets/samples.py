"""The samples of all launches together, and the quantile of a stop rule."""

from __future__ import annotations

import numpy as np

from steelyard.results.combined import Combined, finite, over_launches
from steelyard.results.row import Facet
from steelyard.stats import block_interval, pooled_quantile
from steelyard.stats.few import mean

SLOW = 3.0  # a sample above so many medians is slow
LEAST_FOR_P99 = 1000  # samples of a launch: ten of them are beyond its p99


class Samples(Facet, frozen=True, kw_only=True):
    """Quantiles of all samples of all launches together, in ns, with equal weight for each launch.

    The stop rule decides how many samples a launch has. With equal weight, one slow launch of ten is a tenth
    of these quantiles, however many samples it has. `slow_share` is the share above 3 medians.
    `p99_low`..`p99_high` is the interval of the launches' own p99, made as the median's and widened to hold
    p99; None if samples are few.
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
    def of(cls, one: Combined) -> Samples:
        """Each row has them."""
        series = [launch.values for launch in one.launches]
        p5, p90, p95, p99 = pooled_quantile(series, (0.05, 0.90, 0.95, 0.99), one.tick)
        low, high = _p99_interval(one, p99)
        value = one.estimate.value
        return cls(
            min=float(one.samples.min()),
            p5=p5,
            p90=p90,
            p95=p95,
            p99=p99,
            p99_low=low,
            p99_high=high,
            max=float(one.samples.max()),
            mean=mean([mean(values) for values in series]),
            slow_share=mean([np.count_nonzero(values > SLOW * value) / values.size for values in series])
            if value > 0
            else None,
        )


def _p99_interval(one: Combined, p99: float) -> tuple[float | None, float | None]:
    """Compute the interval of the launches' own 99 % quantiles, widened to contain the one of all."""
    if any(launch.values.size < LEAST_FOR_P99 for launch in one.launches):
        return None, None
    own = [
        block_interval(launch.values, launch.taken.tick, one.level, 0.99).estimate for launch in one.launches
    ]
    over = over_launches(own, one.level)
    low, high = finite(min(over.low, p99)), finite(max(over.high, p99))
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
    def of(cls, one: Combined) -> RuleQuantile | None:
        """None if the rule was about no quantile."""
        if one.probability is None:
            return None
        estimate = over_launches([tail.estimate for tail in one.tails], one.level)
        return cls(
            quantile=one.probability,
            quantile_value=estimate.value,
            quantile_low=finite(estimate.low),
            quantile_high=finite(estimate.high),
        )
