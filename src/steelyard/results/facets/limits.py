"""What an MPI library says of the sizes at which it changes its protocol."""

from __future__ import annotations

import msgspec

from steelyard.records.kinds import LATENCY, MPI
from steelyard.results.combined import Combined
from steelyard.results.row import Facet


class Limits(Facet, frozen=True, kw_only=True):
    """`limits` are the control variables of protocols that are numbers, as MPI_T said in the first launch."""

    limits: dict[str, float] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, one: Combined) -> Limits | None:
        """None of all but ping-pong, and of libraries that say nothing."""
        first = one.launches[0]
        is_pingpong = first.point is not None and (first.point.layer, first.point.role) == (MPI, LATENCY)
        if not is_pingpong or first.start is None or first.start.mpi is None:
            return None
        told = first.start.mpi.cvars.items()
        found = {name: float(value) for name, value in told if not isinstance(value, str)}
        return cls(limits=found) if found else None
