"""Phases: the time of each named part of an op, over ranks and over samples.

All times are per repetition. The share of communication of a rank is the time in its communicating phases
over that in all its phases, waiting included. The load imbalance is that of the other phases: the longest
over ranks relative to the mean, less 1. So 0.25 means that one rank computes 25 % longer than the mean. If
records have chosen ranks only, `ranks` are those.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.records.schema import Phases
from steelyard.stats.arrays import FloatArray


class RowPhase(Struct, frozen=True):
    """A phase: the median over chunks of its mean over ranks, in ns per repetition, and its spread.

    `low` and `high` are the 5th and the 95th percentile over chunks, `slowest` the longest mean of a rank.
    `share` is of all phases of all ranks, `calls` how often a rank enters it in a repetition, `work_share`
    its share of the op's counted work; None if it is not counted. `moved` are the bytes that all ranks read
    and write in it per repetition, each array once, as STREAM counts; None if they are not counted.
    """

    name: str
    communicates: bool
    median: float
    low: float
    high: float
    slowest: float
    share: float
    calls: float
    work_share: float | None = None
    moved: float | None = None


class RowPhases(Struct, frozen=True, kw_only=True):
    """The phases of a point and what its ranks sent: means over ranks and per repetition, except for memory.

    `communication` is the share of communication over all ranks, `rank_communication` each rank's. `messages`
    and `bytes` go from point to point, `collectives` are calls, to which `collective_bytes` were given.
    `memory` is the bytes that the op allocated on the rank with most, `resident` those of its process.
    """

    phases: tuple[RowPhase, ...]
    communication: float
    rank_communication: tuple[float, ...]
    imbalance: float
    messages: float
    bytes: float
    collectives: float
    collective_bytes: float
    memory: int
    resident: int


def summarise(chunks: Sequence[Phases], reps: int) -> RowPhases | None:
    """Summarise the chunks of all launches of a point; `reps` repetitions make a sample.

    Chunks with other ranks or phases than the first cannot occur; those of other kept ranks are left out.
    None without chunks.
    """
    if not chunks or not chunks[0].phases:
        return None
    chunks = [chunk for chunk in chunks if chunk.kept == chunks[0].kept]
    counts = np.array([chunk.count * reps for chunk in chunks], dtype=np.float64)
    ns = _cube(chunks, "ns") / counts[:, None, None]
    calls = _cube(chunks, "calls").sum(axis=0) / counts.sum()
    ranks = np.average(ns, axis=0, weights=counts)  # [phase][rank]
    talks = np.array([phase.communicates for phase in chunks[0].phases])
    whole = ranks.sum(axis=0)
    computing = ranks[~talks].sum(axis=0)
    over_ranks = ns.mean(axis=2)  # [chunk][phase]
    total = float(ranks.sum())
    return RowPhases(
        phases=tuple(
            RowPhase(
                name=phase.name,
                communicates=phase.communicates,
                median=float(np.median(over_ranks[:, i])),
                low=float(np.quantile(over_ranks[:, i], 0.05)),
                high=float(np.quantile(over_ranks[:, i], 0.95)),
                slowest=float(ranks[i].max()),
                share=float(ranks[i].sum()) / total if total else 0.0,
                calls=float(calls[i].mean()),
                work_share=phase.work_share,
                moved=_moved(chunks, i, float(counts.sum())),
            )
            for i, phase in enumerate(chunks[0].phases)
        ),
        communication=float(ranks[talks].sum()) / total if total else 0.0,
        rank_communication=tuple(_ratio(ranks[talks].sum(axis=0), whole).tolist()),
        imbalance=float(computing.max() / computing.mean() - 1) if computing.mean() > 0 else 0.0,
        messages=_each(chunks, "messages", counts),
        bytes=_each(chunks, "bytes", counts),
        collectives=_each(chunks, "collectives", counts),
        collective_bytes=_each(chunks, "collective_bytes", counts),
        memory=max(max(chunk.memory, default=0) for chunk in chunks),
        resident=max(max(chunk.resident, default=0) for chunk in chunks),
    )


def communication_share(chunks: Sequence[Phases]) -> float | None:
    """Compute the share of communicating phases in all phases of all ranks of a launch, waiting included.

    It is the median over chunks, so that one disturbed chunk does not count for all. None if it was not
    recorded.
    """
    if not chunks or not chunks[0].phases:
        return None
    talks = np.array([phase.communicates for phase in chunks[0].phases])
    ns = _cube(chunks, "ns").sum(axis=2)
    whole = ns.sum(axis=1)
    return float(np.median(_ratio(ns[:, talks].sum(axis=1), whole)))


def _moved(chunks: Sequence[Phases], phase: int, count: float) -> float | None:
    """Sum the bytes of a phase over all ranks, per repetition; ranks that were not kept count as
    the others.
    """
    bytes_of = [sum(chunk.phases[phase].moved) * _ranks_for_each(chunk) for chunk in chunks]
    return sum(bytes_of) / count if any(bytes_of) else None


def _ranks_for_each(chunk: Phases) -> float:
    """Count the ranks that each kept rank stands for; 1 if all were kept."""
    return chunk.ranks / len(chunk.kept) if chunk.kept else 1.0


def _cube(chunks: Sequence[Phases], what: str) -> FloatArray:
    """Read `ns` or `calls`, shape (chunks, phases, ranks)."""
    return np.array([[getattr(phase, what) for phase in chunk.phases] for chunk in chunks], dtype=np.float64)


def _each(chunks: Sequence[Phases], what: str, counts: FloatArray) -> float:
    """Read a counter, of the mean rank in a repetition."""
    values = [getattr(chunk, what) for chunk in chunks]
    return float(sum(np.mean(value) for value in values if value) / counts.sum())


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
