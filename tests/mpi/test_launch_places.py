"""Real launchers: those that are found are complete, and ranks are where a launch was told to put them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi, choose_mpi, mpi_environment
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.system.machine import read_machine
from steelyard.system.process import Child, run

pytestmark = pytest.mark.launching

_RANK = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char text[4096];
    int rank, ranks, length = 0;
    cpu_set_t set;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && length < 4000; i++)
        if (CPU_ISSET(i, &set))
            length += sprintf(text + length, " %d", i);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d:%s\n", rank, ranks, text);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
"""


def test_real_ones_are_complete(mpi: Mpi) -> None:
    assert Path(mpi.mpiexec).is_file()
    assert mpi.family in ("mpich", "openmpi", "intel")
    assert choose_mpi(mpi.mpiexec).version == mpi.version


@pytest.fixture
def program(mpi: Mpi, tmp_path: Path) -> Engine:
    """A program that prints for each rank where it may run."""
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no mpicc")
    (tmp_path / "rank.c").write_text(_RANK)
    argv = [mpi.mpicc, "-O1", str(tmp_path / "rank.c"), "-o", str(tmp_path / "rank")]
    done = run(argv, env=os.environ | mpi_environment(mpi), timeout=600)
    assert done.code == 0, done.err
    return Engine(str(tmp_path / "rank"), "mpi", mpi)


def _places(program: Engine, launch: LaunchCommand) -> list[tuple[int, ...]]:
    """The CPUs of each rank."""
    with Child([*launch.argv_prefix, program.path], env=os.environ | launch.environment) as child:
        assert child.wait(600) == 0, child.err
    places: dict[int, tuple[int, ...]] = {}
    for line in child.out.splitlines():
        who, _, cpus = line.partition(":")
        rank, ranks = map(int, who.split())
        assert ranks == int(launch.argv_prefix[-1])
        places[rank] = tuple(map(int, cpus.split()))
    return [places[rank] for rank in sorted(places)]


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 1), (1, 2)])
def test_ranks_are_where_they_were_meant_to_be(program: Engine, ranks: int, threads: int) -> None:
    machine = read_machine()
    assert program.mpi is not None
    if ranks * threads > len(machine.cores):
        pytest.skip(f"there are only {len(machine.cores)} cores")
    places = _places(program, plan_launch(program, machine, LaunchRequest(ranks, threads)))
    assert len(places) == ranks
    if machine.restricted and program.mpi.family == "openmpi":
        assert all(set(cpus) <= set(machine.cpus) for cpus in places)
        return
    cores = {core: i for i, group in enumerate(machine.cores) for core in group}
    for cpus in places:
        assert len({cores[cpu] for cpu in cpus}) == threads
    assert len(set(places)) == ranks


def test_more_ranks_than_cores_do_run(program: Engine) -> None:
    machine = read_machine()
    ranks = len(machine.cores) + 2
    if ranks > 16:
        pytest.skip("there are too many cores to have more ranks in a test")
    launch = plan_launch(program, machine, LaunchRequest(ranks, oversubscribe=True))
    assert len(_places(program, launch)) == ranks
