"""Incast as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.incast.model import CANNOT_TELL, COLLAPSES, HOLDS, Incast, Senders
from steelyard.base.units import format_bytes, format_rate, format_time
from steelyard.render.table import NOTHING, Line, Table, number, remark, words
from steelyard.rows.labels import labels_of, method_facts, set_facts
from steelyard.rows.words import half_words, percent_words
from steelyard.stats import Interval

_EXPLAINED = (
    "many senders to one receiver (in), or one to many (out); rate: of all together; of line: of the stated "
    "line rate; of fewer: over the highest rate of fewer of them; even: the first one's time over the last "
    "one's; again: TCP's segments that were sent again"
)
_WORDS = {
    COLLAPSES: "the rate collapses",
    HOLDS: "",
    CANNOT_TELL: "cannot tell: more launches",
}


def incast_tables(curves: Sequence[Incast]) -> tuple[Table, ...]:
    """A line for each number of senders; none without any."""
    if not curves:
        return ()
    labels = labels_of(
        [
            {**method_facts(incast.mpi, incast.method, incast.params), **set_facts("env", incast.env)}
            for incast in curves
        ]
    )
    lines = [
        Line((*labels.cells(i), incast.op.rpartition("_")[2], format_bytes(incast.bytes), *cells))
        for i, incast in enumerate(curves)
        for cells in _cells(incast)
    ]
    return (
        Table(
            title="incast",
            explained=", ".join((_EXPLAINED, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(words("way"), number("bytes"), number("many"), number("time")),
                *(number("rate", strong=True), number("±"), number("of line"), number("of fewer")),
                *(number("even"), number("again"), remark()),
            ),
            lines=tuple(lines),
            grouped=len(labels.varying) + 2,
        ),
    )


def _cells(incast: Incast) -> Iterator[tuple[str, ...]]:
    for senders in incast.numbers:
        yield (
            str(senders.senders),
            format_time(senders.time.value),
            format_rate(senders.rate.value),
            half_words(senders.rate.value, senders.rate.low, senders.rate.high),
            NOTHING if senders.of_line is None else f"{100 * senders.of_line:.2g} %",
            *(_share(share) for share in (senders.relative, senders.even, senders.again)),
            _remark(incast, senders),
        )


def _share(share: Interval | None) -> str:
    return NOTHING if share is None else percent_words(share.value)


def _remark(incast: Incast, senders: Senders) -> str:
    return _WORDS[incast.verdict] if senders is incast.numbers[-1] else ""
