"""Messages that are timed one by one: there and back, and by pair of ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.combined import Combined
from steelyard.results.durations import pairs_of
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet


class RowPair(Struct, frozen=True):
    """Two ranks that exchange messages while others do, and the median of their messages in ns."""

    low: int
    high: int
    median: float


class Messages(Facet, frozen=True, kw_only=True):
    """Medians in ns: `ways` from rank 0 to rank 1 and back, `pairs` of pairs that exchange at once."""

    ways: tuple[float, float] | None = None
    pairs: tuple[RowPair, ...] = ()

    @classmethod
    def of(cls, one: Combined) -> Messages | None:
        """None where no message is timed by itself."""
        ways, pairs = _ways(one.launches), _pairs(one.launches)
        return cls(ways=ways, pairs=pairs) if ways or pairs else None


def _pairs(launches: Sequence[PointLaunch]) -> tuple[RowPair, ...]:
    point = launches[0].point
    if point is None or point.partners is None:
        return ()
    medians = np.median(
        [np.median(launch.values.reshape(-1, launch.taken.pairs), axis=0) for launch in launches], axis=0
    )
    return tuple(RowPair(*pair, float(value)) for pair, value in zip(pairs_of(point), medians, strict=True))


def _ways(launches: Sequence[PointLaunch]) -> tuple[float, float] | None:
    point = launches[0].point
    if point is None or point.report != "message" or point.partners is not None:
        return None
    there, back = (np.concatenate([launch.values[way::2] for launch in launches]) for way in (0, 1))
    return (float(np.median(there)), float(np.median(back))) if back.size else None
