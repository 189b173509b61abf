"""Memory of the library: does it give back what it took for communicators, windows and messages?"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.object_memory.model import GIVES_BACK, LEAKS, ObjectMemory, object_memories
from steelyard.base.plural import counted
from steelyard.base.units import format_memory
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.command_line import command, settings
from steelyard.results.row import Row
from steelyard.stats import Interval
from steelyard.stats.peer_outliers import LEAST_LAUNCHES

_MOST_MORE = 1.1  # times what the reference keeps: pages and pools round up by less
_MOST_NAMED = 3


@criterion(
    "memory",
    "Does the library give back what it took, and take no more than in the reference?",
    remedy="Report it to the makers of that MPI, with the table of this folder; until then make few of them.",
)
def memory(candidate: Candidate) -> Finding | None:
    """Judge what is left of each object, and what each takes; None where none was counted."""
    found = object_memories(candidate.weighed.rows)
    if not found:
        return None
    rows = [row for row in candidate.weighed.rows if any(_counts(row, one) for one in found)]
    launches = min(row.launch_count for row in rows)
    leaks = [_words(one, "leaves", one.left) for one in found if one.verdict == LEAKS and one.left]
    more = _more_than_reference(candidate, found)
    if leaks or more:
        said = [*leaks, *more]
        rest = f"; and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
        return Finding(NOT_WELL, f"{'; '.join(said[:_MOST_NAMED])}{rest}.", "", launches, brief=said[0])
    unsure = [one for one in found if one.verdict != GIVES_BACK]
    if unsure:
        return Finding(
            CANNOT_TELL,
            f"What {unsure[0].op} of {unsure[0].mpi} leaves of each is not known well enough.",
            candidate.weighed.more_launches()
            if launches < LEAST_LAUNCHES
            else _more_objects(rows, unsure[0]),
        )
    kept = max(found, key=lambda one: one.held.value)
    return Finding(
        WELL,
        f"{counted(len(found), 'test case')} left nothing of what was freed; the most that is kept of one "
        f"object while it is there: {format_memory(kept.held.value)} ({kept.op} of {kept.mpi}).",
    )


def _more_objects(rows: Sequence[Row], memory: ObjectMemory) -> str:
    """Say what measures the same test case with more objects."""
    hosts = next((row.hosts for row in rows if _counts(row, memory)), None)
    again = command(
        "run",
        memory.op,
        bytes=None if memory.bytes is None else str(memory.bytes),
        mpi=memory.mpi,
        hosts=None if hosts is None else str(hosts),
        param=["objects=500", "count=24"],
        rule="fixed",
        launches="10",
        **{"-n": str(memory.ranks)},
    )
    return f"Make more of them in more launches: {' '.join((again, *settings(memory.env)))}"


def _counts(row: Row, memory: ObjectMemory) -> bool:
    return (row.op, row.mpi, row.ranks) == (memory.op, memory.mpi, memory.ranks)


def _more_than_reference(candidate: Candidate, memories: tuple[ObjectMemory, ...]) -> list[str]:
    """Name what takes more than in the reference, with both intervals."""
    if candidate.reference is None:
        return []
    before = {_key(one): one for one in object_memories(candidate.reference.rows)}
    return [
        f"{_words(one, 'takes', one.held)}, in {candidate.reference.name} {format_memory(base.held.value)}"
        for one in memories
        if (base := before.get(_key(one))) is not None
        and one.held.low is not None
        and base.held.high is not None
        and one.held.low > _MOST_MORE * base.held.high
    ]


def _key(memory: ObjectMemory) -> tuple[object, ...]:
    settings = (tuple(sorted(of.items())) for of in (memory.params, memory.env))
    return (memory.op, memory.mpi, memory.ranks, memory.bytes, *settings)


def _words(memory: ObjectMemory, does: str, amount: Interval) -> str:
    """`mpi.memory.comm_dup of openmpi-4.1.4 on 2 ranks leaves 1.016 KiB (1 KiB to 1.03 KiB) of each`."""
    of = {"leaves": "of each when it is freed", "takes": "for each"}[does]
    low, high = amount.low, amount.high
    span = "" if low is None or high is None else f" ({format_memory(low)} to {format_memory(high)})"
    who = f"{memory.op} of {memory.mpi} on {counted(memory.ranks, 'rank')}"
    return f"{who} {does} {format_memory(amount.value)}{span} {of}"
