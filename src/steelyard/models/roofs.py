"""The roof of memory: what a phase of a kernel moves a second, against STREAM on as many cores.

The bytes of a phase are those of its data, each array once, as STREAM counts. With B the bandwidth of
`mem.stream.triad` in the same folder, of as many threads as the kernel has on all its ranks, the roof of a
phase is B / bytes, and its share of it

    share = bytes / (time B)

Where there are several working sets, that of the size nearest to the kernel's memory counts: what fits into
a cache is held against the cache. Lines that a processor fetches before it writes them are counted neither
here nor there. A third of the triad's bytes is written, so memory carries up to 4/3 of B; a phase that hardly
writes may come to that. Beyond, it had data from nearer by than STREAM had.

Source: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009; J. McCalpin, STREAM, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.records.schema import Params
from steelyard.results.facets import Inside, Rate
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row

STREAM = "mem.stream.triad"


class RoofPhase(Struct, frozen=True):
    """A phase: bytes that all ranks read and write in it per repetition, and its share of the roof."""

    moved: float
    share: float


class Roof(Struct, frozen=True, kw_only=True):
    """A row of a kernel under its roof: `bandwidth` (B/s) of STREAM with a working set of `working_set` B."""

    op: str
    mpi: str | None
    ranks: int
    threads: int
    params: Params
    working_set: int
    bandwidth: float
    phases: dict[str, RoofPhase]


def roof_shares(rows: Sequence[Row]) -> dict[int, Mapping[str, float]]:
    """For each row that counts what its phases move, by `id(row)`: the share of the roof of each phase.

    Rows with no stream of as many threads beside them are left out.
    """
    return {
        key: {name: phase.share for name, phase in roof.phases.items()} for key, roof in _roofs(rows).items()
    }


def roofs_of(rows: Sequence[Row]) -> tuple[Roof, ...]:
    """The same as lines, in the order of the rows."""
    return tuple(_roofs(rows).values())


def _roofs(rows: Sequence[Row]) -> dict[int, Roof]:
    found: dict[int, Roof] = {}
    for row in rows:
        inside = row.get(Inside).phases
        stream = None if inside is None else _stream(row, inside, rows)
        if inside is None or stream is None:
            continue
        size, bandwidth = stream
        phases = {
            phase.name: RoofPhase(phase.moved, phase.moved / (phase.median * 1e-9 * bandwidth))
            for phase in inside.phases
            if phase.moved and phase.median > 0
        }
        if phases:
            found[id(row)] = Roof(
                op=row.op,
                mpi=row.mpi,
                ranks=row.ranks,
                threads=row.threads,
                params=row.params,
                working_set=size,
                bandwidth=bandwidth,
                phases=phases,
            )
    return found


def _stream(row: Row, inside: RowPhases, rows: Sequence[Row]) -> tuple[int, float] | None:
    """Size and bandwidth of the STREAM beside a row, in bytes and bytes a second; None: there is none."""
    size = inside.memory * row.ranks
    beside = [
        (one.bytes, bandwidth)
        for one in rows
        if one.op == STREAM
        and one.ranks * one.threads == row.ranks * row.threads
        and (bandwidth := one.get(Rate).bandwidth)
    ]
    return min(beside, key=lambda one: abs(math.log2(one[0] + 1) - math.log2(size + 1)), default=None)
