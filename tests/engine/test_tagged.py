"""Tagged messages through libfabric and UCX, for real: transports, sizes around limits, what they refuse."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from campaigns import ended, run_plan, setup_of
from points import describe, measure
from steelyard.engines.build import solo_engine
from steelyard.plan.plan import Measure, Plan, Value
from steelyard.records.kinds import NETWORK, SHARED_MEMORY
from steelyard.records.read import read_records
from steelyard.records.schema import End, Launch, Obs
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.system.leftovers import Leftovers
from steelyard.system.process import Child, run

_FIXED = "rule=fixed count=2"
_SIZES = (
    0,
    1,
    63,
    65,
    4097,
    16385,
    65537,
    1_000_001,
)  # injected, copied, fetched by the receiver


@dataclass(frozen=True)
class Library:
    """How its ops name transports, what those of a host may be called, a transport that nobody has here."""

    op: str
    param: str
    within: tuple[str, ...]
    over_tcp: str
    unknown: str
    only_tcp: Mapping[str, str]


_LIBRARIES = (
    Library("ofi.tagged", "provider", ("shm",), "tcp", "gni", {"FI_PROVIDER": "tcp"}),
    Library("ucx.tagged", "tls", ("sysv", "posix", "cma", "self"), "tcp", "dc", {"UCX_TLS": "tcp"}),
)


@pytest.fixture(params=_LIBRARIES, ids=["libfabric", "ucx"])
def library(request: pytest.FixtureRequest) -> Library:
    """One that the engine was built with; skips without it."""
    found: Library = request.param
    (op,) = (op for op in describe(solo_engine()).ops if op.name == found.op)
    if not op.available:
        pytest.skip(op.why_not or "")
    return found


def _lines(library: Library, *words: str) -> Iterator[str]:
    for word, form, size in itertools.product(words, ("", ".stream"), _SIZES):
        window = " window=5" if form else ""
        yield f"op={library.op}{form} {library.param}={word} bytes={size}{window}"
    for word in words:
        yield f"op={library.op}.stream {library.param}={word} bytes=8 window=5000"
        yield f"op={library.op} {library.param}={word} bytes=9 method=each"


def _ends(lines: Sequence[str], out: Path) -> list[End]:
    records = measure(solo_engine(), 2, 1, [f"{line} {_FIXED}" for line in lines], out)
    ends = sorted((one for one in records if isinstance(one, End)), key=lambda end: end.point)
    assert len(ends) == len(lines)
    return ends


def _run(words: str, out: Path, environment: Mapping[str, str]) -> End:
    """A test case on two ranks in an environment; the engine's own messages reach nobody."""
    argv = [solo_engine().path, "run", "--ranks", "2", "--out", str(out), *words.split(), *_FIXED.split()]
    done = run(argv, env=os.environ | environment, timeout=600)
    assert done.code == 0, done.err
    (end,) = (one for one in read_records(out).records if isinstance(one, End))
    return end


def test_it_delivers_and_says_what_carried_it(library: Library, tmp_path: Path) -> None:
    lines = [*_lines(library, "best", "shm", "tcp")]
    for line, end in zip(lines, _ends(lines, tmp_path / "out.jsonl"), strict=True):
        assert (end.status, end.why, end.verified) == ("ok", None, True), line
        assert end.transport is not None, line
        names = set(end.transport.name.split(", "))
        if "=tcp" in line:
            assert end.transport.name.startswith(library.over_tcp), line
            assert end.transport.layer == NETWORK, line
        else:
            assert names <= set(library.within), line
            assert end.transport.layer == SHARED_MEMORY, line
        assert end.transport.library.lower().startswith(("libfabric 1.", "libfabric 2.", "ucx 1.")), line


