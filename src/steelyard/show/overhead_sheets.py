"""LogGP's o, g and L apart, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.units import format_bytes, format_time
from steelyard.models.overheads import Overheads
from steelyard.show.sheet import NOTHING, Sheet, number, plain_lines, remark, words
from steelyard.show.words import interval_words
from steelyard.stats import Interval

_SHORT = "the work is shorter than a message there and back: give more work_us"


def overhead_sheets(found: Sequence[Overheads]) -> tuple[Sheet, ...]:
    """A line for each size of each MPI; none without trains of messages."""
    if not found:
        return ()
    columns = [name for one in ("L", "o, send", "o, receive", "gap") for name in (one, "interval")]
    return (
        Sheet(
            title="latency, overhead and gap",
            explained="LogGP from trains of messages, launch by launch; the gap is g + (s - 1) G",
            columns=(words("MPI"), *map(number, ("bytes", "messages", *columns)), remark()),
            lines=plain_lines(
                (
                    one.mpi or "",
                    format_bytes(one.bytes),
                    str(one.messages),
                    *_cells(one.latency),
                    *_cells(one.send),
                    *_cells(one.receive),
                    *_cells(one.gap),
                    _SHORT if one.short else "",
                )
                for one in found
            ),
            grouped=1,
        ),
    )


def _cells(span: Interval | None) -> tuple[str, str]:
    if span is None:
        return NOTHING, NOTHING
    return format_time(span.value), interval_words(span.low, span.high)
