"""Waiting as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.waiting.model import Waiting
from steelyard.base.units import format_bytes, format_share, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, Labels, labels_of, param_facts, where_facts
from steelyard.rows.words import half_words

_NO_COUNTERS = (
    "cycles, instructions, misses of caches and of the TLB: this machine lets no process read them "
    "(perf_event_open)"
)
_NO_ENERGY = "energy: this machine shows none (powercap)"


def waiting_tables(waits: Sequence[Waiting]) -> tuple[Table, ...]:
    """A line for each wait; none without any."""
    if not waits:
        return ()
    labels = waiting_labels(waits)
    return (
        Table(
            title="waiting",
            explained=", ".join(
                ("a rank waits for each message: how late it learns, what it burns", *labels.common.values())
            ),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("after"), number("woken", strong=True), number("±"), number("p99")),
                *(number("CPU"), number("system"), number("switches"), number("yields"), words("it")),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(wait)) for i, wait in enumerate(waits)),
            grouped=len(labels.varying),
            notes=tuple(
                sentence
                for sentence, is_there in (
                    (_NO_COUNTERS, any(wait.cycles is not None for wait in waits)),
                    (_NO_ENERGY, any(wait.energy is not None for wait in waits)),
                )
                if not is_there
            ),
        ),
    )


def waiting_labels(waits: Sequence[Waiting]) -> Labels:
    """Name each by what distinguishes it, beside its wait."""
    return labels_of([_facts(wait) for wait in waits])


def _facts(wait: Waiting) -> Facts:
    size = format_bytes(wait.bytes)
    return {
        "op": Fact("op", wait.op, wait.op),
        "mpi": Fact("MPI", wait.mpi or "", wait.mpi or ""),
        "bytes": Fact("bytes", size, size),
        **where_facts(wait.placement, wait.env),
        **param_facts(wait.params, is_usual=True),
    }


def _percent(share: float | None) -> str:
    return NOTHING if share is None else format_share(share)


def _count(count: float | None) -> str:
    return NOTHING if count is None else f"{count:.2g}" if count < 100 else f"{count:.0f}"


def _cells(wait: Waiting) -> tuple[str, ...]:
    return (
        format_time(wait.wait),
        format_time(wait.woken.value),
        half_words(wait.woken.value, wait.woken.low, wait.woken.high),
        NOTHING if wait.p99 is None else format_time(wait.p99),
        _percent(wait.burnt),
        _percent(wait.system),
        _count(wait.switches),
        _count(wait.yields),
        wait.way,
    )
