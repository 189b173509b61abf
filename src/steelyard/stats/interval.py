"""Intervals: inside one launch from medians of blocks, over launches from the medians of launches; also for
other quantiles.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import (
    LEAST_IN_TIME,
    NOT_ALIKE,
    Likeness,
    covariance_of,
    lag1,
    likeness,
    seeming_share,
)
from steelyard.stats.fast_stats import deviation, mean, middle
from steelyard.stats.probability_distributions import half_binomial_cdf, student_quantile
from steelyard.stats.quantile import quantile, row_quantiles

FINE_BLOCKS = 128
COARSE_BLOCKS = 16  # Law and Carson 1979 use few long batches: 16 leave 15 degrees of freedom, 1.07 s wide
LEAST_BLOCKS_VALUES = 2 * COARSE_BLOCKS
LEAST_BEYOND = 10.0  # values of a coarse block beyond its quantile: from there it is nearly normal
MOST_LAG1 = 0.4  # of fine blocks, up to which coarse ones count as independent (Law and Carson)
MOST_PHI = 0.999  # of AR(1): beyond, the series is a walk that has no mean
LEAST_COUNT = 5.0  # independent values that correlated ones must be worth
MOST_LOG = 300.0  # of an end over its value: times beyond neither overflow nor become 0
LEAST_WORTH = 4.0  # independent launches that alike ones are worth at least: fewer say nothing of scatter
MODES = ", modes"  # ends the kind of an interval that reaches to a mode which no launch was in
LEAST_RANKED = 6  # below, not even [min, max] covers a median with 95 %


class Interval(Struct, frozen=True):
    """A value and its interval; `low` and `high` are None if there is none."""

    value: float
    low: float | None = None
    high: float | None = None


class Estimate(Struct, frozen=True):
    """A value with its interval: never a bare number.

    `level` is the probability of the interval; for order statistics it is the exact one of the chosen ranks.
    `n` is the number of values. `kind` says how the interval was made: `blocks`, `ranks`, `t`, `t of logs`,
    or `none` (the interval is infinite); `, groups` follows where it holds for other groups of launches, too,
    and `, modes` where it reaches to a mode that no launch was in. `widened` is the factor by which it is
    wider because consecutive values were alike.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    kind: str
    widened: float = 1.0

    def __format__(self, spec: str) -> str:
        """Format as `1.02 [0.98, 1.07]`, each number by `spec`."""
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"


class Blocks(Struct, frozen=True):
    """The interval of one launch; `lag1` is the autocorrelation of its fine blocks (None below 32 values).

    `medians` are those of the coarse blocks, or their quantiles if another one was asked for.
    """

    estimate: Estimate
    lag1: float | None
    medians: FloatArray


def block_medians(values: ArrayLike, count: int, tick: float = 0.0) -> FloatArray:
    """Compute grouped medians of `count` successive blocks of equal size, shape (count,): see
    `block_quantiles`.
    """
    return block_quantiles(values, count, 0.5, tick)


def block_quantiles(values: ArrayLike, count: int, p: float, tick: float = 0.0) -> FloatArray:
    """Compute grouped quantiles of `count` successive blocks of equal size, shape (count,).

    Values that do not fill the blocks are left out at the start, where they may be warm-up. Raises ValueError
    for fewer values than blocks.
    """
    data = np.asarray(values, dtype=np.float64)
    size = data.size // count
    if size == 0:
        raise ValueError(f"{data.size} values do not fill {count} blocks")
    return np.asarray(row_quantiles(data[data.size - size * count :].reshape(count, size), (p,), tick)[0])


