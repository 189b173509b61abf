"""At which rate messages begin to queue, in a sentence for each op, size and library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import of_mpi
from steelyard.analyses.open_loop.model import Knee, OpenLoop
from steelyard.base.units import format_bytes, format_count_rate
from steelyard.results.facets import OfferedLoad
from steelyard.results.row import Row


def is_offered(row: Row) -> bool:
    """Is it a row of messages that are offered at a rate?"""
    return row.get(OfferedLoad).offered_rate is not None


def open_loop_answers(loops: Sequence[OpenLoop]) -> Iterator[str]:
    """`Messages of mpi.pingpong 8 B of Open MPI 4.1.4: p50 rises between 300 k/s and 1.00 M/s; p99 ...`.

    Only where a closed loop is beside: else rates were asked for another question.
    """
    for loop in loops:
        if loop.closed is not None:
            what = f"Messages of {loop.op} {format_bytes(loop.bytes)}{of_mpi(loop.mpi)}, offered at a rate"
            knees = "; ".join(_knee_words(knee) for knee in loop.knees)
            yield f"{what}: {knees or 'cannot tell where latencies rise: more launches'}."


def _knee_words(knee: Knee) -> str:
    if knee.above is None:
        highest = f" up to {format_count_rate(knee.below)}" if knee.below else ""
        return f"{knee.quantile} is not shown to rise{highest}"
    if knee.below is None:
        return f"{knee.quantile} has risen at {format_count_rate(knee.above)}"
    return (
        f"{knee.quantile} rises between {format_count_rate(knee.below)} and {format_count_rate(knee.above)}"
    )
