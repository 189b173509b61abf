"""The path that a method without a common clock watched."""

from __future__ import annotations

from msgspec import Struct

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class RowPath(Struct, frozen=True):
    """The path that a method without a common clock watched in a launch: see `WatchedPath` of the records."""

    late: int
    observer: int
    late_ns: float
    observer_ns: float
    loops: int


class Watched(Facet, frozen=True, kw_only=True):
    """The path that the first launch watched."""

    path: RowPath | None = None

    @classmethod
    def of(cls, combined: Combined) -> Watched | None:
        """None for other methods."""
        point = combined.launches[0].point
        if point is None or point.path is None:
            return None
        path = point.path
        return cls(path=RowPath(path.late, path.observer, path.late_ns, path.observer_ns, path.loops))
