"""Every OpenMP op in every form: the full effect at 1 to 4 threads, whatever the number of cores; and that a
planted error is found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.engines.build import describe, solo_engine
from steelyard.records.read import read_records
from steelyard.records.schema import End, Obs, Point, Record
from steelyard.system.process import run

_SHORT = "method=batch reps=3 rule=fixed count=2"
# More threads than cores must not spin for their turns; what else the rows need to be able to run.
_SETTINGS = {
    "OMP_WAIT_POLICY": "passive",
    "OMP_CANCELLATION": "true",
    "OMP_MAX_TASK_PRIORITY": "4",
    "OMP_DYNAMIC": "false",
}
_PLAIN = (
    "reference_update parallel barrier single masked critical ordered doacross sections taskwait taskgroup "
    "taskyield task_barrier threadprivate fresh_thread first_parallel"
)
_WORDS = {
    "flush": {"order": "all acquire release acq_rel"},
    "lock": {"use": "shared own", "hint": "none contended"},
    "nest_lock": {"use": "shared own", "levels": "1 3"},
    "atomic": {
        "form": "read write update capture compare",
        "order": "relaxed seq_cst",
        "use": "shared own",
    },
    "reduction": {"form": "scalar array user", "where": "parallel for", "elements": "1 100"},
    "scan": {"form": "inclusive exclusive", "iterations": "1 7"},
    "for": {
        "schedule": "static dynamic guided monotonic_dynamic monotonic_guided runtime",
        "chunk": "0 1 5",
        "iterations": "1 12",
    },
    "parallel_for": {"iterations": "1 12"},
    "reference": {"iterations": "1 3", "depth": "0 2"},
    "task": {"creator": "all one busy", "clause": "none undeferred final untied priority"},
    "task_depend": {"form": "chain fan own turns"},
    "taskloop": {"grain": "1 4", "iterations": "1 9"},
    "task_tree": {"depth": "0 3", "work": "leaf branch"},
    "nested": {"inner": "1 3"},
    "cancel": {"form": "parallel for taskgroup"},
    "teams": {"form": "parallel distribute"},
    "target": {"form": "parallel map"},
    "private": {"bytes": "8 1000"},
    "firstprivate": {"bytes": "8 1000"},
    "lastprivate": {"bytes": "8 1000"},
    "copyprivate": {"bytes": "8 1000"},
    "copyin": {"bytes": "8 1024"},
}


def _forms(op: str, words: dict[str, str]) -> Iterator[str]:
    """Every combination of the words, `op=omp.lock use=own hint=none`."""
    lines = [f"op=omp.{op}"]
    for key, values in words.items():
        lines = [f"{line} {key}={value}" for line in lines for value in values.split()]
    yield from lines


def _lines() -> list[str]:
    lines = [f"op=omp.{op}" for op in _PLAIN.split()]
    for op, words in _WORDS.items():
        lines += _forms(op, words)
    return [*lines, "op=omp.for schedule=auto", "op=omp.for schedule=auto iterations=9"]


def _ends(tmp_path: Path, lines: list[str], settings: dict[str, str] | None = None) -> list[End]:
    ends = [record for record in _records(tmp_path, lines, settings) if isinstance(record, End)]
    assert [end.point for end in ends] == list(range(len(lines)))
    return ends


def _records(tmp_path: Path, lines: list[str], settings: dict[str, str] | None = None) -> list[Record]:
    points, out = tmp_path / "points", tmp_path / "out.jsonl"
    points.write_text("".join(f"point={i} {line} {_SHORT}\n" for i, line in enumerate(lines)))
    command = [solo_engine().path, "run", "--points", str(points), "--out", str(out), "--probe", "off"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OMP_")}
    done = run(command, env=environment | (_SETTINGS if settings is None else settings), timeout=600)
    assert done.code == 0, done.err
    return list(read_records(out).records)


def _is_missing(end: End) -> bool:
    """Whether it is of what this compiler's OpenMP lacks, and says so."""
    return end.status == "skipped" and "compiler" in (end.why or "")


@pytest.fixture(scope="module")
def _openmp() -> None:
    if describe(solo_engine()).build.openmp == 0:
        pytest.skip("the compiler has no OpenMP")


def test_every_op_is_in_the_table() -> None:
    """Else one would be verified by nobody."""
    named = {f"omp.{op}" for op in (*_PLAIN.split(), *_WORDS)}
    assert named == {op.name for op in describe(solo_engine()).ops if op.family == "omp"}


@pytest.mark.usefixtures("_openmp")
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_every_form_has_its_full_effect(tmp_path: Path, threads: int) -> None:
    lines = [f"{line} threads={threads}" for line in _lines()]
    for line, end in zip(lines, _ends(tmp_path, lines), strict=True):
        if not _is_missing(end):
            assert (end.status, end.why, end.verified) == ("ok", None, True), line


@pytest.mark.usefixtures("_openmp")
def test_arrays_of_threads_leave_the_stack(tmp_path: Path) -> None:
    """GCC has them stay until a function ends: 512 KiB in each of 50 repetitions are more than a stack."""
    words = "op=omp.reduction form=array elements=65536 threads=2 method=batch reps=50 rule=fixed count=1"
    for end in _ends(tmp_path, [f"{words} where={where}" for where in ("parallel", "for")]):
        assert (end.status, end.why) == ("ok", None)


