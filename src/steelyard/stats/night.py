"""Tonight against the nights before: would a further night of that kind be so far off?

Nights are the replicates (Kalibera and Jones, ISMM 2013), because the launches of one night share its effect.
The middle of the nights since the last change and their robust scale predict one further night. The interval
is Student's t, with the degrees of freedom of that scale. It has fewer if the nights before, each compared
with the others, have heavier tails.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtr, stdtrit

from steelyard.stats.change_points import LEAST_SCATTER, scale_of

FloatArray = NDArray[np.float64]

LEAST_NIGHTS = 3  # before tonight; fewer do not show how nights differ
_DRAWN = 4000  # drawn series of normal numbers that give the properties of a scale
_FEW = 60  # nights up to which they are drawn; beyond, Qn has its factor and efficiency for many numbers
_QN_FACTOR, _QN_EFFICIENCY = 2.2219, 0.82
_TAILS = np.geomspace(1 / 60, 1.0, 41)  # fractions of the degrees of freedom to try
_BETTER = 1.353  # by which a logarithm of the likelihood must grow: one-sided at 5 % (Wilks)


@dataclass(frozen=True, slots=True)
class Screened:
    """Tonight less the nights before, of P series, as logarithms.

    `estimate`, `low`, `high`, `p`: (P,), the interval and p hold for all series together; nan and 1 if there
    are too few nights. `alone`: (P,), p of a series by itself. `scatter`: (P,), of nights. `nights`: (P,),
    how many there were. `farthest`: (P,), the largest |deviation| of a night before.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    alone: FloatArray
    scatter: FloatArray
    nights: NDArray[np.int64]
    farthest: FloatArray


@dataclass(frozen=True, slots=True)
class _Scale:
    """Properties of nights in segments, of standard deviation 1: of their Qn, and of the last middle."""

    factor: float  # makes Qn the standard deviation
    freedom: float
    middle: float  # variance of the median of the last segment


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
    tail = _tail([_against_others(series[:-1], cuts) for series, cuts, is_ready in pairs if is_ready])
    told = [
        _screen(past, tonight, false_alarm / family, tail)
        if is_ready
        else (math.nan,) * 3 + (1.0, math.nan, math.nan)
        for past, tonight, is_ready in zip(columns, values[-1], ready, strict=True)
    ]
    estimate, low, high, alone, scatter, farthest = (np.array(one) for one in zip(*told, strict=True))
    nights = np.array([past[-1].size for past in columns], dtype=np.int64)
    return Screened(estimate, low, high, np.minimum(1.0, alone * family), alone, scatter, nights, farthest)


def nights_needed(scatter: float, margin: float, share: float, most: int = 200) -> int | None:
    """Find how many nights before tonight make the interval as narrow as `margin`; None if no number does.

    `scatter` is that of nights, `margin` half the interval, as logarithms, `share` of false alarms.
    """
    for nights in range(LEAST_NIGHTS, most + 1):
        scale = _scale_of_many((nights,))
        quantile = float(-stdtrit(scale.freedom, share / 2))
        if quantile * scatter * math.sqrt(1 + scale.middle) <= margin:
            return nights
    return None


def _past(series: FloatArray, starts: Sequence[int]) -> list[FloatArray]:
    """List the nights of each level that have the series."""
    levels = np.split(series, list(starts)[1:])
    return [one[np.isfinite(one)] for one in levels]


def _tail(columns: Sequence[tuple[FloatArray, NDArray[np.int64], float]]) -> float:
    """Estimate the fraction of the degrees of freedom that the nights before leave, of all series together.

    columns: the results of `_against_others` for each series. The fraction is the likeliest one, without the
    night that speaks most against 1, because one wild night is no tail. It is 1 unless another one is
    likelier beyond chance, so nights of normal numbers keep all degrees in 95 %.
    """
    if not sum(z.size for z, _, _ in columns):
        return 1.0
    deviations = np.concatenate([z for z, _, _ in columns])
    freedoms = np.concatenate([np.full(z.size, freedom) for z, _, freedom in columns])
    nights = np.concatenate([own for _, own, _ in columns])
    chances = np.array(
        [np.bincount(nights, _log_density(deviations, np.maximum(1.0, tail * freedoms))) for tail in _TAILS]
    )  # (tails, nights)
    whole = chances.sum(axis=1)
    best = int(np.argmax(whole))
    wildest = int(np.argmax(chances[best] - chances[-1]))
    rest = whole - chances[:, wildest]
    best = int(np.argmax(rest))
    return float(_TAILS[best]) if rest[best] - rest[-1] > _BETTER else 1.0


