from __future__ import annotations

import os

import msgspec
import pytest

from steelyard.base.errors import InputError
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.system.machine import Machine, read_machine

_SMT = ((0, 8), (1, 9), (2, 10), (3, 11))


def _machine(cores: tuple[tuple[int, ...], ...] = _SMT, *, restricted: bool = False) -> Machine:
    cpus = tuple(sorted(cpu for core in cores for cpu in core))
    return msgspec.structs.replace(
        read_machine("/nowhere"), cores=cores, cpus=cpus, online=(*cpus, 99) if restricted else cpus
    )


def _engine(family: str, version: str) -> Engine:
    mpi = Mpi(
        f"{family}-{version}", family, version, None, "/usr/bin/mpiexec", None, abi=False, origin="path"
    )
    return Engine("/e/steelyard-mpi", "mpi", mpi)


def _solo() -> Engine:
    return Engine("/e/steelyard-solo", "solo", None)


@pytest.mark.parametrize(
    ("engine", "ranks", "threads", "argv", "environment"),
    [
        (_engine("openmpi", "4.1.4"), 2, 1, ["--map-by", "slot:PE=1", "--bind-to", "core"], {}),
        (_engine("openmpi", "5.0.11"), 2, 2, ["--map-by", "slot:PE=2", "--bind-to", "core"], {}),
        (_engine("mpich", "4.0.2"), 2, 1, ["-bind-to", "user:0+8,1+9"], {}),
        (_engine("mpich", "5.0.2"), 2, 2, ["-bind-to", "user:0+8+1+9,2+10+3+11"], {}),
        (_engine("intel", "2021.18.1"), 2, 1, [], {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "[0x101,0x202]"}),
        (_engine("intel", "2021.18.1"), 1, 4, [], {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "[0xf0f]"}),
    ],
)
def test_a_core_for_each_thread_of_each_rank(
    engine: Engine,
    ranks: int,
    threads: int,
    argv: list[str],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    launch = plan_launch(engine, _machine(), LaunchRequest(ranks, threads))
    assert launch.argv_prefix == ("/usr/bin/mpiexec", *argv, "-n", str(ranks))
    assert launch.engine_args == ("--ranks", str(ranks), "--yield", "real")
    omp = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"} if threads > 1 else {}
    assert launch.environment == environment | omp
    assert (launch.preset, launch.notes) == (None, ())


@pytest.mark.parametrize(
    ("engine", "argv", "environment"),
    [
        (
            _engine("openmpi", "4.1.4"),
            ["--oversubscribe", "--bind-to", "none"],
            {"OMPI_MCA_mpi_yield_when_idle": "1"},
        ),
        (
            _engine("openmpi", "5.0.11"),
            ["--map-by", ":oversubscribe", "--bind-to", "none"],
            {"OMPI_MCA_mpi_yield_when_idle": "1"},
        ),
        (
            _engine("mpich", "5.0.2"),
            [],
            {
                "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
                "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
                "HYDRA_BINDING": "none",
            },
        ),
        (_engine("intel", "2021.18.1"), [], {"I_MPI_PIN": "0"}),
    ],
)
def test_more_ranks_than_cores_only_when_asked_for(
    engine: Engine, argv: list[str], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match=r"5 ranks are more than the 4 cores .* add --oversubscribe"):
        plan_launch(engine, _machine(), LaunchRequest(5))
    launch = plan_launch(engine, _machine(), LaunchRequest(5, oversubscribe=True))
    assert launch.argv_prefix == ("/usr/bin/mpiexec", *argv, "-n", "5")
    assert launch.environment == environment
    assert launch.preset == "oversubscribed"
    assert "5 ranks and threads share 4 cores" in launch.notes[0]


def test_threads_count_too() -> None:
    with pytest.raises(InputError, match="2 ranks of 3 threads are more than the 4 cores"):
        plan_launch(_engine("mpich", "5.0.2"), _machine(), LaunchRequest(2, 3))
    fits = plan_launch(_engine("mpich", "5.0.2"), _machine(), LaunchRequest(2, 2, oversubscribe=True))
    assert (fits.preset, "OMP_WAIT_POLICY" in fits.environment) == (None, False)
    shared = plan_launch(_engine("mpich", "5.0.2"), _machine(), LaunchRequest(2, 3, oversubscribe=True))
    assert (shared.preset, shared.environment["OMP_WAIT_POLICY"]) == ("oversubscribed", "passive")


def test_root_must_be_allowed_by_open_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    launch = plan_launch(_engine("openmpi", "5.0.11"), _machine(), LaunchRequest(1))
    assert launch.environment == {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def test_open_mpi_cannot_bind_within_a_part_of_the_machine() -> None:
    launch = plan_launch(_engine("openmpi", "4.1.4"), _machine(restricted=True), LaunchRequest(2))
    assert launch.argv_prefix[1:3] == ("--bind-to", "none")
    assert "not bound" in launch.notes[0]
    others = plan_launch(_engine("mpich", "5.0.2"), _machine(restricted=True), LaunchRequest(2))
    assert others.notes == ()


@pytest.mark.parametrize(
    ("threads", "args", "environment"),
    [
        (1, ("--cpus", "0", "--yield", "none"), {}),
        (3, ("--cpus", "0,1,2", "--yield", "none"), {"OMP_PROC_BIND": "true", "OMP_PLACES": "{0},{1},{2}"}),
        (5, ("--yield", "none"), {"OMP_WAIT_POLICY": "passive"}),
    ],
)
def test_solo_binds_itself(threads: int, args: tuple[str, ...], environment: dict[str, str]) -> None:
    launch = plan_launch(
        _solo(), _machine(), LaunchRequest(1, threads, oversubscribe=True, yield_mode="none")
    )
    assert (launch.argv_prefix, launch.engine_args, launch.environment) == ((), args, environment)


def test_extra_arguments_go_to_mpiexec_as_they_are() -> None:
    launch = plan_launch(_engine("mpich", "5.0.2"), _machine(), LaunchRequest(1), extra=["-iface", "lo"])
    assert launch.argv_prefix[-4:] == ("-iface", "lo", "-n", "1")
