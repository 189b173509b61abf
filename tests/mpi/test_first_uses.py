"""mpi.first.*: timed before all else, in a launch of its own, and the first use indeed; what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import ended, plan_of, run_plan, setup_of
from further import further
from points import describe, engine_of, measure
from preloaded import build_preloaded
from steelyard.analyses.job_start.model import start_times
from steelyard.analyses.process_memory.model import process_memories
from steelyard.engines.mpi import Mpi
from steelyard.judges.accept import Weighed, accept
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.read import read_folder
from steelyard.records.schema import End, Obs
from steelyard.results.load import load
from steelyard.results.rows import rows_of

# Ranks leave the start of the library on two sides of the instant in one launch of a hundred, and in more
# where others use the cores.
_STRADDLED, _ATTEMPTS = "on its two sides", 8
_TRIES = 3  # others may keep a second use from a core as long as the first is late: nobody can tell then
_LATE_NS = 300e6  # of a connection that is made when it is first used; nothing else takes that long
_LAZY = """
#include <mpi.h>
#include <unistd.h>
static int connected;
int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    if (!connected)
        usleep(%d);
    connected = 1;
    return PMPI_Send(data, n, type, to, tag, comm);
}
"""
_ROWS = (  # windows of multiples of 16 bytes: those of MPICH 4.0 overlap otherwise
    ("op=mpi.first.message bytes=7 peer=1", 2, (0, 1)),
    ("op=mpi.first.put bytes=1000000 use=4", 2, (1,)),  # checked while rank 0 could put again
    further("op=mpi.first.bcast bytes=7", 2, (1,)),
    further("op=mpi.first.allreduce bytes=24", 2, (0, 1)),
    further("op=mpi.first.job bytes=24", 2, (0, 1)),
    ("op=mpi.first.alltoall bytes=7 use=3", 2, (0, 1)),
    further("op=mpi.first.alltoall bytes=7 use=2", 3, (0, 2)),
    further("op=mpi.first.thread bytes=9 use=2", 2, (0, 1)),
    further("op=mpi.first.comm_dup", 2, (0, 1)),
    further("op=mpi.first.window bytes=48 use=2", 2, (0, 1)),
    further("op=mpi.first.barrier use=2", 2, ()),
    further("op=mpi.first.init", 2, ()),
)
_LINES = tuple(str(getattr(row, "values", row)[0]) for row in _ROWS)


def _end(mpi: Mpi, ranks: int, line: str, out: Path, first: str | None = None) -> tuple[End, int]:
    """How a launch with this one point ends, and its samples, each with what there is in memory."""
    words = ["--first", f"point=0 {first or line} warm_up=brief"]
    words += ["--thread-level", "multiple"] if "first.thread" in line else []
    for attempt in range(_ATTEMPTS):
        records = measure(engine_of(mpi), ranks, 1, [line], out.with_suffix(f".{attempt}"), words=words)
        (end,) = (record for record in records if isinstance(record, End))
        if _STRADDLED not in (end.why or ""):
            break
    samples = [record for record in records if isinstance(record, Obs)]
    for record in samples:
        assert all(min(rank) > 0 for rank in record.counts["resident_bytes"])
        assert all(min(rank) >= 0 for rank in record.counts["pinned_bytes"])
    return end, sum(len(record.start_ns[0]) for record in samples)


@pytest.mark.parametrize(("line", "ranks", "receivers"), _ROWS)
def test_a_use_is_checked_and_timed_once(
    tmp_path: Path, one_mpi: Mpi, line: str, ranks: int, receivers: tuple[int, ...]
) -> None:
    end, samples = _end(one_mpi, ranks, line, tmp_path / "out.jsonl")
    assert (end.status, end.why, samples) == ("ok", None, 1)
    for rank in receivers[-1:]:
        end, samples = _end(one_mpi, ranks, f"{line} plant={rank}", tmp_path / "planted.jsonl")
        assert (end.status, samples) == ("failed", 0)
        assert f"rank {rank}: " in (end.why or "")


@pytest.mark.further
def test_every_mpi_has_first_uses(tmp_path: Path, mpi: Mpi) -> None:
    for number, line in enumerate(_LINES):
        end, samples = _end(mpi, 2, line, tmp_path / f"{number}.jsonl")
        assert (end.status, end.why, samples) == ("ok", None, 1), line


def test_what_did_not_come_first_is_skipped(tmp_path: Path, one_mpi: Mpi) -> None:
    line = "op=mpi.first.barrier"
    engine = engine_of(one_mpi)
    records = measure(engine, 1, 1, [line, "op=self.empty rule=fixed count=2"], tmp_path / "out.jsonl")
    first, second = (record for record in records if isinstance(record, End))
    assert (first.status, second.status) == ("skipped", "ok")
    assert "in a launch of its own" in (first.why or "")
    ops = {op.name: op for op in describe(engine).ops}
    assert ops["mpi.first.barrier"].methods == ("first",)
    assert not any("first" in op.methods for op in ops.values() if not op.first)


def _preload(late_ns: float, mpi: Mpi, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the first message of a rank take so long in what starts from now on."""
    source = folder / "lazy.c"
    source.write_text(_LAZY % (late_ns / 1e3))
    monkeypatch.setenv("LD_PRELOAD", str(build_preloaded(engine_of(mpi), source, folder)))


