"""Placement as an axis: what the words mean, and what plans, jobs and launches make of them."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from campaigns import setup_of
from steelyard.base.cpulist import cpu_words
from steelyard.base.errors import InputError
from steelyard.campaign.folder import open_folder, topology_for
from steelyard.campaign.jobs import groups_of, job_name
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.placement import placements_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import Placement, PlannedPoint
from steelyard.system.machine import read_machine
from steelyard.system.topology import Cpu, Topology, read_topology

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
        ("all", 2, _ONE, "this process may use only CPU 2; give --placement same"),
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
        launch = plan_launch(
            engine, _HERE, LaunchRequest(3, placement=placement, oversubscribe=not placement.cpus)
        )
        assert launch.engine_args == ("--ranks", "3", "--cpus", cpus, "--yield", "real")
        if placement.cpus:
            assert launch.argv_prefix == ("/bin/mpiexec", *argv, "-n", "3")
            assert (launch.environment, launch.preset, launch.notes) == (environment, None, ())
    two = plan_launch(engine, _HERE, LaunchRequest(2, 2, placement=Placement("list", (0, 2, 1, 3))))
    assert two.engine_args == ("--ranks", "2", "--cpus", "0,2/1,3", "--yield", "real")
    assert two.environment == environment | {"OMP_PROC_BIND": "false"}
    over = plan_launch(engine, _HERE, LaunchRequest(3, oversubscribe=True))
    shared = plan_launch(
        engine, _HERE, LaunchRequest(2, placement=Placement("same-cpu", (1, 1)))
    )  # needs no leave
    assert shared.argv_prefix[:-1] == over.argv_prefix[:-1]
    assert shared.environment == over.environment
    assert shared.preset == "shared-cpus"
    assert "2 ranks share CPU 1: times include waiting" in shared.notes[0]


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
    launch = plan_launch(Engine("/e/solo", "solo", None), _HERE, LaunchRequest(1, 2, placement=placement))
    assert (launch.engine_args, launch.environment) == ((*args, "--yield", "real"), environment)


def test_ranks_without_mpi_are_placed_too() -> None:
    solo = Engine("/e/solo", "solo", None)
    for placement, cpus in (
        (None, "0/1"),
        (Placement("shared-l3", (3, 0)), "3/0"),
        (Placement("unbound"), "unbound"),
    ):
        launch = plan_launch(solo, _HERE, LaunchRequest(2, placement=placement))
        assert launch.engine_args == ("--ranks", "2", "--cpus", cpus, "--yield", "real")


def test_a_launch_refuses_cpus_that_may_not_be_used_any_more() -> None:
    machine = msgspec.structs.replace(_HERE, cpus=(0, 1))
    with pytest.raises(InputError, match="may not use CPU 3, which the placement shared-l3 0,3 names"):
        plan_launch(
            Engine("/e/solo", "solo", None),
            machine,
            LaunchRequest(1, 2, placement=Placement("shared-l3", (0, 3))),
        )


def test_a_campaign_keeps_the_topology_that_it_began_with(tmp_path: Path) -> None:
    """Interrupts go elsewhere from day to day; the points of a campaign that is gone on with must not."""
    plan = Plan(measure=(Measure(ops=("pthread.mutex",), threads=2, placement="each"),), seed=1)
    points = resolve(plan, setup_of().ops, (), 4, _FOUR)
    open_folder(tmp_path / "out", plan, points, _MACHINE, _FOUR)
    assert topology_for(tmp_path / "out", plan) == _FOUR
    assert topology_for(tmp_path / "new", plan) == read_topology()
    unplaced = Plan(measure=(Measure(ops=("pthread.mutex",)),))
    assert topology_for(tmp_path / "new", unplaced).cpus == ()
