"""Ranks and threads are where they were asked to be, by the kernel's word; what was not so is named."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from msgspec.structs import replace

from campaigns import bytes_of, ended, plan_of, run_plan, setup_of
from commands import FIXED, Steelyard, steelyard_of
from make_records import write_folder
from placed import placed_point, tables_text
from record_lines import unsealed
from scripts import script
from steelyard.base.cpulist import cpu_words
from steelyard.campaign.events import CampaignBegins, JobStarted
from steelyard.diagnostics.results import diagnostics
from steelyard.engines.build import Engine, solo_engine
from steelyard.engines.mpi import Mpi
from steelyard.plan.placement import placements_of
from steelyard.records.read import read_folder, read_records
from steelyard.records.schema import State
from steelyard.results.load import load
from steelyard.results.rows import results, rows_of
from steelyard.system.machine import read_machine
from steelyard.system.process import run
from steelyard.system.topology import Topology, classes_of, read_topology

pytestmark = pytest.mark.ours

_MACHINE = read_machine()

# ---- where they were ---------------------------------------------------------------------------------------


def _places(folder: Path) -> dict[str, list[str]]:
    """Where the ranks, or the threads of one rank, of each job were, as the kernel said."""
    found = {}
    for file in read_folder(folder):
        assert file.launch is not None
        places = sorted(file.launch.places, key=lambda place: place.rank)
        teams = {tuple(lane for lane in state.lanes[0]) for state in file.states if state.lanes}
        assert len(teams) <= 1, file.job.job  # pools and teams of OpenMP are at the same place
        found[file.job.placement or "default"] = [*next(iter(teams), ())] or [place.cpus for place in places]
    return found


def _need_two_cpus() -> None:
    if len(_MACHINE.cpus) < 2:
        pytest.skip("this process may use one CPU alone")


def _expected(topology: Topology, words: tuple[str, ...]) -> dict[str, list[str]]:
    """What `each` and `all` must give on this machine, from its classes."""
    pairs = [one.pair for one in classes_of(topology)] if "each" in words else []
    pairs += list(combinations([cpu.number for cpu in topology.cpus], 2)) if "all" in words else []
    placed = (placements_of([f"{a},{b}"], 2, "", topology)[0] for a, b in dict.fromkeys(pairs))
    return {one.text: [str(cpu) for cpu in one.cpus] for one in placed if one}


def _few(topology: Topology) -> Topology:
    """For a big machine some CPUs: a launch for each of all pairs would take long."""
    cpus = topology.cpus[:3]
    return replace(topology, cpus=cpus)


def test_ranks_are_on_each_pair_and_on_all(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _need_two_cpus()
    topology = _few(read_topology())
    monkeypatch.setattr("campaigns.topology_for", lambda *_: topology)
    words = ("each", "all") if mpi.family == "openmpi" or mpi.origin == "embedded" else ("0,1;1,0",)
    folder = tmp_path / "out"
    plan = plan_of("mpi.pingpong", ranks=2, bytes=8, placement=";".join(("unbound", *words)), launches=1)
    if words[0] != "each" and not {0, 1} <= set(_MACHINE.cpus):
        pytest.skip("this process may not use CPUs 0 and 1")
    events = run_plan(folder, plan, setup_of(mpi))
    assert {status for _, status in ended(events)} == {"ok"}
    places = _places(folder)
    unbound = places.pop("unbound")
    assert unbound == [cpu_words(_MACHINE.cpus)] * 2
    if words[0] == "each":
        assert places == _expected(topology, words)
    else:
        assert sorted(places.values()) == [["0", "1"], ["1", "0"]]
    rows = results(folder)
    assert {row.placement for row in rows} == {"unbound", *places}
    measured = load(folder)
    assert "misplaced" not in {one.name for one in diagnostics(measured, rows_of(measured))}
    assert not {"unbound", "shared-cores"} & {one.name for one in diagnostics(measured, rows_of(measured))}


def test_threads_are_where_they_were_asked_to_be(tmp_path: Path) -> None:
    _need_two_cpus()
    topology = read_topology()
    a, b = (cpu.number for cpu in topology.cpus[:2])
    folder = tmp_path / "out"
    asked = f"default;unbound;{b},{a};{b},{b}"
    plan = plan_of("pthread.mutex", "omp.barrier", threads=2, placement=asked, launches=2)
    events = run_plan(folder, plan, setup_of())
    assert [status for _, status in ended(events)] == ["ok"] * 24  # with the reference of omp.barrier
    assert len([event for event in events if isinstance(event, JobStarted)]) == 8
    everywhere = cpu_words(_MACHINE.cpus)
    kind = placements_of([f"{b},{a}"], 2, "", topology)[0]
    assert kind is not None
    places = _places(folder)
    if len(_MACHINE.cores) > 1:
        assert places.pop("default") == [str(core[0]) for core in _MACHINE.cores[:2]]
    places.pop("default", None)
    assert places == {
        "unbound": [everywhere, everywhere],
        kind.text: [str(b), str(a)],
        f"same-cpu {b},{b}": [str(b), str(b)],
    }
    text = tables_text(folder)
    assert "from CPU to CPU: pthread.mutex, 2 threads" in text
    assert "from CPU to CPU: omp.barrier, 2 threads" in text
    assert f"{b} – {a}" in text
    assert "not bound to any CPU" in text
    rows = results(folder)  # placements are never pooled
    assert len(rows) == 12
    assert {row.launch_count for row in rows} == {2}
    before = bytes_of(folder / "records")  # and what is there is not measured again
    (again,) = run_plan(folder, plan, setup_of())
    assert isinstance(again, CampaignBegins)  # and nothing is measured
    assert bytes_of(folder / "records") == before


@pytest.mark.parametrize("op", ["pthread.mutex", "atomic.pingpong", "omp.barrier"])
def test_threads_of_a_rank_of_mpi_have_a_core_each(mpi: Mpi, tmp_path: Path, op: str) -> None:
    """OpenMP's run-time system binds the first thread before main begins: others must not inherit that."""
    if len(_MACHINE.cores) < 2:
        pytest.skip("needs a core for each thread")
    folder = tmp_path / "out"
    plan = plan_of(op, threads=2, mpi=(mpi.name,), oversubscribe=False)
    plan = replace(plan, measure=(replace(plan.measure[0], engine="mpi"),))
    assert {status for _, status in ended(run_plan(folder, plan, setup_of(mpi)))} == {"ok"}
    (file,) = read_folder(folder)
    for state in file.states[1:]:
        (lanes,) = state.lanes
        assert len(set(lanes)) == 2, state
        assert all(cpu.isdigit() for cpu in lanes), state
        assert state.lanes == state.lanes_meant


