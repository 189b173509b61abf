"""Windows of synchronised methods: how ranks entered and left them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.combined import Combined, middle
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet
from steelyard.results.values import Values
from steelyard.stats.fast_stats import middle as plain_median


class RowSpun(Struct, frozen=True):
    """A rank's waits for its windows: the share of time lost in gaps, the longest gap in ns."""

    rank: int
    share: float
    longest_ns: int


class Windows(Facet, frozen=True, kw_only=True):
    """In ns. The operation took from `low_ns` (last start to last stop) to the row's median (first start).

    By the method bounds, `low_ns` is the lower bound. `skew_ns` and `imbalance_ns` are the spreads of starts
    and stops, `finishes_ns` the medians over launches of each rank's end after the first start, `window_ns`
    the first and the widest window, `spun` the waits of each rank.
    """

    low_ns: float | None = None
    skew_ns: float | None = None
    imbalance_ns: float | None = None
    finishes_ns: tuple[float, ...] = ()
    window_ns: tuple[int, int] | None = None
    spun: tuple[RowSpun, ...] = ()

    @classmethod
    def of(cls, combined: Combined) -> Windows | None:
        """None for methods that have none of these."""
        taken = [launch.taken for launch in combined.launches]
        widths = [width for each in taken for width in each.windows]
        found = cls(
            low_ns=middle([plain_median(each.low) for each in taken if each.low is not None]),
            skew_ns=middle([each.skew for each in taken if each.skew is not None]),
            imbalance_ns=middle([each.imbalance for each in taken if each.imbalance is not None]),
            finishes_ns=_finishes(taken),
            window_ns=(widths[0], max(widths)) if widths else None,
            spun=_spun(combined.launches),
        )
        return found if found != cls() else None


def _finishes(taken: Sequence[Values]) -> tuple[float, ...]:
    """Compute the end of each rank over all launches."""
    seen = [one.finishes for one in taken if one.finishes is not None]
    return tuple(np.median(seen, axis=0).tolist()) if seen else ()


def _spun(launches: Sequence[PointLaunch]) -> tuple[RowSpun, ...]:
    """Summarise the waits of each rank, over the launches that recorded them."""
    seen = [launch.taken.spun for launch in launches if launch.taken.spun is not None]
    if not seen:
        return ()
    told: dict[int, list[tuple[int, int, int]]] = {}
    for one in seen:
        for rank, *said in zip(one.ranks, one.ns, one.lost_ns, one.longest_ns, strict=True):
            told.setdefault(int(rank), []).append((int(said[0]), int(said[1]), int(said[2])))
    found = []
    for rank, each in sorted(told.items()):
        ns, lost, longest = zip(*each, strict=True)
        found.append(RowSpun(rank, sum(lost) / max(1, sum(ns)), max(longest)))
    return tuple(found)
