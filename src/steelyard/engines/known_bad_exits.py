"""Libraries that are known to end badly, whatever a program did before: a remark on a launch, no failure."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.engines.mpi import Mpi


@dataclass(frozen=True, slots=True)
class _EndsBadly:
    """Releases of a family, of MPI or of OpenSHMEM, by the beginning of their versions."""

    kind: str
    family: str
    versions: tuple[str, ...]


# docs/ops/openshmem.md says what happens there.
_KNOWN = (_EndsBadly("shmem", "openmpi", ("4.0.", "4.1.")),)


def ends_badly(mpi: Mpi | None) -> bool:
    """Is it known of this library that it dies in its last call?"""
    return mpi is not None and any(
        (mpi.kind, mpi.family) == (known.kind, known.family) and mpi.version.startswith(known.versions)
        for known in _KNOWN
    )
