"""Bytes of each object that a library keeps, over numbers of ranks, and whether it gives them back.

An object is a communicator, a window, a datatype or a message that nobody has received (`mpi.memory.*`). A
library leaks if what is left of each, when it has been freed, is certainly more than `LEAST_LEAK`: the
interval over launches lies above, after `LEAST_FREED` objects in each, because some pools grow until then
(Open MPI 4.1.4's for 3000 communicators). It gives all back if the interval lies below. Else nothing can be
told.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Memory
from steelyard.results.row import Row
from steelyard.stats import Interval

LEAST_LEAK = 16.0  # bytes: the least that malloc() gives
LEAST_FREED = 5000
LEAKS, GIVES_BACK, CANNOT_TELL = "leak", "none", "cannot tell"


class ObjectMemory(Struct, frozen=True, kw_only=True):
    """An op of one MPI on one number of ranks; bytes of an object on a rank. `verdict` is on what is left."""

    op: str
    mpi: str | None
    ranks: int
    bytes: int | None
    placement: str | None
    env: dict[str, str]
    params: Params
    held: Interval
    left: Interval | None
    resident: float | None
    locked: float | None
    verdict: str


def object_memories(rows: Sequence[Row]) -> tuple[ObjectMemory, ...]:
    """Take what each row counted, in the order of the rows."""
    return tuple(_of(row, kept) for row in rows if (kept := row.get(Memory)).held_bytes is not None)


def _of(row: Row, kept: Memory) -> ObjectMemory:
    left = None if kept.left_bytes is None else Interval(kept.left_bytes, kept.left_low, kept.left_high)
    return ObjectMemory(
        op=row.op,
        mpi=row.mpi,
        ranks=row.ranks,
        bytes=row.bytes if row.sized else None,
        placement=row.placed.text if row.placed else None,
        env=row.env,
        params=row.params,
        held=Interval(kept.held_bytes or 0.0, kept.held_low, kept.held_high),
        left=left,
        resident=kept.resident_bytes,
        locked=kept.locked_bytes,
        verdict=_verdict(left, kept.freed or 0),
    )


def _verdict(left: Interval | None, freed: int) -> str:
    if left is None or left.low is None or left.high is None:
        return CANNOT_TELL
    if left.low > LEAST_LEAK:
        return LEAKS if freed >= LEAST_FREED else CANNOT_TELL
    return GIVES_BACK if left.high < LEAST_LEAK else CANNOT_TELL
