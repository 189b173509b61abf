"""Sizes to measure in addition: where a line of times breaks, and where a curve bends.

A protocol changes at one size, and doubling sizes show it only within a factor of two. Where times change
their line (`stats.find_breaks`), seven sizes divide the gap around the break, until the two sizes around it
are neighbours. Where a size is off the line between its neighbours by more than a tenth, the gaps beside it
are halved, as SKaMPI did (R. Reussner, P. Sanders, L. Prechelt, M. Müller, SKaMPI, 1998), until they are no
wider than a tenth of the size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.loggp.model import LEAST_JUMP
from steelyard.records.kinds import BANDWIDTH, LATENCY
from steelyard.results.key import key_of
from steelyard.results.row import Row, launch_medians
from steelyard.stats import find_breaks, fit_pieces

LEAST_SIZES = 6  # two lines of three sizes each
_INSIDE = 7  # sizes that divide a gap around a break: an eighth of it is left
_BEND = 0.1  # of its time, by which a size may be off the line between its neighbours
_NARROW = 1.1  # neighbours of a bend that are no further apart are not divided
_WORD = 8  # bytes; sizes of reductions are multiples
_MESSAGES = (LATENCY, BANDWIDTH)  # roles of ops that move any number of bytes


def sizes_to_add(rows: Sequence[Row]) -> tuple[tuple[int, int], ...]:
    """Choose sizes to measure: `(point, bytes)`, with a point that is the same except for its size.

    Series of fewer than six sizes, and those without a time, stay as they are.
    """
    found = []
    for sizes in _series(rows):
        if len(sizes) >= LEAST_SIZES:
            first = next(iter(sizes.values()))
            found += [(first.point, size) for size in _added(sizes)]
    return tuple(found)


def most_sizes(rows: Sequence[Row]) -> int:
    """Count the sizes of the longest series; 0 if no op has sizes and a time."""
    return max(map(len, _series(rows)), default=0)


def _series(rows: Sequence[Row]) -> list[dict[int, Row]]:
    """Group rows that differ only in size, ascending."""
    series: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in rows:
        if row.sized and row.status == "ok" and launch_medians(row):
            series.setdefault(key_of(row, ("bytes",)), {}).setdefault(row.bytes, row)
    return [dict(sorted(sizes.items())) for sizes in series.values()]


def _added(rows: dict[int, Row]) -> list[int]:
    sizes = list(rows)
    medians = [launch_medians(row) for row in rows.values()]
    shared = sorted(set.intersection(*(set(median) for median in medians)))
    if not shared:
        return []
    launches = [[median[launch] for median in medians] for launch in shared]
    times = np.median(np.array(launches), axis=0)
    role = next(iter(rows.values())).role
    step = 1 if role in _MESSAGES else math.gcd(_WORD, *sizes)
    wanted = {*_around_breaks(sizes, launches, times.tolist()), *_around_bends(sizes, times.tolist())}
    return sorted({size // step * step for size in wanted} - set(sizes))


def _around_breaks(
    sizes: Sequence[int], launches: Sequence[Sequence[float]], times: Sequence[float]
) -> Iterator[int]:
    """Choose sizes that divide the gaps in which a line breaks off."""
    breaks = find_breaks(sizes, launches)
    if not breaks:
        return
    pieces = fit_pieces(sizes, times, breaks)
    for (one, other), least in zip(itertools.pairwise(pieces), breaks, strict=True):
        before = sizes[sizes.index(least) - 1]
        if abs(other.at(least) / one.at(least) - 1.0) >= LEAST_JUMP:
            yield from _between(before, least, _INSIDE)


def _around_bends(sizes: Sequence[int], times: Sequence[float]) -> Iterator[int]:
    """Choose the middles of the gaps beside a size that is off its neighbours' line."""
    points = list(zip(sizes, times, strict=True))
    for (a, ta), (b, tb), (c, tc) in zip(points, points[1:], points[2:], strict=False):
        said = ta + (tc - ta) * (b - a) / (c - a)
        if abs(said / tb - 1.0) > _BEND:
            for low, high in ((a, b), (b, c)):
                if high > _NARROW * low + 1:
                    yield from _between(low, high, 1)


def _between(low: int, high: int, count: int) -> Iterator[int]:
    """Choose up to `count` sizes that divide the gap between two others evenly."""
    count = min(count, high - low - 1)
    for i in range(1, count + 1):
        yield low + (high - low) * i // (count + 1)
