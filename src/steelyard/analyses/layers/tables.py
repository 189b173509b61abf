"""Costs of layers as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.layers.model import NOT_IN, NOT_SEEN, LayerCost
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts, set_facts
from steelyard.rows.words import time_words

_NOTES = {
    NOT_SEEN: "not seen: the interval holds 0; a cost above its end would have been seen.",
    NOT_IN: "not in: the library does not know the variable, or has another value for it.",
}


def layer_tables(costs: Sequence[LayerCost]) -> tuple[Table, ...]:
    """A line for each layer in each test case; none without any."""
    if not costs:
        return ()
    labels = labels_of([_facts(cost) for cost in costs])
    question = ("what each adds to one operation: with it less without, launch by launch",)
    return (
        Table(
            title="layers",
            explained=", ".join((*question, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("without"), number("cost", strong=True), number("from"), number("to")),
                words("it"),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(cost)) for i, cost in enumerate(costs)),
            notes=tuple(
                note for verdict, note in _NOTES.items() if any(cost.verdict == verdict for cost in costs)
            ),
            grouped=len(labels.varying) - 1 if labels.varying else 0,
        ),
    )


def _facts(cost: LayerCost) -> Facts:
    size, placed = format_bytes(cost.bytes) if cost.sized else "", cost.placement or ""
    layer = f"{cost.layer}={cost.value}"
    return {
        "op": Fact("op", cost.op, cost.op),
        "bytes": Fact("bytes", size, size),
        "mpi": Fact("MPI", cost.mpi or "", cost.mpi or ""),
        "ranks": count_fact("rank", cost.ranks),
        "threads": count_fact("thread", cost.threads),
        "placement": Fact("placement", placed, f"placement {placed}" if placed else ""),
        **param_facts(cost.params, is_usual=True),
        "method": Fact("method", cost.method, f"method {cost.method}", is_usual=True),
        **set_facts("env", cost.env),
        "layer": Fact("layer", layer, layer),
    }


def _cells(cost: LayerCost) -> tuple[str, ...]:
    return (
        format_time(cost.without),
        format_time(cost.cost.value),
        time_words(cost.cost.low),
        time_words(cost.cost.high),
        cost.verdict,
    )
