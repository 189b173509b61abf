"""Overlap: how much of a communication is hidden behind work, as a curve over the work.

All ops with work share one definition. With t_pure the time of the communication alone, with work 0, t_work
that of the work alone (the op `self.work`, as measured, not as asked for) and t_both that of both together:

    overlap      = (t_pure + t_work - t_both) / min(t_pure, t_work)
    availability = 1 - (t_both - t_work) / t_pure

Overlap is 0 if they run one after the other, and 1 if the shorter of the two costs nothing. It is not
clipped, so that a disturbance shows as a value below 0. Availability is the share of the communication's time
that is left to the rank for work (Doerfler, Brightwell 2006). If the work lasts longer than the
communication, the two are the same number.

A launch that measured all three times has a value of its own, which cancels what affects all of them (the
place of memory, the speed of cores). The median of these values is the overlap, with its interval.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from steelyard.records.fields import Params
from steelyard.records.kinds import CALL, WORK
from steelyard.results.key import key_of
from steelyard.results.row import Row, launch_medians, modes_of
from steelyard.stats import Interval, span_of

AXES = ("work_us", "skew_us")  # parameters for the amount of work
MOST_WIDTH = 2.0  # of an interval of the overlap: as wide as from -1 to 1 it rules out nothing that can be
TOO_WIDE = "cannot tell: launches differ by more than what is to be hidden"


class OverlapPoint(Struct, frozen=True):
    """One amount of work. `work` is what was asked for, in us; times in ns.

    `overlap` and `availability` are medians over `launches` that measured all three times, and `low`..`high`
    is the interval of the overlap over them. With fewer than two such launches they are made of the times of
    the rows. Then `low`..`high` is the range of the overlap if all three times lie in their intervals: with
    intervals of probability L each, its probability is at least 1 - 3 (1 - L). None if a time has no
    interval. If the interval is wider than `MOST_WIDTH`, or, without one, the overlap lies further than that
    from 0, it is no number: `overlap`, `availability` and the interval are None, and `why` says why.
    """

    work: float
    pure_ns: float
    work_ns: float
    both_ns: float
    overlap: float | None
    availability: float | None
    low: float | None = None
    high: float | None = None
    launches: int = 0
    why: str = ""


class OverlapCurve(Struct, frozen=True):
    """The overlap of one op over work, sorted; `lacks`: works for which self.work was not measured."""

    op: str
    method: str
    bytes: int
    ranks: int
    threads: int
    thread_level: str | None
    mpi: str | None
    params: Params  # all but the work
    axis: str
    points: tuple[OverlapPoint, ...]
    lacks: tuple[float, ...] = ()


def overlap_of(pure: float, work: float, both: float) -> float:
    """Compute the overlap of three times. Raises ValueError unless `pure` and `work` are positive."""
    if min(pure, work) <= 0:
        raise ValueError("overlap needs a communication and work that take time")
    return (pure + work - both) / min(pure, work)


def availability_of(pure: float, work: float, both: float) -> float:
    """Compute the availability of three times. Raises ValueError unless `pure` is positive."""
    if pure <= 0:
        raise ValueError("availability needs a communication that takes time")
    return 1 - (both - work) / pure


def overlap_interval(pure: Interval, work: Interval, both: Interval) -> tuple[float, float] | None:
    """Find the least and the greatest overlap for times anywhere in their intervals; None without intervals.

    On each side of pure = work the overlap is monotone in each time. So extremes are at the corners or, if
    the intervals meet, on that line.
    """
    ends = [_ends(span) for span in (pure, work, both)]
    if any(end is None or end[0] <= 0 for end in ends):
        return None
    (p0, p1), (w0, w1), whole = (end for end in ends if end is not None)
    meeting = [x for x in (p0, p1, w0, w1) if max(p0, w0) <= x <= min(p1, w1)]
    pairs = [*itertools.product((p0, p1), (w0, w1)), *((x, x) for x in meeting)]
    values = [overlap_of(p, w, b) for (p, w), b in itertools.product(pairs, whole)]
    return min(values), max(values)


def _ends(span: Interval) -> tuple[float, float] | None:
    return None if span.low is None or span.high is None else (span.low, span.high)


def overlap_point(asked: float, pure: Interval, work: Interval, both: Interval) -> OverlapPoint:
    """Make a point of a curve from three times. Raises ValueError unless `pure` and `work` are positive."""
    low, high = overlap_interval(pure, work, both) or (None, None)
    return OverlapPoint(
        work=asked,
        pure_ns=pure.value,
        work_ns=work.value,
        both_ns=both.value,
        overlap=overlap_of(pure.value, work.value, both.value),
        availability=availability_of(pure.value, work.value, both.value),
        low=low,
        high=high,
    )


def paired_point(asked: float, pure: Row, work: Row, both: Row) -> OverlapPoint:
    """Make a point of a curve from three rows, over the launches that they share, at least two."""
    medians = [launch_medians(row) for row in (pure, work, both)]
    shared = sorted(set.intersection(*(set(median) for median in medians)))
    point = overlap_point(
        asked, *(Interval(row.time or 0.0, row.time_low, row.time_high) for row in (pure, work, both))
    )
    if len(shared) < 2:
        return _told(point)
    times = [tuple(median[launch] for median in medians) for launch in shared]
    found = span_of([overlap_of(*three) for three in times], logs=False, alike=modes_of(pure, work, both))
    return _told(
        replace(
            point,
            overlap=found.value,
            availability=float(np.median([availability_of(*three) for three in times])),
            low=found.low,
            high=found.high,
            launches=len(shared),
        )
    )


def _told(point: OverlapPoint) -> OverlapPoint:
    """Take the numbers away if they rule out nothing that can be."""
    has_interval = point.low is not None and point.high is not None
    width = (point.high or 0.0) - (point.low or 0.0) if has_interval else abs(point.overlap or 0.0)
    if width <= MOST_WIDTH:
        return point
    return replace(point, overlap=None, availability=None, low=None, high=None, why=TOO_WIDE)


def curves(rows: Sequence[Row]) -> tuple[OverlapCurve, ...]:
    """Make every curve: an op without work and with it, and the same work alone.

    Work alone is taken from the same ranks and MPI, and with the same threads and thread level if there is
    such a row.
    """
    good = [row for row in rows if row.median is not None and row.status == "ok"]
    alone = [row for row in good if row.role == WORK]
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in good:
        for axis in AXES if row.role not in (WORK, CALL) else ():
            if axis in row.params:
                groups.setdefault((axis, *key_of(row, (f"param.{axis}",))), []).append(row)
    return tuple(_curves(groups, alone))


def _curves(groups: dict[tuple[object, ...], list[Row]], alone: list[Row]) -> Iterator[OverlapCurve]:
    for (axis, *_), members in groups.items():
        name = str(axis)
        pure = next((row for row in members if _all_work(row) == 0), None)
        worked = sorted(
            (row for row in members if _amount(row, name) > 0), key=lambda row: _amount(row, name)
        )
        if pure is None or not worked:
            continue
        points, lacks = [], []
        for row in worked:
            asked = _amount(row, name)
            work = _alone(row, asked, alone)
            if work is None:
                lacks.append(asked)
            else:
                points.append(paired_point(asked, pure, work, row))
        params = {key: value for key, value in pure.params.items() if key != name}
        yield OverlapCurve(
            op=pure.op,
            method=pure.method,
            bytes=pure.bytes,
            ranks=pure.ranks,
            threads=pure.threads,
            thread_level=pure.thread_level,
            mpi=pure.mpi,
            params=params,
            axis=name,
            points=tuple(points),
            lacks=tuple(lacks),
        )


def _amount(row: Row, axis: str) -> float:
    return float(row.params.get(axis, 0))


def _all_work(row: Row) -> float:
    return sum(_amount(row, axis) for axis in AXES)


def _alone(row: Row, asked: float, alone: list[Row]) -> Row | None:
    """Find the row of that much work alone, on as many ranks under the same MPI."""
    fitting = [
        one
        for one in alone
        if (one.ranks, one.mpi) == (row.ranks, row.mpi) and float(one.params["work_us"]) == asked
    ]
    fitting.sort(key=lambda one: (one.threads != row.threads, one.thread_level != row.thread_level))
    return fitting[0] if fitting else None