def _log_density(values: FloatArray, freedoms: FloatArray) -> FloatArray:
    """Compute the logarithms of the density of Student's t."""
    half = (freedoms + 1) / 2
    constants = gammaln(half) - gammaln(freedoms / 2) - np.log(np.pi * freedoms) / 2
    return np.asarray(constants - half * np.log1p(values**2 / freedoms))


def _against_others(series: FloatArray, starts: Sequence[int]) -> tuple[FloatArray, NDArray[np.int64], float]:
    """Compare each night before with all others at its level, in errors of a prediction; which nights;
    freedom.

    Beyond `_FEW` nights one more or less makes no difference, so they are compared with all.
    """
    numbers = np.split(np.arange(series.size), list(starts)[1:])
    known = [own[np.isfinite(series[own])] for own in numbers]
    known = [own for own in known if own.size > 1]
    levels = [series[own] for own in known]
    sizes = tuple(one.size for one in levels)
    if sum(sizes) <= LEAST_NIGHTS:
        return np.empty(0), np.empty(0, dtype=np.int64), 1.0
    nights = np.concatenate(known)
    left = np.concatenate([one - np.median(one) for one in levels])
    if sum(sizes) > _FEW:
        scale = _scale_of_many(sizes)
        return left / max(scale.factor * float(scale_of(left)), LEAST_SCATTER), nights, scale.freedom
    found, first = [], 0
    for k, level in enumerate(levels):
        scale = _scale_of((*sizes[:k], *sizes[k + 1 :], sizes[k] - 1))
        elsewhere = np.delete(left, slice(first, first + level.size))
        others = np.tile(level, (level.size, 1))[~np.eye(level.size, dtype=bool)]
        others = others.reshape(level.size, -1)  # (nights, the others)
        middles = np.median(others, axis=1, keepdims=True)
        rest = np.concatenate([np.tile(elsewhere, (level.size, 1)), others - middles], axis=1)
        scatter = np.maximum(scale.factor * scale_of(rest), LEAST_SCATTER)
        found.append((level - middles[:, 0]) / (scatter * math.sqrt(1 + scale.middle)))
        first += level.size
    return np.concatenate(found), nights, scale.freedom


def _screen(
    past: Sequence[FloatArray], tonight: float, share: float, tail: float
) -> tuple[float, float, float, float, float, float]:
    left = np.concatenate([one - np.median(one) for one in past if one.size])
    scale = _scale_of(tuple(one.size for one in past if one.size))
    scatter = max(scale.factor * float(scale_of(left)), LEAST_SCATTER)
    error = scatter * math.sqrt(1 + scale.middle)
    freedom = max(1.0, tail * scale.freedom)
    estimate = tonight - float(np.median(past[-1]))
    half = float(-stdtrit(freedom, share / 2)) * error
    alone = 2 * float(stdtr(freedom, -abs(estimate) / error))
    return estimate, estimate - half, estimate + half, alone, scatter, float(np.abs(left).max())


@functools.lru_cache(maxsize=512)
def _scale_of(sizes: tuple[int, ...]) -> _Scale:
    """Draw normal numbers in segments of these sizes: Satterthwaite's degrees of freedom of Qn²."""
    if sum(sizes) > _FEW:
        return _scale_of_many(sizes)
    drawn = np.random.default_rng(sum(sizes)).standard_normal((_DRAWN, sum(sizes)))
    parts = np.split(drawn, np.cumsum(sizes)[:-1], axis=1)
    middles = [np.median(part, axis=1, keepdims=True) for part in parts]
    squares = scale_of(np.concatenate([p - m for p, m in zip(parts, middles, strict=True)], axis=1)) ** 2
    mean, variance = float(squares.mean()), float(squares.var())
    return _Scale(1 / math.sqrt(mean), max(1.0, 2 * mean**2 / variance), float(middles[-1].var()))


def _scale_of_many(sizes: tuple[int, ...]) -> _Scale:
    """Do the same for many nights: the median has the variance pi / 2 n."""
    freedom = max(1.0, _QN_EFFICIENCY * (sum(sizes) - len(sizes)))
    return _Scale(_QN_FACTOR, freedom, math.pi / 2 / sizes[-1])
