"""OSU Micro-Benchmarks: names, sizes and defaults of version 7.4, read in its source.

The sizes are the suite's, methods and statistics Steelyard's. GPU buffers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.suites.like import BYTES, SUMS, Like, LikeParams, sizes_of
from steelyard.plan.suites.openshmem import osu_openshmem

_P2P, _COLL = "1..4Mi", "1..1Mi"
_PERSISTENT: LikeParams = {"send": "start", "recv": "start"}
_CHAR = "sums of int8: MPI defines none of MPI_CHAR; --param type=float, int as with -T"
_WHOLE = "bytes of all blocks together, as in the original"
_BLOCK = "bytes are of one block, in the original of all; --to osu prints those of all"
_OVERLAP = "the pure time; the overlap is a curve of mpi.overlap"
_LATENCY = "half a round trip, mean of 10,000 (1000 above 8 KiB)"
_WINDOW = "64 messages and an answer, mean of 100 windows (20 above 8 KiB)"
_MEANS = "mean over 1000 calls (100 above 8 KiB) and ranks, a barrier between calls"
_NOT_READ = "not in 7.4, whose source was read"
_COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scatter", "scatterv"),
)
_NEIGHBOURS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
_LINE: LikeParams = {"dims": 1.0}
# By a misplaced bracket it is set only where allocation failed: all of it is one page of zeros.
_UNWRITTEN = "the original never writes its send buffer without -c, which makes large messages faster"


def osu() -> Iterator[Like]:
    """Make the rows; OpenSHMEM's atomics are of one program, all others are programs."""
    yield from _messages()
    yield from _one_sided()
    for base in _COLLECTIVES:
        yield from _collective(base)
    for base in _NEIGHBOURS:
        theirs = f"{_MEANS}; a cart of one axis, both neighbours"
        three = "the original refuses two ranks"
        yield Like(f"osu_neighbor_{base}", f"mpi.neighbor_{base}", _COLL, _LINE, three, theirs=theirs)
        both = f"{_OVERLAP}; {three}"
        yield Like(f"osu_ineighbor_{base}", f"mpi.ineighbor_{base}", _COLL, _LINE, both, theirs=theirs)
    yield from osu_openshmem()
    once = "MPI_Init_thread; each launch gives one sample"
    yield Like("osu_init", "mpi.first.init", None, {}, once, theirs="MPI_Init, once")
    theirs = "MPI_Init and MPI_Finalize; prints no time"
    yield Like("osu_hello", "mpi.first.init", None, {}, once, theirs=theirs)


def _messages() -> Iterator[Like]:
    yield Like("osu_latency", "mpi.pingpong", _P2P, theirs=_LATENCY)
    yield Like("osu_latency_persistent", "mpi.pingpong", _P2P, _PERSISTENT, theirs=_LATENCY)
    for name, op in (("bw", "bandwidth"), ("bibw", "bibandwidth")):
        yield Like(f"osu_{name}", f"mpi.{op}", _P2P, theirs=_WINDOW)
        yield Like(f"osu_{name}_persistent", f"mpi.{op}", _P2P, _PERSISTENT, theirs=_WINDOW)
    pairs = "pairs are i and i+P/2; the slowest pair's time stands for all"
    barrier = "the original has a barrier before each round trip, as --method library-barrier has here"
    fresh = f"{pairs}; {barrier}"
    forked = f"{fresh}; ranks in place of two forked processes"
    pingpong: LikeParams = {"kind": "pingpong"}
    yield Like("osu_multi_lat", "mpi.pattern.bisection", _P2P, pingpong, fresh, theirs=_LATENCY)
    yield Like("osu_latency_mp", "mpi.pattern.bisection", _P2P, pingpong, forked, theirs=_LATENCY)
    window: LikeParams = {"kind": "window"}
    rate = Like("osu_mbw_mr", "mpi.pattern.bisection", _P2P, window, pairs, theirs=_WINDOW)
    yield rate
    fan = "64 messages of each to one, or of one to each, and an answer"
    hosts = "the original refuses one host, and has a fan for each rank of the first; here rank 0 has one"
    yield Like("osu_bw_fan_in", "mpi.pattern.fan_in", _P2P, window, hosts, theirs=fan)
    yield Like("osu_bw_fan_out", "mpi.pattern.fan_out", _P2P, window, hosts, theirs=fan)
    parts = f"{_NOT_READ}: its partitions may be others"
    yield Like("osu_partitioned_latency", "mpi.part.pingpong", _P2P, {}, parts)
    threads = f"{_LATENCY}; one thread asks, two answer"
    yield Like("osu_latency_mt", "mpi.mt.serve", _P2P, threads=2, theirs=threads)


