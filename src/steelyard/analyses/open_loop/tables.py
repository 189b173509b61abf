"""Open loops as tables: latencies over rates, and their knees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.open_loop.model import KNEE, QUANTILES, Load, OpenLoop
from steelyard.base.units import format_bytes, format_count_rate, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, Labels, count_fact, labels_of, param_facts, where_facts
from steelyard.rows.words import half_words

CLOSED = "closed"


def open_loop_tables(loops: Sequence[OpenLoop]) -> Iterator[Table]:
    """Make a line for each rate, and one for each knee; nothing without any."""
    if not loops:
        return
    labels = open_loop_labels(loops)
    facts = (*(axis.column for axis in labels.varying),)
    yield Table(
        title="open loop",
        explained=", ".join(("latency from when a message was due, by messages/s", *labels.common.values())),
        columns=(
            *facts,
            *(number("offered", strong=True), number("came")),
            *(column for name in QUANTILES for column in (number(name), number("±"))),
        ),
        lines=plain_lines(
            (*labels.cells(i), *_cells(load))
            for i, loop in enumerate(loops)
            for load in (*loop.loads, *((loop.closed,) if loop.closed else ()))
        ),
        grouped=len(facts),
        notes=("closed: each message waits for the one before, by the method each",)
        if any(loop.closed for loop in loops)
        else (),
    )
    knees = [(i, knee) for i, loop in enumerate(loops) for knee in loop.knees]
    if knees:
        yield Table(
            title="knee of an open loop",
            explained=f"between which rates a latency rises to {KNEE:g} times that of the lowest rate",
            columns=(*facts, words("of"), number("not yet at"), number("risen at", strong=True)),
            lines=plain_lines(
                (*labels.cells(i), knee.quantile, _rate(knee.below), _rate(knee.above)) for i, knee in knees
            ),
            grouped=len(facts),
        )


def open_loop_labels(loops: Sequence[OpenLoop]) -> Labels:
    """Name each by what distinguishes it."""
    return labels_of([_facts(loop) for loop in loops])


def _facts(loop: OpenLoop) -> Facts:
    size = format_bytes(loop.bytes)
    return {
        "op": Fact("op", loop.op, loop.op),
        "mpi": Fact("MPI", loop.mpi or "", loop.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": count_fact("rank", loop.ranks),
        **where_facts(loop.placement, loop.env),
        **param_facts(loop.params, is_usual=True),
        **param_facts(loop.due),
    }


def _rate(rate: float | None) -> str:
    return NOTHING if rate is None else format_count_rate(rate)


def _cells(load: Load) -> tuple[str, ...]:
    offered = CLOSED if load.offered is None else format_count_rate(load.offered)
    quantiles = [load.quantiles.get(name) for name in QUANTILES]
    cells = [
        (NOTHING, NOTHING)
        if span is None
        else (format_time(span.value), half_words(span.value, span.low, span.high))
        for span in quantiles
    ]
    return (offered, format_count_rate(load.came.value), *(cell for pair in cells for cell in pair))
