"""Lost segments as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.lost_segments.model import LostSegments
from steelyard.base.units import format_bytes
from steelyard.render.table import Line, Table, number, words
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts, set_facts
from steelyard.rows.words import percent_words

_EXPLAINED = "TCP's segments that hosts sent again, of all that they sent in a launch of the test case"
_NOTE = (
    "Messages were lost between hosts, or came too late: look at cables, ports and the queues of switches "
    "(ethtool -S, tc -s qdisc)."
)


def lost_tables(losses: Sequence[LostSegments]) -> tuple[Table, ...]:
    """A line for each test case that lost more than chance; none without any."""
    if not losses:
        return ()
    labels = labels_of([_facts(lost) for lost in losses])
    return (
        Table(
            title="sent again",
            explained=", ".join((_EXPLAINED, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("again", strong=True), words("interval")),
            ),
            lines=tuple(Line((*labels.cells(i), *_cells(lost))) for i, lost in enumerate(losses)),
            grouped=len(labels.varying),
            notes=(_NOTE,),
        ),
    )


def _facts(lost: LostSegments) -> Facts:
    size = format_bytes(lost.bytes)
    return {
        "op": Fact("op", lost.op, lost.op),
        "mpi": Fact("MPI", lost.mpi or "", lost.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": count_fact("rank", lost.ranks),
        "hosts": count_fact("host", lost.hosts),
        **set_facts("env", lost.env),
        **param_facts(lost.params, is_usual=True),
    }


def _cells(lost: LostSegments) -> tuple[str, str]:
    low, high = lost.share.low or 0.0, lost.share.high or lost.share.value
    return percent_words(lost.share.value), f"{percent_words(low)} to {percent_words(high)}"
