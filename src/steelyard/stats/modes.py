"""Modes and trends: levels at which a launch, or launches, stay, distinguished from the noise inside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import NOT_ALIKE, Likeness
from steelyard.stats.fast_stats import deviation, mean, middle, variance
from steelyard.stats.interval import (
    COARSE_BLOCKS,
    Estimate,
    block_interval,
    block_medians,
    launch_interval,
    mean_half,
    t_quantile,
)
from steelyard.stats.probability_distributions import beta_quantile
from steelyard.stats.quantile import median

MODE_GAP = 1.1  # ratio of the nearest members of two modes: nearer ones do not deserve two numbers
_ROUNDED_GAP = MODE_GAP * (1 - 1e-12)  # of values, where MODE_GAP is of their logarithms
MODE_NOISE = 4.0  # standard deviations inside modes that the gap between them exceeds
FEW_LEVEL = 0.9995  # Student's t of that level instead, if few values estimate the deviation
LEAST_SHARE = 0.05  # of a launch's blocks that a mode inside it needs
LEAST_LAUNCHES = 2  # that a mode needs: a single launch may be an accident
MOST_MODES = 4
STRAYS_OF = 16  # one value in so many may lie in no mode, such as a block that saw a change, or one launch
LEAST_BLOCK = 8  # values in a block: a single slow call cannot move its median
MOST_BLOCKS = 64
DRIFT_T = 5.96  # Student's t with 6 degrees of freedom at p = 0.001, two-sided

IntArray = NDArray[np.int64]


class Mode(Struct, frozen=True):
    """A level at which values stay. `value`: the median of `levels`, those of the launches that were in it.

    With one launch `levels` are medians of its blocks instead. `by_launch`: the level of each launch, None if
    it never was in the mode; `shares`: the share of each launch's time in it. `share` is their mean.
    """

    value: float
    share: float
    levels: tuple[float, ...] = ()
    by_launch: tuple[float | None, ...] = ()
    shares: tuple[float, ...] = ()


class _Level(Struct, frozen=True):
    """The level of a launch for a share of its time; `blocks`: the block medians there, in time."""

    launch: int
    value: float
    share: float
    blocks: tuple[float, ...]


def find_modes(
    launches: Sequence[ArrayLike],
    ticks: Sequence[float] | float = 0.0,
    medians: Sequence[float] | None = None,
) -> tuple[Mode, ...]:
    """Find the modes in the samples of several launches, the fastest first; one if there is one.

    `launches[i]` are the values of launch i in the order of measurement, positive, in any unit; `ticks` the
    tick of each or of all, `medians` their medians if they are known.

    Each launch is cut into up to 64 blocks of at least 8 values. Separated block medians make several levels
    of the launch, else its median is its level. Separated levels of all launches are modes, if each has two
    launches at least.

    Values are separated if the logarithms of neighbours differ by more than that of 1.1, by more than 4
    standard deviations inside each part, and by as many of the pooled ones, or by Student's t for few values.
    """
    tick_of = [ticks] * len(launches) if isinstance(ticks, int | float) else list(ticks)
    data = [np.asarray(launch, dtype=np.float64) for launch in launches]
    levels = [
        level
        for number, (values, tick) in enumerate(zip(data, tick_of, strict=True))
        for level in _levels(number, values, tick, None if medians is None else medians[number])
    ]
    if not levels:
        return ()
    alone = len({level.launch for level in levels}) == 1
    values = np.array([level.value for level in levels])
    owners = np.array([level.launch for level in levels], dtype=np.int64)
    edges = values[:-1] if alone else _edges(values, owners, LEAST_LAUNCHES, max(tick_of))
    which = np.arange(values.size) if alone else np.searchsorted(edges, values)
    sizes = [int(one.size > 0) for one in data]
    modes = [_mode([levels[i] for i in np.flatnonzero(which == k)], sizes) for k in range(which.max() + 1)]
    return tuple(sorted(modes, key=lambda mode: mode.value))


def _levels(launch: int, values: FloatArray, tick: float, whole: float | None = None) -> list[_Level]:
    """Find the levels of one launch, and their shares of its time; the fastest first. `whole`: its median."""
    if values.size == 0:
        return []
    count = min(MOST_BLOCKS, max(1, values.size // LEAST_BLOCK))
    blocks = np.array([median(values, tick)]) if count == 1 else block_medians(values, count, tick)
    least = max(2, math.ceil(LEAST_SHARE * count - 1e-9))
    edges = _edges(blocks, np.arange(count), least, tick)
    if edges.size == 0:
        if whole is None:
            whole = float(blocks[0]) if count == 1 else median(values, tick)
        return [_Level(launch, whole, 1.0, tuple(blocks.tolist()))]
    which = np.searchsorted(edges, blocks)
    return [
        _Level(launch, middle(own), own.size / count, tuple(own.tolist()))
        for own in (blocks[which == k] for k in range(edges.size + 1))
    ]


def _mode(levels: Sequence[_Level], sizes: Sequence[int]) -> Mode:
    """Join the levels of one mode; `sizes` are 0 for launches without values."""
    by_launch: list[float | None] = [None] * len(sizes)
    shares = [0.0] * len(sizes)
    for one in levels:
        by_launch[one.launch] = one.value
        shares[one.launch] += one.share
    known = tuple(share for share, size in zip(shares, sizes, strict=True) if size)
    own = levels[0].blocks if len(known) == 1 else tuple(level.value for level in levels)
    value = levels[0].value if len(known) == 1 else middle(own)
    return Mode(value, mean(known), own, tuple(by_launch), known)


def _edges(values: FloatArray, owners: IntArray, least: int, tick: float) -> FloatArray:
    """Find where values are separated, shape (parts - 1,); each part has `least` owners. Empty for one part.

    It tries cuts at the widest gaps between sorted logarithms. A part that is too small is a stray of the
    part next to it, and strays are few.
    """
    nothing = np.empty(0)
    most_strays = max(values.size >= STRAYS_OF // 2, values.size // STRAYS_OF)
    if values.size < 2 * least or not _has_gap(np.sort(values), least, most_strays):
        return nothing
    order = np.argsort(values, kind="stable")
    logs, owner = np.log(values[order]), owners[order].tolist()
    widest = np.argsort(-np.diff(logs), kind="stable")
    best = nothing
    for count in range(1, MOST_MODES + 2 * most_strays):
        cuts = [0, *(np.sort(widest[:count]) + 1).tolist(), logs.size]
        proper = [logs[a:b] for a, b in pairwise(cuts) if len(set(owner[a:b])) >= least]
        strays = logs.size - sum(part.size for part in proper)
        if not best.size < len(proper) - 1 < MOST_MODES or strays > most_strays:
            continue
        gaps = [(float(one[-1]), float(other[0])) for one, other in pairwise(proper)]
        if _are_apart(proper, gaps, strays, tick):
            best = np.array([math.exp((low + high) / 2) for low, high in gaps])
    return best


def _has_gap(ordered: FloatArray, least: int, most_strays: int) -> bool:
    """May sorted values have a gap between two parts of `least`, with all strays in it? Most have none."""
    if ordered[0] <= 0:
        return False
    ends = np.minimum(np.arange(least, ordered.size - least + 1) + most_strays, ordered.size - least)
    return bool((ordered[ends] > _ROUNDED_GAP * ordered[least - 1 : ordered.size - least]).any())


def _are_apart(
    parts: Sequence[FloatArray], gaps: Sequence[tuple[float, float]], strays: int, tick: float
) -> bool:
    """Are all gaps between parts wide for the noise inside these, and wider than a tick?

    A stray that is left out costs a degree of freedom, because it takes some of the noise with it.
    """
    own = np.array([deviation(part) for part in parts])
    freedom = sum(part.size - 1 for part in parts)
    pooled = math.sqrt(sum(sd**2 * (part.size - 1) for sd, part in zip(own, parts, strict=True)) / freedom)
    deviations = max(MODE_NOISE, t_quantile(FEW_LEVEL, max(1, freedom - strays)))
    least = max(deviations * pooled, MODE_NOISE * float(own.max()), math.log(MODE_GAP))
    return all(high - low > least and math.exp(high) - math.exp(low) > tick for low, high in gaps)


def mode_interval(
    mode: Mode, level: float = 0.95, groups: Iterable[Sequence[int]] = (), alike: Likeness = NOT_ALIKE
) -> Estimate:
    """Estimate the value of a mode with its interval: over the launches that were in it, or over the blocks
    of one. `groups` are those of all launches, and `alike` is how alike these are, as in `launch_interval`;
    a mode has no other that it may be in.
    """
    if len(mode.shares) == 1 or len(mode.levels) < 2:
        return block_interval(mode.levels, level=level).estimate
    there = [k for k, value in enumerate(mode.by_launch) if value is not None]
    own = [[labels[k] for k in there] for labels in groups if len(there) == len(mode.levels)]
    return launch_interval(mode.levels, level, groups=own, alike=replace(alike, apart=0.0))


def share_interval(shares: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Estimate the share of launches, or of their time, in which something was so, with Clopper and Pearson's
    interval.

    `shares[i]` is that of launch i, 0 to 1, and often 0 or 1: then they are n trials (Biometrika 26, 1934),
    with the beta distribution for sums that are not whole. Shares between vary less than trials, so the
    interval is wide for them. (0, 1) with one launch, which is one trial.
    """
    n, k = len(shares), float(np.sum(shares))
    if n < 2:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = beta_quantile(k, n - k + 1, tail) if k > 0 else 0.0
    high = beta_quantile(k + 1, n - k, 1 - tail) if k < n else 1.0
    return low, high


