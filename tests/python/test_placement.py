"""Placement as an axis: what the words mean, and that ranks and threads are where they were asked to be."""

from __future__ import annotations

import io
import os
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from campaigns import bytes_of, ended, plan_of, run_plan, setup_of
from commands import FIXED, Steelyard, steelyard_of
from conftest import script
from make_records import FakePoint, steady, write_folder
from steelyard.campaign import JobStarted
from steelyard.checks import doubts
from steelyard.engine import Engine, solo_engine
from steelyard.errors import InputError
from steelyard.folder import open_folder, topology_for
from steelyard.jobs import groups_of, job_name
from steelyard.launch import plan_launch
from steelyard.machine import read_machine
from steelyard.mpi import Mpi
from steelyard.observations import Placement, PlannedPoint, load
from steelyard.placement import cpu_words, placements_of
from steelyard.plan import Measure, Plan
from steelyard.process import run
from steelyard.reading import read_folder
from steelyard.resolve import resolve
from steelyard.results import results, rows_of
from steelyard.tables import results_tables
from steelyard.topology import Cpu, Topology, classes_of, read_topology

_MACHINE = read_machine()

# Two cores of two threads, 2 apart; what the second core takes are the interrupts.
_FOUR = Topology(tuple(Cpu(number, core=number % 2, l3=0) for number in range(4)), tuple(range(6)), (1, 3))
_ONE = Topology((Cpu(2, core=2),), (0, 1, 2))


_ALL = ["shared-l3 0,1", "shared-l3 0,3", "shared-l3 1,2", "same-core 1,3", "shared-l3 2,3"]  # save 0,2


def _texts(texts: tuple[str, ...], places: int = 2, topology: Topology = _FOUR) -> list[str | None]:
    found = placements_of(texts, places, "an op", topology)
    return [one.text if one else None for one in found]


@pytest.mark.parametrize(
    ("texts", "places", "expected"),
    [
        (("default",), 7, [None]),
        (("unbound",), 7, ["unbound"]),
        (("default;unbound", "default"), 2, [None, "unbound"]),
        (("same",), 3, ["same-cpu 0,0,0"]),
        (("same",), 1, ["list 0"]),
        (("0,1",), 2, ["shared-l3 0,1"]),
        (("1,0",), 2, ["shared-l3 1,0"]),
        (("0-1;2,0; 3 , 3",), 2, ["shared-l3 0,1", "same-core 2,0", "same-cpu 3,3"]),
        (("0,0,1-2",), 4, ["list 0,0,1,2"]),
        (
            ("each",),
            2,
            [
                *("same-cpu 0,0", "same-cpu 1,1", "same-core 0,2", "same-core 1,3"),
                "shared-l3 0,1",  # none without a CPU that takes interrupts
            ],
        ),
        (
            ("all",),
            2,
            [_ALL[0], "same-core 0,2", *_ALL[1:]],
        ),
        (("same;0,0;0,2;all;2,0",), 2, ["same-cpu 0,0", "same-core 0,2", *_ALL, "same-core 2,0"]),
    ],
)
def test_words_and_lists(texts: tuple[str, ...], places: int, expected: list[str | None]) -> None:
    assert _texts(texts, places) == expected


def test_who_takes_the_interrupts_is_part_of_a_placement() -> None:
    found = placements_of(["0,1;0,2;1,3"], 2, "an op", _FOUR)
    assert [one.interrupts for one in found if one] == [(1,), (), (1, 3)]


@pytest.mark.parametrize(
    ("text", "places", "topology", "words"),
    [
        ("each", 1, _FOUR, "'each' places pairs, and an op has 1 place; give two ranks or two threads"),
        ("all", 4, _FOUR, "'all' places pairs, and an op has 4 places"),
        ("all", 2, _ONE, "this process may use CPU 2 alone; give --placement same"),
        ("0,9", 2, _FOUR, "there is no CPU 9 here, which the placement 0,9 names; this machine has 0-5"),
        ("0-5", 2, _FOUR, "this process may not use CPU 4, which the placement 0-5 names"),
        ("0,1", 2, _ONE, "may not use CPU 0, which .* it may use 2"),
        ("0", 2, _FOUR, "the placement 0 has 1 CPU, and an op has 2 places; give a CPU for each"),
        ("0,1,2", 2, _FOUR, "has 3 CPUs"),
        *(
            (text, 2, _FOUR, "is neither a list of CPUs, as 0,1")
            for text in ("", "some", "0,", "1-0", "-1", "0,1;")
        ),
    ],
)
def test_what_is_no_placement(text: str, places: int, topology: Topology, words: str) -> None:
    with pytest.raises(InputError, match=words):
        _texts((text,), places, topology)


