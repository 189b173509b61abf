"""Looks at an experiment that grows: several of them share one rate of false alarms.

Whoever looks at a comparison, adds launches and looks again has two chances of a false alarm. So each look
spends a share of the rate, fixed by the numbers of launches alone, and all shares together never exceed it
(alpha spending: Lan and DeMets, Biometrika 70, 1983; by Bonferroni's bound, which holds whatever the looks
have in common). What was told at one look stays told, unless a later one sees that its p did not hold.

Stopping an interval when it is narrow enough costs next to nothing: its width says little about where its
middle lies (Chow and Robbins, Annals of Mathematical Statistics 36, 1965). `looks_until` spaces the looks by
a factor, so that they are few; simulations in docs/analysis/precision.md show what is left.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.interval import rank_pair, t_quantile
from steelyard.stats.moderated_variance import degrees_of
from steelyard.stats.paired_permutation import Swapped, compare_arms, least_pairs
from steelyard.stats.probability_distributions import normal_quantile, student_quantile

FIRST_SHARE = 0.8  # of the false alarms, for the first look: the least p of eight pairs, 0.78 %, still counts
FIRST_LOOK = 8  # launches: fewer see too little of modes and tails to say when it is enough
GROWTH = 1.25  # from look to look
SURE = 1.25  # times the scatter that was seen: then 80 % of what is named is enough
ROW_LEVEL = 0.95  # of the interval of a row over launches
RATIO_LEVEL = 0.99  # of the intervals of all ratios of a comparison together
MOST_NAMED = 10_000  # launches: more is no advice


def share_of(looks: Sequence[int], launches: int) -> float:
    """Compute the share of the false alarms for a look with so many `launches`, after earlier `looks`.

    The first look, with n launches, has 0.8. The rest goes by information: up to m launches, 0.2 (1 - n / m)
    of it is spent.
    """
    before = [look for look in looks if look < launches]
    if not before:
        return FIRST_SHARE
    return (1 - FIRST_SHARE) * before[0] * (1 / max(before) - 1 / launches)


def that_count(looks: Sequence[int], false_alarm: float) -> tuple[int, ...]:
    """Leave out looks at so few launches that nothing could be told: they spend nothing."""
    least = least_pairs(FIRST_SHARE * false_alarm)
    return tuple(sorted({look for look in looks if look >= least}))


def looks_until(most: int, first: int = FIRST_LOOK) -> Iterator[int]:
    """List the numbers of launches at which a growing experiment is looked at, the last one `most`."""
    look = first
    while look < most:
        yield look
        look = max(look + 1, math.ceil(GROWTH * look - 1e-9))
    yield most


def launches_for(asked: float, half: float, launches: int, level: float = ROW_LEVEL) -> int | None:
    """Estimate how many launches make half of an interval over launches as narrow as `asked`, which is wider
    after so many; None for more than `MOST_NAMED`.

    Order statistics lie so many deviations from the median (Blom, Statistical Estimates and Transformed
    Beta-Variables, 1958, section 6.9); what is named is enough in 80 % of cases.
    """
    if not 0 < half < math.inf or launches < 2:
        return None
    deviation = SURE * half / _reach(launches, level)
    counts = range(launches + 1, MOST_NAMED + 1)
    return next((n for n in counts if deviation * _reach(n, level) <= asked), None)


def launches_of_scatter(asked: float, scatter: float, family: int | None = None) -> int | None:
    """Estimate at which look half of an interval is as narrow as `asked`, if launches scatter so, in 80 %.

    Without a `family` it is the interval of a row; with one that of the ratio of two arms, of which so many
    hold together with 99 %. None for more than `MOST_NAMED`.
    """
    found = looks_until(MOST_NAMED)
    return next((look for look in found if SURE * scatter * _wide(look, family) <= asked), None)


def _wide(look: int, family: int | None) -> float:
    """Compute half of the interval at a look, in standard deviations of launches."""
    if family is None:
        return _reach(look, ROW_LEVEL)
    share = share_of([one for one in looks_until(look) if one < look], look)
    degrees = int(degrees_of(np.array(look), family))
    return -student_quantile(degrees, share * (1 - RATIO_LEVEL) / 2 / family) * math.sqrt(2 / look)


@functools.cache
def _reach(launches: int, level: float) -> float:
    """Compute half of the interval over normal launches, in standard deviations."""
    if (found := rank_pair(launches, level)) is None:
        return t_quantile(level, launches - 1) / math.sqrt(launches)
    return -normal_quantile((found[0] + 1 - 0.375) / (launches + 0.25))


def compare_looks(
    first: FloatArray,
    second: FloatArray,
    looks: Sequence[int] = (),
    *,
    level: float = RATIO_LEVEL,
    seed: int = 0,
) -> Swapped:
    """Compare arm B with arm A as `compare_arms` does, at the last of several looks.

    `looks` are the numbers of lines of the tables, (n, P), that were looked at earlier; all lines are the
    last look. Estimate and interval of a column are those of the look that saw its last pair, by that look's
    share of the false alarms, 1 - `level`. `p` is the least of all looks, each over its share: at most 1 -
    `level` where any look told a difference. Then 0 does not lie inside the interval.

    A look at few pairs does not see that pairs next to each other are alike, which its p assumes they are
    not. If a later look sees it, what earlier ones told does not count: columns are as that look has them.
    """
    lines, found = first.shape[0], None
    before: list[int] = []
    for look in (*(one for one in that_count(looks, 1 - level) if one < lines), lines):
        share = share_of(before, look)
        now = compare_arms(first[:look], second[:look], level=1 - share * (1 - level), seed=seed)
        now = replace(now, p=np.minimum(now.p / share, 1.0))
        found = now if found is None else _grown(found, now)
        before.append(look)
    assert found is not None  # `lines` is a look
    return _told(found, 1 - level)


def _grown(before: Swapped, now: Swapped) -> Swapped:
    """Take the columns that have more pairs than before, and the least p of all looks.

    Where pairs are alike now, take all columns as they are now.
    """
    if now.alike:
        return now
    grew = now.pairs > before.pairs
    taken = {
        name: np.where(grew, getattr(now, name), getattr(before, name))
        for name in ("estimate", "low", "high", "pairs", "plain_low", "plain_high", "error")
    }
    return replace(now, **taken, p=np.minimum(before.p, np.where(grew, now.p, 1.0)))


def _told(swapped: Swapped, false_alarm: float) -> Swapped:
    """End the interval of what an earlier look told at 0: a later look may be wider."""
    is_told = swapped.p <= false_alarm
    low = np.where(is_told & (swapped.estimate > 0), np.maximum(swapped.low, 0.0), swapped.low)
    high = np.where(is_told & (swapped.estimate < 0), np.minimum(swapped.high, 0.0), swapped.high)
    return replace(swapped, low=low, high=high)