def block_interval(values: ArrayLike, tick: float = 0.0, level: float = 0.95, p: float = 0.5) -> Blocks:
    """Compute the median of one launch, or its `p`-quantile, with an interval that allows for correlation in
    time.

    `values` in the order of measurement, in any unit; `tick` in the same one. Batch means after Law and
    Carson (Operations Research 27, 1979), with medians: the series is cut into 128 fine blocks, and 8 of them
    make one of 16 coarse ones; half-width t(15) s / 4 of the coarse medians. `lag1` of the fine medians shows
    whether blocks are long enough to be independent (below 0.4). If not, the interval is widened to that of a
    mean of correlated values (`correlated_half`). Fewer than 128 values make 16 blocks directly, fewer than
    32 use ranks of the values themselves, fewer than 6 Student's t, and one value has no interval. All this
    is done on logarithms if all values are positive, so that no end of an interval is below 0. Another
    quantile has an infinite interval if coarse blocks hold fewer than 10 values beyond it. If a clock shows
    the same number each time, half a tick of doubt is left either way. Raises ValueError without values.
    """
    data = np.asarray(values, dtype=np.float64)
    centre = quantile(data, (p,), tick)[0]
    if p != 0.5 and data.size // COARSE_BLOCKS * min(p, 1.0 - p) < LEAST_BEYOND - 1e-9:
        return Blocks(Estimate(centre, -math.inf, math.inf, level, int(data.size), "none"), None, data)
    in_logs = float(data.min()) > 0.0
    if data.size < LEAST_BLOCKS_VALUES:
        estimate = _independent(data, level, in_logs)
        low, high = min(estimate.low, centre), max(estimate.high, centre)
        estimate = Estimate(centre, low, high, estimate.level, estimate.n, estimate.kind)
        return Blocks(with_tick(estimate, data, tick), None, data)
    fine_count = FINE_BLOCKS if data.size >= FINE_BLOCKS else COARSE_BLOCKS
    size = data.size // fine_count
    kept = data[data.size - size * fine_count :]
    coarse = block_quantiles(kept, COARSE_BLOCKS, p, tick)
    fine = coarse if fine_count == COARSE_BLOCKS else block_quantiles(kept, FINE_BLOCKS, p, tick)
    steps = fine if p != 0.5 or fine_count == FINE_BLOCKS else kept
    in_logs = in_logs and min(centre, float(coarse.min()), float(steps.min())) > 0.0
    if in_logs:  # over the centre, so that equal values have equal logarithms
        half = max(mean_half(np.log(coarse / centre), level), correlated_half(np.log(steps / centre), level))
    else:
        half = max(mean_half(coarse, level), correlated_half(steps, level))
    estimate = Estimate(centre, *_around(centre, half, in_logs), level, int(data.size), "blocks")
    return Blocks(with_tick(estimate, data, tick), lag1(fine), coarse)


def _around(centre: float, half: float, in_logs: bool) -> tuple[float, float]:
    """Compute the ends of an interval from its half-width; in logarithms it stays above 0."""
    if in_logs and math.isfinite(half):
        reach = min(half, MOST_LOG)
        return centre * math.exp(-reach), centre * math.exp(reach)
    return centre - half, centre + half


def mean_half(data: FloatArray, level: float) -> float:
    """Compute the half-width of Student's t for the mean of two independent values or more."""
    return t_quantile(level, data.size - 1) * deviation(data) / math.sqrt(data.size)


def correlated_half(series: ArrayLike, level: float) -> float:
    """Compute the half-width of an interval for the mean of values that are correlated in time, as AR(1).

    phi is the lag-1 autocorrelation r of n values less its bias, r + (1 + 4 r) / n (Kendall, Biometrika 41,
    1954). The mean has the variance v sigma^2, v = ((1 + phi) / (1 - phi) - 2 phi (1 - phi^n) / (n (1 -
    phi)^2)) / n (Bayley and Hammersley, JRSS Suppl. 8, 1946). The sample variance is too small by a factor of
    1 - v, and the values count for 1 / v independent ones: Student's t on 1 / v - 1 degrees of freedom. 0 if
    r is below 0.4; infinite if the values count for fewer than `LEAST_COUNT`.
    """
    data = np.asarray(series, dtype=np.float64)
    n, r = data.size, lag1(series)
    if r < MOST_LAG1:
        return 0.0
    phi = min(r + (1 + 4 * r) / n, MOST_PHI)
    v = ((1 + phi) / (1 - phi) - 2 * phi * (1 - phi**n) / (n * (1 - phi) ** 2)) / n
    if v >= 1 / LEAST_COUNT:
        return math.inf
    sigma = deviation(data) * math.sqrt((n - 1) / n / (1 - v))
    return t_quantile(level, 1 / v - 1) * sigma * math.sqrt(v)


def launch_interval(
    medians: Sequence[float],
    level: float = 0.95,
    *,
    logs: bool = True,
    groups: Iterable[Sequence[int]] = (),
    alike: Likeness = NOT_ALIKE,
) -> Estimate:
    """Compute the median of launch medians, in the order of the launches, with an interval for launches made
    then.

    Two to five launches: Student's t on the logarithms; on the values if one is not positive, or without
    `logs`, for values that are no times or ratios of times, such as a fraction near 0. Six or more: the
    narrowest symmetric pair of order statistics with at least `level` coverage under the binomial
    distribution (David and Nagaraja, Order Statistics, 2003, section 7.1), with no assumption on the
    distribution; `level` is then that of the pair. Student's t if no pair reaches `level`.

    If consecutive launches are alike, they count for fewer independent ones, and the interval is wider by
    `alike_width`, and at least that between the ranks of so few; `alike` is how alike all test cases of these
    launches are. Where it says that they may all be in one mode, the interval reaches to the other on either
    side; of values without logarithms there is none. `groups` are ways to group the launches, such as
    sittings or hosts: the number of the group of each launch. The interval then holds for launches of other
    such groups, too (`group_span`); without it, the effect of another hour on all launches is not included.
    Raises ValueError for fewer than two launches, which say nothing about the next one: use `block_interval`.
    """
    data = np.asarray(medians, dtype=np.float64)
    if data.size < 2:
        raise ValueError("an interval over launches needs at least two of them")
    in_logs = logs and float(data.min()) > 0.0
    estimate = widened(_independent(data, level, in_logs), alike_width(data, level, alike.of_means), in_logs)
    if estimate.kind == "ranks" and estimate.widened > 1.0:
        estimate = _with_fewer_ranks(estimate, data)
    for labels in groups:
        estimate = _over_groups(estimate, data, np.asarray(labels), in_logs)
    return _to_unseen_mode(estimate, data, alike.apart, in_logs) if alike.apart else estimate


