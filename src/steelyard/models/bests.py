"""Which arm is best at each line of a table, as of MPIs: launches are paired, all lines are one family."""

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


def leaders_of(table: Sequence[Times]) -> tuple[Best, ...]:
    """As `bests_of` for lines of many arms: each arm is compared with that of the least median alone.

    Which one that is the data say: so each arm that is the first of a line is compared with all others over
    all lines together, and p is that times the number of arms, each of which could have been it. In a table
    of equals any line has a false best in 5 % of tables at most.
    """
    family = len({name for line in table for name in line})
    firsts = [_first(line) if len(line) > 1 else None for line in table]
    found = {first: _against(table, first, family) for first in dict.fromkeys(firsts) if first is not None}
    return tuple(
        Best() if first is None else _best(line, found[first][j])
        for j, (line, first) in enumerate(zip(table, firsts, strict=True))
    )


def _against(
    table: Sequence[Times], first: str, family: int
) -> list[dict[tuple[str, str], tuple[float, float, float]]]:
    """For each line, an arm compared with each other that the line has, as in `_compared`."""
    pairs = [(j, other) for j, line in enumerate(table) if first in line for other in line if other != first]
    compared = _compared([(table[j][first], table[j][other]) for j, other in pairs], family)
    found: list[dict[tuple[str, str], tuple[float, float, float]]] = [{} for _ in table]
    for (j, other), one in zip(pairs, compared, strict=True):
        found[j][first, other] = one
    return found


def _pair_over(
    table: Sequence[Times], pair: tuple[str, str], family: int
) -> list[tuple[float, float, float]]:
    """For a pair of MPIs and each line: adjusted p, |logarithm of the ratio|, the least p that could be."""
    return _compared([(line.get(pair[0], {}), line.get(pair[1], {})) for line in table], family)


def _compared(
    lines: Sequence[tuple[Mapping[int, float], Mapping[int, float]]], family: int
) -> list[tuple[float, float, float]]:
    """The same of the times of two arms in each line, by launch."""
    launches = [sorted(set(one) & set(other)) for one, other in lines]
    known = sorted({launch for one in launches for launch in one})
    found = [(1.0, 0.0, 1.0)] * len(lines)
    used = [j for j, shared in enumerate(launches) if len(shared) > 1]
    if not used:
        return found
    arms = np.full((2, len(known), len(used)), np.nan)
    for column, j in enumerate(used):
        for launch in launches[j]:
            arms[:, known.index(launch), column] = [math.log(arm[launch]) for arm in lines[j]]
    swapped = compare_arms(*arms, level=1 - ALPHA / family)
    for j, p, size, n in zip(used, swapped.p, swapped.estimate, swapped.pairs, strict=True):
        found[j] = min(1.0, family * float(p)), abs(float(size)), family * 0.5 ** (int(n) - 1)
    return found


def _first(line: Times) -> str:
    """The arm with the least median."""
    return min(line, key=lambda name: float(np.median(list(line[name].values()))))


def _best(line: Times, found: Mapping[tuple[str, str], tuple[float, float, float]]) -> Best:
    own = {pair: one for pair, one in found.items() if pair[0] in line and pair[1] in line}
    if not own:
        return Best()
    first = _first(line)

    def is_worse(name: str) -> bool:
        p, size, _ = own[(first, name) if (first, name) in own else (name, first)]
        return p < ALPHA and size >= LEAST

    best = (first, *(name for name in line if name != first and not is_worse(name)))
    named = {f"{a}, {b}": p for (a, b), (p, *_) in own.items()}
    return Best(best, named, all(least < ALPHA for *_, least in own.values()))
