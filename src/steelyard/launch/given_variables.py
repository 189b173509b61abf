"""Variables that a user or a plan gives to MPI and OpenMP, and what a launch said of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from steelyard.base.printable import shortened

# What their names begin with, as in the engine's `base/variables.c`, for those that a library may not take.
_PREFIXES = (
    "FI_",
    "GOMP_",
    "I_MPI_",
    "KMP_",
    "MPICH_",
    "MPIR_CVAR_",
    "OMPI_MCA_",
    "OMP_",
    "PMIX_MCA_",
    "PRTE_MCA_",
    "PSM2_",
    "UCX_",
)
_MOST_LETTERS = 200
# OMP_DISPLAY_ENV and KMP_SETTINGS list variables, and complain of none: `  [host] OMP_DYNAMIC = 'FALSE'`.
_LISTED = re.compile(r"\s*(\[\w+\]\s*)?\w+\s*=")
# What libgomp and UCX say without a name, and the variables that they mean.
_UNNAMED = {
    "Stack size": ("OMP_STACKSIZE", "GOMP_STACKSIZE"),
    "UCX  WARN  network device '": ("UCX_NET_DEVICES",),
    "UCX  WARN  transport": ("UCX_TLS",),
}


def given_variables(*names: Iterable[str], unset: Collection[str] = ()) -> tuple[str, ...]:
    """List those of the names that MPI, OpenMP or a layer below them may read, without those `unset`."""
    found = {name for some in names for name in some if name.startswith(_PREFIXES)}
    return tuple(sorted(found.difference(unset)))


def complaints(given: Collection[str], said: str) -> dict[str, str]:
    """Find what a launch said first of each variable that was given: `{name: line}`."""
    found: dict[str, str] = {}
    for line in said.splitlines():
        if _LISTED.match(line):
            continue
        meant = [name for words, names in _UNNAMED.items() if words in line for name in names]
        for name in {*re.findall(r"\w+", line), *meant}.intersection(given):
            found.setdefault(name, shortened(line.strip(), _MOST_LETTERS))
    return found
