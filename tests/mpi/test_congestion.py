"""A victim that others slow down, as planted: by a resource that all share."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import ended, plan_of, run_plan, setup_of
from points import engine_of
from preloaded import build_preloaded
from steelyard.analyses.congestion.model import P50, congestions
from steelyard.analyses.overview import read_rows
from steelyard.engines.mpi import Mpi

# A halo waits for 10 ms while others have a window into which they put.
_SHARED = """
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile int *loaded;
static void find(void)
{
    int file = open("FILE", O_RDWR);
    if (!loaded)
        loaded = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}
int MPI_Win_lock_all(int assert, MPI_Win win)
{
    find();
    *loaded = 1;
    return PMPI_Win_lock_all(assert, win);
}
int MPI_Win_free(MPI_Win *win)
{
    find();
    *loaded = 0;
    return PMPI_Win_free(win);
}
int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    find();
    if (n == 4 && *loaded)
        usleep(10000);
    return PMPI_Waitall(n, requests, statuses);
}
"""


def test_a_victim_is_slowed_by_a_congestor_and_not_by_idle_ranks(
    tmp_path: Path, one_mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, source = tmp_path / "shared", tmp_path / "shared.c"
    shared.write_bytes(bytes(4096))
    source.write_text(_SHARED.replace("FILE", str(shared)))
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(one_mpi), source, tmp_path)))
    params = {"traffic": ("none", "put"), "traffic_bytes": 8.0, "count": 3.0, "reps": 1.0}
    plan = plan_of("mpi.pattern.victim_halo", ranks=4, launches=1, bytes="8", method="batch", params=params)
    assert {status for _, status in ended(run_plan(tmp_path / "out", plan, setup_of(one_mpi)))} == {"ok"}
    (found,) = congestions(read_rows(tmp_path / "out").rows)
    print(f"beside idle ranks {found.quiet} ns, beside puts {found.loaded} ns: {found.impact}")  # pytest -rP
    assert found.traffic == "put"
    assert found.loaded > 10e6
    assert found.impact[P50].value > 1
