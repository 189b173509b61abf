"""What a process has in memory after first uses, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.process_memory.model import ProcessMemory
from steelyard.base.units import format_bytes, format_memory
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts, where_facts
from steelyard.rows.words import half_words

_PREFIX = "mpi.first."


def process_memory_tables(memories: Sequence[ProcessMemory]) -> tuple[Table, ...]:
    """A line for each first use and number of ranks; none without any."""
    if not memories:
        return ()
    labels = labels_of([_facts(memory) for memory in memories])
    has_locked = any(memory.locked or memory.pinned for memory in memories)
    return (
        Table(
            title="memory of a process",
            explained=", ".join(
                ("of the rank that has most, after a first use", "added: by it", *labels.common.values())
            ),
            columns=(
                words("after"),
                *(axis.column for axis in labels.varying),
                *(number("added", strong=True), number("±"), number("a peer")),
                *map(number, ("malloc", "resident", "shared")),
                *(map(number, ("locked", "pinned")) if has_locked else ()),
            ),
            lines=plain_lines(
                (memory.op.removeprefix(_PREFIX), *labels.cells(i), *_cells(memory, has_locked))
                for i, memory in enumerate(memories)
            ),
            grouped=1,
        ),
    )


def _facts(memory: ProcessMemory) -> Facts:
    ranks, size = str(memory.ranks), "" if memory.bytes is None else format_bytes(memory.bytes)
    return {
        "mpi": Fact("MPI", memory.mpi or "", memory.mpi or ""),
        "bytes": Fact("bytes", size, size),
        "ranks": Fact("ranks", ranks, f"{ranks} ranks"),
        **where_facts(memory.placement, memory.env),
        **param_facts(memory.params),
    }


def _cells(memory: ProcessMemory, has_locked: bool) -> tuple[str, ...]:
    amounts = [memory.heap, memory.resident, memory.shared]
    amounts += [memory.locked, memory.pinned] if has_locked else []
    return (
        format_memory(memory.added.value),
        half_words(memory.added.value, memory.added.low, memory.added.high),
        NOTHING if memory.peer is None else format_memory(memory.peer.value),
        *map(format_memory, amounts),
    )
