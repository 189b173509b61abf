"""Violations that a preloaded library plants are found and named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import run_plan, setup_of
from commands import steelyard_of
from points import engine_of
from preloaded import build_preloaded
from steelyard.engines.mpi import choose_mpi
from steelyard.plan.plan import Measure, Plan

pytestmark = pytest.mark.xdist_group("waits")

# A gather that takes longer than MPI_Gatherv, and a reduction that takes longer where its bytes are a power
# of two: half a millisecond more, some hundred times what they take. One rank waits for nobody.
_WORSE = """
#include <mpi.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void linger(void)
{
    const double end = now() + 500e-6;
    while (now() < end) { }
}
int MPI_Gather(const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root, MPI_Comm c)
{
    linger();
    return PMPI_Gather(s, n, t, r, m, u, root, c);
}
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    int size = 0;
    PMPI_Type_size(t, &size);
    if (n > 1024 && (n * size & (n * size - 1)) == 0)
        linger();
    return PMPI_Allreduce(s, r, n, t, o, c);
}
"""
_POWER, _OTHER = 65536, 98304


def _measure(*ops: str, library: Path) -> Measure:
    return Measure(
        ops=ops,
        ranks=1,
        bytes=(_POWER, _OTHER),
        engine="mpi",
        rule="fixed",
        params={"count": 20.0},
        env={"LD_PRELOAD": str(library)},
        beside=True,
    )


@pytest.mark.further
def test_planted_violations_are_found_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = choose_mpi("openmpi")
    source = tmp_path / "worse.c"
    source.write_text(_WORSE)
    library = build_preloaded(engine_of(mpi), source, tmp_path)
    measures = (
        _measure("mpi.gather", "mpi.gatherv", library=library),
        _measure("mpi.allreduce", "mpi.mock.allreduce_by_reduce_bcast", library=library),
    )
    plan = Plan(measure=measures, launches=10, seed=3, oversubscribe=True)  # 7 cases: 2^-10 is below 1 % / 7
    run_plan(tmp_path / "out", plan, setup_of(mpi))
    steelyard = steelyard_of(capsys, monkeypatch)
    said = steelyard("check", "guidelines", tmp_path / "out", "--json")
    assert said.code == 1
    points = {(one["words"], one["bytes"]): one for one in said.document["points"]}
    for words, size in (
        ("Gather <= Gatherv", _POWER),
        ("Gather <= Gatherv", _OTHER),
        ("Allreduce <= Reduce + Bcast", _POWER),
        ("Allreduce <= of more bytes", _POWER),
    ):
        assert points[words, size]["verdict"] == "violated", (words, size)
        assert points[words, size]["low"] > 2, (words, size)
    assert points["Gather <= Gatherv", _POWER]["remedy"] == "call MPI_Gatherv with equal counts"
    assert "coll_tuned_allreduce" in points["Allreduce <= of more bytes", _POWER]["knob"]
    # what nothing was planted in is not as much slower
    assert (points["Allreduce <= Reduce + Bcast", _OTHER]["low"] or 0) < 2
    told = steelyard("check", "guidelines", tmp_path / "out")
    assert "Gather <= Gatherv is violated" in " ".join(told.out.split())
    report = steelyard("report", tmp_path / "out")
    assert "violated guidelines" in Path(report.out.strip()).read_text("utf-8")
