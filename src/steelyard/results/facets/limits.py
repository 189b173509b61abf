"""The sizes at which an MPI library says that it changes its protocol."""

from __future__ import annotations

import msgspec

from steelyard.records.kinds import LATENCY, MPI
from steelyard.results.combined import Combined
from steelyard.results.row import Facet

# Prefixes of variables about messages between two ranks, by library; and words in names of other variables.
_OF_MESSAGES = (
    *("btl_", "mtl_", "pml_"),
    *("MPIR_CVAR_CH3_", "MPIR_CVAR_CH4_", "MPIR_CVAR_NEMESIS_", "MPIR_CVAR_INTEL_SHM_"),
)
_OF_OTHERS = ("_RMA_", "_GPU_")


class Limits(Facet, frozen=True, kw_only=True):
    """`limits` are control variables about message sizes, as MPI_T said in the first launch."""

    limits: dict[str, float] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, combined: Combined) -> Limits | None:
        """None for all but ping-pong, and for libraries that say nothing."""
        first = combined.launches[0]
        is_pingpong = first.point is not None and (first.point.layer, first.point.role) == (MPI, LATENCY)
        if not is_pingpong or first.start is None or first.start.mpi is None:
            return None
        told = first.start.mpi.cvars.items()
        found = {
            name: float(value)
            for name, value in told
            if not isinstance(value, str)
            and name.startswith(_OF_MESSAGES)
            and not any(word in name for word in _OF_OTHERS)
        }
        return cls(limits=found) if found else None
