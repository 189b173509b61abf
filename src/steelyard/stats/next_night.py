"""Tonight against the nights before: would a further night of that kind be so far off?

Nights are the replicates (Kalibera and Jones, ISMM 2013), because the launches of one night share its effect.
The middle of the nights since the last change and their robust scale predict one further night. Few nights
hardly know their scale, so each series borrows from all others as far as these are alike (Smyth, SAGMB 3,
2004). The interval is Student's t, with the degrees of freedom of that scale. It has fewer if the nights
before, each compared with the others, have heavier tails.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.change_points import LEAST_SCATTER, scale_of
from steelyard.stats.gamma import digamma, trigamma
from steelyard.stats.probability_distributions import student_quantile, student_tail

LEAST_NIGHTS = 3  # before tonight; fewer do not show how nights differ
_DRAWN = 4000  # drawn series of normal numbers that give the properties of a scale
_FEW = 60  # nights up to which they are drawn; beyond, Qn has its factor and efficiency for many numbers
_QN_FACTOR, _QN_EFFICIENCY = 2.2219, 0.82
_CLOSE = 1e-12  # relative, of a search for degrees of freedom
_TAILS = np.geomspace(1 / 60, 1.0, 41)  # fractions of the degrees of freedom to try
_LEAST_RANKED = 8  # nights for Qn, whose rank among the differences of fewer is that of nearly the smallest
_LEAST_SERIES = 3  # of which a prior can be made: two do not show how much scales differ
_LENT = 2.0  # degrees of freedom that each series can lend to the others, at most
_HEAVIEST = 3.0  # degrees of freedom: tails of fewer have no variance, and no scale would say anything
_BETTER = 1.353  # by which a logarithm of the likelihood must grow: one-sided at 5 % (Wilks)


@dataclass(frozen=True, slots=True)
class Screened:
    """Tonight less the nights before, of P series, as logarithms.

    `estimate`, `low`, `high`, `p`: (P,), the interval and p hold for all series together; nan and 1 if there
    are too few nights. `alone`: (P,), p of a series by itself. `scatter`: (P,), of nights. `nights`: (P,),
    how many there were. `farthest`: (P,), the largest |deviation| of a night before. `lent`: the degrees of
    freedom that the others lend to the scale of each series.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    alone: FloatArray
    scatter: FloatArray
    nights: NDArray[np.int64]
    farthest: FloatArray
    lent: float


@dataclass(frozen=True, slots=True)
class _Scale:
    """Properties of nights in segments, of standard deviation 1: of their spread, and of the last middle."""

    factor: float  # makes the spread the standard deviation
    freedom: float
    middle: float  # variance of the median of the last segment
    log_mean: float  # of the logarithm of the estimated variance
    log_variance: float


@dataclass(frozen=True, slots=True)
class _Prior:
    """What all series together know of the variance of one: as much as `freedom` degrees of it."""

    variance: float
    freedom: float

    def moderate(self, scatter: FloatArray, freedom: float) -> FloatArray:
        """Pool scales, each with so many degrees of freedom of its own, with the prior."""
        if not self.freedom:
            return scatter
        whole = self.freedom + freedom
        return np.sqrt((self.freedom * self.variance + freedom * np.square(scatter)) / whole)


_NO_PRIOR = _Prior(0.0, 0.0)


def screen_tonight(
    values: FloatArray, starts: Sequence[Sequence[int]], *, false_alarm: float = 0.01
) -> Screened:
    """Compare the last night with those before.

    values: (n, P), logarithms, the last night is tonight; nan where a night lacks a series. starts: of each
    series the first nights of its levels, ascending from 0, tonight is at the last level. The p is adjusted
    by Bonferroni for the series that can be tested.
    """
    columns = [_past(series[:-1], cuts) for series, cuts in zip(values.T, starts, strict=True)]
    ready = [
        math.isfinite(tonight) and sum(map(len, past)) >= LEAST_NIGHTS and past[-1].size >= 1
        for tonight, past in zip(values[-1], columns, strict=True)
    ]
    family = max(1, sum(ready))
    pairs = zip(values.T, starts, ready, strict=True)
    prior = _prior([past for past, is_ready in zip(columns, ready, strict=True) if is_ready])
    tail = _tail([_against_others(series[:-1], cuts, prior) for series, cuts, is_ready in pairs if is_ready])
    told = [
        _screen(past, tonight, false_alarm / family, tail, prior)
        if is_ready
        else (math.nan,) * 3 + (1.0, math.nan, math.nan)
        for past, tonight, is_ready in zip(columns, values[-1], ready, strict=True)
    ]
    estimate, low, high, alone, scatter, farthest = (np.array(one) for one in zip(*told, strict=True))
    nights = np.array([past[-1].size for past in columns], dtype=np.int64)
    p = np.minimum(1.0, alone * family)
    return Screened(estimate, low, high, p, alone, scatter, nights, farthest, prior.freedom)


