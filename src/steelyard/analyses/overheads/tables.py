"""LogGP's o, g and L apart, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.overheads.model import Overheads
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, remark, words
from steelyard.rows.words import interval_words
from steelyard.stats import Interval

_BELOW = {
    "latency": "the overheads include a part of L, as when a sender waits for an answer",
    "gap": "a train took no longer than a message: launches scatter by more",
    "send": "messages with work took no longer than the work: launches scatter by more",
    "receive": "messages with work took no longer than the work: launches scatter by more",
}
_SHORT = "the work is shorter than a message there and back: give more work_us"


def overhead_tables(all_overheads: Sequence[Overheads]) -> tuple[Table, ...]:
    """A line for each parameter of each size and MPI; none without trains of messages, or of one launch."""
    told = [overheads for overheads in all_overheads if not _is_bare(overheads)]
    lines = [(one.mpi or "", format_bytes(one.bytes), *cells) for one in told for cells in _cells(one)]
    if not lines:
        return ()
    return (
        Table(
            title="latency, overhead and gap",
            explained="LogGP from trains of messages, launch by launch; the gap is g + (s - 1) G",
            columns=(
                words("MPI"),
                number("bytes"),
                words("parameter"),
                number("time", strong=True),
                number("interval"),
                remark(),
            ),
            lines=plain_lines(lines),
            grouped=2,
        ),
    )


def _is_bare(overheads: Overheads) -> bool:
    """Has no number an interval? So it is with one launch, whose numbers are no claim."""
    spans = [
        span
        for span in (overheads.latency, overheads.send, overheads.receive, overheads.gap)
        if span is not None
    ]
    return bool(spans) and all(span.low is None for span in spans)


def _cells(overheads: Overheads) -> Iterator[tuple[str, ...]]:
    parts = {
        "latency": ("latency, L", overheads.latency),
        "send": ("overhead of the sender", overheads.send),
        "receive": ("overhead of the receiver", overheads.receive),
        "gap": (f"gap, in {overheads.messages} messages", overheads.gap),
    }
    for key, (name, span) in parts.items():
        if span is not None:
            yield name, *_part_cells(span), ""
        elif key in overheads.below:
            yield name, NOTHING, NOTHING, _BELOW[key]
    if overheads.short:
        yield "overheads", NOTHING, NOTHING, _SHORT


def _part_cells(span: Interval) -> tuple[str, str]:
    """A time and its interval; its upper bound if the interval begins at 0."""
    if span.low == 0 and span.high is not None:
        return f"≤ {format_time(span.high)}", NOTHING
    return format_time(span.value), interval_words(span.low, span.high, span.value)
