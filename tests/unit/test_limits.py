"""Which control variables of an MPI library are taken for sizes at which messages change their protocol."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from steelyard.records.kinds import LATENCY, MPI
from steelyard.results.combined import Combined
from steelyard.results.facets.limits import Limits


def _told(**cvars: float | str) -> Limits | None:
    launch = SimpleNamespace(
        point=SimpleNamespace(layer=MPI, role=LATENCY),
        start=SimpleNamespace(mpi=SimpleNamespace(cvars=cvars)),
    )
    return Limits.of(cast("Combined", SimpleNamespace(launches=[launch])))


def test_limits_are_numbers_that_are_of_messages() -> None:
    found = _told(
        btl_vader_eager_limit=4096,
        MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=-1,
        dss_buffer_threshold_size=4096,
        MPIR_CVAR_CH4_IPC_GPU_P2P_THRESHOLD=32768,
        MPIR_CVAR_CH3_RMA_ACTIVE_REQ_THRESHOLD=65536,
        btl="^uct",
    )
    assert found == Limits(
        limits={"btl_vader_eager_limit": 4096.0, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": -1.0}
    )


def test_nothing_is_told_where_none_is_of_messages() -> None:
    assert _told(dss_buffer_threshold_size=4096) is None
