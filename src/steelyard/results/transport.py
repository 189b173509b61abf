"""The transport of an MPI library, as far as its environment shows it."""

from __future__ import annotations

from collections.abc import Mapping

TCP = "tcp"  # a row's transport, if it is known


def transport_of(environment: Mapping[str, str]) -> str | None:
    """Return `tcp` if variables leave an MPI no other, also within a host; None if they do not decide."""

    def only(name: str, allowed: set[str]) -> bool:
        words = set(environment.get(name, "").lower().split(","))
        return "tcp" in words and words <= allowed

    if only("OMPI_MCA_btl", {"tcp", "self"}) or only("UCX_TLS", {"tcp", "self"}):
        return TCP
    no_local = environment.get("MPIR_CVAR_NOLOCAL", "").lower() in ("1", "yes", "true", "on")
    no_local |= environment.get("I_MPI_FABRICS", "").lower() == "ofi"
    return TCP if no_local and environment.get("FI_PROVIDER", "").lower() in ("tcp", "sockets") else None
