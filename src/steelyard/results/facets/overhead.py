"""The time of an op beyond its reference."""

from __future__ import annotations

from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class ReferenceOverhead(Facet, frozen=True, kw_only=True):
    """The time of an op beyond its `reference`, which is the same op without what is measured.

    `corrected` is that difference in ns, `corrected_low`..`corrected_high` its interval with probability
    `corrected_level`, over launches or, with one launch, of that one (`corrected_of`).
    """

    reference: str | None = None
    corrected: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    corrected_level: float | None = None
    corrected_of: str | None = None

    @property
    def above(self) -> float | None:
        """`corrected`; None if it or its interval is not above 0, because then no overhead was found."""
        ends = (self.corrected, self.corrected_low)
        return None if any(end is not None and end <= 0 for end in ends) else self.corrected

    @classmethod
    def of(cls, combined: Combined) -> ReferenceOverhead | None:  # noqa: ARG003
        """None: it needs two rows, see `overhead.with_overheads`."""
        return None
