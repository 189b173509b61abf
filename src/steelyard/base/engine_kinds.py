"""The kind of engine that a library needs, by the name of the library."""

from __future__ import annotations

from collections.abc import Mapping

SOLO, MPI, SHMEM = KINDS = ("solo", "mpi", "shmem")
# The family of the launcher that an OpenSHMEM comes with -> how its name begins.
OPENSHMEMS: Mapping[str, str] = {"openmpi": "oshmem", "mpich": "sos"}


def engine_kind(library: str | None) -> str:
    """Name the kind of engine that runs with a library: an MPI or OpenSHMEM by its name; None: neither."""
    if library is None:
        return SOLO
    return SHMEM if library.partition("-")[0] in OPENSHMEMS.values() else MPI