def nights_needed(
    scatter: float, margin: float, share: float, *, lent: float = 0.0, most: int = 200
) -> int | None:
    """Find how many nights before tonight make the interval as narrow as `margin`; None if no number does.

    `scatter` is that of nights, `margin` half the interval, as logarithms, `share` of false alarms, `lent`
    the degrees of freedom that other series lend.
    """
    for nights in range(LEAST_NIGHTS, most + 1):
        scale = _scale_of_many((nights,))
        quantile = -student_quantile(scale.freedom + lent, share / 2)
        if quantile * scatter * math.sqrt(1 + scale.middle) <= margin:
            return nights
    return None


def _past(series: FloatArray, starts: Sequence[int]) -> list[FloatArray]:
    """List the nights of each level that have the series."""
    levels = np.split(series, list(starts)[1:])
    return [level[np.isfinite(level)] for level in levels]


def _prior(columns: Sequence[Sequence[FloatArray]]) -> _Prior:
    """Estimate what the series have in common, by the moments of the logarithms of their variances.

    columns: the nights of each level, of each series. The variances scatter by chance, as those of drawn
    normal numbers do; what they scatter beyond that is how much series differ (Smyth 2004, section 6). That
    is taken at its likely most, a standard error above the estimate, for lending too much is false alarms.
    """
    if len(columns) < _LEAST_SERIES:
        return _NO_PRIOR
    logs, chance = [], []
    for past in columns:
        scale = _scale_of(tuple(one.size for one in past if one.size))
        logs.append(2 * math.log(_own_scatter(past, scale)) - scale.log_mean)
        chance.append(scale.log_variance)
    whole = float(np.var(logs, ddof=1))
    beyond = whole * (1 + math.sqrt(2 / (len(logs) - 1))) - float(np.mean(chance))
    most = _LENT * len(columns)
    freedom = most if beyond <= trigamma(most / 2) else _freedom_for(beyond, most)
    # the mean of the logarithm of a scaled inverse chi-square
    middle = float(np.mean(logs)) + digamma(freedom / 2) - math.log(freedom / 2)
    return _Prior(math.exp(middle), freedom)


def _freedom_for(value: float, most: float) -> float:
    """Find the degrees of freedom up to `most` for which trigamma(half of them) is the value."""
    least = 1e-3
    while most - least > _CLOSE * most:
        middle = math.sqrt(least * most)
        least, most = (middle, most) if trigamma(middle / 2) > value else (least, middle)
    return least


def _spread(left: FloatArray) -> FloatArray:
    """Measure how far nights are from the middles of their levels: Qn, of few nights the root mean square."""
    if left.shape[-1] < _LEAST_RANKED:
        return np.asarray(np.sqrt(np.mean(np.square(left), axis=-1)))
    return np.asarray(scale_of(left))


def _own_scatter(past: Sequence[FloatArray], scale: _Scale) -> float:
    """Estimate the standard deviation of the nights of a series around the middles of its levels."""
    left = np.concatenate([one - np.median(one) for one in past if one.size])
    return max(scale.factor * float(_spread(left)), LEAST_SCATTER)


def _tail(columns: Sequence[tuple[FloatArray, NDArray[np.int64], float]]) -> float:
    """Estimate the fraction of the degrees of freedom that the nights before leave, of all series together.

    columns: the results of `_against_others` for each series. The fraction is the least that is not less
    likely than the likeliest beyond chance, the lower end of its interval: few nights do not show that their
    tails are light. It is without the night that speaks most against 1, because one wild night is no tail.
    """
    if not sum(z.size for z, _, _ in columns):
        return 1.0
    deviations = np.concatenate([z for z, _, _ in columns])
    freedoms = np.array([freedom for _, _, freedom in columns])
    series = np.repeat(np.arange(len(columns)), [z.size for z, _, _ in columns])
    nights = np.concatenate([own for _, own, _ in columns])
    chances = np.array(
        [np.bincount(nights, _log_density(deviations, series, _with_tail(freedoms, tail))) for tail in _TAILS]
    )  # (tails, nights)
    whole = chances.sum(axis=1)
    best = int(np.argmax(whole))
    wildest = int(np.argmax(chances[best] - chances[-1]))
    rest = whole - chances[:, wildest]
    best = int(np.argmax(rest))
    return float(_TAILS[np.flatnonzero(rest >= rest[best] - _BETTER)[0]])


def _with_tail(freedoms: FloatArray, tail: float) -> FloatArray:
    """Leave that fraction of the degrees of freedom, but those of the heaviest tails that are thought of."""
    return np.maximum(np.minimum(freedoms, _HEAVIEST), tail * freedoms)


