"""Tests of OpenSHMEM of other suites: OSU Micro-Benchmarks 7.4, and SKaMPI's extension of 2021."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.suites.like import Like, LikeParams

_P2P, _COLL = "1..1Mi", "4..1Mi"
_NUMBERS: LikeParams = {"width": "32"}
_QUIET: LikeParams = {"complete": "quiet"}
_CALLS = "mean of 10,000 (100 above 8 KiB)"
_RATE: LikeParams = {"complete": "quiet", "calls": 50.0}
_MANY = "50 calls (500 below 8 KiB), each at a place of its own, and a quiet; once"
_PAIRS = "two ranks; the original adds up the rates of pairs"
_MEANS = "mean over 1000 calls (100 above 8 KiB) and ranks, a barrier between calls"
_ATOMICS = {
    "fadd": "fetch_add",
    "finc": "fetch_inc",
    "add": "add",
    "inc": "inc",
    "cswap": "compare_swap",
    "swap": "swap",
    "set": "set",
    "fetch": "fetch",
}
ATOMICS_OF_OSU = "osu_oshm_atomics"  # one program, a line for each atomic


def osu_openshmem() -> Iterator[Like]:
    """Make the rows of OSU's folder `openshmem`."""
    blocking: LikeParams = {"complete": "none"}
    yield Like("osu_oshm_put", "shmem.put", _P2P, _QUIET, theirs=f"a put and a quiet, {_CALLS}")
    yield Like("osu_oshm_get", "shmem.get", _P2P, blocking, theirs=f"a get, {_CALLS}")
    yield Like("osu_oshm_put_nb", "shmem.put_nbi", _P2P, _QUIET, theirs=f"the call and a quiet, {_CALLS}")
    yield Like("osu_oshm_get_nb", "shmem.get_nbi", _P2P, _QUIET, theirs=f"the call and a quiet, {_CALLS}")
    pure = "its column Pure Comm.; work beside a put has no op here"
    work = f"a put and a quiet, then a nonblocking one with work, {_CALLS}"
    yield Like("osu_oshm_put_overlap", "shmem.put", _P2P, _QUIET, pure, theirs=work)
    for name, op in (("put_mr", "put"), ("put_mr_nb", "put_nbi"), ("get_mr_nb", "get_nbi")):
        yield Like(f"osu_oshm_{name}", f"shmem.{op}.bandwidth", "1..4Mi", _RATE, _PAIRS, theirs=_MANY)
    for name, op in _ATOMICS.items():
        completed = "" if "fetch" in op or "swap" in op else "; the original has no quiet behind it"
        for word in ("int", "longlong"):
            numbers: LikeParams = {"type": word}
            yield Like(
                f"shmem_{word}_{name}",
                f"shmem.atomic_{op}",
                None,
                numbers,
                f"one number; the original calls on 500, one after the other{completed}",
                program=ATOMICS_OF_OSU,
                theirs="500 calls, once; mean over pairs",
            )
    yield Like("osu_oshm_barrier", "shmem.barrier", theirs="mean over 100 calls and ranks")
    shared = "the original sends from and receives into one buffer"
    for name in ("broadcast", "collect", "fcollect"):
        differs = shared if name == "broadcast" else ""
        yield Like(f"osu_oshm_{name}", f"shmem.{name}", _COLL, _NUMBERS, differs, theirs=_MEANS)
    floats: LikeParams = {"type": "float"}
    yield Like("osu_oshm_reduce", "shmem.sum_to_all", _COLL, floats, theirs=_MEANS)


def skampi_openshmem() -> Iterator[Like]:
    """Make the rows of SKaMPI's OpenSHMEM extension, whose measurement files choose the sizes."""
    sizes, numbers = "1..128Ki", "4..128Ki"
    less = "the original takes off what an empty quiet takes"
    back = "half a round trip; the original's ranks put and do not wait for each other"
    each = "rank 0 calls; in the original one rank after the other"
    yield Like("Shmem_Put_Simple", "shmem.put", sizes, _QUIET, less)
    yield Like("Shmem_Put_Full_Single", "shmem.put", sizes, _QUIET, each)
    yield Like("Shmem_Put_Nonblocking_Full_Single", "shmem.put_nbi", sizes, _QUIET, each)
    yield Like("Shmem_Get_Simple", "shmem.get", sizes)
    yield Like("Shmem_Get_Nonblocking_Full_Single", "shmem.get_nbi", sizes, _QUIET, each)
    yield Like("Shmem_P_Simple", "shmem.p", None, _QUIET, f"a long, there an int; {less}")
    yield Like("Shmem_G_Simple", "shmem.g", None, {}, "a long, there an int")
    yield Like("Shmem_Pingpong_Put_Put", "shmem.pingpong", sizes, {}, back)
    names = ("Add", "And", "Fetch", "Fetch_Add", "Fetch_And", "Fetch_Inc", "Fetch_Or", "Fetch_Xor", "Inc")
    for name in (*names, "Or", "Set", "Swap", "Xor"):
        word = "int32" if name.rpartition("_")[2] in ("And", "Or", "Xor") else "int"
        yield Like(f"Shmem_Atomic_{name}", f"shmem.atomic_{name.lower()}", None, {"type": word})
    yield Like("Shmem_Atomic_Compare_Swap_No", "shmem.atomic_compare_swap", None, {"type": "int"})
    for name in ("Collect", "Fcollect", "Alltoall", "Alltoalls"):
        op = f"shmem.{name.lower()}"
        for form in ("Consecutive", "Barrier", "Synchro"):
            yield Like(f"Shmem_{name}_{form}", op, numbers, _NUMBERS, _SYNCHRONISED[form])
    for form in ("Consecutive", "Barrier", "Synchro"):
        shorts: LikeParams = {"type": "short"}
        yield Like(f"Shmem_Reduce_And_{form}", "shmem.and_to_all", numbers, shorts, _SYNCHRONISED[form])
    yield Like("Shmem_Bcast_All", "shmem.broadcast", numbers, _NUMBERS, _SYNCHRONISED["Barrier"])
    yield Like("Shmem_Bcast_All_Synchro", "shmem.broadcast", numbers, _NUMBERS, _SYNCHRONISED["Synchro"])
    acknowledged = "as --method ack does it: each rank in turn acknowledges"
    yield Like("Shmem_Bcast_All_SK", "shmem.broadcast", numbers, _NUMBERS, acknowledged)
    yield Like("Shmem_Barrier_Consecutive", "shmem.barrier_all", None, {}, _SYNCHRONISED["Consecutive"])
    yield Like("Shmem_Sync_Consecutive", "shmem.sync_all", None, {}, _SYNCHRONISED["Consecutive"])
    both = "the call and its counterpart together, each alone there"
    for name in ("Malloc", "Free"):
        yield Like(f"Shmem_{name}", "shmem.malloc", "256", {}, both)
    for name in ("Set_Lock", "Clear_Lock"):
        yield Like(f"Shmem_{name}", "shmem.lock", None, {}, both)
    for name in ("Create", "Destroy"):
        yield Like(f"Shmem_Ctx_{name}_Nostore", "shmem.ctx", None, {}, f"{both}; a context without options")
    yield Like("Shmem_Quiet", "shmem.quiet")
    yield Like("Shmem_Fence", "shmem.fence")


_SYNCHRONISED = {
    "Consecutive": "calls one after the other, as --method batch has them here",
    "Barrier": "a barrier between calls, as --method library-barrier has here",
    "Synchro": "",  # its clocks start all ranks at one instant, as ours do
}
