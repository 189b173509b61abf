"""A receiver that stalls: messages that are offered at a rate see it, a ping-pong does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import ended, plan_of, run_plan, setup_of
from points import engine_of
from preloaded import build_preloaded
from steelyard.analyses.overview import read_rows
from steelyard.engines.mpi import Mpi
from steelyard.results.facets import OfferedLoad
from steelyard.results.row import Row

# While a receiver stalls for 20 ms, 400 messages become due: most of each 500, of which the first alone is
# slow in a closed loop.
_BYTES, _STALLED, _RATE, _COUNT = 24, 500, 20000.0, 2048
_STALLING = f"""
#include <mpi.h>
#include <unistd.h>
static int received;
int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && n == {_BYTES} && ++received % {_STALLED} == 0)
        usleep(20000);
    return PMPI_Recv(data, n, type, from, tag, comm, status);
}}
"""


def _row(folder: Path, mpi: Mpi, method: str) -> Row:
    more = {"rate": _RATE} if method == "open-loop" else {}
    params = {"count": float(_COUNT), **more}
    plan = plan_of("mpi.pingpong", ranks=2, launches=1, bytes=str(_BYTES), method=method, params=params)
    assert {status for _, status in ended(run_plan(folder, plan, setup_of(mpi)))} == {"ok"}
    (row,) = read_rows(folder).rows
    return row


def test_a_receiver_that_stalls_is_seen_in_an_open_loop_alone(
    tmp_path: Path, one_mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "stalling.c"
    source.write_text(_STALLING)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(one_mpi), source, tmp_path)))
    opened, closed = (_row(tmp_path / method, one_mpi, method) for method in ("open-loop", "each"))
    print(f"open loop: median {opened.time} ns; closed loop: median {closed.time} ns")  # pytest -rP
    assert (opened.time or 0.0) > 3e6  # the mean wait of 400 in 500 is 10 ms
    assert (closed.time or 0.0) < 0.3 * (opened.time or 0.0)
    offered = opened.get(OfferedLoad)
    assert offered.offered_rate == _RATE
    assert offered.came_rate is not None
    assert closed.get(OfferedLoad).offered_rate is None
