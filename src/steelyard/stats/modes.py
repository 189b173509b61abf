"""Regimes and trends in a series of block medians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.stats.interval import COARSE_BLOCKS, block_medians, mean_half
from steelyard.stats.quantile import FloatArray, median

MODE_GAP = (
    1.5  # ratio of neighbouring block medians from which two regimes are two: placement changes give 2 to 4
)
LEAST_SHARE = 0.05  # of all time blocks: what a mode needs to be one
MOST_STRAYS = 0.02  # of all time blocks: may lie in a gap, as a block that saw a change of regime does
LEAST_BLOCK = 8  # values in a block: a single slow call cannot move its median
MOST_BLOCKS = 64
DRIFT_T = 5.96  # Student's t with 6 degrees of freedom at p = 0.001, two-sided


@dataclass(frozen=True, slots=True)
class Mode:
    """A regime: the median of its block medians, and its share of the blocks, each launch weighing alike."""

    value: float
    share: float


def find_modes(
    launches: Sequence[ArrayLike], ticks: Sequence[float] | float = 0.0, gap: float = MODE_GAP
) -> tuple[Mode, ...]:
    """The regimes in the samples of several launches, fastest first; one where there is one.

    `launches[i]` are the values of launch i in the order in which they were taken, positive, in any unit;
    `ticks` the tick of each or of all. Each launch is cut into up to 64 blocks of at least 8 values (one
    block if it is shorter); the sorted medians of all blocks are split where neighbours differ by more than
    `gap` and either side holds at least 5 % of the weight and two blocks, or the whole of a launch. Launches
    weigh alike. Single slow calls never make a mode: they do not move a block median.
    """
    tick_of = [ticks] * len(launches) if isinstance(ticks, int | float) else list(ticks)
    values: list[FloatArray] = []
    weights: list[FloatArray] = []
    for series, tick in zip(launches, tick_of, strict=True):
        data = np.asarray(series, dtype=np.float64)
        if data.size == 0:
            continue
        count = min(MOST_BLOCKS, max(1, data.size // LEAST_BLOCK))
        medians = np.array([median(data, tick)]) if count == 1 else block_medians(data, count, tick)
        values.append(medians)
        weights.append(np.full(medians.size, 1.0 / medians.size))
    if not values:
        return ()
    flat = np.concatenate(values)
    order = np.argsort(flat, kind="stable")
    weight = np.concatenate(weights)[order] / len(values)
    return _split(flat[order], weight, gap, max(tick_of))


def _split(values: FloatArray, weight: FloatArray, gap: float, tick: float) -> tuple[Mode, ...]:
    """Splits sorted block medians at the widest gap that separates two modes, and each side again."""
    best: tuple[float, int] | None = None
    cumulated = np.concatenate(([0.0], np.cumsum(weight)))
    for last in range(values.size - 1):
        if cumulated[last + 1] < LEAST_SHARE - 1e-9 or values[last] <= 0.0:
            continue
        if not _is_enough(weight[: last + 1]):
            continue
        strays = int(np.searchsorted(cumulated, cumulated[last + 1] + MOST_STRAYS + 1e-9, side="right"))
        for first in range(last + 1, min(strays, values.size)):
            if cumulated[-1] - cumulated[first] < LEAST_SHARE - 1e-9 or not _is_enough(weight[first:]):
                break
            width = math.log(values[first] / values[last])
            is_gap = width > math.log(gap) and values[first] - values[last] > tick
            if is_gap and (best is None or width > best[0] + 1e-9):
                middle = math.sqrt(values[first] * values[last])
                best = (width, int(np.searchsorted(values, middle)))
    if best is None:
        return (Mode(float(np.median(values)), round(float(weight.sum()), 9)),)
    cut = best[1]
    return (*_split(values[:cut], weight[:cut], gap, tick), *_split(values[cut:], weight[cut:], gap, tick))


def _is_enough(weight: FloatArray) -> bool:
    """At least two blocks, or one that is a whole launch by itself (all launches then being that short)."""
    return weight.size >= 2 or float(weight[0]) >= LEAST_SHARE - 1e-9


def drifts(medians: ArrayLike, level: float = 0.95) -> bool:
    """Whether a launch became slower or faster while it ran.

    `medians` are its 16 coarse block medians, shape (16,). True when the means of the first and the last
    quarter differ by more than the interval of their mean is wide, and by more than chance (two-sample t with
    6 degrees of freedom, p < 0.001). False for any other number of blocks.
    """
    data = np.asarray(medians, dtype=np.float64)
    if data.size != COARSE_BLOCKS:
        return False
    quarter = COARSE_BLOCKS // 4
    first, last = data[:quarter], data[-quarter:]
    change = abs(float(last.mean() - first.mean()))
    error = math.sqrt((float(np.var(first, ddof=1)) + float(np.var(last, ddof=1))) / quarter)
    return change > 2 * mean_half(data, level) and change > DRIFT_T * error