@pytest.mark.parametrize(("numbers", "words"), [((), ""), ((3,), "3"), ((0, 1, 2, 8, 10, 11), "0-2,8,10-11")])
def test_numbers_in_words(numbers: tuple[int, ...], words: str) -> None:
    assert cpu_words(numbers) == words


# ---- plans and jobs ----------------------------------------------------------------------------------------


def test_placements_are_an_axis_of_points_and_of_launches() -> None:
    setup = setup_of()
    measure = Measure(ops=("self.empty",), threads="1,2", placement=("unbound;all", "0"))
    with pytest.raises(InputError, match=r"self\.empty runs in one thread"):
        resolve(Plan(measure=(measure,)), setup.ops, (), 4, _FOUR)
    measure = Measure(ops=("omp.barrier", "pthread.mutex"), threads="1,2", placement=("unbound;all", "0"))
    points = resolve(Plan(measure=(measure,)), setup.ops, (), 4, _FOUR)
    references = {p.reference for p in points}
    placed = {
        (p.op, p.threads, p.placement.text if p.placement else "")
        for p in points
        if p.point not in references
    }
    pairs = [text for text in _texts(("all",)) if text]
    assert placed == {
        (op, threads, text)
        for op in ("omp.barrier", "pthread.mutex")
        for threads, texts in ((1, ["unbound", "list 0"]), (2, ["unbound", *pairs]))
        for text in texts
    }
    groups = groups_of(points)
    assert len(groups) == 2 + 1 + len(pairs)
    assert all({"omp.barrier", "pthread.mutex"} < {p.op for p in group.points} for group in groups)
    assert len({job_name(1, group) for group in groups}) == len(groups)


def test_a_list_that_fits_no_op_is_refused() -> None:
    measure = Measure(ops=("omp.barrier", "pthread.mutex"), placement="all")
    with pytest.raises(InputError, match="has as many places as the placement all; give ranks or threads"):
        resolve(Plan(measure=(measure,)), setup_of().ops, (), 4, _FOUR)


@pytest.mark.parametrize(
    ("placement", "name"),
    [
        (Placement("unbound"), "l01-solo-n1-t2-unbound"),
        (Placement("shared-l3", (1, 0)), "l01-solo-n1-t2-on-1-0"),
        (Placement("list", tuple(range(100))), "l01-solo-n1-t2-on-"),
    ],
)
def test_names_of_jobs(placement: Placement, name: str) -> None:
    point = PlannedPoint(point=0, op="omp.barrier", threads=2, placement=placement)
    found = job_name(1, groups_of([point])[0])
    assert found.startswith(name)
    assert len(found) < 60


def _engine(family: str, version: str) -> Engine:
    mpi = Mpi(f"{family}-{version}", family, version, None, "/bin/mpiexec", None, abi=False, origin="path")
    return Engine("/e/steelyard-mpi", "mpi", mpi)


_HERE = msgspec.structs.replace(_MACHINE, cpus=(0, 1, 2, 3), online=(0, 1, 2, 3), cores=((0, 2), (1, 3)))
_FREE = {
    ("openmpi", "4.1.4"): (["--use-hwthread-cpus", "--bind-to", "none"], {}),
    ("openmpi", "5.0.11"): (["--map-by", ":hwtcpus", "--bind-to", "none"], {}),
    ("mpich", "4.0.2"): ([], {"HYDRA_BINDING": "none"}),
    ("mpich", "5.0.2"): ([], {"HYDRA_BINDING": "none"}),
    ("intel", "2021.18.1"): ([], {"I_MPI_PIN": "0"}),
}


