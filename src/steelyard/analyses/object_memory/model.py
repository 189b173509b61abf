"""Bytes of each object that a library keeps, over numbers of ranks, and whether it gives them back.

An object is a communicator, a window, a datatype or a message that nobody has received (`mpi.memory.*`). A
library leaks if what is left of each, when it has been freed, is certainly more than `LEAST_LEAK`: the
interval over launches lies above, after `LEAST_FREED` objects in each, because some pools grow until then
(Open MPI 4.1.4's for 3000 communicators). It gives all back if the interval lies below. Else nothing can be
told.

Growth: what an object takes for each further rank, and what each further object takes in all, are the slopes
(Theil and Sen) over three numbers or more of ranks, or of objects.

    bytes of an object = start + bytes a peer * ranks
    bytes of all = start + bytes of each further one * objects
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Memory
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row
from steelyard.stats import Interval
from steelyard.stats.line_fits import slope_interval

LEAST_LEAK = 16.0  # bytes: the least that malloc() gives
LEAST_FREED = 5000
_LEAST_NUMBERS = 3  # of ranks or objects: two are a line, whatever they are
_OBJECTS = "objects"  # the parameter
LEAKS, GIVES_BACK, CANNOT_TELL = "leak", "none", "cannot tell"


class ObjectMemory(Struct, frozen=True, kw_only=True):
    """An op of one MPI on one number of ranks; bytes of an object on a rank. `verdict` is on what is left.

    `peer` is what an object takes for each further rank, `further` what each further object takes; None where
    fewer than three numbers of ranks, or of objects, were measured.
    """

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
    peer: Interval | None
    further: Interval | None
    verdict: str


def object_memories(rows: Sequence[Row]) -> tuple[ObjectMemory, ...]:
    """Take what each row counted, in the order of the rows."""
    known = [row for row in rows if row.get(Memory).held_bytes is not None]
    peers = _slopes(known, ("ranks", "hosts"), lambda row: row.ranks, lambda _: 1.0)
    further = _slopes(known, (f"param.{_OBJECTS}",), _objects, _objects)
    grown = zip(known, peers, further, strict=True)
    return tuple(_of(row, row.get(Memory), peer, more) for row, peer, more in grown)


def _objects(row: Row) -> float:
    count = row.params.get(_OBJECTS)
    return float(count) if isinstance(count, int | float) else 0.0


def _slopes(
    rows: Sequence[Row], free: Sequence[str], number: Callable[[Row], float], times: Callable[[Row], float]
) -> list[Interval | None]:
    """Estimate for each row how its bytes, `times` over, grow with its number among rows alike but for it."""
    alike: dict[RowKey, list[Row]] = {}
    for row in rows:
        alike.setdefault(key_of(row, free), []).append(row)
    slopes = {
        key: _slope([(number(row), times(row) * (row.get(Memory).held_bytes or 0.0)) for row in same])
        for key, same in alike.items()
    }
    return [slopes[key_of(row, free)] for row in rows]


def _slope(points: Sequence[tuple[float, float]]) -> Interval | None:
    numbers, taken = (np.array(values, dtype=np.float64) for values in zip(*points, strict=True))
    if np.unique(numbers).size < _LEAST_NUMBERS:
        return None
    slope = slope_interval(numbers, taken)
    return None if slope is None else Interval(slope.value, slope.low, slope.high)


def _of(row: Row, kept: Memory, peer: Interval | None, further: Interval | None) -> ObjectMemory:
    left = None if kept.left_bytes is None else Interval(kept.left_bytes, kept.left_low, kept.left_high)
    return ObjectMemory(
        op=row.op,
        mpi=row.mpi,
        ranks=row.ranks,
        bytes=row.bytes if row.sized else None,
        placement=row.placed_text,
        env=row.env,
        params=row.params,
        held=Interval(kept.held_bytes or 0.0, kept.held_low, kept.held_high),
        left=left,
        resident=kept.resident_bytes,
        locked=kept.locked_bytes,
        peer=peer,
        further=further,
        verdict=_verdict(left, kept.freed or 0),
    )


def _verdict(left: Interval | None, freed: int) -> str:
    if left is None or left.low is None or left.high is None:
        return CANNOT_TELL
    if left.low > LEAST_LEAK:
        return LEAKS if freed >= LEAST_FREED else CANNOT_TELL
    return GIVES_BACK if left.high < LEAST_LEAK else CANNOT_TELL
