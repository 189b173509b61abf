"""The precision that a plan asks of a row, and what it would take."""

from __future__ import annotations

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class PrecisionGoal(Facet, frozen=True, kw_only=True):
    """`precision` is the half-width, relative to the time, that the plan asks for; None if it asks for none.

    Where it was not `precision_reached`, about `precision_launches` would reach it, None for a very large
    number; those that are missing take about `precision_seconds`.
    """

    precision: float | None = None
    precision_reached: bool | None = None
    precision_launches: int | None = None
    precision_seconds: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> PrecisionGoal | None:  # noqa: ARG003
        """None: the plan asks for it, see `precision.with_precision`."""
        return None
