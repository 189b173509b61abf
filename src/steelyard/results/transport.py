"""The transport of an MPI library, as far as its environment and the files that it loaded show it."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.records.schema import Launch

TCP = "tcp"  # a row's transport, if it is known

# Open MPI loads a component (BTL) for each way that messages may take, and `self` for a rank's own. The `sm`
# of Open MPI 4 only says that it has gone; that of 5 is shared memory.
_BTL = "mca_btl_"
_CARRY_NOTHING = {"self", "sm"}
_CARRIED_BY_BTL = "mca_pml_ob1.so"  # the layer above that sends by BTLs
_FIRST_WITH_SM = 5


def transport_of(launch: Launch) -> str | None:
    """Return `tcp` if an MPI has no other, also within a host; None if its records do not decide."""
    return TCP if asked_transport(launch.environment) == TCP or has_sockets_alone(launch) else None


def asked_transport(environment: Mapping[str, str]) -> str | None:
    """Return `tcp` if variables leave an MPI no other, also within a host; None if they do not decide."""

    def only(name: str, allowed: set[str]) -> bool:
        words = set(environment.get(name, "").lower().split(","))
        return "tcp" in words and words <= allowed

    if only("OMPI_MCA_btl", {"tcp", "self"}) or only("UCX_TLS", {"tcp", "self"}):
        return TCP
    no_local = environment.get("MPIR_CVAR_NOLOCAL", "").lower() in ("1", "yes", "true", "on")
    no_local |= environment.get("I_MPI_FABRICS", "").lower() == "ofi"
    return TCP if no_local and environment.get("FI_PROVIDER", "").lower() in ("tcp", "sockets") else None


def has_sockets_alone(launch: Launch) -> bool:
    """Did Open MPI load its component for TCP and none for shared memory or another network?

    False for a library whose components are no files of their own, and for one rank, which has nobody to
    share memory with.
    """
    names = {library.path.rpartition("/")[2] for library in launch.libraries}
    btls = {name.removeprefix(_BTL).removesuffix(".so") for name in names if name.startswith(_BTL)}
    nothing = _CARRY_NOTHING if _open_mpi(launch) < _FIRST_WITH_SM else {"self"}
    return launch.ranks > 1 and _CARRIED_BY_BTL in names and btls - nothing == {TCP}


def _open_mpi(launch: Launch) -> int:
    """Find the main number of its version in the library's own words: `Open MPI v4.1.4, package: ...`."""
    _, _, version = (launch.mpi.library if launch.mpi else "").partition("Open MPI v")
    digits = version.partition(".")[0]
    return int(digits) if digits.isdecimal() else _FIRST_WITH_SM
