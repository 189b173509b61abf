"""Calls with counts beyond an int, and over two groups: cut counts, flipped bits, odd numbers of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import plan_of, run_plan, setup_of
from further import further
from points import engine_of, measure
from preloaded import build_preloaded
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.schema import End
from steelyard.results.load import load
from steelyard.results.rows import rows_of

_TYPED = ("bcast", "allgather", "alltoall", "put", "get", "scatter", "gather")
_SUMS = ("allreduce", "reduce", "accumulate")
_CALLS = (*_TYPED, *_SUMS)
_TO_ROOT = ("reduce", "gather", "get")
_TYPES = ("contiguous", "last_first")
_ENDS, _ASSERTION = "accumulate", "p_data"  # in a window of MPI_Win_create MPICH 5.0.2 ends the job by it
_BEYOND = 2147483657  # bytes: 2 GiB and 9
_INTER = ("bcast", "allreduce", "allgather", "alltoall")
# A library whose counts end at 4 KiB, as others' at 2 GiB, in calls and in datatypes.
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
int MPI_Type_create_hindexed_c(MPI_Count n, const MPI_Count lengths[], const MPI_Count at[],
                               MPI_Datatype type, MPI_Datatype *made)
{
    const MPI_Count cut[] = {lengths[0], CUT(lengths[1])};
    return PMPI_Type_create_hindexed_c(n, cut, at, type, made);
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
    lines = [f"op=mpi.bcast_c bytes={size} type=last_first" for size in (4097, 4098)]
    sound, cut = _ends(wheel, 2, lines, tmp_path / "typed.jsonl")
    assert (sound.status, cut.status) == ("ok", "failed")
    assert "states 4097 bytes for a datatype of 4098" in (cut.why or "")


def test_flipped_bits_of_large_calls_are_seen(tmp_path: Path, wheel: Mpi) -> None:
    lines = [f"op=mpi.{call}_c bytes=1001 plant={int(call not in _TO_ROOT)}" for call in _CALLS]
    assert [end.status for end in _ends(wheel, 2, lines, tmp_path / "out.jsonl")] == ["failed"] * len(lines)


def test_blocks_that_are_elements_of_a_type_arrive(tmp_path: Path, wheel: Mpi) -> None:
    lines = [
        f"op=mpi.{call}_c bytes={size} type={word}{planted}"
        for call in _TYPED
        for word in _TYPES
        for size in (0, 1, 1001)
        for planted in ("", f" plant={int(call not in _TO_ROOT)}" if size > 1 else "")
    ]
    found = [end.status for end in _ends(wheel, 3, lines, tmp_path / "out.jsonl")]
    assert found == ["failed" if "plant" in line else "ok" for line in lines]


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


@pytest.mark.parametrize(
    "words",
    [
        *(further(f"{call}_c") for call in (*_CALLS, "pingpong") if call != _ENDS),
        *(further(f"{call}_c type={word}") for call in ("bcast", "put", "get", "gather") for word in _TYPES),
    ],
)
def test_blocks_beyond_two_gibibytes_arrive(tmp_path: Path, wheel: Mpi, words: str) -> None:
    (end,) = _ends(wheel, 2, [f"op=mpi.{words} bytes={_BEYOND}"], tmp_path / "out.jsonl")
    assert (end.status, end.why, end.verified) == ("ok", None, True)


@pytest.mark.further
def test_an_accumulate_beyond_two_gibibytes_is_a_result(tmp_path: Path, wheel: Mpi) -> None:
    """Right, or a failure with the library's assertion: a release of MPICH that mends it passes, too."""
    run_plan(tmp_path / "out", plan_of(f"mpi.{_ENDS}_c", ranks=2, bytes=_BEYOND, launches=1), setup_of(wheel))
    (row,) = rows_of(load(tmp_path / "out"))
    assert row.status == "ok" or _ASSERTION in (row.why or ""), row.why


def test_a_put_that_fails_keeps_its_target_not_waiting(
    tmp_path: Path, wheel: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "refuses.c"
    source.write_text(_REFUSES)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(wheel), source, tmp_path)))
    (end,) = _ends(wheel, 2, ["op=mpi.put_c bytes=8"], tmp_path / "out.jsonl")
    assert end.status == "failed"
    assert "rank 0: MPI_Win_lock, MPI_Put_c or MPI_Win_unlock failed" in (end.why or "")
