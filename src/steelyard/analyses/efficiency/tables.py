"""MPI against the layers below it, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.efficiency.model import Efficiency
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, remark, words
from steelyard.rows.labels import Facts, labels_of, method_facts

EFFICIENCY = "efficiency: time of the fastest layer / time of MPI; then each layer's"


def floor_tables(efficiencies: Sequence[Efficiency]) -> Iterator[Table]:
    """Make a table for each op, a line for each MPI message for which a layer below was measured too."""
    for op in dict.fromkeys(efficiency.op for efficiency in efficiencies):
        members = [efficiency for efficiency in efficiencies if efficiency.op == op]
        labels = labels_of([_efficiency_facts(member) for member in members])
        common = ", ".join(labels.common.values())
        yield Table(
            f"{op} against the layers below it",
            "; ".join(part for part in (EFFICIENCY, common) if part),
            (
                *(axis.column for axis in labels.varying),
                *map(number, ("bytes", "MPI")),
                words("floor"),
                number("efficiency", strong=True),
                number("interval"),
                remark(),
            ),
            plain_lines((*labels.cells(i), *_efficiency_cells(one)) for i, one in enumerate(members)),
            grouped=len(labels.varying),
        )


def _efficiency_facts(efficiency: Efficiency) -> Facts:
    return method_facts(efficiency.mpi, efficiency.method, efficiency.params)


def _efficiency_cells(efficiency: Efficiency) -> tuple[str, ...]:
    known = efficiency.low is not None and efficiency.high is not None
    return (
        format_bytes(efficiency.bytes),
        format_time(efficiency.mpi_ns),
        efficiency.floor_words,
        NOTHING if efficiency.efficiency is None else f"{efficiency.efficiency:.3g}",
        f"{efficiency.low:.3g} – {efficiency.high:.3g}" if known else NOTHING,
        efficiency.why or ", ".join(f"{layer.words} {layer.ratio:.3g}" for layer in efficiency.layers),
    )
