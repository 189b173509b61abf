"""Memory of a process after the start of its library and after first uses, over numbers of ranks.

What grows with the ranks is what a process keeps of each other one: the slope of what a use added over the
number of ranks, where three numbers were measured.

    added = start + bytes a peer * ranks
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Footprint
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row
from steelyard.stats import Interval
from steelyard.stats.line_fits import slope_interval

_LEAST_NUMBERS = 3  # of ranks: two are a line, whatever they are


class ProcessMemory(Struct, frozen=True, kw_only=True):
    """A first use of one MPI on one number of ranks, in bytes, on the rank that has most.

    `added`: resident, by this use. `peer`: what it adds for each further rank, None where fewer than three
    numbers of ranks were measured.
    """

    op: str
    mpi: str | None
    ranks: int
    bytes: int | None
    placement: str | None
    env: dict[str, str]
    params: Params
    resident: float
    shared: float
    locked: float
    pinned: float
    added: Interval
    heap: float
    peer: Interval | None


def process_memories(rows: Sequence[Row]) -> tuple[ProcessMemory, ...]:
    """Take what each row counted, in the order of the rows."""
    known = [row for row in rows if row.get(Footprint).process_resident is not None]
    alike: dict[RowKey, list[Row]] = {}
    for row in known:
        alike.setdefault(_key(row), []).append(row)
    slopes = {key: _slope(own) for key, own in alike.items()}
    return tuple(_of(row, slopes[_key(row)]) for row in known)


def _key(row: Row) -> RowKey:
    return key_of(row, ("ranks", "hosts"))


def _slope(rows: Sequence[Row]) -> Interval | None:
    """Estimate what is added for each further rank."""
    ranks = np.array([row.ranks for row in rows], dtype=np.float64)
    if np.unique(ranks).size < _LEAST_NUMBERS:
        return None
    added = np.array([row.get(Footprint).grown_resident or 0.0 for row in rows])
    found = slope_interval(ranks, added)
    return None if found is None else Interval(found.value, found.low, found.high)


def _of(row: Row, peer: Interval | None) -> ProcessMemory:
    kept = row.get(Footprint)
    return ProcessMemory(
        op=row.op,
        mpi=row.mpi,
        ranks=row.ranks,
        bytes=row.bytes if row.sized else None,
        placement=row.placed_text,
        env=row.env,
        params=row.params,
        resident=kept.process_resident or 0.0,
        shared=kept.process_shared or 0.0,
        locked=kept.process_locked or 0.0,
        pinned=kept.process_pinned or 0.0,
        added=Interval(kept.grown_resident or 0.0, kept.grown_low, kept.grown_high),
        heap=kept.grown_heap or 0.0,
        peer=peer,
    )
