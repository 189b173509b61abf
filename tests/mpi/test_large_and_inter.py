"""Calls with counts beyond an int, and over two groups: cut counts, flipped bits, odd numbers of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from further import further
from points import engine_of, measure
from preloaded import build_preloaded
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.schema import End

_CALLS = ("bcast", "allreduce", "allgather", "alltoall", "put", "scatter", "reduce", "gather")
_TO_ROOT = ("reduce", "gather")
_INTER = ("bcast", "allreduce", "allgather", "alltoall")
# A library whose counts end at 4 KiB, as others' at 2 GiB.
_SHORT = """
#include <mpi.h>
#define CUT(n) ((n) > 4096 ? 4096 : (n))
int MPI_Bcast_c(void *data, MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm)
{
    return PMPI_Bcast_c(data, CUT(n), type, root, comm);
}
int MPI_Put_c(const void *from, MPI_Count n, MPI_Datatype t, int to, MPI_Aint at, MPI_Count m,
              MPI_Datatype u, MPI_Win win)
{
    return PMPI_Put_c(from, CUT(n), t, to, at, CUT(m), u, win);
}
int MPI_Allreduce_c(const void *from, void *to, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return PMPI_Allreduce_c(from, to, CUT(n), type, op, comm);
}
"""


# A library that has the call, and refuses it.
_REFUSES = """
#include <mpi.h>
int MPI_Put_c(const void *from, MPI_Count n, MPI_Datatype t, int to, MPI_Aint at, MPI_Count m,
              MPI_Datatype u, MPI_Win win)
{
    return MPI_ERR_OTHER;
}
"""


@pytest.fixture
def wheel() -> Mpi:
    """The MPI that has all of MPI 4."""
    return choose_mpi("embedded")


def _ends(mpi: Mpi, ranks: int, lines: list[str], out: Path) -> list[End]:
    records = measure(engine_of(mpi), ranks, 1, [f"{line} rule=fixed count=1" for line in lines], out)
    return [record for record in records if isinstance(record, End)]


def test_a_library_that_cuts_counts_is_wrong(
    tmp_path: Path, wheel: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "short.c"
    source.write_text(_SHORT)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(wheel), source, tmp_path)))
    lines = [
        f"op=mpi.{call}_c bytes={size}" for call in ("bcast", "put", "allreduce") for size in (4096, 4097)
    ]
    ends = _ends(wheel, 2, lines, tmp_path / "out.jsonl")
    assert [end.status for end in ends] == ["ok", "failed"] * 3
    assert all("byte 4096 of " in (end.why or "") for end in ends[1::2])


def test_flipped_bits_of_large_calls_are_seen(tmp_path: Path, wheel: Mpi) -> None:
    lines = [f"op=mpi.{call}_c bytes=1001 plant={int(call not in _TO_ROOT)}" for call in _CALLS]
    assert [end.status for end in _ends(wheel, 2, lines, tmp_path / "out.jsonl")] == ["failed"] * len(lines)


@pytest.mark.parametrize("ranks", [2, 3])
def test_two_groups_get_each_others_blocks(tmp_path: Path, one_mpi: Mpi, ranks: int) -> None:
    lines = [
        f"op=mpi.inter.{call} bytes=1001{more}" for call in _INTER for more in ("", f" plant={ranks - 1}")
    ]
    ends = _ends(one_mpi, ranks, ["op=mpi.inter.barrier", *lines], tmp_path / "out.jsonl")
    assert [(end.status, end.verified) for end in ends] == [
        ("ok", True),
        *[("ok", True), ("failed", False)] * 4,
    ]
    assert all(f"rank {ranks - 1}: " in (end.why or "") for end in ends[2::2])


@pytest.mark.parametrize("call", [further(call) for call in _CALLS])
def test_blocks_beyond_two_gibibytes_arrive(tmp_path: Path, wheel: Mpi, call: str) -> None:
    (end,) = _ends(wheel, 2, [f"op=mpi.{call}_c bytes=2147483657"], tmp_path / "out.jsonl")
    assert (end.status, end.why) == ("ok", None)


def test_a_put_that_fails_keeps_its_target_not_waiting(
    tmp_path: Path, wheel: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "refuses.c"
    source.write_text(_REFUSES)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(wheel), source, tmp_path)))
    (end,) = _ends(wheel, 2, ["op=mpi.put_c bytes=8"], tmp_path / "out.jsonl")
    assert end.status == "failed"
    assert "rank 0: MPI_Win_lock, MPI_Put_c or MPI_Win_unlock failed" in (end.why or "")
