"""Links under MPI and memory, for real: every parameter, sizes around each limit, a loss, hosts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import hosts as testbed
from further import further
from hosts import hosts
from points import describe, engine_of, measure
from steelyard.base.errors import MeasurementError
from steelyard.engines.build import Engine, mpi_engine, solo_engine
from steelyard.engines.mpi import Mpi
from steelyard.records.kinds import NETWORK
from steelyard.records.read import read_records
from steelyard.records.schema import End, Point, Record
from steelyard.system.process import run

_STREAMS = ("sock.tcp", "sock.unix", "sock.pipe")  # of bytes
_FIXED = "rule=fixed count=2"


def _links() -> Iterator[str]:
    """Every word of every parameter; sizes around those at which something changes."""
    for link, wait, form in itertools.product(_STREAMS, ("block", "spin"), ("", ".stream")):
        window = " window=5" if form else ""
        for size in (1, 4096, 65537, 1_000_001):
            yield f"op={link}{form} wait={wait} bytes={size}{window}"
        yield f"op={link}{form} wait={wait} bufsize=8192 bytes=100001{window}"
    yield "op=sock.tcp nodelay=off bytes=7"
    yield "op=sock.tcp.stream nodelay=off bytes=7 window=3"
    for wait, size in itertools.product(("block", "spin"), (0, 1, 1472, 1473, 32768, 65507)):
        yield f"op=sock.udp wait={wait} bytes={size}"
    yield "op=sock.udp.stream bytes=1 window=64"
    yield "op=sock.udp.stream wait=spin bytes=2000 window=5"
    for size in (0, 1, 56, 57, 64, 65, 16384, 16385, 131072, 131073, 1_000_001):
        yield f"op=shm.flag bytes={size}"
        yield f"op=shm.flag.stream bytes={size} window=9"
        yield f"op=shm.cma bytes={size}"
        yield f"op=shm.cma.stream bytes={size} window=9"
    yield "op=shm.flag piece=100 bytes=10001"
    yield "op=shm.flag.stream piece=64 bytes=10001 window=1"


def _tagged(mpi: Mpi, size: int) -> list[str]:
    """Messages through libraries that the engine was built with; under an MPI that has them, its own."""
    there = {op.name for op in describe(engine_of(mpi)).ops if op.available}
    return [
        f"op={op} {param}={word} bytes={size}"
        for op, param in (("ofi.tagged", "provider"), ("ucx.tagged", "tls"))
        for word in ("best", "tcp", "shm")
        if op in there
    ]


def _memory() -> Iterator[str]:
    for size, buffers in itertools.product((0, 1, 63, 64, 65, 100_001), (1, 3)):
        yield f"op=mem.copy bytes={size} buffers={buffers}"
    kernels = ("stream.copy", "stream.scale", "stream.add", "stream.triad", "read", "write")
    for kernel, size in itertools.product(kernels, (192, 4097, 1_000_001)):
        yield f"op=mem.{kernel} bytes={size}"
    for size in (128, 191, 4096, 1_000_001):
        yield f"op=mem.latency bytes={size}"


def _ends(records: Sequence[Record]) -> list[End]:
    found = (record for record in records if isinstance(record, End))
    return sorted(found, key=lambda end: end.point)


def _all_right(engine: Engine, ranks: int, lines: Sequence[str], out: Path) -> tuple[Record, ...]:
    records = measure(engine, ranks, 1, [f"{line} {_FIXED}" for line in lines], out)
    ends = _ends(records)
    assert len(ends) == len(lines)
    for line, end in zip(lines, ends, strict=True):
        assert (end.status, end.why, end.verified) == ("ok", None, True), line
    return records


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_link_delivers_between_forks(tmp_path: Path, ranks: int) -> None:
    lines = [*_links()] if ranks == 2 else [*itertools.islice(_links(), 0, None, 7)]
    records = _all_right(solo_engine(), ranks, lines, tmp_path / "out.jsonl")
    for line, point in zip(lines, (one for one in records if isinstance(one, Point)), strict=True):
        window = next((int(word[7:]) for word in line.split() if word.startswith("window=")), None)
        assert point.parts == (2 if window is None else 1)
        assert point.moved_bytes == (2 if window is None else window) * point.bytes


def test_every_link_delivers_between_ranks_of_mpi(tmp_path: Path, mpi: Mpi) -> None:
    lines = [*itertools.islice(_links(), 0, None, 5), *_tagged(mpi, 8), *_tagged(mpi, 100_001)]
    _all_right(engine_of(mpi), 2, lines, tmp_path / "out.jsonl")


def test_every_ping_pong_is_timed_message_by_message(tmp_path: Path) -> None:
    links = (*_STREAMS, "sock.udp", "shm.flag", "shm.cma")
    lines = [f"op={link} bytes=9 method=each" for link in links]
    _all_right(solo_engine(), 2, lines, tmp_path / "out.jsonl")


def test_memory_is_copied_read_and_written(tmp_path: Path) -> None:
    _all_right(solo_engine(), 1, [*_memory()], tmp_path / "out.jsonl")


def test_memory_moves_what_makes_whole_lines(tmp_path: Path) -> None:
    lines = ["op=mem.stream.triad bytes=1000", "op=mem.read bytes=1000", "op=mem.copy bytes=1000"]
    records = _all_right(solo_engine(), 1, lines, tmp_path / "out.jsonl")
    moved = [record.moved_bytes for record in records if isinstance(record, Point)]
    assert moved == [960, 960, 1000]  # 5 lines in each of 3 arrays; 15 lines; a message


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 1])
def test_a_flipped_bit_is_found(tmp_path: Path, rank: int) -> None:
    lines = [line for line in (*_links(), *_memory()) if "bytes=0" not in line]
    planted = [f"{line} {_FIXED} plant={rank}" for line in lines]
    for line, end in zip(lines, _ends(measure(solo_engine(), 2, 1, planted, tmp_path / "o")), strict=True):
        if rank == 0 and ".stream" in line and "mem" not in line:  # it receives nothing but the answer
            assert (end.status, end.verified) == ("ok", True), line
        else:
            assert (end.status, end.verified) == ("failed", False), line
            assert (end.why or "").startswith(f"wrong: rank {rank}: "), line


# What cannot be -> words of the sentence.
_REFUSED = {
    "op=sock.tcp bytes=0": "has no empty message; use bytes=1",
    "op=sock.pipe.stream bytes=0": "has no empty message; use bytes=1",
    "op=sock.udp bytes=65508": "a datagram has at most 65507 bytes, not 65508; use sock.tcp",
    "op=sock.udp.stream bytes=65507 window=64 bufsize=4096": "use a smaller window",
    "op=mem.stream.add bytes=191": "needs 192 bytes at least, a cache line an array",
    "op=mem.latency bytes=127": "needs two cache lines, 128 bytes, at least",
}


def test_what_cannot_be_is_skipped_with_a_reason(tmp_path: Path) -> None:
    lines = [f"{line} {_FIXED}" for line in (*_REFUSED, "op=sock.pipe bytes=1")]
    *ends, last = _ends(measure(solo_engine(), 2, 1, lines, tmp_path / "out.jsonl"))
    for end, (line, words) in zip(ends, _REFUSED.items(), strict=True):
        assert end.status == "skipped", line
        assert words in (end.why or ""), line
    assert last.status == "ok"


def test_one_rank_is_too_few(tmp_path: Path) -> None:
    (end,) = _ends(measure(solo_engine(), 1, 1, [f"op=sock.tcp bytes=1 {_FIXED}"], tmp_path / "out.jsonl"))
    assert (end.status, end.why) == ("skipped", "unsupported: rank 0: sock.tcp needs 2 ranks, there is 1")


# ---- a system that lies or refuses -------------------------------------------------------------------------

# The 50th datagram of 8 bytes is lost; cross-memory attach is forbidden.
_SYSTEM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/socket.h>
#include <unistd.h>
ssize_t send(int file, const void *data, size_t bytes, int flags)
{
    static int count;
    if (bytes == 8 && ++count == 50)
        return (ssize_t)bytes;
    return sendto(file, data, bytes, flags, NULL, 0);
}
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n, const struct iovec *from,
                         unsigned long m, unsigned long flags)
{
    (void)pid, (void)to, (void)n, (void)from, (void)m, (void)flags;
    errno = EPERM;
    return -1;
}
"""


