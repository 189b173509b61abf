"""What a process has in memory after a first use of its library, and what that use left there."""

from __future__ import annotations

from steelyard.results.combined import Combined, middle
from steelyard.results.row import Facet

_KINDS = ("resident", "shared", "locked", "pinned")


class Footprint(Facet, frozen=True, kw_only=True):
    """Bytes of the rank that has most, the middle over launches, after a first use.

    `process_resident`: in memory; `process_shared`: of these such as others may share (files, shared memory);
    `process_locked`: locked; `process_pinned`: pinned by a driver, as what is registered with an adapter is.
    `grown_*`: what the use added; `grown_low`..`grown_high` is the interval of `grown_resident` over launches
    (None with one). None for other ops.
    """

    process_resident: float | None = None
    process_shared: float | None = None
    process_locked: float | None = None
    process_pinned: float | None = None
    grown_heap: float | None = None
    grown_resident: float | None = None
    grown_low: float | None = None
    grown_high: float | None = None
    grown_shared: float | None = None
    grown_locked: float | None = None
    grown_pinned: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Footprint | None:
        """None for an op that does not count what a use leaves."""
        counts = [launch.taken.later_counts for launch in combined.launches]
        own = [count for count in counts if "resident_grown_bytes" in count]
        if not own:
            return None
        grown = [count["resident_grown_bytes"] for count in own]
        added = combined.difference(grown)
        return cls(
            **{f"process_{kind}": middle([count[f"{kind}_bytes"] for count in own]) for kind in _KINDS},
            **{
                f"grown_{kind}": middle([count[f"{kind}_grown_bytes"] for count in own])
                for kind in ("heap", *_KINDS)
            },
            grown_low=added.low,
            grown_high=added.high,
        )
