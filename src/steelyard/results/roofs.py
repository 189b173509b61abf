"""Roofs: the least time of each row, by what else was measured in the same folder.

A roof is the time of a part that the row cannot do without:

    a message          the fastest layer below MPI with the same bytes, there and back or in as many at once
    a one-sided call   copies of as many bytes on a core, if two ranks of a host call one way
    a collective       one message of its block through the fastest layer; and, on one host, the bytes of the
                       root's larger buffer through memory, each read and written
    a kernel           the bytes that its phases move, through memory
    a file by MPI-IO   the same pieces by the system's own calls, in the same folder, on as many ranks

Where ranks share a CPU there is no roof: who waits in a loop takes the time of whom it waits for, so that
what is measured there is the time slice of the scheduler.

Memory is STREAM on as many cores: its copy if each byte is read and written, its triad for a kernel. If there
are several working sets, the one nearest to the row's counts. The share of the roof is the roof's time over
the row's; of several roofs the longest counts. It is not clipped.

Sources: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009; J. McCalpin, STREAM, 1995; E.
Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and
experience, 2007 (lower bounds of collectives).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from steelyard.records.campaign_file import FILES
from steelyard.records.kinds import (
    COLLECTIVE,
    COPY,
    FILE,
    KERNEL,
    LATENCY,
    LAYERS,
    MPI,
    NETWORK,
    SHARED_MEMORY,
)
from steelyard.results.facets import Files, Inside, Rate, Roof
from steelyard.results.row import Row
from steelyard.results.transport import TCP

SHARED_CPU = "ranks share a CPU, and who waits takes the other's time"
SAME_CPU = "same-cpu"  # the kind of such a placement
TRIAD, STREAM_COPY = "mem.stream.triad", "mem.stream.copy"
_EPOCHS = ("sync", "complete")  # parameters of one-sided calls, and of no others


@dataclass(frozen=True, slots=True)
class _Bound:
    """A lower bound of a row: `times` times another row's time, because it has that much more to do."""

    by: Row
    times: float = 1.0

    @property
    def ns(self) -> float:
        return (self.by.time or 0.0) * self.times


@dataclass(frozen=True, slots=True)
class _Beside:
    """The rows of a folder that may be roofs: layers below MPI, streams of memory, files without MPI."""

    layers: Sequence[Row]
    streams: Sequence[Row]
    files: Sequence[Row]