@pytest.fixture(scope="module")
def liar(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    folder = tmp_path_factory.mktemp("liar")
    (folder / "liar.c").write_text(_SYSTEM)
    done = run([compiler, "-shared", "-fPIC", "-o", folder / "liar.so", folder / "liar.c"], timeout=600)
    assert done.code == 0, done.err
    return folder / "liar.so"


@pytest.mark.parametrize("wait", [further("block"), "spin"])
def test_a_lost_datagram_is_no_hang(tmp_path: Path, liar: Path, wait: str) -> None:
    words = f"op=sock.udp bytes=8 wait={wait} method=batch reps=100 {_FIXED}".split()
    command = [solo_engine().path, "run", "--ranks", "2", "--out", str(tmp_path / "out"), *words]
    done = run(command, env=os.environ | {"LD_PRELOAD": str(liar)}, timeout=600)
    assert done.code == 3
    assert "for 5 s: a datagram was lost; use smaller messages" in done.err


def test_memory_that_may_not_be_read_is_a_reason(tmp_path: Path, liar: Path) -> None:
    out = tmp_path / "out"
    words = f"op=shm.cma bytes=8 {_FIXED}".split()
    command = [solo_engine().path, "run", "--ranks", "2", "--out", str(out), *words]
    done = run(command, env=os.environ | {"LD_PRELOAD": str(liar)}, timeout=600)
    assert (done.code, done.err) == (0, "")
    (end,) = _ends(read_records(out).records)
    assert end.status == "skipped"
    assert "Operation not permitted; a container or kernel.yama.ptrace_scope may forbid it" in (end.why or "")


# ---- between hosts -----------------------------------------------------------------------------------------


@pytest.mark.ours
def test_between_hosts_it_is_the_network_or_nothing(tmp_path: Path, mpi: Mpi) -> None:
    """Two hosts of the test bed, which have networks and processes of their own."""
    if why := testbed.why_not():
        pytest.skip(why)
    if mpi.family not in testbed.FAMILIES:
        pytest.skip(f"the test bed has no row for {mpi.family}")
    lines = ["op=sock.tcp bytes=1000", "op=sock.tcp.stream bytes=1000 window=4", "op=sock.udp bytes=1000"]
    local = ["op=sock.unix bytes=8", "op=sock.pipe bytes=8", "op=shm.flag bytes=8", "op=shm.cma bytes=8"]
    tagged = _tagged(mpi, 1000)
    points, out = tmp_path / "points", tmp_path / "out.jsonl"
    all_lines = (*lines, *local, *tagged)
    points.write_text("".join(f"point={i} {line} {_FIXED}\n" for i, line in enumerate(all_lines)))
    engine = mpi_engine(mpi)
    with hosts(2) as bed:
        start = bed.mpiexec(mpi)
        command = [*start.argv_prefix, engine.path, "run", "--clock", "monotonic", "--out", str(out)]
        try:
            done = run([*command, "--points", str(points)], env=os.environ | start.environment, timeout=600)
        except MeasurementError as error:
            pytest.skip(f"others use the cores: {error}")
    assert done.code == 0, done.err + done.out
    ends = _ends(read_records(out).records)
    assert [(end.status, end.why, end.verified) for end in ends[:3]] == [("ok", None, True)] * 3
    for line, end in zip(local, ends[3 : 3 + len(local)], strict=True):
        assert end.status == "skipped", line
        assert "is for two ranks of one host" in (end.why or ""), line
    for line, end in zip(tagged, ends[3 + len(local) :], strict=True):
        if "=shm" in line:
            assert end.status == "skipped", line
            continue
        assert (end.status, end.why, end.verified) == ("ok", None, True), line
        assert end.transport is not None, line
        assert (end.transport.name.partition(";")[0], end.transport.layer) == ("tcp", NETWORK), line
