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
    """Two ranks that exchange messages while others do, and the median of their messages in ns.

    `medians` are those of the launches that went well, in their order.
    """

    low: int
    high: int
    median: float
    medians: tuple[float, ...] = ()


class Messages(Facet, frozen=True, kw_only=True):
    """Medians over launches, in ns: `ways` from rank 0 to rank 1 and back, `pairs` of pairs at once."""

    ways: tuple[float, float] | None = None
    pairs: tuple[RowPair, ...] = ()

    @classmethod
    def of(cls, combined: Combined) -> Messages | None:
        """None if single messages are not timed."""
        ways, pairs = _ways(combined.launches), _pairs(combined.launches)
        return cls(ways=ways, pairs=pairs) if ways or pairs else None


class Progress(Facet, frozen=True, kw_only=True):
    """`early`: of the one-sided calls that began while their target was outside MPI, the fraction that was
    complete before it was back, with its interval over launches; 1 if the library needs no help.
    """

    early: float | None = None
    early_low: float | None = None
    early_high: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Progress | None:
        """None if no target was outside MPI, and if no call began while it was."""
        counted = [launch.taken.counted for launch in combined.launches if launch.taken.counted.get("begun")]
        if not counted or "early" not in counted[0]:
            return None
        shares = [each["early"] / each["begun"] for each in counted]
        found = combined.span(shares, logs=False, least=0.0, most=1.0)
        return cls(early=found.value, early_low=found.low, early_high=found.high)


def _pairs(launches: Sequence[PointLaunch]) -> tuple[RowPair, ...]:
    point = launches[0].point
    if point is None or point.partners is None:
        return ()
    each = np.array([np.median(launch.values.reshape(-1, launch.taken.pairs), axis=0) for launch in launches])
    return tuple(
        RowPair(*pair, float(np.median(medians)), tuple(medians.tolist()))
        for pair, medians in zip(pairs_of(point), each.T, strict=True)
    )


def _ways(launches: Sequence[PointLaunch]) -> tuple[float, float] | None:
    point = launches[0].point
    if point is None or point.report != "message" or point.partners is not None:
        return None
    each = [
        [np.median(launch.values[way::2]) for way in (0, 1)] for launch in launches if launch.values.size > 1
    ]
    if not each:
        return None
    there, back = np.median(each, axis=0).tolist()
    return there, back
