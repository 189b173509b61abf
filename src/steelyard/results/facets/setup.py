"""The set-up of launches, which should be the same in all arms of a comparison."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class Setup(Facet, frozen=True, kw_only=True):
    """`clock` is the name of the timer, `sched_yield` the effect of calls of it: `real` or `none`.

    If launches differ, all that they had: `monotonic and tsc`. None if records do not say.
    """

    clock: str | None = None
    sched_yield: str | None = None

    @classmethod
    def of(cls, combined: Combined) -> Setup | None:
        """None if no launch says anything."""
        starts = [launch.start for launch in combined.launches if launch.start is not None]
        found = cls(
            clock=_all(start.clock.name for start in starts),
            sched_yield=_all(start.yield_ for start in starts),
        )
        return found if found != cls() else None


def _all(values: Iterable[str]) -> str | None:
    return " and ".join(sorted(set(values))) or None
