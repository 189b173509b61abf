"""What a library keeps for each object, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.object_memory.model import ObjectMemory
from steelyard.base.units import format_bytes, format_memory
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts, where_facts
from steelyard.rows.words import half_words
from steelyard.stats import Interval

_PREFIX = "mpi.memory."


def object_memory_tables(memories: Sequence[ObjectMemory]) -> tuple[Table, ...]:
    """A line for each op, size and number of ranks; none without any."""
    if not memories:
        return ()
    labels = labels_of([_facts(memory) for memory in memories])
    slopes = {
        name: values
        for name, values in (
            ("a peer", [memory.peer for memory in memories]),
            ("further", [memory.further for memory in memories]),
        )
        if any(values)
    }
    return (
        Table(
            title="memory of each object",
            explained=", ".join(("from malloc() on a rank, and left when freed", *labels.common.values())),
            columns=(
                words("object"),
                *(axis.column for axis in labels.varying),
                *(number("bytes"), number("kept", strong=True), number("±")),
                *map(number, slopes),
                *(number("resident"), number("left"), words("leak")),
            ),
            lines=plain_lines(
                (
                    memory.op.removeprefix(_PREFIX),
                    *labels.cells(i),
                    *_cells(memory, [slope[i] for slope in slopes.values()]),
                )
                for i, memory in enumerate(memories)
            ),
            grouped=1,
        ),
    )


def _facts(memory: ObjectMemory) -> Facts:
    ranks = str(memory.ranks)
    return {
        "mpi": Fact("MPI", memory.mpi or "", memory.mpi or ""),
        "ranks": Fact("ranks", ranks, f"{ranks} ranks"),
        **where_facts(memory.placement, memory.env),
        **param_facts(memory.params),
    }


def _cells(memory: ObjectMemory, slopes: Sequence[Interval | None]) -> tuple[str, ...]:
    return (
        NOTHING if memory.bytes is None else format_bytes(memory.bytes),
        format_memory(memory.held.value),
        half_words(memory.held.value, memory.held.low, memory.held.high),
        *(NOTHING if slope is None else format_memory(slope.value) for slope in slopes),
        NOTHING if memory.resident is None else format_memory(memory.resident),
        NOTHING if memory.left is None else format_memory(memory.left.value),
        memory.verdict,
    )
