"""What a library keeps for each object, and whether it leaks, in a sentence for each library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import each_alone, is_certain, span_words
from steelyard.analyses.object_memory.model import CANNOT_TELL, GIVES_BACK, LEAKS, ObjectMemory
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_memory
from steelyard.results.facets import Memory
from steelyard.results.row import Row
from steelyard.rows.op_facts import mpi_words

_MOST = 4  # objects that a sentence names
_PREFIX = "mpi.memory."
# Name of an op, without its family -> the object in the reader's words.
_OBJECTS = {
    "comm_dup": "a communicator",
    "win_allocate": "a window",
    "type": "a datatype",
    "request": "a waiting receive",
    "unexpected": "an unexpected message",
}


def counts_memory(row: Row) -> bool:
    """Is it a row that counts bytes of objects?"""
    return row.get(Memory).held_bytes is not None


def object_memory_answers(memories: Sequence[ObjectMemory]) -> Iterator[str]:
    """`Open MPI 4.1.4 keeps 12.1 KiB for a communicator; leaks 1 KiB for a communicator.`"""
    by_mpi: dict[str, list[ObjectMemory]] = {}
    for memory in memories:
        by_mpi.setdefault(memory.mpi or "", []).append(memory)
    for mpi, cases in by_mpi.items():
        judged = sum(memory.verdict != CANNOT_TELL for memory in cases)
        yield f"{mpi_words(mpi)}{_kept_words(cases)}; {'; '.join(_leak_words(cases))}{each_alone(judged)}."


def _kept_words(memories: Sequence[ObjectMemory]) -> str:
    """The first of each object on the most ranks whose bytes are certain; those of one launch are a count."""
    most = max(memory.ranks for memory in memories)
    by_op: dict[str, ObjectMemory] = {}
    for memory in memories:
        if memory.ranks == most and (memory.held.low is None or is_certain(memory.held)):
            by_op.setdefault(memory.op, memory)
    sentences = [
        f"{format_memory(memory.held.value)} for {_object(memory)}{_peer_words(memory)}"
        for memory in by_op.values()
    ]
    team = f" on {most} ranks" if len({memory.ranks for memory in memories}) > 1 else ""
    more = f" and of {len(sentences) - _MOST} more objects" if len(sentences) > _MOST else ""
    return (
        f"{team} keeps {', '.join(sentences[:_MOST])}{more}"
        if sentences
        else f"{team}: cannot tell what it keeps"
    )


def _peer_words(memory: ObjectMemory) -> str:
    """` (8 B a peer)`, where the slope over numbers of ranks is certain."""
    return f" ({format_memory(memory.peer.value)} a peer)" if is_certain(memory.peer) and memory.peer else ""


def _leak_words(memories: Sequence[ObjectMemory]) -> Iterator[str]:
    leaks = [memory for memory in memories if memory.verdict == LEAKS]
    for memory in {memory.op: memory for memory in leaks}.values():
        if memory.left is not None:
            yield f"leaks {span_words(memory.left, format_memory)} for {_object(memory)}"
    of_all = f" of {counted(len(memories), 'test case')}"
    back = sum(memory.verdict == GIVES_BACK for memory in memories)
    if back:
        yield f"gives all back in {back}{of_all}"
    untold = sum(memory.verdict == CANNOT_TELL for memory in memories)
    if untold:
        yield f"cannot tell of a leak in {untold}{'' if back else of_all}"


def _object(memory: ObjectMemory) -> str:
    name = memory.op.removeprefix(_PREFIX)
    size = "" if memory.bytes is None else f" of {format_bytes(memory.bytes)}"
    return f"{_OBJECTS.get(name, name)}{size}"
