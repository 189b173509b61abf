"""What a comparison of two tables says of each of their columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.judges.compare.mode_shares import shares_words
from steelyard.judges.compare.scale import Answer, Contrast, Question, answer
from steelyard.stats.arrays import FloatArray
from steelyard.stats.paired_permutation import GAPS, Swapped, mode_parts, modes_of


def answers_of(
    swapped: Swapped,
    first: FloatArray,
    second: FloatArray,
    asked: Question,
    by_turns: bool = True,
    looks: Sequence[int] = (),
) -> list[Answer]:
    """Answer for each column of two compared tables of logarithms, (n, P) and (m, P), after earlier `looks`
    at so many of their lines.
    """
    return [
        answer(_contrast(swapped, j, first, second, asked, by_turns, looks), asked)
        for j in range(first.shape[1])
    ]


def _contrast(
    swapped: Swapped,
    j: int,
    first: FloatArray,
    second: FloatArray,
    asked: Question,
    by_turns: bool,
    looks: Sequence[int],
) -> Contrast:
    """Gather the data on a column."""
    is_apart = abs(swapped.estimate[j]) > math.log1p(asked.margin)
    modes, is_mixed = _modes(first[:, j], second[:, j], is_apart)
    alarms = asked.false_alarm / first.shape[1]
    return Contrast(
        estimate=float(swapped.estimate[j]),
        low=float(swapped.low[j]),
        high=float(swapped.high[j]),
        p=float(swapped.p[j]),
        pairs=int(swapped.pairs[j]),
        plain_low=float(swapped.plain_low[j]),
        plain_high=float(swapped.plain_high[j]),
        error=float(swapped.error[j]),
        by_turns=by_turns,
        modes=modes,
        is_mixed=is_mixed,
        alike=swapped.alike,
        family=first.shape[1],
        looks=tuple(look for look in looks if look < swapped.pairs[j]),
        shares=shares_words(first[:, j], second[:, j], alarms) if by_turns else "",
    )


def _modes(first: FloatArray, second: FloatArray, is_apart: bool) -> tuple[int, bool]:
    """Count the modes of both arms together, and whether some launch is in another than the rest.

    For arms that are apart, only modes inside one of them count. Otherwise the gap between two arms would
    look like one between modes.
    """
    arms, both = (first, second), np.concatenate((first, second))
    if is_apart and max(modes_of(arm, GAPS[-1]) for arm in arms) < 2:
        return 1, any(len(mode_parts(arm, GAPS[-1])) > 1 for arm in arms)
    return modes_of(both, GAPS[-1]), len(mode_parts(both, GAPS[-1])) > 1
