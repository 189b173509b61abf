"""Rooflines: the rate of each phase of a kernel, over its operations per byte.

A phase that does W operations on M bytes in time t has the intensity W / M and the rate W / t. Memory of
bandwidth B limits the rate to B W / M: a line through all intensities. B is that of STREAM's triad in the
same folder, as in `roofs`. The data of a phase above the line came from a cache.

Source: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.results.facets import Inside, Rate
from steelyard.results.roofs import TRIAD, nearest_stream
from steelyard.results.row import Row


class RooflinePhase(Struct, frozen=True):
    """A phase: operations per byte, operations per second, and the ratio of these to the memory's limit."""

    name: str
    intensity: float
    rate: float
    share: float


class Roofline(Struct, frozen=True, kw_only=True):
    """A kernel's phases under `bandwidth` bytes/s; `row` is their row."""

    row: Row
    bandwidth: float
    phases: tuple[RooflinePhase, ...]


def rooflines_of(rows: Sequence[Row]) -> tuple[Roofline, ...]:
    """Make a roofline for each row whose phases count operations and bytes, if a stream of as many cores is
    there.
    """
    found = []
    for row in rows:
        inside = row.get(Inside).phases
        if row.status != "ok" or inside is None:
            continue
        stream = nearest_stream(row, rows, TRIAD, inside.memory * row.ranks)
        bandwidth = stream.get(Rate).bandwidth if stream else None
        phases = tuple(_phases(row, bandwidth)) if bandwidth else ()
        if bandwidth and phases:
            found.append(Roofline(row=row, bandwidth=bandwidth, phases=phases))
    return tuple(found)


def _phases(row: Row, bandwidth: float) -> Iterator[RooflinePhase]:
    inside = row.get(Inside).phases
    work = (row.get(Rate).mops or 0.0) * (row.time or 0.0) * 1e-3  # operations: 1e6 / s times 1e-9 s
    for phase in inside.phases if inside else ():
        done = work * (phase.work_share or 0.0)
        if done > 0 and phase.moved and phase.median > 0:
            rate, intensity = done / (phase.median * 1e-9), done / phase.moved
            yield RooflinePhase(phase.name, intensity, rate, rate / (bandwidth * intensity))