def span_of(
    values: Sequence[float],
    level: float = 0.95,
    *,
    logs: bool = True,
    groups: Sequence[Sequence[int]] = (),
    alike: Likeness = NOT_ALIKE,
) -> Interval:
    """Compute the median of the launches' values, with its interval (one value has none), see
    `launch_interval`.

    Raises ValueError without values.
    """
    if not values:
        raise ValueError("a span needs a launch")
    if len(values) == 1:
        return Interval(float(values[0]))
    estimate = launch_interval(values, level, logs=logs, groups=groups, alike=alike)
    if estimate.kind == "none":
        return Interval(estimate.value)
    return Interval(estimate.value, estimate.low, estimate.high)


def _to_unseen_mode(estimate: Estimate, data: FloatArray, apart: float, in_logs: bool) -> Estimate:
    """Let an interval reach as far as another mode may be; launches that differ by half of that saw it."""
    if not in_logs:
        return replace(estimate, low=-math.inf, high=math.inf, kind="none")
    if math.log(data.max() / data.min()) >= apart / 2:
        return estimate
    low, high = estimate.value * math.exp(-apart), estimate.value * math.exp(apart)
    return replace(
        estimate, low=min(low, estimate.low), high=max(high, estimate.high), kind=f"{estimate.kind}{MODES}"
    )


