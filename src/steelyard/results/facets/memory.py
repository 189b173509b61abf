"""What a library keeps in memory for each object that an op makes, and what is left when they are freed."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.results.combined import Combined, middle
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet

_OBJECTS, _FREED = "objects", "freed"  # counters of the engine's ops


class Memory(Facet, frozen=True, kw_only=True):
    """Bytes of an object on the rank that has most: of a launch the mean over the second half of its samples,
    of the row the middle over launches, with intervals over launches (None with one).

    `held_bytes` are from malloc() and not freed while objects are there, `held_in_launches` those of each
    launch, `left_bytes` still so when they have been freed: of at least `freed` objects on a rank in each
    launch. `resident_bytes` and `locked_bytes` are what the process has more in memory, and locked there.
    None for an op that keeps nothing.
    """

    held_bytes: float | None = None
    held_low: float | None = None
    held_high: float | None = None
    held_in_launches: tuple[float, ...] = ()
    left_bytes: float | None = None
    left_low: float | None = None
    left_high: float | None = None
    freed: int | None = None
    resident_bytes: float | None = None
    locked_bytes: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Memory | None:
        """None for an op that does not count objects."""
        launches = combined.launches
        held, left = _each(launches, "heap_held_bytes"), _each(launches, "heap_left_bytes", _FREED)
        if not held:
            return None
        of_held = combined.difference(held)
        of_left = combined.difference(left) if left else None
        return cls(
            held_bytes=of_held.value,
            held_low=of_held.low,
            held_high=of_held.high,
            held_in_launches=tuple(held),
            left_bytes=of_left.value if of_left else None,
            left_low=of_left.low if of_left else None,
            left_high=of_left.high if of_left else None,
            freed=min(int(launch.taken.counted.get(_FREED, 0) // launch.taken.ranks) for launch in launches),
            resident_bytes=middle(_each(launches, "resident_held_bytes")),
            locked_bytes=middle(_each(launches, "locked_held_bytes")),
        )


def _each(launches: Sequence[PointLaunch], counter: str, objects: str = _OBJECTS) -> list[float]:
    """Divide what a launch counts in a later sample by its objects; launches without objects are left out."""
    counts = [launch.taken.later_counts for launch in launches]
    return [count[counter] / count[objects] for count in counts if count.get(objects) and counter in count]
