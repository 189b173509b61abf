"""Overhead: the time of an op beyond its reference, which is the same op without what is measured.

Construct and reference are points of their own, measured in the same launches in random order. So effects of
a launch on both (where memory lies, how fast the cores run) cancel in their difference:

    overhead = value of the construct - value of the reference

The data are the differences of the launches' medians, one for each launch that measured both. The overhead is
their median, for any number of launches, and its interval is made as that of the row's own median. So the
overhead never exceeds the raw value, and one launch in a mode of its own moves neither. With one launch the
interval is made of the two intervals inside it, and holds for that launch alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from steelyard.results.combined import finite
from steelyard.results.facets import ReferenceOverhead
from steelyard.results.row import Row, RowLaunch
from steelyard.stats import launch_interval
from steelyard.stats.autocorrelation import NOT_ALIKE, Likeness
from steelyard.stats.interval import Estimate


def with_overheads(rows: Sequence[Row], level: float = 0.95, alike: Likeness = NOT_ALIKE) -> tuple[Row, ...]:
    """Add the overhead to rows that have a reference; `alike` is how alike launches of the folder are."""
    by_point: dict[int | None, Row] = {row.point: row for row in rows}
    return tuple(
        row
        if row.reference_point not in by_point
        else _with_overhead(row, by_point[row.reference_point], level, alike)
        for row in rows
    )


def _with_overhead(row: Row, reference: Row, level: float, alike: Likeness) -> Row:
    found = overhead(row, reference, level, alike)
    if found is None:
        beyond = ReferenceOverhead(reference=reference.op)
    else:
        beyond = ReferenceOverhead(
            reference=reference.op,
            corrected=found.value,
            corrected_low=finite(found.low),
            corrected_high=finite(found.high),
            corrected_level=found.level,
            corrected_of="blocks" if len(_pairs(row, reference)) == 1 else "launches",
        )
    return replace(row, facets=(*row.facets, beyond))


def overhead(row: Row, reference: Row, level: float = 0.95, alike: Likeness = NOT_ALIKE) -> Estimate | None:
    """Compute the overhead of a row beyond its reference, in ns; None if no launch measured both."""
    pairs = _pairs(row, reference)
    if not pairs:
        return None
    if len(pairs) == 1:
        return _of_one_launch(*pairs[0], level)
    differences = [(one.median or 0.0) - (two.median or 0.0) for one, two in pairs]
    return launch_interval(differences, level, logs=False, alike=alike)


def _pairs(row: Row, reference: Row) -> list[tuple[RowLaunch, RowLaunch]]:
    """Pair the values of both in each launch."""
    others = {launch.launch: launch for launch in reference.launches if launch.median is not None}
    return [
        (launch, others[launch.launch])
        for launch in row.launches
        if launch.median is not None and launch.launch in others
    ]


def _of_one_launch(launch: RowLaunch, two: RowLaunch, level: float) -> Estimate:
    """Compute the difference of two independent estimates, from their intervals.

    Each side is the root of the sum of squares of the sides that lead there (the method of variance estimates
    recovery: Zou and Donner, Statistics in Medicine 27, 2008). Infinite if one has no interval.
    """
    value = (launch.median or 0.0) - (two.median or 0.0)
    ends = (launch.ci_low, launch.ci_high, two.ci_low, two.ci_high)
    low = high = math.inf
    if launch.median is not None and two.median is not None and None not in ends:
        low1, high1, low2, high2 = (end or 0.0 for end in ends)
        low = math.hypot(launch.median - low1, high2 - two.median)
        high = math.hypot(high1 - launch.median, two.median - low2)
    return Estimate(value, value - low, value + high, level, 1, "two intervals")
