"""The best arm, such as an MPI, in each line of a table. Launches are paired; all lines are one family of
tests.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.stats.paired_permutation import compare_arms

ALPHA = 0.05  # of all pairs of all lines together
LEAST = math.log(1.02)  # a smaller difference of two MPIs does not matter
# Do two figures name the same best arm?
AGREES, DISAGREES, CANNOT_TELL = "agrees", "disagrees", "cannot tell"
Times = Mapping[str, Mapping[int, float]]  # of an MPI, by launch, in ns


class Best(Struct, frozen=True):
    """The best of a line, the adjusted p of pairs `a, b`, and whether the launches are enough to show a
    difference.
    """

    best: tuple[str, ...] = ()
    p: dict[str, float] = {}
    tells: bool = True


def bests_of(table: Sequence[Times]) -> tuple[Best, ...]:
    """Find the best MPIs of each line, from the times of launches under each MPI.

    The best is the MPI with the least median, together with all that cannot be distinguished from it, or
    differ by less than `LEAST`. Launches are paired by their numbers. Pairs of MPIs are compared over all
    lines together by swaps (`compare_arms`), so that 5 % of tables of equal MPIs have a false best in any
    line. Several pairs share these 5 % by Bonferroni.
    """
    mpis = list(dict.fromkeys(mpi for line in table for mpi in line))
    pairs = list(itertools.combinations(mpis, 2))
    found = {pair: _pair_over(table, pair, len(pairs)) for pair in pairs}
    return tuple(_best(line, {pair: one[j] for pair, one in found.items()}) for j, line in enumerate(table))


def leaders_of(table: Sequence[Times]) -> tuple[Best, ...]:
    """Do as `bests_of` for lines of many arms: each arm is compared only with that of the least median.

    The data choose that arm. So each arm that is the first of a line is compared with all others over all
    lines together, and p is multiplied by the number of arms that could have been the first. At most 5 % of
    tables of equal arms have a false best in any line.
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
    """Compare an arm with each other arm of each line, as `_compared` does."""
    pairs = [(j, other) for j, line in enumerate(table) if first in line for other in line if other != first]
    compared = _compared([(table[j][first], table[j][other]) for j, other in pairs], family)
    found: list[dict[tuple[str, str], tuple[float, float, float]]] = [{} for _ in table]
    for (j, other), one in zip(pairs, compared, strict=True):
        found[j][first, other] = one
    return found


def _pair_over(
    table: Sequence[Times], pair: tuple[str, str], family: int
) -> list[tuple[float, float, float]]:
    """Compare a pair of MPIs in each line: adjusted p, |logarithm of the ratio|, the least possible p."""
    return _compared([(line.get(pair[0], {}), line.get(pair[1], {})) for line in table], family)


def _compared(
    lines: Sequence[tuple[Mapping[int, float], Mapping[int, float]]], family: int
) -> list[tuple[float, float, float]]:
    """Compare the times of two arms in each line, by launch, with the same result as `_pair_over`."""
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
    """Find the arm with the least median."""
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


def verdict_of(figure: Sequence[str], kernel: Sequence[str]) -> str:
    """Does a figure name the best MPI for a kernel? Compares the best ones of both, with those not
    distinguishable.

    It agrees only if both name the same single one: two ties may hide opposite truths.
    """
    if not set(figure) & set(kernel):
        return DISAGREES
    return AGREES if len(figure) == len(kernel) == 1 else CANNOT_TELL