def _with_fewer_ranks(estimate: Estimate, data: FloatArray) -> Estimate:
    """Widen an interval of launches that are alike to the ranks that as few independent ones would have.

    Those near the median may all be of one mode, so that no factor makes their interval wide enough. Ranks by
    the normal distribution, n (1 - z / sqrt(m)) / 2 from either end, for n launches that are worth m.
    """
    worth = data.size / estimate.widened**2
    away = NormalDist().inv_cdf(0.5 + estimate.level / 2) / math.sqrt(worth)
    left_out = min(max(0, math.floor(data.size * (1 - away) / 2)), data.size // 2)
    ordered = np.sort(data)
    low, high = float(ordered[left_out]), float(ordered[-1 - left_out])
    return replace(estimate, low=min(low, estimate.low), high=max(high, estimate.high))


def _over_groups(estimate: Estimate, data: FloatArray, labels: NDArray[np.int64], in_logs: bool) -> Estimate:
    """Widen an interval so that it holds that over groups, too."""
    span = group_span(np.log(data) if in_logs else data, labels, estimate.level)
    if span is None:
        return estimate
    low, high = span
    if in_logs:
        middle_of = math.log(estimate.value)
        low, high = (math.exp(min(max(end, middle_of - MOST_LOG), middle_of + MOST_LOG)) for end in span)
    return replace(
        estimate, low=min(low, estimate.low), high=max(high, estimate.high), kind=f"{estimate.kind}, groups"
    )


def group_span(data: FloatArray, labels: NDArray[np.int64], level: float) -> tuple[float, float] | None:
    """Compute the interval of the mean over groups of values: Student's t of the groups' means.

    A value is the effect of its group plus its own scatter, so the variance of a group's mean has both
    components, and k means have k - 1 degrees of freedom (Snedecor and Cochran, Statistical Methods, 1989,
    section 13.4). Each group has equal weight, whatever its size. None for one group, and where each value is
    a group of its own, as launches are that were spread.
    """
    found, places = np.unique(labels, return_inverse=True)
    if not 1 < found.size < data.size:
        return None
    means = np.bincount(places, weights=data) / np.bincount(places)
    centre, half = mean(means), mean_half(means, level)
    return centre - half, centre + half


def _independent(data: FloatArray, level: float, in_logs: bool) -> Estimate:
    """Compute the interval of independent launches."""
    ranked = _ranked(data, level) if data.size >= LEAST_RANKED else None
    if ranked is not None:
        return ranked
    if not in_logs or data.size == 1:
        return _student(data, level, "t")
    estimate = _student(np.log(data), level, "t of logs")
    centre = middle(data)
    low, high = math.exp(max(estimate.low, -MOST_LOG)), math.exp(min(estimate.high, MOST_LOG))
    return Estimate(centre, min(low, centre), max(high, centre), level, estimate.n, estimate.kind)


def widened(estimate: Estimate, width: float, in_logs: bool) -> Estimate:
    """Widen an interval by a factor to both sides of its value, in logarithms if `in_logs`."""
    if width == 1.0:
        return estimate
    value, low, high = estimate.value, estimate.low, estimate.high
    if in_logs:
        up, down = (min(width * math.log(ratio), MOST_LOG) for ratio in (high / value, value / low))
        low, high = value * math.exp(-down), value * math.exp(up)
    else:
        low, high = value - width * (value - low), value + width * (high - value)
    return replace(estimate, low=low, high=high, widened=width)


def alike_width(values: ArrayLike, level: float, alike: float = 0.0) -> float:
    """Compute the factor by which an interval of values in time must be wider, 1 if they seem independent.

    `alike` is what is known of their likeness otherwise, at least (`common_likeness`). With rho of them both,
    a mean of AR(1) has sqrt((1 + rho) / (1 - rho)) times the deviation of that of independent values; n
    values count for as many fewer, and so few know their scatter less well: Student's t, of `LEAST_WORTH` at
    least. Fewer than `LEAST_IN_TIME` values have `_few_width`.
    """
    data = np.asarray(values, dtype=np.float64)
    rho = max(likeness(data), alike)
    if data.size < LEAST_IN_TIME:
        return _few_width(int(data.size), rho, level)
    width = math.sqrt((1 + rho) / (1 - rho))
    if rho == 0.0:
        return width
    worth = max(data.size / width**2, LEAST_WORTH)
    return width * t_quantile(level, worth - 1) / t_quantile(level, data.size - 1)


@functools.lru_cache
def _few_width(n: int, rho: float, level: float) -> float:
    """Compute how much wider Student's interval for the mean of n values of AR(1) must be.

    They see little of their scatter: by the variance of the mean over what it seems to be, and on as many
    degrees of freedom as the sum of squares has (Satterthwaite, Biometrics Bulletin 2, 1946).
    """
    covariance, centring = covariance_of(n, rho), np.eye(n) - 1 / n
    left = centring @ covariance @ centring
    degrees = np.trace(left) ** 2 / np.sum(left**2)
    wider = math.sqrt(n * seeming_share(covariance))
    return wider * t_quantile(level, float(degrees)) / t_quantile(level, n - 1)


def _ranked(data: FloatArray, level: float) -> Estimate | None:
    """Find the median with the narrowest symmetric pair of order statistics that covers `level`, or None."""
    found = rank_pair(int(data.size), level)
    if found is None:
        return None
    ordered, (left_out, covered) = np.sort(data), found
    low, high = float(ordered[left_out]), float(ordered[-1 - left_out])
    return Estimate(middle(ordered), low, high, covered, int(data.size), "ranks")


@functools.lru_cache
def rank_pair(count: int, level: float) -> tuple[int, float] | None:
    """Find how many values to leave out at either end, the most for that level, and the coverage."""
    coverage = 1.0 - 2.0 * half_binomial_cdf(count)
    enough = np.flatnonzero(coverage >= level)
    return (int(enough[-1]), float(coverage[enough[-1]])) if enough.size else None


def _student(data: FloatArray, level: float, kind: str) -> Estimate:
    """Compute Student's t around the mean, reported with the median; one value has an infinite interval."""
    centre = middle(data)
    if data.size == 1:
        return Estimate(centre, -math.inf, math.inf, level, 1, "none")
    average, half = mean(data), mean_half(data, level)
    low, high = min(average - half, centre), max(average + half, centre)
    return Estimate(centre, low, high, level, int(data.size), kind)


def t_quantile(level: float, degrees: float) -> float:
    """Compute the two-sided quantile of Student's t."""
    return student_quantile(degrees, 0.5 + level / 2)


def with_tick(estimate: Estimate, data: FloatArray, tick: float) -> Estimate:
    """Widen the interval to half a tick either way if all values fall into one tick: nothing dithers."""
    if tick <= 0.0 or float(np.ptp(data)) >= tick:
        return estimate
    low, high = min(estimate.low, estimate.value - tick / 2), max(estimate.high, estimate.value + tick / 2)
    low = max(low, 0.0) if float(data.min()) > 0.0 and math.isfinite(low) else low
    return Estimate(estimate.value, low, high, estimate.level, estimate.n, estimate.kind)
