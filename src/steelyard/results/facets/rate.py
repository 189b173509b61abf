"""The rates of a row: bytes and operations per second."""

from __future__ import annotations

import math

from steelyard.records.schema import Point
from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class Rate(Facet, frozen=True, kw_only=True):
    """`bandwidth` in bytes/s of what moves bytes; `mops`, millions of operations per second, of what counts
    them.

    Both are made from the row's `time`, `mops_low`..`mops_high` from the ends of its interval.
    """

    bandwidth: float | None = None
    mops: float | None = None
    mops_low: float | None = None
    mops_high: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Rate | None:
        """None if it moves and counts nothing."""
        point, estimate = combined.launches[0].point, combined.estimate
        if point is None or not (point.moved_bytes or point.work):
            return None
        return cls(
            bandwidth=_bandwidth(point, estimate.value),
            mops=_mops(point, estimate.value),
            mops_low=_mops(point, estimate.high),
            mops_high=_mops(point, estimate.low),
        )


def _bandwidth(point: Point, value: float) -> float | None:
    """Compute the bytes per second of a repetition of `parts` operations of `value` ns each."""
    if point.moved_bytes == 0 or value <= 0:
        return None
    return point.moved_bytes / (value * point.parts) * 1e9


def _mops(point: Point, value: float) -> float | None:
    """Compute the millions of operations per second, of a repetition of `parts` operations of `value` ns
    each.
    """
    if point.work == 0 or value <= 0 or not math.isfinite(value):
        return None
    return point.work / (value * point.parts) * 1e3
