"""At which rate messages begin to queue, in a sentence for each op, size and library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import each_alone, of_mpi
from steelyard.analyses.open_loop.model import P50, Knee, OpenLoop
from steelyard.base.plural import joined
from steelyard.base.units import format_bytes, format_count_rate, format_time
from steelyard.results.facets import OfferedLoad
from steelyard.results.row import Row


def is_offered(row: Row) -> bool:
    """Is it a row of messages that are offered at a rate?"""
    return row.get(OfferedLoad).offered_rate is not None


def open_loop_answers(loops: Sequence[OpenLoop]) -> Iterator[str]:
    """`Messages of mpi.pingpong 8 B, offered at a rate: p50 begins to rise between 300 k/s and 1.00 M/s.`.

    Only where a closed loop is beside: else rates were asked for another question.
    """
    for loop in loops:
        if loop.closed is not None:
            what = f"Messages of {loop.op} {format_bytes(loop.bytes)}{of_mpi(loop.mpi)}, offered at a rate"
            yield f"{what}: {_queue_words(loop) or _knees_words(loop.knees)}."


def _queue_words(loop: OpenLoop) -> str:
    """Say that messages wait for those before them at the lowest rate already, so that no knee is known."""
    lowest = next(iter(loop.loads), None)
    if lowest is None or lowest.offered is None:
        return ""
    late = lowest.quantiles.get(P50)
    if late is None or late.value <= 1e9 / lowest.offered:
        return ""
    rate = format_count_rate(lowest.offered)
    return f"p50 is {format_time(late.value)} already at {rate}: messages queue; offer fewer"


def _knees_words(knees: Sequence[Knee]) -> str:
    """Quantiles that rise alike are named together."""
    by_words: dict[str, list[str]] = {}
    for knee in knees:
        by_words.setdefault(_knee_words(knee), []).append(knee.quantile)
    parts = [f"{joined(quantiles)}{words}" for words, quantiles in by_words.items()]
    return (
        "; ".join(parts) + each_alone(len(knees)) or "cannot tell where latencies rise, without more launches"
    )


def _knee_words(knee: Knee) -> str:
    if knee.above is None:
        highest = f" up to {format_count_rate(knee.below)}" if knee.below else ""
        return f" not shown to rise{highest}"
    if knee.below is None:
        return f" higher already at {format_count_rate(knee.above)}"
    return f" begins to rise between {format_count_rate(knee.below)} and {format_count_rate(knee.above)}"