@pytest.mark.usefixtures("_openmp")
def test_a_planted_error_is_found_in_every_form(tmp_path: Path) -> None:
    lines = [f"{line} threads=3 plant=0" for line in _lines()]
    for line, end in zip(lines, _ends(tmp_path, lines), strict=True):
        if not _is_missing(end):
            assert end.status == "failed", line
            assert (end.why or "").startswith("wrong: rank 0: "), line


@pytest.mark.usefixtures("_openmp")
def test_a_smaller_team_is_found(tmp_path: Path) -> None:
    lines = [
        f"op=omp.{op} threads=3" for op in ("parallel", "barrier", "for", "critical", "task", "reference")
    ]
    for end in _ends(tmp_path, lines, _SETTINGS | {"OMP_THREAD_LIMIT": "2"}):
        assert end.status == "failed"
        assert "wrong: rank 0: " in (end.why or "")


# What a run-time system that does nothing would look like to a program that gcc compiled.
_LAZY = """
void GOMP_barrier(void) {}
void GOMP_critical_name_start(void **lock) { (void)lock; }
void GOMP_critical_name_end(void **lock) { (void)lock; }
void GOMP_ordered_start(void) {}
void GOMP_doacross_wait(long first, ...) { (void)first; }
void omp_set_lock(void *lock) { (void)lock; }
void omp_unset_lock(void *lock) { (void)lock; }
void GOMP_taskwait(void) {}
_Bool GOMP_single_start(void) { return 1; }
"""


@pytest.mark.usefixtures("_openmp")
@pytest.mark.parametrize("op", ["barrier", "critical", "ordered", "doacross", "lock", "single"])
def test_a_construct_that_does_nothing_is_found(tmp_path: Path, compiler: str, op: str) -> None:
    """The library's calls are replaced by empty ones."""
    source, library = tmp_path / "lazy.c", tmp_path / "lazy.so"
    source.write_text(_LAZY)
    assert run([compiler, "-shared", "-fPIC", "-w", "-o", str(library), str(source)], timeout=600).code == 0
    (end,) = _ends(tmp_path, [f"op=omp.{op} threads=4"], _SETTINGS | {"LD_PRELOAD": str(library)})
    assert end.status == "failed", op
    assert (end.why or "").startswith("wrong: rank 0: "), op


# Counts what gcc's run-time system is asked for.
_COUNTING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static long tasks, waits;
void GOMP_task(void *f, void *d, void *c, long s, long a, _Bool i, unsigned g, void **p, int r, void *h)
{
    __typeof__(GOMP_task) *next = (__typeof__(GOMP_task) *)dlsym(RTLD_NEXT, "GOMP_task");
    __atomic_fetch_add(&tasks, 1, __ATOMIC_RELAXED);
    next(f, d, c, s, a, i, g, p, r, h);
}
void GOMP_taskwait(void)
{
    __atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
    ((void (*)(void))dlsym(RTLD_NEXT, "GOMP_taskwait"))();
}
__attribute__((destructor)) static void tell(void)
{
    FILE *file = fopen(getenv("COUNTED"), "w");
    fprintf(file, "%ld %ld", tasks, waits);
    fclose(file);
}
"""


@pytest.mark.usefixtures("_openmp")
def test_a_tree_has_the_tasks_of_the_original(tmp_path: Path, compiler: str) -> None:
    """EPCC's trees of depth 6: 63 tasks, or with a body in each 64; none waits for another.

    A planted error ends a test case after its first verification, which repeats each op equally often.
    """
    source, library, counted = tmp_path / "count.c", tmp_path / "count.so", tmp_path / "counted"
    source.write_text(_COUNTING)
    built = run([compiler, "-shared", "-fPIC", "-w", "-o", str(library), str(source), "-ldl"], timeout=600)
    assert built.code == 0, built.err
    preload = {"LD_PRELOAD": str(library), "COUNTED": str(counted)}
    found: list[list[int]] = []
    for op in ("task", "task_tree depth=6 work=leaf", "task_tree depth=6 work=branch"):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        _ends(folder, [f"op=omp.{op} threads=2 plant=0"], _SETTINGS | preload)
        found.append([int(word) for word in counted.read_text().split()])
    (one, _), (leaf, leaf_waits), (branch, branch_waits) = found
    assert one > 0
    assert (leaf, branch) == (63 * one, 64 * one)
    assert leaf_waits == branch_waits == 0


@pytest.mark.usefixtures("_openmp")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_known_delay_is_in_every_construct(tmp_path: Path, threads: int) -> None:
    """A wait until a deadline is never shorter, whatever else runs: the time is known from below."""
    delay = 200_000
    one_body = {"taskloop": " iterations=1", "task_tree": " depth=0"}
    lines = [
        f"op=omp.{op} threads={threads} spin_ns={delay}{one_body.get(op, '')}"
        for op in (*_PLAIN.split(), *_WORDS)
    ]
    records = _records(tmp_path, lines)
    points = {record.point: record for record in records if isinstance(record, Point)}
    seen = set()
    for record in records:
        if isinstance(record, Obs):
            point = points[record.point]
            seen.add(point.op)
            for start, stop in zip(record.start_ns[0], record.stop_ns[0], strict=True):
                assert (stop - start) / point.reps >= 0.97 * delay, point.op
    assert len(seen) > 30
