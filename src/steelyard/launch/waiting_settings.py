"""Settings of MPI libraries for ranks that share cores: a row for each library with its own way of waiting.

A launcher starts the ranks (launchers.py). `own` is the one that comes with the library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct


class MpiLibrary(Struct, frozen=True):
    """`sharing` are the variables for ranks that share cores, with notes for readers of the times."""

    own: str
    sharing: Mapping[str, str] = {}
    sharing_notes: tuple[str, ...] = ()


# MPICH's collectives within a node spin on shared memory, even if others wait for the core; those by messages
# yield, and with HEAVY_YIELD they sleep for a moment: some 50 times faster with 4 ranks on 2 cores.
# MPICH 4.0 knows no HEAVY_YIELD.
_MPICH40_SHARING = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
_MPICH_SHARING = {**_MPICH40_SHARING, "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
_OPENMPI_SHARING = {"OMPI_MCA_mpi_yield_when_idle": "1"}

_MPICH4_NOTE = (
    "in some builds of MPICH 4 (Debian's is one) a waiting rank never yields its core: then each message "
    "between ranks that share one takes milliseconds; Open MPI and MPICH 5 yield"
)

LIBRARIES = {
    "openmpi4": MpiLibrary("orte", _OPENMPI_SHARING),
    "openmpi5": MpiLibrary("prrte", _OPENMPI_SHARING),
    "mpich4.0": MpiLibrary("hydra", _MPICH40_SHARING, (_MPICH4_NOTE,)),
    "mpich4": MpiLibrary("hydra", _MPICH_SHARING, (_MPICH4_NOTE,)),
    "mpich5": MpiLibrary("hydra", _MPICH_SHARING),
    "intel": MpiLibrary("intel"),  # it yields by itself
}


def library_of(family: str, version: str) -> MpiLibrary:
    """Choose the row of a family and version: the launcher of Open MPI changed in 5, MPICH in 4.1 and 5."""
    if family in LIBRARIES:
        return LIBRARIES[family]
    major, minor = (*map(int, re.findall(r"\d+", version, re.ASCII)[:2]), 0, 0)[:2]
    if family == "mpich" and (major, minor) < (4, 1):
        return LIBRARIES["mpich4.0"]
    return LIBRARIES[f"{family}{4 if major < 5 else 5}"]
