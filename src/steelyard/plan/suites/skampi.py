"""SKaMPI 5 and ReproMPI: names from their measurement files and manuals."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.suites.like import Like, Value, sizes_of
from steelyard.plan.suites.openshmem import skampi_openshmem

_SKAMPI = "0,1..4Mi"  # a measurement file names its own sizes; these are those of its default file
_OWN = "the sizes and calls of a measurement file"


def skampi() -> Iterator[Like]:
    """Make the rows of SKaMPI."""
    kinds: dict[str, dict[str, Value]] = {
        "Send_Recv": {},
        "Send_Recv_AT": {"match": "any_tag"},
        "Send_Iprobe_Recv": {"recv": "iprobe"},
        "Send_Irecv": {"recv": "irecv"},
        "Ssend_Recv": {"send": "ssend"},
        "Isend_Recv": {"send": "isend"},
        "Issend_Recv": {"send": "issend"},
        "Bsend_Recv": {"send": "bsend"},
    }
    for name, params in kinds.items():
        yield Like(f"Pingpong_{name}", "mpi.pingpong", _SKAMPI, params, "half of that: one way")
    yield Like("Pingpong_Sendrecv", "mpi.sendrecv", _SKAMPI)
    yield Like("Pingpong_Sendrecv_replace", "mpi.sendrecv_replace", _SKAMPI)
    yield Like("Par_Pingpong_Send_Recv", "mpi.pattern.bisection", _SKAMPI, {"kind": "pingpong"})
    names = ("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Barrier", "Bcast", "Gather")
    for name in (*names, "Gatherv", "Reduce", "Reduce_scatter", "Scan", "Scatter", "Scatterv"):
        base = name.lower()
        yield Like(f"MPI_{name}", f"mpi.{base}", sizes_of(base, "1..1Mi", "8..1Mi"))
    yield Like("myalltoallv", "mpi.alltoallv", "1..1Mi", {"counts": "random"})
    yield Like("Reduce_Scatterv", "mpi.reduce_scatter", "8..1Mi", {"counts": "random"})
    flat = "the messages alone, each with an empty answer; no copy of the root's own"
    yield Like("Bcast_using_Send_Recv", "mpi.pattern.fan_out", "1..1Mi", {"kind": "send"}, flat)
    yield Like("Gather_using_Send_Recv", "mpi.pattern.fan_in", "1..1Mi", {"kind": "send"}, flat)
    yield Like("Gather_using_Isend_Irecv_Waitall", "mpi.pattern.fan_in", "1..1Mi", {"kind": "send"}, flat)
    yield Like("Alltoall_using_Isend_Irecv", "mpi.pattern.all", "1..1Mi", {"kind": "exchange"}, flat)
    yield Like("Alltoallv_using_Isend_Irecv", "mpi.pattern.all", "1..1Mi", {"kind": "exchange"}, flat)
    yield Like("Comm_dup", "mpi.comm_dup")
    yield Like("Comm_split", "mpi.comm_split")
    late: dict[str, Value] = {"arrival": "late"}
    yield Like("delayed_Alltoall", "mpi.alltoall", "1..1Mi", late)
    yield Like("delayed_Gather", "mpi.gather", "1..1Mi", late)
    composed = "mpi.mock.allreduce_by_reduce_bcast"
    yield Like("Allreduce_using_Reduce_Bcast", composed, "8..1Mi", {}, "sums of doubles")
    waits = "a barrier after the waits, which show as its skew; the original has no operation"
    yield Like("waitpattern_up", "mpi.barrier", None, {"arrival": "ramp"}, waits)
    yield Like("waitpattern_down", "mpi.barrier", None, {"arrival": "ramp_down"}, waits)
    yield Like("Wtime", "mpi.wtime")
    yield from skampi_openshmem()


def repro() -> Iterator[Like]:
    """List those that SKaMPI names differently."""
    for base in ("exscan", "reduce_scatter_block"):
        yield Like(f"MPI_{base.capitalize()}", f"mpi.{base}", "8..1Mi")
    kinds: dict[str, dict[str, Value]] = {
        "Send_Recv": {},
        "Isend_Recv": {"send": "isend"},
        "Isend_Irecv": {"send": "isend", "recv": "irecv"},
        "Send_Irecv": {"recv": "irecv"},
    }
    for name, params in kinds.items():
        yield Like(name, "mpi.pingpong", "1..1Mi", params, "half of that: one way")
    yield Like("Empty", "self.empty")
