"""A few ops, methods and rules as engines describe them: what plans are resolved with."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def param(name: str, least: float, most: float) -> Row:
    return {"name": name, "least": least, "most": most}


def op(name: str, kind: str, sizes: str | None = None, *params: Row, **more: Any) -> Row:
    return {
        "name": name,
        "class": kind,
        "sized": sizes is not None,
        "default_bytes": sizes,
        "min_ranks": 2 if kind == "p2p" else 1,
        "min_threads": 1,
        "max_threads": 1,
        "methods": ["batch", "barrier"],
        "default_method": "barrier" if kind == "collective" else "batch",
        "params": list(params),
    } | more


SOLO = [
    op("self.empty", "local"),
    op("self.spin", "local", None, param("ns", 200, 1e9)),
    op("self.fail", "local"),
    op("omp.barrier", "local", max_threads=0),
    op("pthread.switch", "local", min_threads=2, max_threads=2),
]
MPI = [
    *SOLO,
    op("mpi.pingpong", "p2p", "0,1..4", methods=["batch"]),
    op("mpi.bandwidth", "p2p", "8", param("window", 1, 64)),
    op("mpi.bcast", "collective", "1,8"),
    op("mpi.ibcast", "collective", "1,8"),
    op("mpi.barrier", "collective"),
    op("mpi.scan", "collective", methods=["barrier", "epoch", "ack"], default_method="epoch"),
]
METHODS: list[Row] = [
    {"name": "batch", "params": [param("reps", 0, 1e6)]},
    {
        "name": "barrier",
        "params": [param("gap", 0, 1), {"name": "cache", "default": "warm", "words": ["warm", "cold"]}],
    },
    {"name": "epoch", "params": [], "synchronised": True},
    {"name": "ack", "params": [], "min_ranks": 2},
]
_SECONDS = [param("least_seconds", 0, 86400), param("most_seconds", 0, 86400)]
RULES = [
    {"name": "median", "params": [param("tolerance", 1e-6, 10), *_SECONDS]},
    {"name": "fixed", "params": [param("count", 1, 1e6)]},
]
