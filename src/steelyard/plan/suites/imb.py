"""Intel MPI Benchmarks: names, sizes and defaults of version 2021, read in its source.

One-sided operations are those between two ranks. Those of files are in `files`.
"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.suites.like import FLOATS, SUMS, Like, LikeParams, Value, sizes_of

_SIZES, _SUM_SIZES = "0,1..4Mi", "0,4..4Mi"
_WINDOW = 256.0  # -window_size
_OVERLAP = "the pure time; the overlap is a curve of mpi.overlap"
_MEANS = "mean over up to 1000 calls, of the slowest rank; a barrier between calls"
_ROOT = "root 0 (root_shift is off)"
_ROTATES = "the root moves on by a rank with each call"
_PAIR = "mean over up to 1000"
_COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"),
    *("gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"),
)
_ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")
_MT = (
    *("BarrierMT", "BcastMT", "ReduceMT", "AllReduceMT", "ReduceScatterMT", "ScatterMT", "ScattervMT"),
    *("GatherMT", "GathervMT", "AllgatherMT", "AllgathervMT", "AlltoallMT", "AlltoallvMT"),
)


def imb() -> Iterator[Like]:
    """Make the rows of IMB-MPI1, -P2P, -MT, -RMA, -NBC and -MPI4."""
    for name, op in (("PingPong", "mpi.pingpong"), ("PingPing", "mpi.pingping")):
        any_source: LikeParams = {"match": "any_source"}
        for suffix, params in (("", {}), ("SpecificSource", {}), ("AnySource", any_source)):
            program = "IMB-MPI1"
            yield Like(f"{name}{suffix}", op, _SIZES, params, program=program, theirs=f"{_PAIR} messages")
    ring: LikeParams = {"kind": "sendrecv"}
    theirs = "MPI_Sendrecv in a ring: to the next, from the one before"
    yield _mpi1("Sendrecv", "mpi.pattern.ring", ring, theirs)
    replaced = "MPI_Sendrecv_replace in a ring"
    yield _mpi1("SendRecv_Replace", "mpi.sendrecv_replace", {}, replaced, "between two ranks")
    both = "MPI_Isend to both neighbours in a ring, then MPI_Recv from them"
    one = "there both arrive in one buffer, here each has its own"
    yield _mpi1("Exchange", "mpi.pattern.ring", {"kind": "isend"}, both, one)
    for name, kind in (("Uniband", "window"), ("Biband", "biwindow")):
        window: LikeParams = {"kind": kind, "window": _WINDOW}
        yield _mpi1(name, "mpi.pattern.bisection", window, "windows of 256 messages and an answer")
    for name, kind in (("Unirandom", "window"), ("Birandom", "biwindow"), ("Corandom", "pingpong")):
        yield _p2p(name, "mpi.pattern.matching", {"kind": kind}, "a matching for each seed")
    for name, op in (("Stencil2D", "2d5"), ("Stencil3D", "3d7"), ("ndim_halo", "3d7")):
        yield _p2p(name, f"mpi.halo.{op}", {}, "")
    local = "MPI_Reduce_local of floats"
    yield Like("Reduce_local", "mpi.reduce_local", "4..4Mi", FLOATS, program="IMB-MPI1", theirs=local)
    yield from _mt()
    yield from _rma()
    for base in _COLLECTIVES:
        yield from _collective(base)


def _mpi1(name: str, op: str, params: LikeParams, theirs: str, differs: str = "") -> Like:
    return Like(name, op, _SIZES, params, differs, program="IMB-MPI1", theirs=f"{theirs}; {_PAIR}")


def _p2p(name: str, op: str, params: LikeParams, differs: str) -> Like:
    return Like(name, op, _SIZES, params, differs, program="IMB-P2P", theirs="not in 2021, which was read")


def _collective(base: str) -> Iterator[Like]:
    sizes = sizes_of(base, _SIZES, _SUM_SIZES)
    params: LikeParams = FLOATS if base in SUMS else {}
    theirs = "; ".join(
        [_MEANS, *(["sums of floats"] if params else []), *([_ROOT] if base in _ROOTED else [])]
    )
    yield Like(base.capitalize(), f"mpi.{base}", sizes, params, program="IMB-MPI1", theirs=theirs)
    if base == "reduce_scatter_block":
        return
    nbc: dict[str, Value] = {**params, **({"roots": "rotate"} if base == "reduce" else {})}
    own = theirs.replace(_ROOT, _ROTATES) if base == "reduce" else theirs
    yield Like(f"I{base}", f"mpi.i{base}", sizes, nbc, _OVERLAP, program="IMB-NBC", theirs=own)
    yield Like(f"I{base}_pure", f"mpi.i{base}", sizes, params, program="IMB-NBC", theirs=theirs)
    name, op = f"{base.capitalize()}_persist", f"mpi.{base}_init"
    yield Like(name, op, sizes, params, _OVERLAP, program="IMB-MPI4", theirs=theirs)
    yield Like(f"{name}_pure", op, sizes, params, program="IMB-MPI4", theirs=theirs)


def _mt() -> Iterator[Like]:
    """Make rows of IMB-MT, whose default is 1, 2, 4 and 8 ints, and a communicator for each thread."""
    theirs = "1 to 8 ints, a communicator for each thread, OMP_NUM_THREADS threads"
    for name, op, params in (
        ("PingPongMT", "pingpong", {}),
        ("PingPingMT", "pingping", {}),
        ("SendRecvMT", "pattern.ring", {"kind": "sendrecv"}),
        ("ExchangeMT", "pattern.ring", {"kind": "isend"}),
        ("UniBandMT", "pattern.bisection", {"kind": "window"}),
        ("BiBandMT", "pattern.bisection", {"kind": "biwindow"}),
    ):
        yield Like(name, f"mpi.mt.{op}", "4..32", params, threads=2, program="IMB-MT", theirs=theirs)
    for name in _MT:
        base = {"AllReduceMT": "allreduce", "ReduceScatterMT": "reduce_scatter"}.get(name, name[:-2].lower())
        ints: LikeParams = {"type": "int"} if base in SUMS else {}
        sizes = sizes_of(base, "4..32", "4..32")
        yield Like(name, f"mpi.mt.{base}", sizes, ints, threads=2, program="IMB-MT", theirs=theirs)


def _rma() -> Iterator[Like]:
    """Make rows of IMB-RMA between two ranks, not aggregated."""
    shared: LikeParams = {"sync": "lock_shared", "complete": "flush", "window": "create"}
    floats: LikeParams = {**shared, **FLOATS}
    theirs = "one shared lock around all calls, a flush after each; MPI_Win_create; not aggregated"
    rows: tuple[tuple[str, str, str | None, LikeParams], ...] = (
        ("Unidir_put", "mpi.put", _SIZES, shared),
        ("Unidir_get", "mpi.get", _SIZES, shared),
        ("Accumulate", "mpi.accumulate", "4..4Mi", floats),
        ("Get_accumulate", "mpi.get_accumulate", "4..4Mi", floats),
        ("Fetch_and_op", "mpi.fetch_and_op", None, floats),
        ("Compare_and_swap", "mpi.compare_and_swap", None, {**shared, "type": "int", "swaps": "never"}),
        ("Bidir_put", "mpi.put.bibandwidth", "1..4Mi", {**shared, "calls": 1.0}),
        ("Bidir_get", "mpi.get.bibandwidth", "1..4Mi", {**shared, "calls": 1.0}),
    )
    fenced = "IMB-EXT's test of this name: --param sync=fence --param complete=close"
    for name, op, sizes, params in rows:
        differs = fenced if name.startswith(("Unidir", "Bidir", "Accumulate")) else ""
        yield Like(name, op, sizes, params, differs, program="IMB-RMA", theirs=theirs)
