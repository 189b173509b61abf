"""The floor under MPI: the time of each layer below it for the same message, and MPI's efficiency against it.

A layer is an op that brings a message from one rank to another without MPI. With t_MPI the time of MPI's
message (one way, or of a window) and t_layer that of the same bytes through a layer, by the same method,

    efficiency = t_layer / t_MPI

for the fastest layer that could have replaced it: through memory, if all ranks are on one host; over the
network between hosts, or if the environment makes MPI use TCP. Messages of libfabric and UCX count as the
transport that carried them. The efficiency is not clipped: above 1, MPI is faster than the known floor. The
same ratio is given for each layer.

`mem.copy` moves the bytes but notifies nobody, so it is drawn and has a ratio, but is not a floor of
messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.records.kinds import MPI
from steelyard.results.roofs import (
    SHARED_CPU,
    layers_below,
    layers_beside,
    ratio_interval,
    shares_a_cpu,
    stand_in,
)
from steelyard.results.row import Row


class LayerRatio(Struct, frozen=True):
    """A layer against MPI: its time in ns, `ratio` = t_layer / t_MPI and its interval.

    `transport` is what carried the messages, if a library chose it.
    """

    op: str
    params: Params
    layer_ns: float
    ratio: float
    low: float | None = None
    high: float | None = None
    transport: str | None = None

    @property
    def words(self) -> str:
        """`sock.tcp`, or `ofi.tagged by shm` of a library that chose."""
        return _words(self.op, self.transport)


class Efficiency(Struct, frozen=True):
    """MPI's time for a message in ns, and every layer's ratio to it, the fastest first.

    `low`..`high` is the range of the efficiency if both times lie in their intervals: with intervals of
    probability L each, its probability is at least 1 - 2 (1 - L). `floor` and the efficiency are None if no
    layer was measured that could replace MPI, or for the reason `why`. `role` is `latency` of messages there
    and back, `bandwidth` of streams.
    """

    op: str
    role: str
    method: str
    bytes: int
    mpi: str | None
    params: Params
    placement: str | None
    mpi_ns: float
    floor: str | None
    floor_transport: str | None
    efficiency: float | None
    low: float | None
    high: float | None
    layers: tuple[LayerRatio, ...]
    why: str = ""

    @property
    def floor_words(self) -> str:
        """The floor as in `LayerRatio.words`; `none` without one."""
        return _words(self.floor or "none", self.floor_transport)


def _words(op: str, transport: str | None) -> str:
    return " by ".join(filter(None, (op, transport)))


def efficiencies(rows: Sequence[Row]) -> tuple[Efficiency, ...]:
    """Compare each row of MPI that has a layer beside it, in their order."""
    good = [row for row in rows if row.status == "ok" and row.time is not None and row.time > 0]
    below = layers_below(good)
    found = (_efficiency(row, below) for row in good if row.layer == MPI)
    return tuple(one for one in found if one is not None)


def _efficiency(mpi: Row, below: Sequence[Row]) -> Efficiency | None:
    beside = layers_beside(mpi, below)
    if not beside:
        return None
    why = SHARED_CPU if shares_a_cpu(mpi) else ""
    fair = () if why else beside
    ratios = sorted(((_ratio(row, mpi), row) for row in fair), key=lambda one: one[0].ratio)
    best = next((one for one, row in ratios if row.layer == stand_in(mpi)), None)
    return Efficiency(
        op=mpi.op,
        role=mpi.role,
        method=mpi.method,
        bytes=mpi.bytes,
        mpi=mpi.mpi,
        params=mpi.params,
        placement=mpi.placement,
        mpi_ns=mpi.time or 0.0,
        floor=best.op if best else None,
        floor_transport=best.transport if best else None,
        efficiency=best.ratio if best else None,
        low=best.low if best else None,
        high=best.high if best else None,
        layers=tuple(one for one, _ in ratios),
        why=why,
    )


def _ratio(layer: Row, mpi: Row) -> LayerRatio:
    low, high = ratio_interval(layer, mpi) or (None, None)
    time = layer.time or 0.0
    return LayerRatio(layer.op, layer.params, time, time / (mpi.time or 1.0), low, high, layer.transport)