@pytest.mark.further
def test_an_acceptance_names_a_lazy_connection(
    tmp_path: Path, one_mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    _preload(_LATE_NS, one_mpi, tmp_path, monkeypatch)
    params = {"use": (1.0, 2.0)}
    plan = plan_of("mpi.first.message", ranks=2, bytes=8, params=params, launches=_ATTEMPTS)
    for attempt in range(_TRIES):
        run_plan(folder := tmp_path / f"out {attempt}", plan, setup_of(one_mpi))
        measured = load(folder)
        said = {one.topic: one for one in accept(Weighed(measured, rows_of(measured))).topics}["first use"]
        if said.verdict != CANNOT_TELL:
            break
    assert said.verdict == "not well", said.evidence
    assert "mpi.first.message" in said.evidence


def test_a_lazy_connection_is_found(tmp_path: Path, one_mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the first message of a rank takes 300 ms. It is in the first use, and not in the second."""
    _preload(_LATE_NS, one_mpi, tmp_path, monkeypatch)
    params = {"use": (1.0, 2.0)}
    plan = plan_of("mpi.first.message", "mpi.barrier", ranks=2, bytes=8, params=params)
    for attempt in range(_ATTEMPTS):
        folder = tmp_path / f"run {attempt}"
        statuses = [status for _, status in ended(run_plan(folder, plan, setup_of(one_mpi)))]
        if "skipped" not in statuses:
            break
    assert statuses == ["ok"] * 3
    took: dict[str, list[int]] = {}
    for file in read_folder(folder):
        (run,) = file.points  # each has a launch of its own
        assert run.point is not None
        name = f"{run.point.op} {run.point.params.get('use')}"
        took[name] = [stop - start for record in run.obs for start, stop in _spans(record)]
    first, second = took["mpi.first.message 1"], took["mpi.first.message 2"]
    assert len(first) == len(second) == 1
    assert first[0] > _LATE_NS > second[0]
    rows = rows_of(load(folder))
    (start,) = start_times(rows)  # both uses have launches like this
    assert start.launcher is not None
    assert min(start.init.value, start.finalize or 0.0, start.main_to_init or 0.0) > 0
    assert [one.op for one in process_memories(rows)] == ["mpi.first.message"] * 2


def _spans(record: Obs) -> list[tuple[int, int]]:
    """When rank 0 began and ended."""
    return list(zip(record.start_ns[0], record.stop_ns[0], strict=True))
