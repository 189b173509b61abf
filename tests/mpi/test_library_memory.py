"""mpi.memory.*: bytes of each object, and a leak that was planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import ended, plan_of, run_plan, setup_of
from further import further
from points import engine_of, measure
from preloaded import build_preloaded
from steelyard.analyses.object_memory.model import LEAKS, ObjectMemory, object_memories
from steelyard.analyses.overview import read_rows
from steelyard.engines.mpi import Mpi
from steelyard.judges.accept import Weighed, accept
from steelyard.records.schema import End, Obs
from steelyard.results.load import load
from steelyard.results.rows import rows_of

_LEAK = 1024  # bytes of each communicator
_LEAKY = f"""
#include <mpi.h>
#include <stdlib.h>
void *volatile kept;
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{{
    kept = malloc({_LEAK});
    return PMPI_Comm_dup(comm, made);
}}
"""
_KINDS = (
    "op=mpi.memory.type objects=3",
    further("op=mpi.memory.comm_dup objects=3"),
    further("op=mpi.memory.win_allocate objects=2 bytes=48"),
    "op=mpi.memory.request objects=3 bytes=7",
    "op=mpi.memory.unexpected objects=3 bytes=7",
    further("op=mpi.memory.unexpected objects=1 bytes=100000"),
)


@pytest.mark.parametrize("line", _KINDS)
def test_objects_are_made_looked_at_and_freed(tmp_path: Path, one_mpi: Mpi, line: str) -> None:
    lines = [f"{line} rule=fixed count=3{more}" for more in ("", " plant=1")]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    right, wrong = (record for record in records if isinstance(record, End))
    assert (right.status, right.why, wrong.status) == ("ok", None, "failed")
    assert "rank 1: " in (wrong.why or "")
    objects = int(line.partition("objects=")[2].split()[0])
    counts = [record.counts for record in records if isinstance(record, Obs)]
    assert sum(sum(map(sum, count["objects"])) for count in counts) == 2 * 3 * objects
    assert sum(sum(map(sum, count["freed"])) for count in counts) >= 2 * 2 * objects


def test_objects_have_room(tmp_path: Path, one_mpi: Mpi) -> None:
    line = "op=mpi.memory.win_allocate objects=100000 bytes=1Gi rule=fixed count=3"
    records = measure(engine_of(one_mpi), 2, 1, [line], tmp_path / "out.jsonl")
    (end,) = (record for record in records if isinstance(record, End))
    assert end.status == "skipped"
    assert "the buffers of this test case need 215 TB" in (end.why or "")


def _memory_of(folder: Path, mpi: Mpi) -> ObjectMemory:
    params = {"objects": 500.0, "count": 24.0}
    plan = plan_of("mpi.memory.comm_dup", ranks=2, launches=3, params=params)
    assert {status for _, status in ended(run_plan(folder, plan, setup_of(mpi)))} == {"ok"}
    (memory,) = object_memories(read_rows(folder).rows)
    return memory


@pytest.mark.further
def test_a_library_that_keeps_of_each_communicator_leaks(
    tmp_path: Path, one_mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _memory_of(tmp_path / "as it is", one_mpi)
    assert before.verdict != LEAKS
    assert before.held.value > 100  # a communicator of two ranks is more than its handle
    source = tmp_path / "leaky.c"
    source.write_text(_LEAKY)
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(one_mpi), source, tmp_path)))
    leaky = _memory_of(tmp_path / "leaky", one_mpi)
    assert leaky.verdict == LEAKS
    assert leaky.left is not None
    assert before.left is not None
    assert _LEAK <= leaky.left.value - before.left.value < 1.2 * _LEAK
    measured = load(tmp_path / "leaky")
    said = {one.topic: one for one in accept(Weighed(measured, rows_of(measured))).topics}["memory"]
    assert said.evidence.startswith(f"mpi.memory.comm_dup of {one_mpi.name} on 2 ranks leaves 1.")
    assert said.evidence.endswith("That was seen in 3 launches; fewer than 5 show no fault.")