def with_roofs(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Add the share of the roof to rows that have a roof."""
    good = [row for row in rows if row.status == "ok" and row.time is not None and row.time > 0]
    beside = _Beside(
        layers=layers_below(good),
        streams=[row for row in good if row.op in (TRIAD, STREAM_COPY) and row.get(Rate).bandwidth],
        files=[row for row in good if row.role == FILE and not shares_a_cpu(row)],
    )
    if not beside.layers and not beside.streams and not beside.files:
        return tuple(rows)
    fine = {id(row) for row in good}
    return tuple(_with_roof(row, beside) if id(row) in fine else row for row in rows)


def _with_roof(row: Row, beside: _Beside) -> Row:
    if shares_a_cpu(row):
        return replace(row, facets=(*row.facets, Roof(no_roof=SHARED_CPU)))
    bounds = [bound for find in _ROOFS for bound in find(row, beside)]
    if not bounds:
        return row
    roof = max(bounds, key=lambda bound: bound.ns)
    low, high = ratio_interval(roof.by, row) or (None, None)
    return replace(
        row,
        facets=(
            *row.facets,
            Roof(
                roof=roof.by.op,
                roof_ns=roof.ns,
                of_roof=roof.ns / (row.time or 1.0),
                of_roof_low=None if low is None else low * roof.times,
                of_roof_high=None if high is None else high * roof.times,
            ),
        ),
    )


# ---- what each kind of row cannot do without ------------------------------------------------------------


def _of_message(row: Row, beside: _Beside) -> Iterator[_Bound]:
    """Find the fastest layer that could have replaced MPI."""
    if row.layer == MPI:
        fitting = [one for one in layers_beside(row, beside.layers) if one.layer == stand_in(row)]
        if fitting:
            yield _Bound(min(fitting, key=lambda one: one.time or math.inf))


def _of_call(row: Row, beside: _Beside) -> Iterator[_Bound]:
    """Bound calls of one rank to another of the same host by copies, one after the other."""
    calls = float(row.params.get("calls", 1))
    is_one_way = math.isclose(moved_bytes(row), calls * row.bytes, rel_tol=1e-3)
    if not (set(_EPOCHS) <= set(row.params) and is_one_way and row.ranks == 2 and on_one_host(row)):
        return
    copies = [layer for layer in beside.layers if layer.layer == COPY and layer.bytes == row.bytes]
    if copies and row.threads == 1 and row.bytes:
        yield _Bound(min(copies, key=lambda copy: copy.time or math.inf), calls)


def _of_collective(row: Row, beside: _Beside) -> Iterator[_Bound]:
    """Bound a collective by a message, and by the bytes in memory."""
    if row.role != COLLECTIVE or row.ranks < 2 or row.layer is not None:
        return
    hops = [layer for layer in beside.layers if layer.role == LATENCY and layer.layer == stand_in(row)]
    hops = [hop for hop in hops if (hop.bytes == row.bytes if row.sized else hop.bytes <= _FLAG)]
    if hops:
        yield _Bound(min(hops, key=lambda one: one.time or math.inf))
    if on_one_host(row) and moved_bytes(row):
        yield from _in_memory(row, beside.streams, STREAM_COPY, 2 * moved_bytes(row), 2 * moved_bytes(row))


def _of_kernel(row: Row, beside: _Beside) -> Iterator[_Bound]:
    inside = row.get(Inside).phases
    if row.role != KERNEL or inside is None or not on_one_host(row):
        return
    moved = sum(phase.moved or 0.0 for phase in inside.phases)
    if moved:
        yield from _in_memory(row, beside.streams, TRIAD, moved, inside.memory * row.ranks)


def _of_file(row: Row, beside: _Beside) -> Iterator[_Bound]:
    """Find the fastest of the rows that move as many bytes to or from as many pieces of the same pattern.

    The shared pointer names no pattern, so any counts for it.
    """
    op = row.get(Files).below
    fitting = [file for file in beside.files if file.op == op and _is_same_file(file, row)]
    if fitting:
        yield _Bound(min(fitting, key=lambda one: one.time or math.inf))


def _is_same_file(floor: Row, row: Row) -> bool:
    """Are these as many ranks, which move the same pieces of a file in the same folder by the same method?"""
    shared = row.params.keys() & floor.params.keys()
    return (
        (floor.bytes, floor.method, floor.ranks, floor.threads, floor.env.get(FILES))
        == (row.bytes, row.method, row.ranks, row.threads, row.env.get(FILES))
        and _host_count(floor) == _host_count(row)
        and all(floor.params[name] == row.params[name] for name in shared)
    )


_FLAG = 8  # bytes at most, of a message that only signals its arrival
_ROOFS: tuple[Callable[[Row, _Beside], Iterator[_Bound]], ...] = (
    _of_message,
    _of_call,
    _of_collective,
    _of_kernel,
    _of_file,
)


def _in_memory(
    row: Row, streams: Sequence[Row], op: str, moved: float, working_set: float
) -> Iterator[_Bound]:
    """Compute the time of bytes at the rate of a stream on as many cores, of the nearest working set."""
    stream = nearest_stream(row, streams, op, working_set)
    if stream is not None:
        yield _Bound(stream, moved / moved_bytes(stream))


def nearest_stream(row: Row, rows: Sequence[Row], op: str, working_set: float) -> Row | None:
    """Find the row of a stream on as many cores as a row has, its size nearest to a working set; None
    without.
    """
    beside = [
        one
        for one in rows
        if one.op == op and one.ranks * one.threads == row.ranks * row.threads and one.get(Rate).bandwidth
    ]
    if not beside:
        return None
    return min(beside, key=lambda one: abs(math.log2(one.bytes + 1) - math.log2(working_set + 1)))


def moved_bytes(row: Row) -> float:
    """Count the bytes that a row moves in its time; 0 if it moves none."""
    return (row.get(Rate).bandwidth or 0.0) * (row.time or 0.0) * 1e-9


# ---- layers under MPI -----------------------------------------------------------------------------------


def ratio_interval(layer: Row, mpi: Row) -> tuple[float, float] | None:
    """Find the least and the greatest ratio of times in their intervals; None if one has none."""
    ends = (layer.time_low, layer.time_high, mpi.time_low, mpi.time_high)
    if any(end is None or end <= 0 for end in ends):
        return None
    low, high, mpi_low, mpi_high = (end for end in ends if end is not None)
    return low / mpi_high, high / mpi_low


def shares_a_cpu(row: Row) -> bool:
    """Were two ranks bound to the same CPU?"""
    if row.placed is not None:
        return row.placed.kind == SAME_CPU
    cpus = (row.placement or "").split("|")
    return len(set(cpus)) < len(cpus) and all(cpu.rpartition(":")[2].isdigit() for cpu in cpus)


def layers_below(rows: Sequence[Row]) -> list[Row]:
    """List the rows of layers below MPI, each rank on a CPU of its own."""
    return [row for row in rows if row.layer in LAYERS and row.layer != MPI and not shares_a_cpu(row)]


def layers_beside(mpi: Row, below: Sequence[Row]) -> Sequence[Row]:
    """List the rows of layers with the same bytes by the same method, on the same CPUs if there are any."""
    fitting = [row for row in below if _is_alike(row, mpi)]
    if all(row.layer == COPY or row.placement != mpi.placement for row in fitting):
        return fitting
    return [row for row in fitting if row.layer == COPY or row.placement == mpi.placement]


def _is_alike(layer: Row, mpi: Row) -> bool:
    """Are these the same bytes by the same method, there and back or in streams with as many in flight?"""
    if (layer.bytes, layer.method, layer.role) != (mpi.bytes, mpi.method, mpi.role):
        return False
    return all(mpi.params[name] == layer.params[name] for name in mpi.params.keys() & layer.params.keys())


def stand_in(mpi: Row) -> str:
    """Choose the layer that could have brought this message: shared memory only within one host, and there
    unless MPI was made to use TCP.
    """
    return SHARED_MEMORY if on_one_host(mpi) and mpi.transport != TCP else NETWORK


def _host_count(row: Row) -> int:
    return len({one.rpartition(":")[0] for one in (row.placement or "").split("|")})


def on_one_host(row: Row) -> bool:
    """Were all ranks on one host?"""
    return ":" not in (row.placement or "")
