"""The effective bisection bandwidth: what all ranks move together, in the mean over drawn matchings.

Each seed of `mpi.pattern.matching` draws a bipartition of the ranks and pairs its halves. One seed is one
draw; what a network gives is the mean over all, whose interval therefore has the scatter over seeds and over
launches (`stats.crossed`). The slowest and the fastest draw show how much it matters which ranks talk.

Source: T. Hoefler, T. Schneider, A. Lumsdaine, Multistage switches are not crossbars: effects of static
routing in high-performance networks, Cluster 2008.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.key import key_of
from steelyard.results.roofs import moved_bytes
from steelyard.results.row import Row, launch_medians
from steelyard.stats import Interval
from steelyard.stats.crossed_effects import LEAST_COLUMNS, LEAST_ROWS, crossed_interval

DRAWN_OP = "mpi.pattern.matching"
_SEED = "seed"


class EffectiveBisection(Struct, frozen=True, kw_only=True):
    """The mean over seeds at one size, in bytes/s; `rate` has no ends with one launch.

    `least` and `most` are `(seed, bytes/s)` of the slowest and the fastest draw.
    """

    mpi: str | None
    bytes: int
    ranks: int
    method: str
    params: Params
    seeds: int
    launches: int
    rate: Interval
    least: tuple[float, float]
    most: tuple[float, float]


def effective_bisections(rows: Sequence[Row]) -> tuple[EffectiveBisection, ...]:
    """Take the mean of each size that was measured with three seeds or more, in the order of the rows."""
    draws: dict[tuple[object, ...], dict[float, Row]] = {}
    for row in rows:
        if row.base == DRAWN_OP and row.status == "ok" and moved_bytes(row) and launch_medians(row):
            seed = float(row.params.get(_SEED, 0.0))
            draws.setdefault(key_of(row, (f"param.{_SEED}",)), {}).setdefault(seed, row)
    return tuple(_effective(drawn) for drawn in draws.values() if len(drawn) >= LEAST_ROWS)


def _effective(drawn: dict[float, Row]) -> EffectiveBisection:
    first = next(iter(drawn.values()))
    medians = [launch_medians(row) for row in drawn.values()]
    launches = sorted(set.intersection(*(set(median) for median in medians)))
    whole = [1e9 * moved_bytes(row) / (row.time or 1.0) for row in drawn.values()]
    if len(launches) >= LEAST_COLUMNS:
        moved = [moved_bytes(row) for row in drawn.values()]
        rates = np.array(
            [
                [1e9 * each / median[launch] for launch in launches]
                for each, median in zip(moved, medians, strict=True)
            ]
        )
        of = crossed_interval(rates)
        rate = Interval(of.value, of.low if of.low > 0 else None, of.high if of.low > 0 else None)
    else:
        rate = Interval(float(np.mean(whole)), None, None)
    by_rate = sorted(zip(drawn, whole, strict=True), key=lambda pair: pair[1])
    return EffectiveBisection(
        mpi=first.mpi,
        bytes=first.bytes,
        ranks=first.ranks,
        method=first.method,
        params={name: value for name, value in first.params.items() if name != _SEED},
        seeds=len(drawn),
        launches=len(launches),
        rate=rate,
        least=by_rate[0],
        most=by_rate[-1],
    )
