"""What a comparison of two tables says of each of their columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.judges.compare.answer import Answer, Contrast, Question, answer
from steelyard.judges.compare.needed import ONE_MODE, ModeRange
from steelyard.judges.compare.shares import shares_words
from steelyard.stats.arrays import FloatArray
from steelyard.stats.paired_permutation import GAPS, Swapped, mode_parts, modes_of


def answers_of(
    found: Swapped,
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
        answer(
            Contrast(
                estimate=float(found.estimate[j]),
                low=float(found.low[j]),
                high=float(found.high[j]),
                p=float(found.p[j]),
                pairs=int(found.pairs[j]),
                plain_low=float(found.plain_low[j]),
                plain_high=float(found.plain_high[j]),
                error=float(found.error[j]),
                by_turns=by_turns,
                modes=_modes(first[:, j], second[:, j], abs(found.estimate[j]) > math.log1p(asked.margin)),
                alike=found.alike,
                family=first.shape[1],
                looks=tuple(look for look in looks if look < found.pairs[j]),
                shares=shares_words(first[:, j], second[:, j], asked.false_alarm / first.shape[1])
                if by_turns
                else "",
            ),
            asked,
        )
        for j in range(first.shape[1])
    ]


def _modes(first: FloatArray, second: FloatArray, is_apart: bool) -> ModeRange:
    """Find the modes of both arms together; for arms that are apart, only those inside one of them.

    Otherwise the gap between two arms would look like one between modes.
    """
    own = max(modes_of(one, GAPS[-1]) for one in (first, second))
    if is_apart and own < 2:
        return ONE_MODE
    both = np.concatenate((first, second))
    parts = mode_parts(both, GAPS[-1])
    middles = [float(np.median(both[part])) for part in parts] or [0.0]
    away = sum(part.size for part in parts) - max((part.size for part in parts), default=0)
    return ModeRange(modes_of(both, GAPS[-1]), away, max(middles) - min(middles))