def test_the_environment_says_what_is_best(library: Library, tmp_path: Path) -> None:
    end = _run(f"op={library.op} bytes=8", tmp_path / "out", library.only_tcp)
    assert (end.status, end.why) == ("ok", None)
    assert end.transport is not None
    assert end.transport.name.startswith(library.over_tcp)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_flipped_bit_is_found(library: Library, tmp_path: Path, rank: int) -> None:
    lines = [f"{line} plant={rank}" for line in _lines(library, "best") if "bytes=0" not in line]
    for line, end in zip(lines, _ends(lines, tmp_path / "out.jsonl"), strict=True):
        if rank == 0 and ".stream" in line:  # it receives nothing but the answer
            assert (end.status, end.verified) == ("ok", True), line
        else:
            assert (end.status, end.verified) == ("failed", False), line
            assert (end.why or "").startswith(f"wrong: rank {rank}: "), line


def test_what_is_not_here_is_a_row_that_says_what_is(library: Library, tmp_path: Path) -> None:
    lines = [f"op={library.op} {library.param}={word} bytes=8" for word in (library.unknown, "tcp")]
    refused, good = _ends(lines, tmp_path / "out.jsonl")
    assert refused.status == "skipped"
    assert f" {library.unknown} here, " in (refused.why or "")
    assert "tcp" in (refused.why or "").partition(" has ")[2]
    assert (good.status, good.why) == ("ok", None)


def test_the_last_message_leaves_though_nobody_calls_the_library_again(tmp_path: Path) -> None:
    """The provider `sockets` keeps short ones until then, such as the answer to a window."""
    words = (
        "ofi.tagged.stream provider=sockets bytes=10001 window=64",
        "ofi.tagged provider=sockets bytes=8",
    )
    lines = [f"op={text}" for text in words]
    for line, end in zip(lines, _ends(lines, tmp_path / "out.jsonl"), strict=True):
        if end.status == "skipped":
            pytest.skip(end.why or "")
        assert (end.status, end.why, end.verified) == ("ok", None, True), line


# ---- a system that lacks or lies ---------------------------------------------------------------------------


def _preloaded(source: str, folder: Path, compiler: str, *libraries: str) -> dict[str, str]:
    """The variable that puts such code between the engine and the system."""
    (folder / "between.c").write_text(source)
    made = str(folder / "between.so")
    argv = [compiler, "-shared", "-fPIC", "-o", made, str(folder / "between.c"), *libraries]
    done = run(argv, timeout=600)
    assert done.code == 0, done.err
    return {"LD_PRELOAD": made}


# Without the libraries.
_NO_LIBRARIES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(name && (strstr(name, "libfabric") || strstr(name, "libucp")) ? "libgone.so.1" : name, flags);
}
"""


# A provider whose messages have 100 bytes at most.
_SHORT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fi_endpoint.h>
#include <stdlib.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(name && strstr(name, "libfabric") ? getenv("LD_PRELOAD") : name, flags);
}
int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **found)
{
    __typeof__(fi_getinfo) *real = (__typeof__(fi_getinfo) *)dlsym(RTLD_NEXT, "fi_getinfo");
    int code = real(version, node, service, flags, hints, found);
    for (struct fi_info *i = code == 0 ? *found : NULL; i; i = i->next)
        i->ep_attr->max_msg_size = 100;
    return code;
}
"""


def test_a_message_beyond_what_a_provider_takes_is_refused(
    library: Library, tmp_path: Path, compiler: str
) -> None:
    if library.op != "ofi.tagged":
        pytest.skip("UCX has no such limit")
    preloaded = _preloaded(_SHORT, tmp_path, compiler, "-Wl,--no-as-needed", "-lfabric")
    refused = _run("op=ofi.tagged provider=shm bytes=101", tmp_path / "a", preloaded)
    assert refused.status == "skipped"
    assert "shm takes messages of at most 100 bytes, not 101" in (refused.why or "")
    assert _run("op=ofi.tagged provider=shm bytes=100", tmp_path / "b", preloaded).status == "ok"


