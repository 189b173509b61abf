"""How launches belong together, where that decides how far a number may be off."""

from __future__ import annotations

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class LaunchGrouping(Facet, frozen=True, kw_only=True):
    """`sittings` counts the times at which launches were made, with a long gap between them, `host_sets` the
    hosts, or sets of hosts, that took turns; None if there is one, or as many as launches.

    The row's intervals then hold for other sittings and hosts, too: see `stats.interval.group_span`.
    """

    sittings: int | None = None
    host_sets: int | None = None

    @classmethod
    def of(cls, combined: Combined) -> LaunchGrouping | None:
        """None if all launches belong together alike."""
        counts = {name: len(set(labels)) for name, labels in combined.groups.items()}
        return cls(**counts) if counts else None
