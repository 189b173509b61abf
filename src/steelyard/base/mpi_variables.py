"""Variables of the environment that one family of MPIs reads, and no other."""

from __future__ import annotations

from collections.abc import Mapping

# How their names begin -> the families that read them: no other library has such names in it.
_READ_BY: Mapping[str, tuple[str, ...]] = {
    "OMPI_": ("openmpi",),
    "PRTE_MCA_": ("openmpi",),
    "PMIX_MCA_": ("openmpi",),
    "MPICH_": ("mpich",),
    "MPIR_CVAR_": ("mpich", "intel"),
    "I_MPI_": ("intel",),
}
_FAMILIES = frozenset(family for families in _READ_BY.values() for family in families)
_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}


def is_read(name: str, family: str | None) -> bool:
    """May an MPI of a family (None: no MPI) read a variable? Any may read an unknown one."""
    families = _families(name)
    return not families or family in families or (family is not None and family not in _FAMILIES)


def readers(name: str) -> str:
    """Name the MPIs that read a variable, `MPICH and Intel MPI`; empty if any may."""
    return " and ".join(_NAMES[family] for family in _families(name))


def _families(name: str) -> tuple[str, ...]:
    return next((families for start, families in _READ_BY.items() if name.startswith(start)), ())
