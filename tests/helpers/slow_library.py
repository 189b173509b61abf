"""A library that, loaded before an MPI, makes each MPI_Allreduce 0.5 ms longer."""

from __future__ import annotations

from pathlib import Path

from points import engine_of
from preloaded import build_preloaded
from steelyard.engines.mpi import Mpi

# A thousand times what it takes. One rank waits for nobody: where many others want the cores, the scheduler
# makes two ranks wait for each other for longer than that.
_SLOW = """
#include <mpi.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    const double end = now() + 500e-6;
    while (now() < end) { }
    return PMPI_Allreduce(s, r, n, t, o, c);
}
"""


def slow_library(folder: Path, mpi: Mpi) -> Path:
    """Compiled in the folder; skips where the MPI has no compiler."""
    source = folder / "slow.c"
    source.write_text(_SLOW)
    return build_preloaded(engine_of(mpi), source, folder)
