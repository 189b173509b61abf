"""The table of other suites' names for our ops; like.py looks in it.

Names, sizes and the work of each test are from the suites' own documentation: OSU Micro-Benchmarks 7.5, Intel
MPI Benchmarks 2021, SKaMPI 5, ReproMPI, MPICH's test/mpi, EPCC's OpenMP micro-benchmarks 4.0, and the suites
of Sandia (SMB), LLNL (Phloem) and Netgauge. The sizes are the suite's, methods and statistics Steelyard's.
One-sided operations are those between two ranks. GPU buffers, OpenSHMEM and file I/O are left out.
tests/data/peers.toml has every test of theirs for MPI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Value = float | str


@dataclass(frozen=True, slots=True)
class Like:
    """A test of another suite, and the op that is nearest to it.

    `bytes` is None for an op without a size. `differs` names the difference in a few words. `threads` of each
    rank are the default.
    """

    name: str
    op: str
    bytes: str | None = None
    params: Mapping[str, Value] = field(default_factory=dict)
    differs: str = ""
    threads: int = 1


_OSU_P2P, _OSU_COLL, _OSU_SUMS = "1..4Mi", "1..1Mi", "4..1Mi"
_IMB, _IMB_SUMS = "0,1..4Mi", "0,4..4Mi"
_SKAMPI = "0,1..4Mi"  # a measurement file names its own sizes; these are those of its default file
_PERSISTENT = {"send": "start", "recv": "start"}
_FLOATS: Mapping[str, Value] = {"type": "float"}
_ROOT_STAYS = "the root stays; roots=rotate is IMB's"
_TYPED = "sums of floats; the original takes other types, too"
_OVERLAP = "the pure time; the overlap is a curve of mpi.overlap"
_ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")
_SUMS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
_OSU_COLLECTIVES = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scatter",
    "scatterv",
)
_MPIBENCH = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "reduce",
    "scatter",
)
_IMB_MT = (
    "BarrierMT",
    "BcastMT",
    "ReduceMT",
    "AllReduceMT",
    "ReduceScatterMT",
    "ScatterMT",
    "ScattervMT",
    "GatherMT",
    "GathervMT",
    "AllgatherMT",
    "AllgathervMT",
    "AlltoallMT",
    "AlltoallvMT",
)
_NEIGHBOR = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")


def _sizes(base: str, plain: str, sums: str) -> str | None:
    return None if base == "barrier" else sums if base in _SUMS else plain


def _one_sided(
    names: Mapping[str, str], sizes: Mapping[str, str], params: Mapping[str, Value]
) -> Iterator[Like]:
    """Make rows of one-sided tests: name -> op; single numbers have no size, and are of one byte."""
    for name, op in names.items():
        base = op.split(".")[1]
        numbers: Mapping[str, Value] = {"type": "int8"} if base.endswith("accumulate") else {}
        swaps: Mapping[str, Value] = {"swaps": "never"} if base == "compare_and_swap" else {}
        yield Like(name, op, sizes.get(base), {**params, **numbers, **swaps})


# osu_put_latency and IMB's Unidir_put: one shared lock around all calls, a flush after each.
_SHARED: Mapping[str, Value] = {"sync": "lock_shared", "complete": "flush"}
_PSCW: Mapping[str, Value] = {"sync": "pscw", "complete": "close"}


def _osu_one_sided() -> Iterator[Like]:
    sizes = {"put": "0,1..4Mi", "get": "0,1..4Mi", "accumulate": "1..4Mi", "get_accumulate": "1..4Mi"}
    names = {
        "osu_put_latency": "mpi.put",
        "osu_get_latency": "mpi.get",
        "osu_acc_latency": "mpi.accumulate",
        "osu_get_acc_latency": "mpi.get_accumulate",
        "osu_fop_latency": "mpi.fetch_and_op",
        "osu_cas_latency": "mpi.compare_and_swap",
    }
    yield from _one_sided(names, sizes, _SHARED)
    names = {"osu_put_bw": "mpi.put.bandwidth", "osu_get_bw": "mpi.get.bandwidth"}
    sizes = {"put": _OSU_P2P, "get": _OSU_P2P}
    yield from _one_sided(names, sizes, {**_SHARED, "calls": 32.0})
    yield from _one_sided({"osu_put_bibw": "mpi.put.bibandwidth"}, sizes, {**_PSCW, "calls": 32.0})


def _imb_one_sided() -> Iterator[Like]:
    sizes = {"put": _IMB, "get": _IMB, "accumulate": "1..4Mi", "get_accumulate": "1..4Mi"}
    names = {
        "Unidir_put": "mpi.put",
        "Unidir_get": "mpi.get",
        "Accumulate": "mpi.accumulate",
        "Get_accumulate": "mpi.get_accumulate",
        "Fetch_and_op": "mpi.fetch_and_op",
        "Compare_and_swap": "mpi.compare_and_swap",
    }
    yield from _one_sided(names, sizes, {**_SHARED, "window": "create"})
    names = {"Bidir_put": "mpi.put.bibandwidth", "Bidir_get": "mpi.get.bibandwidth"}
    yield from _one_sided(
        names, dict.fromkeys(sizes, "1..4Mi"), {**_SHARED, "window": "create", "calls": 1.0}
    )


def _osu() -> Iterator[Like]:
    yield Like("osu_latency", "mpi.pingpong", _OSU_P2P)
    yield Like("osu_latency_persistent", "mpi.pingpong", _OSU_P2P, _PERSISTENT)
    yield Like("osu_bw", "mpi.bandwidth", _OSU_P2P)
    yield Like("osu_bw_persistent", "mpi.bandwidth", _OSU_P2P, _PERSISTENT)
    yield Like("osu_bibw", "mpi.bibandwidth", _OSU_P2P)
    yield Like("osu_bibw_persistent", "mpi.bibandwidth", _OSU_P2P, _PERSISTENT)
    pairs = "pairs are i and i+P/2; the slowest pair's time stands for all"
    yield Like("osu_multi_lat", "mpi.pattern.bisection", _OSU_P2P, {"kind": "pingpong"}, pairs)
    yield Like("osu_latency_mp", "mpi.pattern.bisection", _OSU_P2P, {"kind": "pingpong"}, pairs)
    yield Like("osu_mbw_mr", "mpi.pattern.bisection", _OSU_P2P, {"kind": "window"}, pairs)
    yield Like("osu_bw_fan_in", "mpi.pattern.fan_in", _OSU_P2P, {"kind": "window"})
    yield Like("osu_bw_fan_out", "mpi.pattern.fan_out", _OSU_P2P, {"kind": "window"})
    yield Like("osu_partitioned_latency", "mpi.part.pingpong", _OSU_P2P)
    yield Like("osu_latency_mt", "mpi.mt.serve", _OSU_P2P, threads=2)
    yield from _osu_one_sided()
    for base in _OSU_COLLECTIVES:
        sizes = _sizes(base, _OSU_COLL, _OSU_SUMS)
        params, differs = (_FLOATS, _TYPED) if base in _SUMS else ({}, "")
        yield Like(f"osu_{base}", f"mpi.{base}", sizes, params, differs)
        yield Like(f"osu_i{base}", f"mpi.i{base}", sizes, params, _OVERLAP)
        yield Like(f"osu_{base}_persistent", f"mpi.{base}_init", sizes, params, differs)
    for base in _NEIGHBOR:
        yield Like(f"osu_neighbor_{base}", f"mpi.neighbor_{base}", _OSU_COLL)
        yield Like(f"osu_ineighbor_{base}", f"mpi.ineighbor_{base}", _OSU_COLL, {}, _OVERLAP)
    init = "the original times MPI_Init (init_ns of every launch record); this op times a session of MPI 4"
    yield Like("osu_init", "mpi.session", None, {}, init)
    yield Like("osu_hello", "mpi.session", None, {}, init)


def _imb() -> Iterator[Like]:
    yield Like("PingPong", "mpi.pingpong", _IMB)
    yield Like(
        "PingPongSpecificSource",
        "mpi.pingpong",
        _IMB,
    )
    yield Like("PingPongAnySource", "mpi.pingpong", _IMB, {"match": "any_source"})
    yield Like("PingPing", "mpi.pingping", _IMB)
    yield Like("PingPingSpecificSource", "mpi.pingping", _IMB)
    yield Like("PingPingAnySource", "mpi.pingping", _IMB, {"match": "any_source"})
    yield Like("Sendrecv", "mpi.pattern.ring", _IMB, {"kind": "send"}, "an empty answer comes back")
    yield Like("SendRecv_Replace", "mpi.sendrecv_replace", _IMB)
    yield Like("Exchange", "mpi.pattern.ring", _IMB, {"kind": "exchange"})
    yield Like("Uniband", "mpi.pattern.bisection", _IMB, {"kind": "window"})
    yield Like("Biband", "mpi.pattern.bisection", _IMB, {"kind": "biwindow"})
    yield Like("Unirandom", "mpi.pattern.matching", _IMB, {"kind": "window"}, "a matching for each seed")
    yield Like("Birandom", "mpi.pattern.matching", _IMB, {"kind": "biwindow"}, "a matching for each seed")
    yield Like("Corandom", "mpi.pattern.matching", _IMB, {"kind": "pingpong"}, "a matching for each seed")
    yield Like("Stencil2D", "mpi.halo.2d5", _IMB)
    yield Like("Stencil3D", "mpi.halo.3d7", _IMB)
    yield Like("ndim_halo", "mpi.halo.3d7", _IMB)
    yield Like("Reduce_local", "mpi.reduce_local", "4..4Mi", _FLOATS, _TYPED)
    yield from _imb_mt()
    yield from _imb_one_sided()
    blocking = (*(base for base in _OSU_COLLECTIVES if base != "alltoallw"),)
    for base in blocking:
        sizes = _sizes(base, _IMB, _IMB_SUMS)
        params, differs = (_FLOATS, _TYPED) if base in _SUMS else ({}, _ROOT_STAYS * (base in _ROOTED))
        yield Like(base.capitalize(), f"mpi.{base}", sizes, params, differs)
        if base != "reduce_scatter_block":
            yield Like(f"I{base}", f"mpi.i{base}", sizes, params, _OVERLAP)
            yield Like(f"I{base}_pure", f"mpi.i{base}", sizes, params, differs)
            yield Like(f"{base.capitalize()}_persist", f"mpi.{base}_init", sizes, params, _OVERLAP)
            yield Like(f"{base.capitalize()}_persist_pure", f"mpi.{base}_init", sizes, params, differs)


def _imb_mt() -> Iterator[Like]:
    theirs = "one communicator for each thread, as in the original; OMP_NUM_THREADS sets its threads"
    for name, op, params in (
        ("PingPongMT", "pingpong", {}),
        ("PingPingMT", "pingping", {}),
        ("SendRecvMT", "pattern.ring", {"kind": "send"}),
        ("ExchangeMT", "pattern.ring", {"kind": "exchange"}),
        ("UniBandMT", "pattern.bisection", {"kind": "window"}),
        ("BiBandMT", "pattern.bisection", {"kind": "biwindow"}),
    ):
        yield Like(name, f"mpi.mt.{op}", _IMB, params, theirs, threads=2)
    for name in _IMB_MT:
        base = {"AllReduceMT": "allreduce", "ReduceScatterMT": "reduce_scatter"}.get(name, name[:-2].lower())
        floats = _FLOATS if base in _SUMS else {}
        yield Like(name, f"mpi.mt.{base}", _sizes(base, _IMB, _IMB_SUMS), floats, theirs, threads=2)


def _skampi() -> Iterator[Like]:
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
        yield Like(f"MPI_{name}", f"mpi.{base}", _sizes(base, "1..1Mi", "8..1Mi"))
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


def _repro() -> Iterator[Like]:
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


def _mpich() -> Iterator[Like]:
    """Make rows of test/mpi (bench, perf) and basic, whose names are too common to stand alone."""
    yield Like("mpich_p2p_latency", "mpi.pingpong", "1..4Mi")
    yield Like("mpich_netmpi", "mpi.pingpong", "1..4Mi")
    yield Like("mpich_p2p_bw", "mpi.bandwidth", "1..4Mi")
    yield Like("mpich_p2p_one", "mpi.bandwidth", "1..4Mi")
    yield Like("mt_pt2pt_msgrate", "mpi.mt.bandwidth", "1..4Mi", threads=2)
    yield Like("mpich_p2p_self", "mpi.self", "1..4Mi")
    for base in ("barrier", "bcast", "allreduce"):
        yield Like(f"mpich_{base}", f"mpi.{base}", _sizes(base, "1..1Mi", "8..1Mi"))
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


def _others() -> Iterator[Like]:
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
        sizes = _sizes(base, "1..1Mi", "8..1Mi")
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


_EPCC_SIZES = "8,24,72,216,648,1944,5832,17496,52488,157464,472392"  # 3^0 to 3^10 doubles
_EPCC_DELAY: dict[str, Value] = {
    "spin_ns": 100.0
}  # as in the original, whose delay is an empty loop of 0.1 us
_FOR_ONE = "the original divides passages among the threads: multiply its time by the threads"


def _epcc() -> Iterator[Like]:
    plain = ("parallel", "parallel_for", "barrier", "single", "critical", "ordered")
    for name in plain:
        yield Like(f"epcc_{name}", f"omp.{name}", None, _EPCC_DELAY)
    yield Like("epcc_for", "omp.for", None, _EPCC_DELAY)
    yield Like("epcc_lock_contended", "omp.lock", None, _EPCC_DELAY)
    yield Like("epcc_lock_uncontended", "omp.lock", None, {**_EPCC_DELAY, "use": "own"})
    double: dict[str, Value] = {"form": "update_double"}
    yield Like("epcc_atomic", "omp.atomic", None, double, _FOR_ONE)
    yield Like("epcc_atomic_seq_cst", "omp.atomic", None, {**double, "order": "seq_cst"}, _FOR_ONE)
    yield Like("epcc_reduction", "omp.reduction", None, _EPCC_DELAY)
    loop: dict[str, Value] = {**_EPCC_DELAY, "iterations": 1024.0}
    whole = "of the whole loop, as in the original"
    yield Like("epcc_sched_static", "omp.for", None, loop, whole)
    for name in ("static", "dynamic", "guided"):
        chunks = f"{whole}; --param chunk=1,2,4..."
        yield Like(f"epcc_sched_{name}_n", "omp.for", None, {**loop, "schedule": name, "chunk": 1.0}, chunks)
    for name in ("dynamic", "guided"):
        words: dict[str, Value] = {**loop, "schedule": f"monotonic_{name}", "chunk": 1.0}
        yield Like(f"epcc_sched_monotonic_{name}_n", "omp.for", None, words, whole)
    yield Like(
        "epcc_sched_taskloop_n",
        "omp.taskloop",
        None,
        loop,
        "grain is a least value here, an exact one in the original",
    )
    for name in ("private", "firstprivate", "copyprivate"):
        yield Like(f"epcc_{name}", f"omp.{name}", _EPCC_SIZES, _EPCC_DELAY)
    copyin = "other sizes, for its arrays are compiled in"
    yield Like("epcc_copyin", "omp.copyin", "8,64,1Ki", _EPCC_DELAY, copyin)
    one = "a task for each thread; the original has one task"
    yield Like("epcc_parallel_task", "omp.task", None, _EPCC_DELAY)
    yield Like("epcc_master_task", "omp.task", None, {**_EPCC_DELAY, "creator": "one"}, one)
    yield Like("epcc_master_task_busy_slaves", "omp.task", None, {**_EPCC_DELAY, "creator": "busy"})
    yield Like("epcc_conditional_task", "omp.task", None, {**_EPCC_DELAY, "clause": "undeferred"})
    yield Like("epcc_parallel_task_depend", "omp.task_depend", None, {**_EPCC_DELAY, "form": "own"})
    yield Like("epcc_master_task_depend", "omp.task_depend", None, {**_EPCC_DELAY, "form": "chain"})
    yield Like("epcc_task_wait", "omp.taskwait", None, _EPCC_DELAY)
    yield Like("epcc_task_barrier", "omp.task_barrier", None, _EPCC_DELAY)
    tree = "of a whole tree of each thread"
    yield Like("epcc_leaf_task_tree", "omp.task_tree", None, _EPCC_DELAY, tree)
    yield Like("epcc_branch_task_tree", "omp.task_tree", None, {**_EPCC_DELAY, "work": "branch"}, tree)


SUITES: Mapping[str, tuple[Like, ...]] = {
    "OSU Micro-Benchmarks": tuple(_osu()),
    "Intel MPI Benchmarks": tuple(_imb()),
    "SKaMPI": tuple(_skampi()),
    "EPCC OpenMP micro-benchmarks": tuple(_epcc()),
    "ReproMPI": tuple(_repro()),
    "MPICH's own": tuple(_mpich()),
    "SMB, Netgauge, b_eff, Phloem, NetPIPE": tuple(_others()),
}