@pytest.mark.parametrize(("family", "version"), _FREE)
def test_the_engine_binds_and_the_launcher_does_not(
    family: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    engine, (argv, environment) = _engine(family, version), _FREE[family, version]
    for placement, cpus in (
        (Placement("list", (3, 0, 1)), "3/0/1"),  # more ranks than cores, and a hardware thread for each
        (Placement("unbound"), "unbound"),
    ):
        launch = plan_launch(engine, 3, 1, _HERE, placement=placement, oversubscribe=not placement.cpus)
        assert launch.engine_args == ("--ranks", "3", "--cpus", cpus, "--yield", "real")
        if placement.cpus:
            assert launch.argv_prefix == ("/bin/mpiexec", *argv, "-n", "3")
            assert (launch.environment, launch.preset, launch.notes) == (environment, None, ())
    two = plan_launch(engine, 2, 2, _HERE, placement=Placement("list", (0, 2, 1, 3)))
    assert two.engine_args == ("--ranks", "2", "--cpus", "0,2/1,3", "--yield", "real")
    assert two.environment == environment | {"OMP_PROC_BIND": "false"}
    over = plan_launch(engine, 3, 1, _HERE, oversubscribe=True)
    shared = plan_launch(engine, 2, 1, _HERE, placement=Placement("same-cpu", (1, 1)))  # needs no leave
    assert shared.argv_prefix[:-1] == over.argv_prefix[:-1]
    assert shared.environment == over.environment
    assert shared.preset == "shared-cpus"
    assert "2 ranks and threads share CPU 1: times include waiting" in shared.notes[0]


@pytest.mark.parametrize(
    ("placement", "args", "environment"),
    [
        (
            Placement("same-core", (2, 0)),
            ("--cpus", "2,0"),
            {"OMP_PROC_BIND": "true", "OMP_PLACES": "{2},{0}"},
        ),
        (Placement("unbound"), ("--cpus", "unbound"), {"OMP_PROC_BIND": "false"}),
    ],
)
def test_threads_are_placed_in_order(
    placement: Placement, args: tuple[str, ...], environment: dict[str, str]
) -> None:
    launch = plan_launch(Engine("/e/solo", "solo", None), 1, 2, _HERE, placement=placement)
    assert (launch.engine_args, launch.environment) == ((*args, "--yield", "real"), environment)


def test_ranks_without_mpi_are_placed_too() -> None:
    solo = Engine("/e/solo", "solo", None)
    for placement, cpus in (
        (None, "0/1"),
        (Placement("shared-l3", (3, 0)), "3/0"),
        (Placement("unbound"), "unbound"),
    ):
        launch = plan_launch(solo, 2, 1, _HERE, placement=placement)
        assert launch.engine_args == ("--ranks", "2", "--cpus", cpus, "--yield", "real")


def test_a_launch_refuses_cpus_that_may_not_be_used_any_more() -> None:
    machine = msgspec.structs.replace(_HERE, cpus=(0, 1))
    with pytest.raises(InputError, match="may not use CPU 3, which the placement shared-l3 0,3 names"):
        plan_launch(Engine("/e/solo", "solo", None), 1, 2, machine, placement=Placement("shared-l3", (0, 3)))


# ---- end to end --------------------------------------------------------------------------------------------


def _places(folder: Path) -> dict[str, list[str]]:
    """Where the ranks, or the threads of one rank, of each job were, as the kernel said."""
    found = {}
    for file in read_folder(folder):
        assert file.launch is not None
        places = sorted(file.launch.places, key=lambda place: place.rank)
        found[file.job.placement or "default"] = [*places[0].lanes] or [place.cpus for place in places]
    return found


def _need_two_cpus() -> None:
    if len(_MACHINE.cpus) < 2:
        pytest.skip("this process may use one CPU alone")


def _shown(folder: Path) -> str:
    out = io.StringIO()
    for table in results_tables(results(folder)):
        Console(file=out, width=110).print(table)
    return out.getvalue()


def _expected(topology: Topology, words: tuple[str, ...]) -> dict[str, list[str]]:
    """What `each` and `all` must give on this machine, from its classes."""
    pairs = [one.pair for one in classes_of(topology)] if "each" in words else []
    pairs += list(combinations([cpu.number for cpu in topology.cpus], 2)) if "all" in words else []
    placed = (placements_of([f"{a},{b}"], 2, "", topology)[0] for a, b in dict.fromkeys(pairs))
    return {one.text: [str(cpu) for cpu in one.cpus] for one in placed if one}


def _few(topology: Topology) -> Topology:
    """Of a big machine some CPUs: a launch for each of all pairs would take long."""
    cpus = topology.cpus[:3]
    return msgspec.structs.replace(topology, cpus=cpus)


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
    assert "misplaced" not in {doubt.name for doubt in doubts(measured, rows_of(measured))}
    assert not {"unbound", "shared-cores"} & {doubt.name for doubt in doubts(measured, rows_of(measured))}


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
    text = _shown(folder)
    assert "from CPU to CPU: pthread.mutex, 2 threads" in text
    assert "from CPU to CPU: omp.barrier, 2 threads" in text
    assert f"{b} – {a}" in text
    assert "not bound to any CPU" in text
    rows = results(folder)  # placements are never pooled
    assert len(rows) == 12
    assert {row.launch_count for row in rows} == {2}
    before = bytes_of(folder / "records")  # and what is there is not measured again
    assert run_plan(folder, plan, setup_of()) == []
    assert bytes_of(folder / "records") == before


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
        ("all", "this process may use CPU {allowed} alone; give --placement same"),
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


def test_a_campaign_keeps_the_topology_that_it_began_with(tmp_path: Path) -> None:
    """Interrupts go elsewhere from day to day; the points of a campaign that is gone on with must not."""
    plan = Plan(measure=(Measure(ops=("pthread.mutex",), threads=2, placement="each"),), seed=1)
    points = resolve(plan, setup_of().ops, (), 4, _FOUR)
    open_folder(tmp_path / "out", plan, points, _MACHINE, _FOUR)
    assert topology_for(tmp_path / "out", plan) == _FOUR
    assert topology_for(tmp_path / "new", plan) == read_topology()
    unplaced = Plan(measure=(Measure(ops=("pthread.mutex",)),))
    assert topology_for(tmp_path / "new", unplaced).cpus == ()


# ---- what was not so ---------------------------------------------------------------------------------------


def _evidence(folder: Path) -> dict[str, str]:
    measured = load(folder)
    return {doubt.name: doubt.evidence for doubt in doubts(measured, rows_of(measured))}


def _placed(
    *cpus: int, kind: str = "shared-l3", time: float = 200.0, taking: tuple[int, ...] = ()
) -> FakePoint:
    return FakePoint("mpi.pingpong", steady(time, count=200), placement=Placement(kind, cpus, taking))


def test_a_rank_that_was_elsewhere_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [_placed(0, 1)], launches=2)
    assert "misplaced" not in _evidence(folder)
    path = folder / "records" / "l02-mpich-4.0.2-n2-on-0-1.jsonl"
    path.write_text(path.read_text().replace('"cpus":"1"', '"cpus":"0-1"'))
    assert _evidence(folder)["misplaced"] == "rank 1 of mpich-4.0.2 was asked for CPU 1, was allowed 0-1."


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
    done = run([compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "refuses.c")], timeout=60)
    assert done.code == 0, done.err
    engine = script(tmp_path / "solo", f'LD_PRELOAD={library} exec {solo_engine().path} "$@"')
    setup = setup_of()
    setup = msgspec.structs.replace(setup, engines={None: Engine(str(engine), "solo", None)})
    a, b = _MACHINE.cpus[:2]
    run_plan(tmp_path / "out", plan_of("pthread.mutex", threads=2, placement=f"{a},{b}"), setup)
    (file,) = read_folder(tmp_path / "out")
    assert file.launch is not None
    (place,) = file.launch.places
    everywhere = cpu_words(_MACHINE.cpus)
    assert (place.refused, place.cpus) == ("Operation not permitted", everywhere)
    assert place.lanes == (everywhere, everywhere)
    found = _evidence(tmp_path / "out")["misplaced"]
    assert "rank 0 of no MPI was not bound: Operation not permitted" in found
    assert f"thread 1 of rank 0 of no MPI was asked for CPU {b}, was allowed {everywhere}" in found
