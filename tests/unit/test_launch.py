from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest

from steelyard.base.errors import InputError
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi
from steelyard.launch.command import plan_launch
from steelyard.launch.launcher_choice import choose_launcher
from steelyard.launch.launchers import ENGINE_READS, LAUNCHERS, Start
from steelyard.launch.request import LaunchRequest
from steelyard.records.campaign_file import Placement
from steelyard.system.allocation import AllocatedHost, Allocation
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
        (
            _engine("mpich", "4.0.2"),
            [],
            {"MPIR_CVAR_DEVICE_COLLECTIVES": "none", "HYDRA_BINDING": "none"},  # it knows no HEAVY_YIELD
        ),
        (
            _engine("mpich", "4.1"),
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
    assert "5 ranks share 4 cores" in launch.notes[0]


def test_one_core_is_one() -> None:
    with pytest.raises(InputError, match="2 ranks are more than the 1 core that"):
        plan_launch(_engine("mpich", "5.0.2"), _machine(((0,),)), LaunchRequest(2))


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


_HOSTS = Allocation("none", (AllocatedHost("a1", 8), AllocatedHost("b2", 8), AllocatedHost("c3", 8)))
_ROWS = {row.name: row for row in LAUNCHERS}


# Recorded words of the manuals; hydra, orte, prrte, intel and srun were also tried on a real system.
_WORDS = (
    ("hydra", "-hosts a1,b2 -ppn 2 -n 4", "-bind-to user:0+8+1+9,2+10+3+11", ""),
    ("orte", "--host a1:2,b2:2 -n 4", "--map-by slot:PE=2 --bind-to core", "--use-hwthread-cpus"),
    ("prrte", "--host a1:2,b2:2 -n 4", "--map-by slot:PE=2 --bind-to core", "--map-by :hwtcpus"),
    ("intel", "-hosts a1,b2 -ppn 2 -n 4", "", ""),
    (
        "srun-pmi2",
        "--kill-on-bad-exit=1 --overlap --nodes=2 --ntasks=4 --ntasks-per-node=2 --nodelist=a1,b2",
        "--cpu-bind=mask_cpu:0x303,0xc0c",
        "--cpu-bind=none",
    ),
    (
        "srun-pmix",
        "--kill-on-bad-exit=1 --overlap --nodes=2 --ntasks=4 --ntasks-per-node=2 --nodelist=a1,b2",
        "--cpu-bind=mask_cpu:0x303,0xc0c",
        "--cpu-bind=none",
    ),
    (
        "flux",
        "--requires=host:a1,b2 --nodes=2 --tasks-per-node=2",
        "-o cpu-affinity=per-task",
        "-o cpu-affinity=off",
    ),
    (
        "jsrun",
        "--nrs 4 --tasks_per_rs 1 --rs_per_host 2",
        "--cpu_per_rs 2 --bind packed:2",
        "--cpu_per_rs 1 --bind none",
    ),
    ("pals", "--hosts a1,b2 --ppn 2 -n 4", "--cpu-bind list:0,8,1,9:2,10,3,11", "--cpu-bind none"),
    ("aprun", "-L a1,b2 -N 2 -n 4", "-d 2 -cc 0,8,1,9:2,10,3,11", "-cc none"),
)


def test_each_launcher_is_in_the_table() -> None:
    assert {name for name, *_ in _WORDS} == set(_ROWS)


@pytest.mark.parametrize(("name", "counted", "bound", "free"), _WORDS)
def test_two_ranks_of_two_threads_on_each_of_two_hosts(
    name: str, counted: str, bound: str, free: str
) -> None:
    row = _ROWS[name]
    start = Start(4, 2, ("a1", "b2"), (_SMT[:2], _SMT[2:]))
    assert " ".join(row.counted(start)) == counted
    assert " ".join(row.bound(start).argv) == bound
    assert " ".join(row.free.argv).startswith(free)


def test_slurm_binds_by_itself_where_others_have_a_part_of_the_host() -> None:
    start = Start(2, 2, ("a1",), (_SMT[:2], _SMT[2:]), restricted=True)
    assert _ROWS["srun-pmix"].bound(start).argv == ("--cpus-per-task=2", "--cpu-bind=cores")


def test_what_launchers_say_of_local_ranks_is_what_the_engine_reads() -> None:
    source = Path(__file__).parents[2].joinpath("engine/launch/bind.c").read_text()
    read = re.search(r"names\[\] = \{(.*?)\}", source, re.DOTALL)
    assert read is not None
    assert tuple(re.findall(r'"(\w+)"', read[1])) == ENGINE_READS
    assert {row.name for row in LAUNCHERS if not set(row.local_rank) & set(ENGINE_READS)} == {"aprun"}


def _programs(folder: Path, monkeypatch: pytest.MonkeyPatch, **said: str) -> None:
    """Programs that say these things, and no others on PATH."""
    for name, text in said.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    ("word", "mpi", "system", "chosen"),
    [
        (None, "mpich", None, "hydra"),
        (None, "mpich", "slurm", "srun-pmi2"),
        (None, "openmpi", "slurm", "orte"),  # this Slurm has no pmix
        (None, "intel", "slurm", "intel"),
        (None, "mpich", "flux", "hydra"),  # no flux on PATH
        (None, "mpich", "pbs", "pals"),
        (None, "openmpi", "pbs", "orte"),
        ("srun", "mpich", None, "srun-pmi2"),
        ("mpiexec", "mpich", "slurm", "hydra"),
        ("pals", "mpich", None, "pals"),
        ("srun", "openmpi", "slurm", "cannot be used: 'srun --mpi=list' does not name pmix"),
        ("flux", "mpich", "flux", "cannot be used: there is no flux on PATH"),
        (
            "srun",
            "intel",
            "slurm",
            "the launcher srun does not start intel-4.1; give --launcher one of mpiexec",
        ),
        ("sron", "mpich", "slurm", "there is no launcher 'sron'; give one of mpiexec, srun, flux"),
        ("a\nb", "mpich", None, "there is no launcher 'a"),
    ],
)
def test_the_launcher_is_named_or_of_the_allocation_or_of_the_mpi(
    word: str | None,
    mpi: str,
    system: str | None,
    chosen: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _programs(tmp_path, monkeypatch, srun="MPI plugin types are... none pmi2", mpiexec="--cpu-bind METHOD")
    found = _engine(mpi, "4.1").mpi
    assert found is not None
    allocation = Allocation(system, (AllocatedHost("a1"),)) if system else None
    if chosen in _ROWS:
        assert choose_launcher(word, found, allocation).name == chosen
    else:
        with pytest.raises(InputError) as raised:
            choose_launcher(word, found, allocation)
        assert chosen in str(raised.value)
        assert "\n" not in str(raised.value)


def test_hosts_are_named_and_each_gets_as_many_ranks() -> None:
    machine = msgspec.structs.replace(_machine(), host="b2.example.org")
    launch = plan_launch(_engine("mpich", "5.0.2"), machine, LaunchRequest(4, 2, hosts=2), allocation=_HOSTS)
    assert launch.argv_prefix == (
        *("/usr/bin/mpiexec", "-bind-to", "user:0+8+1+9,2+10+3+11"),
        *("-hosts", "b2,a1", "-ppn", "2", "-n", "4"),
    )
    assert (launch.hosts, launch.launcher) == (("b2", "a1"), "hydra")  # that of this process first
    assert launch.engine_args[:2] == ("--ranks", "4")


@pytest.mark.parametrize(
    ("ranks", "hosts", "allocation", "words"),
    [
        (4, 4, _HOSTS, "the plan needs 4 hosts, and this allocation of none has 3; ask for a larger one"),
        (2, 2, None, "the plan needs 2 hosts, and this process is in no allocation of a batch system"),
        (10, 2, _HOSTS, "5 ranks are more than the 4 cores"),
        (
            4,
            1,
            Allocation("slurm", (AllocatedHost("a1", 3),)),
            "4 ranks and threads are to run on a1, of which this allocation has 3 CPUs",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(
    ranks: int, hosts: int, allocation: Allocation | None, words: str
) -> None:
    request = LaunchRequest(ranks, hosts=hosts, launcher="mpiexec")
    with pytest.raises(InputError, match=words):
        plan_launch(_engine("mpich", "5.0.2"), _machine(), request, allocation=allocation)


def test_no_placement_by_a_launcher_that_leaves_the_engine_without_local_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _programs(tmp_path, monkeypatch, aprun="")
    machine = read_machine()
    placed = LaunchRequest(1, placement=Placement("list", machine.cpus[:1]), launcher="aprun")
    with pytest.raises(InputError, match="aprun does not tell ranks their number on a host"):
        plan_launch(_engine("mpich", "5.0.2"), machine, placed)


@pytest.mark.parametrize(
    ("family", "version", "words"),
    [("openmpi", "5.0.11", ("--with-ft", "ulfm")), ("mpich", "5.0.2", ("-disable-auto-cleanup",))],
)
def test_a_rank_that_dies_is_started_besides_and_the_others_live(
    family: str, version: str, words: tuple[str, ...]
) -> None:
    """It needs no core: two ranks on two cores and the dying one share none that anybody waits for."""
    asked = LaunchRequest(2, loses=1)
    launch = plan_launch(_engine(family, version), _machine(((0,), (1,))), asked)
    prefix = launch.argv_prefix
    at = prefix.index(words[0])
    assert prefix[at : at + len(words)] == words
    assert prefix[prefix.index("-n") + 1] == "3"
    assert launch.engine_args[:2] == ("--ranks", "2")
    assert launch.preset is None


def test_a_launcher_that_ends_a_job_with_the_first_dead_rank_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"orte ends a launch when a rank dies.*leave the ops mpi\.ft\.\* out"
    ):
        plan_launch(_engine("openmpi", "4.1.4"), _machine(), LaunchRequest(2, loses=1))