def test_a_library_that_is_gone_is_a_row_that_says_what_to_install(
    library: Library, tmp_path: Path, compiler: str
) -> None:
    preloaded = _preloaded(_NO_LIBRARIES, tmp_path, compiler)
    end = _run(f"op={library.op} bytes=8", tmp_path / "out", preloaded)
    package = {"ofi.tagged": "libfabric1", "ucx.tagged": "libucx0"}[library.op]
    assert end.status == "skipped"
    assert "libgone.so.1: cannot open shared object file" in (end.why or "")
    assert f"apt install {package})" in (end.why or "")


def test_a_row_is_of_the_layer_that_carried_it(library: Library, tmp_path: Path) -> None:
    words: tuple[Value, ...] = ("shm", "tcp")
    axes: dict[str, Value | tuple[Value, ...]] = {library.param: words, "count": 2.0}
    measured = Measure(ops=(library.op,), bytes="8", ranks=2, rule="fixed", params=axes)
    plan = Plan(measure=(measured,), launches=1, oversubscribe=True, seed=1)
    events = run_plan(tmp_path / "out", plan, setup_of())
    assert {status for _, status in ended(events)} == {"ok"}
    near, far = rows_of(load(tmp_path / "out"))
    assert (near.layer, far.layer) == (SHARED_MEMORY, NETWORK)
    assert set((near.transport or "").split(", ")) <= set(library.within)
    assert (far.transport or "").startswith(library.over_tcp)


# A process whose forks find the file of an earlier one, of the same pid, that was killed.
_FORMER = r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void child(void)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/%ld:%ld:0", (long)getpid(), (long)getuid());
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file >= 0 && ftruncate(file, 1 << 20) == 0)
        close(file);
}
__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, child);
}
"""


def test_what_a_killed_rank_of_this_pid_left_is_no_obstacle(
    library: Library, tmp_path: Path, compiler: str
) -> None:
    if library.op != "ofi.tagged":
        pytest.skip("UCX gives random names")
    preloaded = _preloaded(_FORMER, tmp_path, compiler, "-pthread")
    end = _run("op=ofi.tagged provider=shm bytes=8", tmp_path / "out", preloaded)
    (launch,) = (one for one in read_records(tmp_path / "out").records if isinstance(one, Launch))
    former = [Path(f"/dev/shm/{place.pid}:{os.getuid()}:0") for place in launch.places]
    there = [file.exists() for file in former]
    for file in former:
        file.unlink(missing_ok=True)
    assert (end.status, end.why, there) == ("ok", None, [True, True])


def test_a_rank_that_crashes_is_told_by_its_signal(library: Library, tmp_path: Path) -> None:
    """Also where a library has a handler of signals of its own; and files of shared memory are gone."""
    points, out = tmp_path / "points", tmp_path / "out.jsonl"
    points.write_text(f"point=0 op={library.op} bytes=8 rule=fixed count=1e7 most_seconds=300\n")
    command: list[str | Path] = [solo_engine().path, "run", "--ranks", "2"]
    command += ["--points", points, "--out", out]
    deadline = time.monotonic() + 600
    with Child(command, cwd=tmp_path) as child:
        while True:
            records = read_records(out).records if out.exists() else ()
            if any(isinstance(record, Obs) for record in records):  # they talk to each other
                break
            assert time.monotonic() < deadline
            child.pause(0.05)
        (launch,) = (record for record in records if isinstance(record, Launch))
        leftovers = Leftovers(others=())
        leftovers.look([place.pid for place in launch.places])
        os.kill(launch.places[1].pid, signal.SIGSEGV)
        assert child.wait(600) not in (None, 0)
        assert "rank 1: died of signal 11 in point 0" in child.err
    assert leftovers.own or library.op != "ofi.tagged"  # UCX may have none
    assert [file.path for file in leftovers.own if Path(file.path).exists()] == []
    assert {path.name for path in tmp_path.iterdir()} == {"points", "out.jsonl"}