def _allowed(task: Path) -> str:
    (line,) = [
        line for line in (task / "status").read_text().splitlines() if line.startswith("Cpus_allowed_list")
    ]
    return line.split()[1]


@contextlib.contextmanager
def _threads_at_work(op: str, out: Path, seconds: int) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A launch of one point in two threads on CPUs of their own, and its threads when both are bound."""
    a, b = (core[0] for core in _MACHINE.cores[:2])
    words = ["run", "--cpus", f"{a},{b}", f"op={op}", "threads=2"]
    words += ["rule=fixed", "count=1e7", f"most_seconds={seconds}"]
    environment = os.environ | {"OMP_PROC_BIND": "true", "OMP_PLACES": f"{{{a}}},{{{b}}}"}
    argv = [str(solo_engine().path), *words, "--out", str(out)]
    process = subprocess.Popen(argv, env=environment)
    tasks = Path(f"/proc/{process.pid}/task")
    try:
        threads: list[int] = []
        while process.poll() is None and not threads:
            with contextlib.suppress(OSError):
                if '"record":"obs"' not in out.read_text():  # pools before it are not the op's
                    continue
                where = {int(task.name): _allowed(task) for task in tasks.iterdir()}
                if sorted(where.values()) == sorted([str(a), str(b)]):
                    threads = sorted(where)
            time.sleep(0.001)
        yield process, threads
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(len(_MACHINE.cores) < 2, reason="needs a core for each thread")
@pytest.mark.parametrize("op", ["pthread.barrier", "omp.barrier"])
def test_from_outside_each_thread_is_seen_on_its_core(tmp_path: Path, op: str) -> None:
    """Not by the engine's own word: the first thread is bound as the others are while the op is measured."""
    with _threads_at_work(op, tmp_path / "out.jsonl", seconds=60) as (process, threads):
        assert threads, "it ended without a moment at which both threads were bound"
        assert threads[0] == process.pid


@pytest.mark.skipif(len(_MACHINE.cores) < 2, reason="needs a core to move a thread to")
@pytest.mark.parametrize("op", ["pthread.barrier", "omp.barrier"])
def test_a_thread_that_was_moved_is_noticed(tmp_path: Path, op: str) -> None:
    out = tmp_path / "out.jsonl"
    with _threads_at_work(op, out, seconds=2) as (process, threads):  # in which they are found, however busy
        assert threads, "it ended before the second thread was found"
        for thread, core in zip(threads, reversed(_MACHINE.cores[:2]), strict=True):
            os.sched_setaffinity(thread, {core[0]})
        assert process.wait() == 0
    states = [record for record in read_records(out).records if isinstance(record, State)]
    (lanes,), (meant,) = states[-1].lanes, states[-1].lanes_meant
    assert meant == tuple(str(core[0]) for core in _MACHINE.cores[:2])
    assert lanes == meant[::-1]


