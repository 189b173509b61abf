"""Threads and atomics: every choice that their ops have, at 1 to 4 threads and on one CPU; what is refused;
how a wrong answer is found, and a library that does not do what it says; where the known delays stand."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from points import measure, sound_ops
from scripts import script
from steelyard.engines.build import solo_engine
from steelyard.engines.description import Op
from steelyard.records.read import read_records
from steelyard.records.schema import End, Obs, Point, Record
from steelyard.system.process import run

_SECONDS = 900.0  # far more than a launch takes, also where others use the cores
_FAMILIES = ("pthread", "atomic")

# Every choice, on as many threads as are asked for, where the op takes so many.
_KINDS = ("normal", "recursive", "errorcheck", "adaptive", "robust", "inherit", "shared")
_CHOICES = (
    *(f"op=pthread.mutex kind={kind}" for kind in _KINDS),
    *(f"op=pthread.mutex.pingpong kind={kind}" for kind in _KINDS),
    *(f"op=pthread.mutex.array kind={kind} mutexes=7" for kind in ("normal", "robust", "shared")),
    "op=pthread.mutex.array mutexes=1",
    "op=pthread.mutex.array mutexes=1000",
    "op=pthread.mutex.trylock kind=recursive",
    "op=pthread.mutex.trylock.held kind=recursive",
    *(
        f"op=pthread.rwlock read_share={share} prefer={prefer}"
        for share in (0, 1, 50, 99, 100)
        for prefer in ("readers", "writers")
    ),
    *(f"op=pthread.create{how} stack={kib}" for how in ("", ".detached", ".chain") for kib in (16, 65536)),
    "op=pthread.cancel stack=64",
    *(f"op=pthread.key.{call} keys={keys}" for call in ("get", "set", "create") for keys in (2, 33, 512)),
    *(
        f"op=atomic.{call} words={words}"
        for call in ("fetch_add", "cas", "exchange", "store", "load")
        for words in ("same", "line", "own")
    ),
    *(
        f"op={op} extra=3"
        for op in ("pthread.mutex", "pthread.create", "pthread.cond.pingpong", "atomic.cas")
    ),
)


@functools.cache
def _all_ops() -> dict[str, Op]:
    return {name: op for name, op in sound_ops(solo_engine()).items() if op.family in _FAMILIES}


def _takes(op: Op, threads: int) -> bool:
    return op.min_threads <= threads <= (op.max_threads or threads)


def _run(
    folder: Path, threads: int, lines: Sequence[str], before: Sequence[str] = ()
) -> tuple[dict[str, End], tuple[Record, ...]]:
    """How points ended, by their line, and all records."""
    lines = [
        f"{line} threads={threads}" for line in lines if _takes(_all_ops()[line.split()[0][3:]], threads)
    ]
    full = [f"{line} method=batch reps=10 rule=fixed count=2" for line in lines]
    records = measure(solo_engine(), 1, threads, full, folder / "out.jsonl", before)
    ends = {lines[record.point]: record for record in records if isinstance(record, End)}
    assert ends.keys() == set(lines)
    return ends, records


def _refusal(end: End) -> str:
    assert end.status == "skipped"
    return end.why or ""


# ---- right and wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_every_choice_gives_right_answers(tmp_path: Path, threads: int) -> None:
    ends, _ = _run(tmp_path, threads, _CHOICES)
    for line, end in ends.items():
        assert (end.status, end.why, end.verified) == ("ok", None, True), line


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_what_was_not_done_is_found(tmp_path: Path, threads: int) -> None:
    """A count that is off by one, in every op."""
    ends, _ = _run(tmp_path, threads, [f"op={name} plant=0" for name in _all_ops()])
    for line, end in ends.items():
        if line.startswith("op=pthread.migrate") and end.status == "skipped":  # there is one CPU
            continue
        assert (end.status, end.verified) == ("failed", False), line
        assert re.search(r"wrong: rank 0: \S+: \d+ of \d+ [a-z- ]+ were counted", end.why or ""), line


# A library of threads that does not do what it is asked to, one function at a time.
_LIAR = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
static int lies(const char *what) { const char *lie = getenv("LIE"); return lie && strcmp(lie, what) == 0; }
#define HONEST(name, ...) ((int (*)())dlsym(RTLD_NEXT, name))(__VA_ARGS__)
#define LIAR(lie, type, name) \
    int name(type *x) { return lies(lie) ? 0 : HONEST(#name, x); }
LIAR("mutex", pthread_mutex_t, pthread_mutex_lock)
LIAR("mutex", pthread_mutex_t, pthread_mutex_unlock)
LIAR("spin", pthread_spinlock_t, pthread_spin_lock)
LIAR("rwlock", pthread_rwlock_t, pthread_rwlock_rdlock)
LIAR("rwlock", pthread_rwlock_t, pthread_rwlock_wrlock)
LIAR("rwlock", pthread_rwlock_t, pthread_rwlock_unlock)
LIAR("trylock", pthread_mutex_t, pthread_mutex_trylock)
LIAR("barrier", pthread_barrier_t, pthread_barrier_wait)
LIAR("sem", sem_t, sem_wait)
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    int (*honest)() = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"); /* x86 has an older, too */
    return lies("timedwait") ? 0 : honest ? honest(c, m, t) : HONEST("pthread_cond_timedwait", c, m, t);
}
int pthread_once(pthread_once_t *once, void (*begin)(void))
{
    Dl_info caller; /* libraries of the system have a right to theirs */
    if (!dladdr(__builtin_return_address(0), &caller) || !strstr(caller.dli_fname, "steelyard"))
        return HONEST("pthread_once", once, begin);
    if (lies("never"))
        return 0;
    if (lies("always"))
        begin();
    return lies("always") ? 0 : HONEST("pthread_once", once, begin);
}
void *pthread_getspecific(pthread_key_t key)
{
    return lies("value") ? NULL : ((void *(*)())dlsym(RTLD_NEXT, "pthread_getspecific"))(key);
}
void pthread_testcancel(void)
{
    if (!lies("testcancel"))
        HONEST("pthread_testcancel");
}
int pthread_attr_setstacksize(pthread_attr_t *a, size_t size)
{
    return lies("stack") ? 0 : HONEST("pthread_attr_setstacksize", a, size);
}
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    int moves = CPU_COUNT(set) == 1; /* the launch, that binds to two, is to do so */
    return moves && lies("affinity") ? 0 : HONEST("sched_setaffinity", pid, size, set);
}
"""
_LIES = (
    ("mutex", "op=pthread.mutex"),
    ("mutex", "op=pthread.mutex.pingpong"),
    ("trylock", "op=pthread.mutex.trylock.held"),
    ("spin", "op=pthread.spin"),
    ("rwlock", "op=pthread.rwlock read_share=50"),
    ("timedwait", "op=pthread.cond.timedwait"),
    ("barrier", "op=pthread.barrier"),
    ("sem", "op=pthread.sem"),
    ("sem", "op=pthread.sem.pingpong"),
    ("always", "op=pthread.once"),
    ("never", "op=pthread.once.first"),
    ("value", "op=pthread.key.get"),
    ("value", "op=pthread.key.set"),
    ("value", "op=pthread.key.create"),
    ("testcancel", "op=pthread.testcancel"),
    ("stack", "op=pthread.create stack=65536"),
    ("stack", "op=pthread.create.chain stack=65536"),
    ("affinity", "op=pthread.migrate"),
)


