"""LogGP's o, g and L apart, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.units import format_bytes, format_time
from steelyard.models.overheads import Overheads
from steelyard.show.sheet import NOTHING, Sheet, number, plain_lines, remark, words
from steelyard.show.words import interval_words
from steelyard.stats import Interval

_BELOW = "the overheads include a part of L, as when a sender waits for an answer"
_SHORT = "the work is shorter than a message there and back: give more work_us"


def overhead_sheets(found: Sequence[Overheads]) -> tuple[Sheet, ...]:
    """A line for each parameter of each size and MPI; none without trains of messages."""
    lines = [(one.mpi or "", format_bytes(one.bytes), *cells) for one in found for cells in _cells(one)]
    if not lines:
        return ()
    return (
        Sheet(
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


def _cells(one: Overheads) -> Iterator[tuple[str, ...]]:
    parts = {
        "latency, L": one.latency,
        "overhead of the sender": one.send,
        "overhead of the receiver": one.receive,
        f"gap, in {one.messages} messages": one.gap,
    }
    for name, span in parts.items():
        if span is not None:
            yield name, *_part_cells(span)
    if one.short:
        yield "overheads", NOTHING, NOTHING, _SHORT


def _part_cells(span: Interval) -> tuple[str, str, str]:
    """A time, its interval and a remark; a time is never below 0."""
    if span.low is None or span.high is None or span.low > 0:
        return format_time(span.value), interval_words(span.low, span.high), ""
    if span.high > 0:
        return "not distinguishable from 0", f"below {format_time(span.high)}", ""
    return NOTHING, NOTHING, _BELOW
