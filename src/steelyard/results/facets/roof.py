"""The share of the machine's roof that a row reaches, as measured in the same folder."""

from __future__ import annotations

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class Roof(Facet, frozen=True, kw_only=True):
    """`of_roof` is the least time of a row, `roof_ns`, over its time.

    `roof` is the op of the row that gives it. `of_roof_low`..`of_roof_high` is the range of the share if both
    times lie in their intervals. `no_roof` says why a row has none although others were measured.
    """

    roof: str | None = None
    roof_ns: float | None = None
    of_roof: float | None = None
    of_roof_low: float | None = None
    of_roof_high: float | None = None
    no_roof: str | None = None

    @classmethod
    def of(cls, combined: Combined) -> Roof | None:  # noqa: ARG003
        """None: it needs two rows, see `roofs.with_roofs`."""
        return None