def typical_mode(modes: Sequence[Mode], level: float = 0.95) -> int:
    """Choose the mode to quote: the fastest of those that may be the most frequent.

    Few launches often do not show which of two modes is the more frequent, so chance would choose. A mode may
    be the most frequent if the interval of its share reaches the largest share that was seen; in one launch
    it is that share.
    """
    most = max(mode.share for mode in modes)
    if len(modes[0].shares) == 1:
        return next(k for k, mode in enumerate(modes) if mode.share == most)
    return next(k for k, mode in enumerate(modes) if share_interval(mode.shares, level)[1] >= most - 1e-9)


def drift_of(medians: ArrayLike, level: float = 0.95) -> float:
    """Compute by how much a launch became slower or faster while it ran, in the unit of the medians; 0: not.

    `medians` are its 16 coarse block medians, shape (16,). The means of the first and the last quarter differ
    by more than the width of the interval of their mean, and by more than chance (two-sample t with 6 degrees
    of freedom, p < 0.001). 0 for any other number of blocks.
    """
    data = np.asarray(medians, dtype=np.float64)
    if data.size != COARSE_BLOCKS:
        return 0.0
    quarter = COARSE_BLOCKS // 4
    first, last = data[:quarter], data[-quarter:]
    change = abs(mean(last) - mean(first))
    error = math.sqrt((variance(first) + variance(last)) / quarter)
    is_drift = change > 2 * mean_half(data, level) and change > DRIFT_T * error
    return float(change) if is_drift else 0.0
