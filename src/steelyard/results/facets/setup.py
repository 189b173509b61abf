"""How launches were set up: what a comparison wants to be the same in all arms."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class Setup(Facet, frozen=True, kw_only=True):
    """`clock` is the name of the timer, `sched_yield` what became of calls of it: `real` or `none`.

    Where launches differ, all that they had: `monotonic and tsc`. None where records do not say.
    """

    clock: str | None = None
    sched_yield: str | None = None

    @classmethod
    def of(cls, one: Combined) -> Setup | None:
        """None where no launch says anything."""
        starts = [launch.start for launch in one.launches if launch.start is not None]
        found = cls(
            clock=_all(start.clock.name for start in starts),
            sched_yield=_all(start.yield_ for start in starts),
        )
        return found if found != cls() else None


def _all(values: Iterable[str]) -> str | None:
    return " and ".join(sorted(set(values))) or None
