"""What the tests of macro, LogGP and scaling share: rows of messages and of kernels whose times are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flat_rows import flat_row, row_launch
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row
from steelyard.stats import Piece, launch_interval, pieces_at

SIZES = [1, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]
TRUE = (Piece(1, 400.0, 0.4), Piece(16384, 4000.0, 0.1))


def row(op: str, mpi: str | None, times: Sequence[float], **more: object) -> Row:
    """A row whose launches took `times` ns."""
    several = len(times) > 1
    estimate = launch_interval(times) if several else None
    talks = more.pop("talks", None)
    fields = {
        "point": 0,
        "op": op,
        "method": "batch",
        "bytes": 0,
        "ranks": 2,
        "threads": 1,
        "params": {},
        "placement": None,
        "mpi": mpi,
        "launch_count": len(times),
        "count": 100,
        "rejected": 0,
        "median": float(np.median(times)),
        "ci_low": estimate.low if estimate else None,
        "ci_high": estimate.high if estimate else None,
        **more,
    }
    launches = tuple(
        row_launch(i + 1, time, talks[i] if isinstance(talks, Sequence) else None)
        for i, time in enumerate(times)
    )
    return flat_row(**fields, launches=launches)


def counts(messages: float = 0, sent: float = 0, collectives: float = 0, given: float = 0) -> RowPhases:
    return RowPhases(
        phases=(),
        communication=0.5,
        rank_communication=(0.5, 0.5),
        imbalance=0.0,
        messages=messages,
        bytes=sent,
        collectives=collectives,
        collective_bytes=given,
        memory=0,
        resident=0,
    )


def factors(mpi: str, launches: int) -> list[float]:
    """1 % more in each launch, and 0.3 % more under b than under a, around the middle one."""
    own = 0.003 * "abc".find(mpi)
    return [1 + 0.01 * i + own * (i - launches // 2) for i in range(launches)]


def pingpongs(mpi: str, factor: float, launches: int = 7) -> list[Row]:
    """Messages that take `factor` of the true lines, about 1 % more in each launch."""
    sizes = np.array(SIZES, dtype=float)
    times = pieces_at(TRUE, sizes) * factor
    return [
        row("mpi.pingpong", mpi, [float(time) * one for one in factors(mpi, launches)], bytes=size,
            bandwidth=size / float(np.median([time * one for one in factors(mpi, launches)])) * 1e9)
        for size, time in zip(SIZES, times, strict=True)
    ]  # fmt: skip


COMPUTE = 1e6


def kernel(mpi: str, talk: float, name: str = "npb.cg", launches: int = 7, **more: object) -> Row:
    """A kernel that computes for 1 ms and talks for `talk` ns, about 1 % more in each launch."""
    talks = [talk * one for one in factors(mpi, launches)]
    totals = [COMPUTE + one for one in talks]
    work = 100.0 * float(np.median(totals))
    known = {
        "mops": work / float(np.median(totals)),
        "phases": counts(100, 100 * 512.0),
        "params": {"class": "S"},
    }
    return row(name, mpi, totals, **{**known, "talks": talks, **more})
