"""The floor under MPI: what each layer below it takes for the same message, and MPI's efficiency against it.

A layer is an op that brings a message from one rank to another without MPI. With t_MPI the time of MPI's
message (one way, or of a window) and t_layer that of the same bytes through a layer, under the same method,

    efficiency = t_layer / t_MPI

for the fastest layer that could have stood in: through the memory of one host, where the ranks are on one;
over TCP or UDP between hosts, and where the environment makes MPI use TCP. It is not clipped: above 1, MPI
is faster than the floor that we know. The same ratio is given for each layer.

`mem.copy` moves the bytes but tells nobody, so it is drawn and has a ratio, but is not a floor of messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.schema import Params
from steelyard.results.row import Row
from steelyard.results.transport import TCP

_WITHIN = ("shm.flag", "shm.cma")  # what MPI has within a host
_NETWORK = ("sock.tcp", "sock.udp")  # and between hosts, without hardware of its own
_OTHER = ("sock.unix", "sock.pipe")
STREAM = ".stream"
# An op of MPI -> what a name of the layers ends with, and what they must have in common besides the bytes.
_OPS: dict[str, tuple[str, str | None]] = {"mpi.pingpong": ("", None), "mpi.bandwidth": (STREAM, "window")}
COPY = "mem.copy"
LAYERS = (COPY, *_WITHIN, *_OTHER, *_NETWORK)  # the lowest first


class LayerRatio(Struct, frozen=True):
    """A layer against MPI: its time in ns, `ratio` = t_layer / t_MPI and where that lies."""

    op: str
    params: Params
    layer_ns: float
    ratio: float
    low: float | None = None
    high: float | None = None


class Efficiency(Struct, frozen=True):
    """MPI's time for a message in ns, and every layer's ratio to it, the fastest first.

    `low`..`high` is where the efficiency lies when both times lie in their intervals: with intervals of
    probability L each that is at least 1 - 2 (1 - L). `floor` is None, and so is the efficiency, where no
    layer was measured that could stand in.
    """

    op: str
    method: str
    bytes: int
    mpi: str | None
    params: Params
    placement: str | None
    mpi_ns: float
    floor: str | None
    efficiency: float | None
    low: float | None
    high: float | None
    layers: tuple[LayerRatio, ...]


def is_stream(op: str) -> bool:
    """Is an op of a layer, or its fellow in MPI, one of windows of messages?"""
    return op.endswith(STREAM) or _OPS.get(op, ("", None))[0] == STREAM


def ratio_interval(layer: Row, mpi: Row) -> tuple[float, float] | None:
    """The least and the greatest ratio of times in their intervals; None where one has none."""
    ends = (layer.time_low, layer.time_high, mpi.time_low, mpi.time_high)
    if any(end is None or end <= 0 for end in ends):
        return None
    low, high, mpi_low, mpi_high = (end for end in ends if end is not None)
    return low / mpi_high, high / mpi_low


def efficiencies(rows: Sequence[Row]) -> tuple[Efficiency, ...]:
    """For each row of MPI that has a layer beside it, in their order."""
    good = [row for row in rows if row.status == "ok" and row.time is not None and row.time > 0]
    found = (_efficiency(row, good) for row in good if row.op in _OPS)
    return tuple(one for one in found if one is not None)


def _efficiency(mpi: Row, rows: Sequence[Row]) -> Efficiency | None:
    suffix, common = _OPS[mpi.op]
    names = {COPY} | {op + suffix for op in LAYERS if op != COPY}
    fitting = [row for row in rows if row.op in names and _is_alike(row, mpi, common)]
    placed = [row for row in fitting if row.op == COPY or row.placement == mpi.placement]
    ratios = sorted((_ratio(row, mpi) for row in placed or fitting), key=lambda one: one.ratio)
    if not ratios:
        return None
    standing = [one for one in ratios if one.op.removesuffix(STREAM) in _stand_ins(mpi)]
    best = standing[0] if standing else None
    return Efficiency(
        op=mpi.op,
        method=mpi.method,
        bytes=mpi.bytes,
        mpi=mpi.mpi,
        params=mpi.params,
        placement=mpi.placement,
        mpi_ns=mpi.time or 0.0,
        floor=best.op if best else None,
        efficiency=best.ratio if best else None,
        low=best.low if best else None,
        high=best.high if best else None,
        layers=tuple(ratios),
    )


def _is_alike(layer: Row, mpi: Row, common: str | None) -> bool:
    """The same bytes under the same method, and as many of them in flight. A copy is no stream."""
    if (layer.bytes, layer.method) != (mpi.bytes, mpi.method):
        return False
    return common is None or (layer.op != COPY and layer.params.get(common) == mpi.params.get(common))


def _stand_ins(mpi: Row) -> tuple[str, ...]:
    """The layers that could have brought this message: those of one host only there, unless it is told
    to go over TCP all the same.
    """
    several_hosts = ":" in (mpi.placement or "")
    return _NETWORK if several_hosts or mpi.transport == TCP else _WITHIN


def _ratio(layer: Row, mpi: Row) -> LayerRatio:
    low, high = ratio_interval(layer, mpi) or (None, None)
    time = layer.time or 0.0
    return LayerRatio(layer.op, layer.params, time, time / (mpi.time or 1.0), low, high)
