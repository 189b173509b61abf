"""The roof of memory: bytes per second of a phase of a kernel, against STREAM on as many cores.

The bytes of a phase are those of its data, each array once, as STREAM counts. With B the bandwidth of
`mem.stream.triad` in the same folder, of as many threads as the kernel has on all its ranks, the roof of a
phase is B / bytes, and its share of it

    share = bytes / (time B)

If there are several working sets, the one nearest in size to the kernel's memory counts: data that fit into a
cache are compared with the cache. Lines that a processor fetches before it writes them are counted neither
here nor there. A third of the triad's bytes is written, so memory carries up to 4/3 of B, and a phase that
hardly writes may reach that. Above it, the data came from a nearer cache than STREAM's.

Source: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009; J. McCalpin, STREAM, 1995.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Inside, Rate
from steelyard.results.roofs import TRIAD, nearest_stream
from steelyard.results.row import Row

STREAM = TRIAD


class PhaseRoofs(Struct, frozen=True, kw_only=True):
    """A kernel under the roof of memory: the share of each phase whose bytes are counted."""

    op: str
    mpi: str | None
    ranks: int
    threads: int
    params: Params
    shares: dict[str, float]


def phase_roofs_of(rows: Sequence[Row]) -> tuple[PhaseRoofs, ...]:
    """Make a line for each row that `roof_shares` has, in the order of the rows."""
    shares = roof_shares(rows)
    return tuple(
        PhaseRoofs(
            op=row.op,
            mpi=row.mpi,
            ranks=row.ranks,
            threads=row.threads,
            params=row.params,
            shares=dict(shares[id(row)]),
        )
        for row in rows
        if id(row) in shares
    )


def roof_shares(rows: Sequence[Row]) -> dict[int, Mapping[str, float]]:
    """Compute the share of the roof of each phase, for each row whose phases count bytes, by `id(row)`.

    Rows without a stream of as many threads are left out.
    """
    found: dict[int, Mapping[str, float]] = {}
    for row in rows:
        inside = row.get(Inside).phases
        if inside is None:
            continue
        stream = nearest_stream(row, rows, STREAM, inside.memory * row.ranks)
        if stream is not None and (bandwidth := stream.get(Rate).bandwidth):
            found[id(row)] = {
                phase.name: phase.moved / (phase.median * 1e-9 * bandwidth)
                for phase in inside.phases
                if phase.moved and phase.median > 0
            }
    return {key: shares for key, shares in found.items() if shares}
