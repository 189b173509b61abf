"""Costs of layers as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.layers.model import NOT_SEEN, LayerCost
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts, set_facts
from steelyard.rows.words import time_words

_UNSEEN = "not seen: the interval holds 0; a cost above its end would have been seen."


def layer_tables(costs: Sequence[LayerCost]) -> tuple[Table, ...]:
    """A line for each layer in each test case; none without any."""
    if not costs:
        return ()
    labels = labels_of([_facts(one) for one in costs])
    told = ("what each adds to one operation: with it less without, launch by launch",)
    return (
        Table(
            title="layers",
            explained=", ".join((*told, *labels.common.values())),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("without"), number("cost", strong=True), number("from"), number("to")),
                words("it"),
            ),
            lines=plain_lines((*labels.cells(i), *_cells(one)) for i, one in enumerate(costs)),
            notes=(_UNSEEN,) if any(one.verdict == NOT_SEEN for one in costs) else (),
            grouped=len(labels.varying) - 1 if labels.varying else 0,
        ),
    )


def _facts(one: LayerCost) -> Facts:
    size, placed = format_bytes(one.bytes) if one.sized else "", one.placement or ""
    layer = f"{one.layer}={one.value}"
    return {
        "op": Fact("op", one.op, one.op),
        "bytes": Fact("bytes", size, size),
        "mpi": Fact("MPI", one.mpi or "", one.mpi or ""),
        "ranks": count_fact("rank", one.ranks),
        "threads": count_fact("thread", one.threads),
        "placement": Fact("placement", placed, f"placement {placed}" if placed else ""),
        **param_facts(one.params, is_usual=True),
        "method": Fact("method", one.method, f"method {one.method}", is_usual=True),
        **set_facts("env", one.env),
        "layer": Fact("layer", layer, layer),
    }


def _cells(one: LayerCost) -> tuple[str, ...]:
    return (
        format_time(one.without),
        format_time(one.cost.value),
        time_words(one.cost.low),
        time_words(one.cost.high),
        one.verdict,
    )
