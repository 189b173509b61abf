"""The cost of threads: the rate of calls over the threads of a rank, and the fraction that each thread keeps.

Rows of a curve differ only in threads. For T threads, with b the fewest that were measured,

    rate(T) = calls of all threads / time        kept(T) = (rate(T) / T) / (rate(b) / b)

`kept` is 1 if threads do not slow each other, and 1/T if they take turns. Launches are paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.records.kinds import COLLECTIVE
from steelyard.results.facets import Fairness, Rate, ThreadTimes
from steelyard.results.key import key_of
from steelyard.results.row import Row
from steelyard.rows.ratios import ratio_of

_THREADED = "mpi.mt."  # prefix of ops whose threads all do the same
_ONE_IS_TIMED = ("mpi.mt.serve", "mpi.mt.short")  # exceptions: their other threads work for the timed one
_NOTES = "phases"  # the parameter that makes each thread note its end, within the timed region
_OFF = "off"
_SAME = 1e-6  # relative: calls of a thread, which are made from rates


class ThreadPoint(Struct, frozen=True, kw_only=True):
    """A number of threads of each rank: calls/s of all, and `kept`, over the rate of a thread of the fewest.

    The other fields are of a row whose threads note their begin and end, as in the facets. `thread_rates`:
    calls/s of each thread of the rank whose threads scatter most, in their order.
    """

    threads: int
    rate: float
    rate_low: float | None
    rate_high: float | None
    kept: float
    kept_low: float | None
    kept_high: float | None
    fairness: float | None
    fairness_low: float | None
    fairness_high: float | None
    half_done: float | None
    thread_rates: tuple[float, ...] | None = None
    thread_ratio: float | None = None
    thread_ratio_low: float | None = None
    thread_ratio_high: float | None = None
    thread_scatter: float | None = None
    thread_scatter_low: float | None = None
    thread_scatter_high: float | None = None


class ThreadCurve(Struct, frozen=True, kw_only=True):
    """An op in one way to call it, for two numbers of threads or more, the fewest first."""

    mpi: str
    op: str
    bytes: int
    ranks: int
    method: str
    params: Params
    points: tuple[ThreadPoint, ...]


def thread_curves(rows: Sequence[Row]) -> tuple[ThreadCurve, ...]:
    """Make every curve from rows of ops of several threads, in the order of their first rows."""
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in rows:
        if row.op.startswith(_THREADED) and row.op not in _ONE_IS_TIMED and row.status == "ok" and row.time:
            key = key_of(row, ("threads", f"param.{_NOTES}"))
            groups.setdefault(key, {}).setdefault(row.threads, []).append(row)
    found = (_curve(dict(sorted(by_threads.items()))) for by_threads in groups.values())
    return tuple(curve for curve in found if len(curve.points) > 1)


def _curve(by_threads: dict[int, list[Row]]) -> ThreadCurve:
    base = _timed(next(iter(by_threads.values())))
    return ThreadCurve(
        mpi=base.mpi or "",
        op=base.op,
        bytes=base.bytes,
        ranks=base.ranks,
        method=base.method,
        params={name: value for name, value in base.params.items() if name != _NOTES},
        points=tuple(_points(base, by_threads)),
    )


def _points(base: Row, by_threads: dict[int, list[Row]]) -> Iterator[ThreadPoint]:
    own = _calls(base) / base.threads
    for threads, rows in by_threads.items():
        row = _timed(rows)
        ratio = ratio_of(base, row)  # of times: each thread makes as many calls in both
        if ratio is None or not math.isclose(_calls(row) / threads, own, rel_tol=_SAME):
            continue
        fair = next((one.get(Fairness) for one in rows if one.get(Fairness).fairness is not None), Fairness())
        each = next((found for one in rows if (found := one.get(ThreadTimes)).thread_times), ThreadTimes())
        is_base = row is base
        yield ThreadPoint(
            threads=threads,
            rate=_rate(row, row.time) or 0.0,
            rate_low=_rate(row, row.time_high),
            rate_high=_rate(row, row.time_low),
            kept=ratio.value,
            kept_low=None if is_base else ratio.low,
            kept_high=None if is_base else ratio.high,
            fairness=fair.fairness,
            fairness_low=fair.fairness_low,
            fairness_high=fair.fairness_high,
            half_done=fair.half_done,
            thread_rates=each.thread_times and tuple(own / time * 1e9 for time in each.thread_times),
            thread_ratio=each.thread_ratio,
            thread_ratio_low=each.thread_ratio_low,
            thread_ratio_high=each.thread_ratio_high,
            thread_scatter=each.thread_scatter,
            thread_scatter_low=each.thread_scatter_low,
            thread_scatter_high=each.thread_scatter_high,
        )


def _timed(rows: Sequence[Row]) -> Row:
    """Find the row whose threads do not read the clock, if there is one."""
    return next((row for row in rows if row.params.get(_NOTES, _OFF) == _OFF), rows[0])


def _calls(row: Row) -> float:
    """Count what all threads do in the row's time: counted work, or messages; else one call each."""
    rate, time = row.get(Rate), row.time or 0.0
    if rate.mops:
        return rate.mops * time / 1e3
    if rate.bandwidth and row.bytes and row.role != COLLECTIVE:
        return rate.bandwidth * time / 1e9 / row.bytes
    return float(row.threads)


def _rate(row: Row, time: float | None) -> float | None:
    return _calls(row) / time * 1e9 if time and time > 0 else None