def test_the_command_line_places_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steelyard: Steelyard = steelyard_of(capsys, monkeypatch)
    monkeypatch.chdir(tmp_path)
    cpu = _MACHINE.cpus[-1]
    command = ("run", "pthread.mutex", "--threads", "2", *FIXED, "--out", "out", "--placement")
    said = steelyard(*command, f"same;{cpu},{cpu}", "--json")
    assert said.code == 0
    points = said.document["points"]
    (same,) = placements_of(["same"], 2, "", read_topology())
    assert same is not None
    assert {point["placement"] for point in points} == {same.text, f"same-cpu {cpu},{cpu}"}
    assert [cpu, cpu] in [point["placed"]["cpus"] for point in points]
    assert "From CPU to CPU" in (tmp_path / "out" / "report.html").read_text()
    again = steelyard(*command, f"same;{cpu},{cpu}", "--json")
    assert (again.code, again.document["points"]) == (0, points)
    other = steelyard(*command, "unbound")
    assert other.code == 2
    assert "holds another campaign" in other.err
    shown = steelyard("show", "out")
    assert "from CPU to CPU: pthread.mutex" in shown.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "{allowed},{other}",
            "this process may not use CPU {other}, which the placement {allowed},{other} names",
        ),
        ("all", "this process may use only CPU {allowed}; give --placement same"),
    ],
)
def test_a_process_that_may_use_one_cpu(
    words: str,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _need_two_cpus()
    steelyard = steelyard_of(capsys, monkeypatch)
    solo_engine()  # built with all CPUs, if it must be
    before = os.sched_getaffinity(0)
    allowed, other = sorted(before)[:2]
    os.sched_setaffinity(0, {allowed})
    try:
        text = words.format(allowed=allowed, other=other)
        command = ("run", "pthread.mutex", "--threads", "2", "--placement", text, "--out", tmp_path / "out")
        said = steelyard(*command)
    finally:
        os.sched_setaffinity(0, before)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert sentence.format(allowed=allowed, other=other) in said.err
    assert not (tmp_path / "out").exists()


# ---- what was not so ---------------------------------------------------------------------------------------


def _evidence(folder: Path) -> dict[str, str]:
    measured = load(folder)
    return {one.name: one.evidence for one in diagnostics(measured, rows_of(measured))}


def test_a_rank_that_was_elsewhere_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [placed_point(0, 1)], launches=2)
    assert "misplaced" not in _evidence(folder)
    path = folder / "records" / "l02-mpich-4.0.2-n2-on-0-1.jsonl"
    path.write_text(unsealed(path.read_text()).replace('"cpus":"1"', '"cpus":"0-1"'))
    assert _evidence(folder)["misplaced"] == "Rank 1 of mpich-4.0.2 was asked for CPU 1, was allowed 0-1."


_REFUSES = """
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    (void)pid, (void)size, (void)set;
    errno = EPERM;
    return -1;
}
int pthread_setaffinity_np(unsigned long thread, size_t size, const cpu_set_t *set) /* libgomp's */
{
    (void)thread, (void)size, (void)set;
    return EPERM;
}
"""


def test_a_binding_that_the_kernel_refuses_is_said_and_recorded(
    tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library in the kernel's place refuses all bindings, as a sandbox may."""
    _need_two_cpus()
    (tmp_path / "refuses.c").write_text(_REFUSES)
    library = tmp_path / "refuses.so"
    done = run([compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "refuses.c")], timeout=600)
    assert done.code == 0, done.err
    engine = script(tmp_path / "solo", f'LD_PRELOAD={library} exec {solo_engine().path} "$@"')
    setup = setup_of()
    setup = replace(setup, engines={None: Engine(str(engine), "solo", None)})
    a, b = _MACHINE.cpus[:2]
    run_plan(tmp_path / "out", plan_of("pthread.mutex", threads=2, placement=f"{a},{b}"), setup)
    (file,) = read_folder(tmp_path / "out")
    assert file.launch is not None
    (place,) = file.launch.places
    everywhere = cpu_words(_MACHINE.cpus)
    assert (place.refused, place.cpus) == ("Operation not permitted", everywhere)
    assert place.lanes == (everywhere, everywhere)
    found = _evidence(tmp_path / "out")["misplaced"]
    assert "Rank 0 of a launch without MPI was not bound: Operation not permitted" in found
    assert (
        f"thread 0 of rank 0 of a launch without MPI was asked for CPU {a}, was allowed {everywhere}" in found
    )
