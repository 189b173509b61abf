"""Which MPI is best at each line of a table: launches are paired, and all lines are one family."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.stats.swaps import compare_arms

ALPHA = 0.05  # of all pairs of all lines together
LEAST = math.log(1.02)  # what two MPIs differ by that matters
Times = Mapping[str, Mapping[int, float]]  # of an MPI, by launch, in ns


class Best(Struct, frozen=True):
    """The best of a line, the adjusted p of pairs `a, b`, and whether so many launches could tell at all."""

    best: tuple[str, ...] = ()
    p: dict[str, float] = {}
    tells: bool = True


def bests_of(table: Sequence[Times]) -> tuple[Best, ...]:
    """For each line, the times of launches under each MPI: which are the best.

    The best is the MPI with the least median; with it are all that are not told from it, or that differ by
    less than `LEAST`. Launches are paired by their numbers, and pairs of MPIs compared over all lines
    together by swapping them (`compare_arms`), so that in a table of equals any line has a false best in 5 %
    of tables; several pairs share that by Bonferroni.
    """
    mpis = list(dict.fromkeys(mpi for line in table for mpi in line))
    pairs = list(itertools.combinations(mpis, 2))
    found = {pair: _pair_over(table, pair, len(pairs)) for pair in pairs}
    return tuple(_best(line, {pair: one[j] for pair, one in found.items()}) for j, line in enumerate(table))


def _pair_over(
    table: Sequence[Times], pair: tuple[str, str], family: int
) -> list[tuple[float, float, float]]:
    """For a pair of MPIs and each line: adjusted p, |logarithm of the ratio|, the least p that could be."""
    launches = [sorted(set(line.get(pair[0], {})) & set(line.get(pair[1], {}))) for line in table]
    known = sorted({launch for one in launches for launch in one})
    found = [(1.0, 0.0, 1.0)] * len(table)
    used = [j for j, shared in enumerate(launches) if len(shared) > 1]
    if not used:
        return found
    arms = np.full((2, len(known), len(used)), np.nan)
    for column, j in enumerate(used):
        for launch in launches[j]:
            arms[:, known.index(launch), column] = [math.log(table[j][mpi][launch]) for mpi in pair]
    swapped = compare_arms(*arms, level=1 - ALPHA / family)
    for j, p, size, n in zip(used, swapped.p, swapped.estimate, swapped.pairs, strict=True):
        found[j] = min(1.0, family * float(p)), abs(float(size)), family * 0.5 ** (int(n) - 1)
    return found


def _best(line: Times, found: Mapping[tuple[str, str], tuple[float, float, float]]) -> Best:
    own = {pair: one for pair, one in found.items() if pair[0] in line and pair[1] in line}
    if not own:
        return Best()
    first = min(line, key=lambda name: float(np.median(list(line[name].values()))))

    def is_worse(name: str) -> bool:
        p, size, _ = own[(first, name) if (first, name) in own else (name, first)]
        return p < ALPHA and size >= LEAST

    best = (first, *(name for name in line if name != first and not is_worse(name)))
    named = {f"{a}, {b}": p for (a, b), (p, *_) in own.items()}
    return Best(best, named, all(least < ALPHA for *_, least in own.values()))