_ATTEMPTS = 8  # threads that a busy machine runs one after the other harm each other in no lock


@pytest.fixture(scope="module")
def liar(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    """The library of threads that lies where the variable LIE says so."""
    folder = tmp_path_factory.mktemp("liar")
    (folder / "liar.c").write_text(_LIAR)
    argv = [compiler, "-shared", "-fPIC", "-w", "-o", str(folder / "liar.so"), str(folder / "liar.c"), "-ldl"]
    done = run(argv, env=os.environ, timeout=600)
    assert done.code == 0, done.err
    return folder / "liar.so"


@pytest.mark.parametrize(("lie", "line"), _LIES)
def test_a_library_that_lies_is_found_out(tmp_path: Path, liar: Path, lie: str, line: str) -> None:
    """Locks that let everybody in, waits that do not wait, values that are lost: nothing but a verdict."""
    op = _all_ops()[line.split()[0][3:]]
    before = ("env", f"LD_PRELOAD={liar}", f"LIE={lie}")
    for attempt in range(_ATTEMPTS):
        folder = tmp_path / f"{attempt}"
        folder.mkdir()
        (end,) = _run(folder, 2 if _takes(op, 2) else 1, [line], before)[0].values()
        if end.status != "ok":
            break
    if "there are two CPUs" in (end.why or ""):
        pytest.skip("there is one CPU")
    assert (end.status, end.verified) == ("failed", False)
    assert (end.why or "").startswith(f"wrong: rank 0: {op.name}: "), end.why


def test_the_liar_can_tell_the_truth(tmp_path: Path, liar: Path) -> None:
    lines = list(dict.fromkeys(line for _, line in _LIES))
    for threads in (1, 2):
        (tmp_path / f"{threads}").mkdir()
        ends, _ = _run(tmp_path / f"{threads}", threads, lines, ("env", f"LD_PRELOAD={liar}"))
        for line, end in ends.items():
            assert end.status == "ok" or "there are two CPUs" in _refusal(end), line


# ---- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "threads", "sentence"),
    [
        (
            "op=pthread.create stack=1",
            1,
            "no thread can have a stack of 1 KiB: Invalid argument; give another",
        ),
        ("op=pthread.mutex spin_ns=1", 1, "a wait of 1 ns is shorter than the "),
        ("op=pthread.create spin_ns=1", 1, "a wait of 1 ns is shorter than the "),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    tmp_path: Path, line: str, threads: int, sentence: str
) -> None:
    (end,) = _run(tmp_path, threads, [line])[0].values()
    assert sentence in _refusal(end)


@pytest.mark.parametrize(
    ("threads", "op", "sentence"),
    [
        (
            1,
            "pthread.cond.pingpong",
            "pthread.cond.pingpong needs at least 2 threads, not 1; give --threads 2",
        ),
        (3, "atomic.pingpong", "atomic.pingpong needs at most 2 threads, not 3; give --threads 2"),
        (1, "pthread.cond.broadcast", "pthread.cond.broadcast needs at least 2 threads, not 1; give"),
    ],
)
def test_too_few_or_many_threads_are_refused(tmp_path: Path, threads: int, op: str, sentence: str) -> None:
    lines = [f"op={op} threads={threads} rule=fixed count=2"]
    (end,) = (
        record
        for record in measure(solo_engine(), 1, threads, lines, tmp_path / "out.jsonl")
        if isinstance(record, End)
    )
    assert sentence in _refusal(end)


def test_on_one_cpu(tmp_path: Path) -> None:
    """Two threads take turns on it as well; what needs two CPUs says so. The parent is bound, too."""
    if shutil.which("taskset") is None:
        pytest.skip("there is no taskset")
    cpu = min(os.sched_getaffinity(0))
    names = [name for name, op in _all_ops().items() if _takes(op, 2)]
    lines = [f"op={name}" for name in names] + ["op=pthread.mutex extra=1 extra_kind=busy"]
    (tmp_path / "points").write_text(
        "".join(
            f"point={i} {line} threads=2 method=batch reps=5 rule=fixed count=2\n"
            for i, line in enumerate(lines)
        )
    )
    out = tmp_path / "out.jsonl"
    argv = [solo_engine().path, "run", "--points", str(tmp_path / "points"), "--out", str(out)]
    parent = script(tmp_path / "parent", f"{shlex.join(argv)}\nexit $?")
    done = run(["taskset", "-c", str(cpu), str(parent)], env=os.environ, timeout=_SECONDS)
    assert done.code == 0, done.err
    ends = {lines[end.point]: end for end in read_records(out).records if isinstance(end, End)}
    assert ends.keys() == set(lines)
    assert f"this launch has only CPU {cpu}" in _refusal(ends.pop("op=pthread.migrate"))
    assert "busy threads find no CPU beside the 2 threads" in _refusal(ends.pop(lines[-1]))
    for line, end in ends.items():
        assert (end.status, end.verified) == ("ok", True), line


def test_busy_threads_beside(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("busy threads need a second CPU")
    lines = ["op=pthread.mutex extra=2 extra_kind=busy", "op=pthread.create extra=2 extra_kind=busy"]
    for line, end in _run(tmp_path, 1, lines)[0].items():
        assert (end.status, end.verified) == ("ok", True), line


# ---- known delays ------------------------------------------------------------------------------------------


def test_who_says_how_many_delays_there_are_takes_one() -> None:
    for name, op in _all_ops().items():
        takes = "spin_ns" in {row.name for row in op.params}
        assert takes == (op.delays in ("one", "threads", "others")), name
        assert takes or name == "pthread.slice"  # delays are within the slice


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_as_many_delays_as_are_said_follow_each_other(tmp_path: Path, threads: int) -> None:
    """A wait until a deadline is never shorter, whatever else runs: the time is known from below."""
    delay = 200_000
    ops = {name: op for name, op in _all_ops().items() if op.delays != "none"}
    more = {"pthread.rwlock": " read_share=0"}  # readers wait together
    lines = [f"op={name} spin_ns={delay}{more.get(name, '')}" for name in ops]
    ends, records = _run(tmp_path, threads, lines)
    points = {record.point: record for record in records if isinstance(record, Point)}
    for record in records:
        if not isinstance(record, Obs):
            continue
        point = points[record.point]
        serial = {"one": 1, "threads": threads, "others": threads - 1}[ops[point.op].delays]
        for start, stop in zip(record.start_ns[0], record.stop_ns[0], strict=True):
            assert (stop - start) / point.reps / point.parts >= 0.97 * serial * delay, point.op
    for line, end in ends.items():
        assert end.status == "ok" or "there are two CPUs" in _refusal(end), line