def _one_sided() -> Iterator[Like]:
    flush: LikeParams = {"sync": "lock_shared", "complete": "flush"}
    read = "mean of 10,000 (1000 above 8 KiB), the clock read twice a call"
    shared = f"one shared lock around all calls, a flush after each; MPI_Win_allocate; {read}"
    char = "int8, for MPI defines no sum of MPI_CHAR"
    yield Like("osu_put_latency", "mpi.put", _P2P, flush, theirs=shared)
    yield Like("osu_get_latency", "mpi.get", _P2P, flush, theirs=shared)
    yield Like("osu_acc_latency", "mpi.accumulate", _P2P, {**flush, **BYTES}, char, theirs=shared)
    lock: LikeParams = {"sync": "lock", "complete": "close", "window": "create", **BYTES}
    own = f"an exclusive lock and an unlock around each call; MPI_Win_create; {read}"
    yield Like("osu_get_acc_latency", "mpi.get_accumulate", _P2P, lock, char, theirs=own)
    yield Like("osu_fop_latency", "mpi.fetch_and_op", None, {**flush, **BYTES}, char, theirs=shared)
    swap: LikeParams = {**flush, "type": "int", "swaps": "never"}
    number = "an int, the original swaps one MPI_CHAR"
    yield Like("osu_cas_latency", "mpi.compare_and_swap", None, swap, number, theirs=shared)
    many = "64 calls and a flush, mean of 100 (20 above 8 KiB); one shared lock around all; MPI_Win_allocate"
    for name in ("put", "get"):
        calls: LikeParams = {**flush, "calls": 64.0}
        yield Like(f"osu_{name}_bw", f"mpi.{name}.bandwidth", _P2P, calls, theirs=many)
    both: LikeParams = {"sync": "pscw", "complete": "close", "calls": 64.0}
    theirs = "64 calls each way between post/start and complete/wait; MPI_Win_allocate"
    yield Like("osu_put_bibw", "mpi.put.bibandwidth", _P2P, both, theirs=theirs)


def _collective(base: str) -> Iterator[Like]:
    """Make the rows of a collective: blocking, nonblocking, persistent."""
    sizes = sizes_of(base, _COLL, _COLL)
    params: LikeParams = BYTES if base in SUMS else {}
    differs = [_CHAR] if base in SUMS else []
    if base == "reduce_scatter":
        params = {**params, "counts": "whole"}
        differs.append(_WHOLE)
    elif base == "reduce_scatter_block":
        differs.append(_BLOCK)
    said = "; ".join([*differs, *([_UNWRITTEN] if base == "allgatherv" else [])])
    yield Like(f"osu_{base}", f"mpi.{base}", sizes, params, said, theirs=_MEANS)
    overlapped = "; ".join([_OVERLAP, *differs])
    yield Like(
        f"osu_i{base}", f"mpi.i{base}", sizes, params, overlapped, theirs=f"{_MEANS}; twice, with work"
    )
    absent = [_NOT_READ] if base == "reduce_scatter_block" else []
    persistent = "; ".join([*absent, *([said] if said else [])])
    yield Like(f"osu_{base}_persistent", f"mpi.{base}_init", sizes, params, persistent, theirs=_MEANS)
