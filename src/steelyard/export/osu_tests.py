"""The tests of OSU Micro-Benchmarks that we print: the title of each, and what its table has."""

from __future__ import annotations

from collections.abc import Mapping

LATENCY, RANKS, BANDWIDTH, RATE, SYNC = "latency", "ranks", "bandwidth", "rate", "sync"
OVERLAP, OVERLAP_SYNC = "overlap", "overlap without sizes"  # nonblocking ones
ATOMIC, SWAP = "accumulate", "swap"  # one-sided ones that validate: of arrays, of one number
PUT_BANDWIDTH, UNTYPED = "put bandwidth", "one-sided, without a type"
PUT = "put latency"
START, HELLO = "start", "hello"
# OpenSHMEM's: a call, its rate, an atomic, a put beside work, collectives
CALL, CALL_RATE, NUMBER, PUT_OVERLAP = "call", "rate of calls", "atomic", "put beside work"
ACTIVE, ACTIVE_SYNC = "active set", "active set without sizes"
OPENSHMEM = (CALL, CALL_RATE, NUMBER, PUT_OVERLAP, ACTIVE, ACTIVE_SYNC)

_EXCHANGE = "Personalized Exchange"
_COLLECTIVES = {
    "allgather": "Allgather",
    "allgatherv": "Allgatherv",
    "allreduce": "Allreduce",
    "alltoall": f"All-to-All {_EXCHANGE}",
    "alltoallv": f"All-to-Allv {_EXCHANGE}",
    "alltoallw": f"All-to-Allw {_EXCHANGE}",
    "barrier": "Barrier",
    "bcast": "Broadcast",
    "gather": "Gather",
    "gatherv": "Gatherv",
    "reduce": "Reduce",
    "reduce_scatter": "Reduce_scatter",
    "reduce_scatter_block": "Reduce_scatter_block",
    "scatter": "Scatter",
    "scatterv": "Scatterv",
}
# Their titles are not all of one form.
_NEIGHBOURS = {
    "allgather": "Neighborhood Allgather",
    "allgatherv": "Neighborhood Allgatherv",
    "alltoall": "Neighborhood Alltoall",
    "alltoallv": "Neighborhood All-to-Allv",
    "alltoallw": f"All-to-Allw {_EXCHANGE}",
}
_IN_NONBLOCKING = {"alltoall": "All-to-All"}


def _nonblocking(op: str, words: str) -> str:
    form = "Non-Blocking" if op == "bcast" else "Non-blocking"
    return f"MPI {form} {_IN_NONBLOCKING.get(op, words)} Latency Test"


# Name -> what follows `# OSU` in the title, and the kind of table.
OSU_TESTS: Mapping[str, tuple[str, str]] = {
    "osu_latency": ("MPI Latency Test", LATENCY),
    "osu_latency_persistent": ("MPI Latency Persistent Test", LATENCY),
    "osu_latency_mp": ("MPI Multi-process Latency Test", LATENCY),
    "osu_latency_mt": ("MPI Multi-threaded Latency Test", LATENCY),
    "osu_multi_lat": ("MPI Multi Latency Test", LATENCY),
    "osu_partitioned_latency": ("MPI Partitioned Latency Test", LATENCY),
    "osu_bw": ("MPI Bandwidth Test", BANDWIDTH),
    "osu_bw_persistent": ("MPI Bandwidth Persistent Test", BANDWIDTH),
    "osu_bw_fan_in": ("MPI Bandwidth Test", BANDWIDTH),
    "osu_bw_fan_out": ("MPI Bandwidth Test", BANDWIDTH),
    "osu_bibw": ("MPI Bi-Directional Bandwidth Test", BANDWIDTH),
    "osu_bibw_persistent": ("MPI Bi-Directional Bandwidth Persistent Test", BANDWIDTH),
    "osu_mbw_mr": ("MPI Multiple Bandwidth / Message Rate Test", RATE),
    "osu_put_latency": ("MPI_Put Latency Test", PUT),
    "osu_get_latency": ("MPI_Get latency Test", PUT),
    "osu_acc_latency": ("MPI_Accumulate latency Test", ATOMIC),
    "osu_get_acc_latency": ("MPI_Get_accumulate latency Test", UNTYPED),
    "osu_fop_latency": ("MPI_Fetch_and_op latency Test", SWAP),
    "osu_cas_latency": ("MPI_Compare_and_swap latency Test", SWAP),
    "osu_put_bw": ("MPI_Put Bandwidth Test", PUT_BANDWIDTH),
    "osu_get_bw": ("MPI_Get Bandwidth Test", PUT_BANDWIDTH),
    "osu_put_bibw": ("MPI_Put Bi-directional Bandwidth Test", PUT_BANDWIDTH),
    **{
        f"osu_{op}{form}": (f"MPI {words} {kind}", SYNC if op == "barrier" else RANKS)
        for op, words in _COLLECTIVES.items()
        for form, kind in (("", "Latency Test"), ("_persistent", "Persistent Latency Test"))
    },
    **{
        f"osu_i{op}": (_nonblocking(op, words), OVERLAP_SYNC if op == "barrier" else OVERLAP)
        for op, words in _COLLECTIVES.items()
    },
    **{f"osu_neighbor_{op}": (f"MPI {words} Latency Test", RANKS) for op, words in _NEIGHBOURS.items()},
    **{
        f"osu_ineighbor_{op}": (f"MPI Non-blocking Neighborhood {op.capitalize()} Latency Test", OVERLAP)
        for op in _NEIGHBOURS
    },
    "osu_oshm_put": ("OpenSHMEM Put Test", CALL),
    "osu_oshm_get": ("OpenSHMEM Get Test", CALL),
    "osu_oshm_put_nb": ("OpenSHMEM Put_nbi Test", CALL),
    "osu_oshm_get_nb": ("OpenSHMEM Get Test", CALL),
    "osu_oshm_put_overlap": ("OpenSHMEM Put_nbi Test", PUT_OVERLAP),
    "osu_oshm_put_mr": ("OpenSHMEM Put Message Rate Test", CALL_RATE),
    "osu_oshm_put_mr_nb": ("OpenSHMEM Put_nb Message Rate Test", CALL_RATE),
    "osu_oshm_get_mr_nb": ("OpenSHMEM Get_nb Message Rate Test", CALL_RATE),
    **{
        f"shmem_{word}_{name}": ("OpenSHMEM Atomic Operation Rate Test", NUMBER)
        for name in ("fadd", "finc", "add", "inc", "cswap", "swap", "set", "fetch")
        for word in ("int", "longlong")
    },
    "osu_oshm_barrier": ("OpenSHMEM Barrier Latency Test", ACTIVE_SYNC),
    "osu_oshm_broadcast": ("OpenSHMEM Broadcast Latency Test", ACTIVE),
    "osu_oshm_collect": ("OpenSHMEM Collect Latency Test", ACTIVE),
    "osu_oshm_fcollect": ("OpenSHMEM FCollect Latency Test", ACTIVE),
    "osu_oshm_reduce": ("OpenSHMEM Reduce Latency Test", ACTIVE),
    "osu_init": ("MPI Init Test", START),
    "osu_hello": ("MPI Hello World Test", HELLO),
}
