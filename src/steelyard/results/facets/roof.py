"""How near a row is to what the machine gives, as measured in the same folder."""

from __future__ import annotations

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class Roof(Facet, frozen=True, kw_only=True):
    """`of_roof` is the time that a row would take at least, `roof_ns`, over the time that it takes.

    `roof` is the op that says so, of another row. `of_roof_low`..`of_roof_high` is where the share lies if
    both times lie in their intervals.
    """

    roof: str | None = None
    roof_ns: float | None = None
    of_roof: float | None = None
    of_roof_low: float | None = None
    of_roof_high: float | None = None

    @classmethod
    def of(cls, one: Combined) -> Roof | None:  # noqa: ARG003
        """None: it takes two rows to make one, see `roofs.with_roofs`."""
        return None
