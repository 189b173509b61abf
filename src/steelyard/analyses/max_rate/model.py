"""The max-rate model: bytes per second that pairs of ranks move together, and the pairs that saturate it.

k pairs that exchange messages of n bytes at once take

    T = alpha + k n / min(R_N, k R_C)

with R_C the rate of a single pair, and R_N the rate that pairs share: of a node's network, or of its memory.
Each pair adds R_C until R_N is reached. The model is fitted to the rates k n / T of a pattern of pairs at one
size, at three numbers of pairs or more, in least squares of their logarithms; alpha is small there, because
windows of messages are in flight. Pairs up to the knee give R_C, those beyond it R_N. There is a knee only if
it halves the error of a straight line, and that error is above 5 %. Each launch has its own values, with the
knee of the medians.

Source: W. Gropp, L. Olson, P. Samfass, Modeling MPI communication performance on SMP nodes: is it time to
retire the ping pong test, EuroMPI 2016.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.analyses.unmodelled import Unmodelled, unmodelled
from steelyard.records.fields import Params
from steelyard.results.key import key_of
from steelyard.results.roofs import moved_bytes
from steelyard.results.row import Row, launch_medians, likeness_of
from steelyard.stats import Interval, span_of
from steelyard.stats.arrays import FloatArray

LEAST_PAIRS = 3  # numbers of pairs
_PAIRED = ("mpi.pattern.neighbours", "mpi.pattern.bisection")  # patterns in which each rank has one partner
RATE_FREE = ("ranks", "placed", "hosts")
_STRAIGHT = 0.05  # root mean square of logarithms: with a smaller error of k R_C there is no knee
_BETTER = 0.5  # of a straight line's error: the error that a knee may have


class MaxRate(Struct, frozen=True, kw_only=True):
    """Pairs of one size under one MPI. Rates in bytes/s; `shared` is None if more pairs still added.

    `points` are `(pairs, rate)`. `missed` is the relative root mean square error of the model.
    """

    op: str
    mpi: str | None
    bytes: int
    params: Params
    points: tuple[tuple[int, float], ...]
    pair: Interval
    shared: Interval | None
    missed: float


def is_rated(row: Row) -> bool:
    """Is it a point of a curve over pairs?"""
    return row.base in _PAIRED and row.status == "ok" and bool(moved_bytes(row) and launch_medians(row))


def max_rates_of(rows: Sequence[Row]) -> tuple[MaxRate, ...]:
    """Model every pattern of pairs at three numbers of ranks or more, in the order of the rows."""
    curves: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in rows:
        if is_rated(row):
            curves.setdefault(key_of(row, RATE_FREE), {}).setdefault(row.ranks // 2, row)
    found = (dict(sorted(curve.items())) for curve in curves.values())
    return tuple(_max_rate(curve) for curve in found if len(curve) >= LEAST_PAIRS)


def _max_rate(curve: dict[int, Row]) -> MaxRate:
    pairs = np.array(list(curve), dtype=np.float64)
    moved = np.array([moved_bytes(row) for row in curve.values()])
    medians = [launch_medians(row) for row in curve.values()]
    shared = sorted(set.intersection(*(set(median) for median in medians)))
    middle = moved / np.array([row.time or 0.0 for row in curve.values()]) * 1e9
    launches = [moved / np.array([median[launch] for median in medians]) * 1e9 for launch in shared]
    knee, missed = _knee(pairs, middle)
    each = [_rates(pairs, rates, knee) for rates in launches] or [_rates(pairs, middle, knee)]
    first = next(iter(curve.values()))
    alike = likeness_of(curve.values())
    return MaxRate(
        op=first.op,
        mpi=first.mpi,
        bytes=first.bytes,
        params=first.params,
        points=tuple(zip(curve, middle.tolist(), strict=True)),
        pair=span_of([one for one, _ in each], alike=alike),
        shared=span_of([other for _, other in each], alike=alike) if knee < pairs.size else None,
        missed=missed,
    )


def _rates(pairs: FloatArray, rates: FloatArray, knee: int) -> tuple[float, float]:
    """Fit R_C to the first `knee` numbers of pairs and R_N to the others; infinite without others."""
    one = float(np.exp(np.mean(np.log(rates[:knee] / pairs[:knee]))))
    return one, float(np.exp(np.mean(np.log(rates[knee:])))) if knee < pairs.size else float("inf")


def _knee(pairs: FloatArray, rates: FloatArray) -> tuple[int, float]:
    """Count the numbers of pairs below the knee (all if there is none), and compute the model's error."""

    def missed(knee: int) -> float:
        one, most = _rates(pairs, rates, knee)
        said = np.minimum(pairs * one, most)
        return float(np.sqrt(np.mean(np.log(rates / said) ** 2)))

    straight = missed(pairs.size)
    best = min(range(1, pairs.size), key=missed)
    if straight > _STRAIGHT and missed(best) < _BETTER * straight:
        return best, missed(best)
    return pairs.size, straight


def unmodelled_rates(rows: Sequence[Row]) -> tuple[Unmodelled, ...]:
    """Find patterns of pairs on enough numbers of ranks for a model of rates, but by several methods."""
    return unmodelled([row for row in rows if is_rated(row)], RATE_FREE, LEAST_PAIRS)