def _log_density(values: FloatArray, series: NDArray[np.intp], freedoms: FloatArray) -> FloatArray:
    """Compute the logarithms of the density of Student's t; `series` is whose freedom each value has."""
    half = (freedoms + 1) / 2
    constants = [
        math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi * freedom) / 2
        for freedom in freedoms.tolist()
    ]
    return np.asarray(np.array(constants)[series] - half[series] * np.log1p(values**2 / freedoms[series]))


def _against_others(
    series: FloatArray, starts: Sequence[int], prior: _Prior
) -> tuple[FloatArray, NDArray[np.int64], float]:
    """Compare each night before with all others at its level, in errors of a prediction; which nights;
    freedom.

    Beyond `_FEW` nights one more or less makes no difference, so they are compared with all.
    """
    numbers = np.split(np.arange(series.size), list(starts)[1:])
    known = [number[np.isfinite(series[number])] for number in numbers]
    known = [own for own in known if own.size > 1]
    levels = [series[own] for own in known]
    sizes = tuple(one.size for one in levels)
    if sum(sizes) < LEAST_NIGHTS + (not prior.freedom):
        return np.empty(0), np.empty(0, dtype=np.int64), 1.0
    nights = np.concatenate(known)
    left = np.concatenate([one - np.median(one) for one in levels])
    if sum(sizes) > _FEW:
        scale = _scale_of_many(sizes)
        scatter = np.array([max(scale.factor * float(_spread(left)), LEAST_SCATTER)])
        return left / prior.moderate(scatter, scale.freedom), nights, scale.freedom + prior.freedom
    found, first = [], 0
    for k, level in enumerate(levels):
        scale = _scale_of((*sizes[:k], *sizes[k + 1 :], sizes[k] - 1))
        elsewhere = np.delete(left, slice(first, first + level.size))
        others = np.tile(level, (level.size, 1))[~np.eye(level.size, dtype=bool)]
        others = others.reshape(level.size, -1)  # (nights, the others)
        middles = np.median(others, axis=1, keepdims=True)
        rest = np.concatenate([np.tile(elsewhere, (level.size, 1)), others - middles], axis=1)
        own = np.maximum(scale.factor * _spread(rest), LEAST_SCATTER)
        scatter = prior.moderate(own, scale.freedom)
        found.append((level - middles[:, 0]) / (scatter * math.sqrt(1 + scale.middle)))
        first += level.size
    return np.concatenate(found), nights, scale.freedom + prior.freedom


def _screen(
    past: Sequence[FloatArray], tonight: float, share: float, tail: float, prior: _Prior
) -> tuple[float, float, float, float, float, float]:
    left = np.concatenate([one - np.median(one) for one in past if one.size])
    scale = _scale_of(tuple(one.size for one in past if one.size))
    scatter = float(prior.moderate(np.array(_own_scatter(past, scale)), scale.freedom))
    error = scatter * math.sqrt(1 + scale.middle)
    freedom = float(_with_tail(np.array(scale.freedom + prior.freedom), tail))
    estimate = tonight - float(np.median(past[-1]))
    half = -student_quantile(freedom, share / 2) * error
    alone = 2 * student_tail(freedom, abs(estimate) / error)
    return estimate, estimate - half, estimate + half, alone, scatter, float(np.abs(left).max())


@functools.lru_cache(maxsize=512)
def _scale_of(sizes: tuple[int, ...]) -> _Scale:
    """Draw normal numbers in segments of these sizes: Satterthwaite's degrees of freedom of Qn²."""
    if sum(sizes) > _FEW:
        return _scale_of_many(sizes)
    drawn = np.random.default_rng(sum(sizes)).standard_normal((_DRAWN, sum(sizes)))
    parts = np.split(drawn, np.cumsum(sizes)[:-1], axis=1)
    middles = [np.median(part, axis=1, keepdims=True) for part in parts]
    squares = _spread(np.concatenate([p - m for p, m in zip(parts, middles, strict=True)], axis=1)) ** 2
    mean, variance = float(squares.mean()), float(squares.var())
    logs = np.log(np.maximum(squares / mean, LEAST_SCATTER))
    return _Scale(
        factor=1 / math.sqrt(mean),
        freedom=max(1.0, 2 * mean**2 / variance),
        middle=float(middles[-1].var()),
        log_mean=float(logs.mean()),
        log_variance=float(logs.var()),
    )


def _scale_of_many(sizes: tuple[int, ...]) -> _Scale:
    """Do the same for many nights: the median has the variance pi / 2 n."""
    freedom = max(1.0, _QN_EFFICIENCY * (sum(sizes) - len(sizes)))
    log_mean = digamma(freedom / 2) - math.log(freedom / 2)
    return _Scale(_QN_FACTOR, freedom, math.pi / 2 / sizes[-1], log_mean, trigamma(freedom / 2))
