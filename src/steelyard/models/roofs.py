"""The roof of memory: what a phase of a kernel moves a second, against STREAM on as many cores.

The bytes of a phase are those of its data, each array once, as STREAM counts. With B the bandwidth of
`mem.stream.triad` in the same folder, of as many threads as the kernel has on all its ranks, the roof of a
phase is B / bytes, and its share of it

    share = bytes / (time B)

Where there are several working sets, that of the size nearest to the kernel's memory counts: what fits into
a cache is held against the cache. Above 1, the phase had data from nearer by than STREAM had.

Source: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009; J. McCalpin, STREAM, 1995.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.results.facets import Inside, Rate
from steelyard.results.roofs import TRIAD, nearest_stream
from steelyard.results.row import Row

STREAM = TRIAD


def roof_shares(rows: Sequence[Row]) -> dict[int, Mapping[str, float]]:
    """For each row that counts what its phases move, by `id(row)`: the share of the roof of each phase.

    Rows with no stream of as many threads beside them are left out.
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
