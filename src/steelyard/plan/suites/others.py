"""MPICH's own tests, and the suites of Sandia (SMB), LLNL (Phloem) and Netgauge, b_eff and NetPIPE."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.suites.like import Like, sizes_of

_MPIBENCH = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"),
    *("gatherv", "reduce", "scatter"),
)


def mpich() -> Iterator[Like]:
    """Make rows of test/mpi (bench, perf) and basic, whose names are too common to stand alone."""
    yield Like("mpich_p2p_latency", "mpi.pingpong", "1..4Mi")
    yield Like("mpich_netmpi", "mpi.pingpong", "1..4Mi")
    yield Like("mpich_p2p_bw", "mpi.bandwidth", "1..4Mi")
    yield Like("mpich_p2p_one", "mpi.bandwidth", "1..4Mi")
    yield Like("mt_pt2pt_msgrate", "mpi.mt.bandwidth", "1..4Mi", threads=2)
    yield Like("mpich_p2p_self", "mpi.self", "1..4Mi")
    for base in ("barrier", "bcast", "allreduce"):
        yield Like(f"mpich_{base}", f"mpi.{base}", sizes_of(base, "1..1Mi", "8..1Mi"))
    yield Like("mpich_sendrecvl", "mpi.sendrecv", "1..4Mi")
    yield Like(
        "mpich_non_zero_root", "mpi.reduce", "8..1Mi", {"root": 1.0}, "the original compares with root 0"
    )
    yield Like("mpich_commcreatep", "mpi.comm_create", None)
    yield Like("mpich_gtranksperf", "mpi.group", None, {}, "MPI_Group_incl; the original translates ranks")
    for name in ("dtpack", "nestvec", "nestvec2", "indexperf"):
        kind = "indexed" if name == "indexperf" else "vector"
        nested = "a plain vector, the original nests vectors; " if name.startswith("nestvec") else ""
        yield Like(
            f"mpich_{name}", "mpi.pack", "8..1Mi", {"type": kind}, f"{nested}the original passes or fails"
        )
    for name in ("twovec", "transp_datatype"):
        yield Like(f"mpich_{name}", "mpi.type.pingpong", "8..1Mi", {"type": "vector"}, "one vector")
    yield Like("mpich_timer", "mpi.wtime")


def others() -> Iterator[Like]:
    """Make the rows of suites that have a test or a few each."""
    yield Like(
        "smb_mpi_overhead", "mpi.overlap.isend", "8..1Mi", {}, "a curve; availability in mpi.overlap.send"
    )
    for form in ("single", "pairs", "preposted", "allstart"):
        yield Like(f"smb_msgrate_{form}", "mpi.message_rate", "8", {"form": form})
    yield Like("netgauge_1toN", "mpi.pattern.fan_out", "1..1Mi")
    yield Like("netgauge_Nto1", "mpi.pattern.fan_in", "1..1Mi")
    yield Like(
        "netgauge_ebb",
        "mpi.pattern.matching",
        "1Mi",
        {"kind": "pingpong"},
        "one random matching; the original averages many: --param seed=1,2,3",
    )
    yield Like("netgauge_one_one", "mpi.pingpong", "1..4Mi")
    yield Like("netgauge_one_one_dtype", "mpi.type.pingpong", "8..1Mi", {"type": "vector"})
    yield Like("netgauge_one_one_req_queue", "mpi.matching", "8", {"posted": 100.0})
    yield Like("beff", "mpi.pattern.random_ring", "1..1Mi", {"kind": "exchange"}, "a ring for each seed")
    yield Like("presta_com_Latency", "mpi.pattern.bisection", "8", {"kind": "pingpong"})
    yield Like("presta_com_Unidirectional", "mpi.pattern.bisection", "1..4Mi", {"kind": "send"})
    yield Like("presta_com_UnidirAsync", "mpi.pattern.bisection", "1..4Mi", {"kind": "window"})
    yield Like("presta_com_Bidirectional", "mpi.pattern.bisection", "1..4Mi", {"kind": "exchange"})
    yield Like("presta_com_BidirAsync", "mpi.pattern.bisection", "1..4Mi", {"kind": "biwindow"})
    yield Like("sqmr", "mpi.message_rate", "8", {"form": "pairs"})
    yield Like("mpiGraph", "mpi.pattern.shift", "64Ki", {"kind": "biwindow"}, "a shift for each d")
    yield Like(
        "linktest", "mpi.pattern.bisection", "1..4Mi", {"kind": "exchange"}, "the pairs of one bisection"
    )
    yield Like(
        "torustest",
        "mpi.pattern.ring",
        "1..4Mi",
        {"kind": "exchange"},
        "a ring; the original is a torus of several dimensions",
    )
    for base in _MPIBENCH:
        sizes = sizes_of(base, "1..1Mi", "8..1Mi")
        yield Like(f"mpibench_{base}", f"mpi.{base}", sizes)
        yield Like(f"mpibench_i{base}", f"mpi.i{base}", sizes)
    yield Like("netgauge_one_one_sync", "mpi.pingpong", "1..4Mi", {"send": "ssend"})
    yield Like("netgauge_one_one_randtag", "mpi.pingpong", "1..4Mi", {"match": "any_tag"}, "one tag")
    yield Like("netgauge_mprobe", "mpi.pingpong", "1..4Mi", {"recv": "mprobe"}, "one thread")
    yield Like("netgauge_one_one_mpi_bidirect", "mpi.bibandwidth", "1..4Mi", {"window": 1.0})
    yield Like("netgauge_one_one_randbuf", "mpi.bandwidth", "1..4Mi", {"buffers": 64.0}, "in order")
    yield Like("netgauge_one_one_all", "mpi.pattern.pair", "1..4Mi", {}, "a test case for each a and b")
    yield Like("netgauge_one_one_perturb", "mpi.pattern.victim", "1..1Mi")
    yield Like("netgauge_distrtt", "mpi.pattern.shift", "1", {"kind": "pingpong"}, "a shift for each d")
    yield Like("netgauge_nbov", "mpi.overlap.iallreduce", "8..1Mi", {}, "a curve; also for other collectives")
    yield Like("netpipe", "mpi.pingpong", "1..4Mi", {"buffer": "same"})
