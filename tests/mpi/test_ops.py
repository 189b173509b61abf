"""Every op, for real: with each MPI, on 1 to 4 ranks, at odd sizes; and how a wrong answer is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from further import further
from points import BROKEN_IN_MPICH_4, engine_of, measure, points_of, points_once, sound_ops
from preloaded import build_preloaded
from steelyard.base.units import parse_sizes
from steelyard.engines.build import Engine, solo_engine
from steelyard.engines.description import Op
from steelyard.engines.mpi import Mpi, find_mpis
from steelyard.records.schema import End, Obs, Point, Record

# Ops of two ranks in which not both receive data.
_RECEIVERS: dict[tuple[str, ...], tuple[int, ...]] = {
    ("mpi.overlap.isend",): (0, 1),  # and not as send
    ("barrier", "mpi.inter.barrier", "wtime", "session_empty"): (),
    ("bcast", "bandwidth", "bandwidth_c", "message_rate", "pattern.fan_out", "send", "part.send", "exscan"): (
        1,
    ),
    ("reduce", "gather", "gatherv", "recv", "pattern.fan_in", "reduce_c", "gather_c"): (0,),
    ("put", "rput", "accumulate", "raccumulate", "put_c", "mpi.inter.bcast"): (1,),
    ("wait.stream",): (0,),
    ("put.bandwidth", "rput.bandwidth", "accumulate.bandwidth", "raccumulate.bandwidth"): (1,),
    ("put.pattern", "rput.pattern", "accumulate.pattern", "raccumulate.pattern"): (1,),
    ("get", "rget", "get.bandwidth", "rget.bandwidth", "get.pattern", "rget.pattern"): (0,),
    ("win.lock", "win.lock_all", "win.sync", "win.test"): (0,),
    ("win.flush", "win.flush_all", "win.flush_local", "win.flush_local_all"): (0,),
}


def _least(name: str) -> int:
    """The smallest size: a stream of bytes has no empty message, an array is a cache line at least."""
    least = {"sock.tcp": 1, "sock.unix": 1, "sock.pipe": 1, "mem.copy": 0, "mem.": 4096}
    return next((size for start, size in least.items() if name.startswith(start)), 0)


def _words(op: Op, threads: int = 1, few: bool = False) -> Iterator[str]:
    """The points of an op: an odd number of elements; and none, one and many, unless `few` are wanted."""
    if threads < op.min_threads or (op.max_threads and threads > op.max_threads):
        return
    words = f"op={op.name} threads={threads} rule=fixed count=2"
    if op.default_bytes is None:
        yield words
        return
    element = next(size for size in parse_sizes(op.default_bytes) if size > 0)
    for size in (3 * element if element > 1 else 7, *(() if few else (0, element, 1024))):
        if size >= _least(op.name):
            yield f"{words} bytes={size}"
    if op.name == "mpi.bandwidth":
        yield f"{words} bytes=7 window=5 buffers=3"
        yield f"{words} bytes=64 window=3 buffers=5"


def _check(records: Sequence[Record], lines: Sequence[str], ops: Mapping[str, Op], ranks: int) -> None:
    """Each point has the end that it should have, and what was recorded of it makes sense."""
    ends = {record.point: record for record in records if isinstance(record, End)}
    points = {record.point: record for record in records if isinstance(record, Point)}
    assert ends.keys() == set(range(len(lines)))
    for index, line in enumerate(lines):
        op, end = ops[line.split()[0].removeprefix("op=")], ends[index]
        if not op.available or ranks < op.min_ranks:
            assert end.status == "skipped", line
            assert (op.why_not or f"needs {op.min_ranks} ranks") in (end.why or ""), line
            assert index not in points
            continue
        assert (end.status, end.why, end.verified) == ("ok", None, True), line
        assert end.count - end.rejected == 2, line
        assert (points[index].op, points[index].ranks, points[index].report) == (
            op.name,
            ranks,
            op.report,
        )
        assert points[index].reps >= 1
    for record in records:
        if isinstance(record, Obs):
            assert len(record.start_ns) == ranks
            for starts, stops in zip(record.start_ns, record.stop_ns, strict=True):
                assert all(start <= stop for start, stop in zip(starts, stops, strict=True))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_op_gives_right_answers(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    engine = engine_of(mpi)
    ops = sound_ops(engine)
    few = ranks > 2  # they take turns on two cores, which can be slow
    lines = [line for op in ops.values() for line in _words(op, few=few or op.family == "one-sided")]
    lines = points_of(mpi, ranks, lines)
    _check(measure(engine, ranks, 1, lines, tmp_path / "out.jsonl"), lines, ops, ranks)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_op_gives_right_answers_without_mpi(tmp_path: Path, threads: int) -> None:
    engine = solo_engine()
    ops = sound_ops(engine)
    lines = [line for op in ops.values() for line in _words(op, threads)]
    assert lines
    _check(measure(engine, 1, threads, lines, tmp_path / "out.jsonl"), lines, ops, 1)


def test_ops_with_threads_run_in_ranks(tmp_path: Path, mpi: Mpi) -> None:
    engine = engine_of(mpi)
    ops = sound_ops(engine)
    suited = (op for op in ops.values() if not op.max_threads)
    lines = [line for op in suited for line in _words(op, 2, few=op.name.startswith("mpi."))]
    lines = points_of(mpi, 2 * 2, lines)
    _check(measure(engine, 2, 2, lines, tmp_path / "out.jsonl"), lines, ops, 2)


@pytest.mark.parametrize("method", [further("batch"), "barrier"])  # the first is what others have
def test_every_method_suits_every_op_that_says_so(tmp_path: Path, mpi: Mpi, method: str) -> None:
    engine = engine_of(mpi)
    ops = {name: op for name, op in sound_ops(engine).items() if method in op.methods and op.min_threads == 1}
    sizes = {name: f" bytes={max(8, _least(name))}" if op.sized else "" for name, op in ops.items()}
    lines = points_once(mpi, [f"op={name} method={method} rule=fixed count=2{sizes[name]}" for name in ops])
    _check(measure(engine, 2, 1, lines, tmp_path / "out.jsonl"), lines, ops, 2)


def test_sums_of_a_part_of_a_number_are_refused(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = ["op=mpi.allreduce bytes=7 rule=fixed count=2", "op=mpi.barrier rule=fixed count=2"]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    first, second = (record for record in records if isinstance(record, End))
    assert first.status == "skipped"
    assert "7 bytes are no multiple of 8" in (first.why or "")
    assert second.status == "ok"


# ---- a library that answers wrongly ------------------------------------------------------------------------


def test_wrong_answers_of_a_real_library_are_found(tmp_path: Path) -> None:
    mpi = next((mpi for mpi in find_mpis() if mpi.family == "mpich" and mpi.version.startswith("4.0.")), None)
    if mpi is None:
        pytest.skip("there is no MPICH 4.0, whose wrong answers are known")
    lines = [f"op={name} bytes=24 rule=fixed count=2" for name in BROKEN_IN_MPICH_4]
    records = measure(engine_of(mpi), 2, 1, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    assert [(end.status, end.verified, (end.why or "").partition(":")[0]) for end in ends] == [
        ("failed", False, "wrong")
    ] * len(lines)


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 1])
def test_a_flipped_bit_in_what_a_rank_received_is_found(tmp_path: Path, mpi: Mpi, rank: int) -> None:
    """Every op with an answer finds it, on whichever rank receives one."""
    engine = engine_of(mpi)
    ops = {
        name: op
        for name, op in sound_ops(engine).items()
        if name.startswith("mpi.") and op.available and op.min_ranks <= 2
    }
    sizes = {name: " bytes=24" if op.sized else "" for name, op in ops.items()}
    lines = points_once(mpi, [f"op={name} rule=fixed count=2 plant={rank}{sizes[name]}" for name in ops])
    records = measure(engine, 2, 1, lines, tmp_path / "out.jsonl")
    ends = {lines[record.point].split()[0][3:]: record for record in records if isinstance(record, End)}
    for name, end in ends.items():
        if rank in _receivers(name):
            assert (end.status, end.verified) == ("failed", False), name
            assert (end.why or "").startswith(f"wrong: rank {rank}: "), name
        else:
            assert (end.status, end.verified) == ("ok", True), name


def _receivers(name: str) -> tuple[int, ...]:
    """Which of two ranks receive something that can be wrong."""
    base = (
        name.removeprefix("mpi.")
        .removeprefix("overlap.")
        .removeprefix("mt.")
        .removeprefix("i")
        .removesuffix("_init")
    )
    if base.startswith("mock."):  # of what it stands for
        base = base.removeprefix("mock.").partition("_by_")[0]
    return next((ranks for names, ranks in _RECEIVERS.items() if name in names or base in names), (0, 1))


# A layer between program and library (the profiling interface of MPI), which flips a bit of what rank 1 gets.
# Tag 1 is that of the point-to-point ops; the team's own messages are to arrive whole.
_LIAR = r"""
#include <mpi.h>
static int lie(int rc, void *data, int count, MPI_Datatype type, MPI_Comm comm)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Type_size(type, &size);
    if (rank == 1 && count > 0 && size > 0)
        ((char *)data)[(long)count * size - 1] ^= 1;
    return rc;
}
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int rc = PMPI_Recv(data, count, type, from, tag, comm, status);
    return tag == 1 ? lie(rc, data, count, type, comm) : rc;
}
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return lie(PMPI_Bcast(data, count, type, root, comm), data, count, type, comm);
}
int MPI_Alltoall(const void *out, int n, MPI_Datatype t, void *data, int count, MPI_Datatype type,
                 MPI_Comm comm)
{
    return lie(PMPI_Alltoall(out, n, t, data, count, type, comm), data, count, type, comm);
}
int MPI_Allreduce(const void *out, void *data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return lie(PMPI_Allreduce(out, data, count, type, op, comm), data, count, type, comm);
}
"""
_TOLD_LIES = ("mpi.pingpong", "mpi.bcast", "mpi.alltoall", "mpi.allreduce")
_TOLD_THE_TRUTH = ("mpi.bandwidth", "mpi.ibcast", "mpi.allgather", "mpi.scan", "mpi.barrier")


def _liar(folder: Path, engine: Engine) -> Path:
    """The layer as a shared object for the library of an engine."""
    source = folder / "liar.c"
    source.write_text(_LIAR)
    return build_preloaded(engine, source, folder)


def test_a_wrong_answer_is_found_and_nothing_else_is_blamed(tmp_path: Path, mpi: Mpi) -> None:
    engine = engine_of(mpi)
    liar = _liar(tmp_path, engine)
    ops = sound_ops(engine)
    sizes = {name: " bytes=24" if op.sized else "" for name, op in ops.items()}
    lines = [f"op={name} rule=fixed count=2{sizes[name]}" for name in (*_TOLD_LIES, *_TOLD_THE_TRUTH)]
    records = measure(engine, 2, 1, lines, tmp_path / "out.jsonl", ["env", f"LD_PRELOAD={liar}"])
    ends = {lines[record.point].split()[0][3:]: record for record in records if isinstance(record, End)}
    for name in _TOLD_THE_TRUTH:
        assert (ends[name].status, ends[name].verified) == ("ok", True), name
    for name in _TOLD_LIES:
        assert (ends[name].status, ends[name].verified) == ("failed", False), name
        why = ends[name].why or ""
        assert why.startswith("wrong: rank 1: "), name
        assert ("element 2 of the sum" if name == "mpi.allreduce" else "byte 23 of block") in why, name
