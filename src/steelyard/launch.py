"""How an engine is started: launcher, binding and settings, a row per MPI family.

What every MPI is asked for is the same: rank r on the r-th group of cores, a core per thread, nothing shared.
A placement that is asked for is the engine's to bind, which knows its rank before MPI_Init: each launcher has
limits of its own. The engine reports where its ranks really are. `environment` is what is set on purpose,
and is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from steelyard.engine import Engine, engine_environment
from steelyard.errors import InputError
from steelyard.machine import Machine
from steelyard.observations import Placement
from steelyard.openmp import omp_launch
from steelyard.placement import UNBOUND, check_cpus, cpu_words

Cores = Sequence[Sequence[int]]  # the hardware threads of each core


class Launch(msgspec.Struct, frozen=True):
    """Start `[*argv_prefix, engine.path, "run", *engine_args, ...]` with os.environ | environment."""

    argv_prefix: tuple[str, ...]
    engine_args: tuple[str, ...]
    environment: dict[str, str]
    preset: str | None  # "oversubscribed" when there are more ranks and threads than cores
    notes: tuple[str, ...]  # what a reader of the numbers should know


class _Settings(msgspec.Struct, frozen=True):
    """Arguments of mpiexec and variables for one way of starting."""

    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


class _Family(msgspec.Struct, frozen=True):
    """How one kind of MPI is told what is the same for all. `bound` takes a group of cores for each rank.

    `free` leaves ranks alone, up to one for each hardware thread.
    """

    bound: Callable[[Sequence[Cores], bool], _Settings]
    oversubscribed: _Settings
    free: _Settings
    as_root: Mapping[str, str] = {}


def plan_launch(
    engine: Engine,
    ranks: int,
    threads: int,
    machine: Machine,
    *,
    oversubscribe: bool = False,
    yield_mode: str = "real",
    placement: Placement | None = None,
    extra: Sequence[str] = (),
    omp: Mapping[str, str] | None = None,
) -> Launch:
    """Plan the start of `ranks` ranks of `threads` threads on this machine; `extra` goes to mpiexec as it is.

    `omp` are settings of OpenMP. Raises InputError when they are more than the cores and `oversubscribe` is
    not set, where `placement` names a CPU that this process may not use, or where OpenMP's variables in our
    environment contradict what is asked for.
    """
    cores = machine.cores
    placed = placement.cpus if placement else ()
    check_cpus(placed, machine.cpus, machine.online, placement.text if placement else "")
    over = not placed and ranks * threads > len(cores)
    if over and not oversubscribe:
        wanted = f"{ranks} ranks" if threads == 1 else f"{ranks} x {threads} threads"
        raise InputError(
            f"{wanted} are more than the {len(cores)} cores that this process may use; "
            "ask for fewer, or add --oversubscribe to let them share"
        )
    shares = over or (placement is not None and placement.shares)
    notes: list[str] = []
    if shares:
        where = f"{len(cores)} cores" if over else f"CPU {cpu_words(placed)}"
        notes.append(f"{ranks * threads} ranks and threads share {where}: times include waiting for a turn")
        if yield_mode == "none":
            notes.append("with yield=none a waiting rank keeps its core until the kernel takes it away")
    preset = "oversubscribed" if over else "shared-cpus" if shares else None
    environment = engine_environment(engine)
    if threads > 1 or omp:
        bound = _openmp(engine, ranks, threads, cores, placement, over)
        told = omp_launch(omp or {}, threads, bound, os.environ, shares=shares)
        environment |= told.environment
        notes += told.notes
    if engine.mpi is None and placement is None and not over:
        placed = tuple(core[0] for core in cores[: ranks * threads])
    text = _cpu_lists(placed, threads) or (UNBOUND if placement else "")
    engine_args = (*(("--cpus", text) if text else ()), "--yield", yield_mode)
    team = ("--ranks", str(ranks)) if engine.mpi is not None or ranks > 1 else ()
    if engine.mpi is None:
        return Launch((), (*team, *engine_args), environment, preset, tuple(notes))
    family = _FAMILIES[_family_key(engine.mpi.family, engine.mpi.version)]
    groups = [cores[rank * threads : (rank + 1) * threads] for rank in range(ranks)]
    if shares:
        settings = family.oversubscribed
    else:
        settings = family.free if placement else family.bound(groups, machine.restricted)
    if os.geteuid() == 0:
        environment |= family.as_root
    environment |= settings.environment
    return Launch(
        argv_prefix=(engine.mpi.mpiexec, *settings.argv, *extra, "-n", str(ranks)),
        engine_args=(*team, *engine_args),
        environment=environment,
        preset=preset,
        notes=(*notes, *settings.notes),
    )


def _cpu_lists(cpus: Sequence[int], threads: int) -> str:
    """The CPUs of each rank's threads as the engine takes them: `0,2/1,3`."""
    ranks = (cpus[first : first + threads] for first in range(0, len(cpus), threads))
    return "/".join(",".join(map(str, rank)) for rank in ranks)


def _openmp(
    engine: Engine, ranks: int, threads: int, cores: Cores, placement: Placement | None, over: bool
) -> dict[str, str]:
    """Each OpenMP thread stays on a core of its own, or where the placement wants it.

    The variables are the same for all ranks: those of several that the engine binds have their rank's CPUs
    between them and are not bound one by one.
    """
    if threads == 1 or (placement is None and (over or (engine.mpi is None and ranks > 1))):
        return {}
    if placement is not None and (not placement.cpus or ranks > 1):
        return {"OMP_PROC_BIND": "false"}
    if placement is None and engine.mpi is not None:
        return {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
    cpus = placement.cpus if placement else [core[0] for core in cores[:threads]]
    return {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus)}


def _family_key(family: str, version: str) -> str:
    """The row for a family and version: Open MPI's launcher was replaced in 5, MPICH's waiting changed."""
    major = int(version.partition(".")[0] or 0)
    if family == "openmpi":
        return "openmpi4" if major < 5 else "openmpi5"
    if family == "mpich":
        return "mpich4" if major < 5 else "mpich5"
    return family


def _bind_openmpi(groups: Sequence[Cores], restricted: bool) -> _Settings:
    """Open MPI counts cores itself, in the hardware's order, and does not see that taskset left it fewer.

    Its lists of CPUs (--cpu-list, pe-list) are hwloc's logical numbers, not Linux's, so they are no way out.
    """
    if restricted:
        note = (
            "this process may use only some of the machine's CPUs, which Open MPI's binding does not heed: "
            "ranks are not bound one to a core, they only stay on the allowed CPUs"
        )
        return _Settings(argv=("--bind-to", "none"), notes=(note,))
    return _Settings(argv=("--map-by", f"slot:PE={len(groups[0])}", "--bind-to", "core"))


def _bind_hydra(groups: Sequence[Cores], restricted: bool) -> _Settings:
    """Hydra takes Linux's numbers: CPUs of one rank joined by +, ranks by commas."""
    del restricted  # the numbers are of allowed CPUs in any case
    ranks = ("+".join(str(cpu) for core in cores for cpu in core) for cores in groups)
    return _Settings(argv=("-bind-to", "user:" + ",".join(ranks)))


def _bind_intel(groups: Sequence[Cores], restricted: bool) -> _Settings:
    """Intel's Hydra binds by a mask of Linux's numbers for each rank; its -bind-to does nothing."""
    del restricted
    masks = (f"0x{sum(1 << cpu for core in cores for cpu in core):x}" for cores in groups)
    return _Settings(environment={"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{','.join(masks)}]"})


# By the variable and not by `-bind-to none`, after which Hydra aborts when ranks spawn others.
_HYDRA_FREE = {"HYDRA_BINDING": "none"}
# MPICH's collectives within a node spin on shared memory, whoever waits for the core; those over messages
# yield, and with HEAVY_YIELD they sleep for a moment: some 50 times faster with 4 ranks on 2 cores.
_MPICH_SHARING = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
_OPENMPI_SHARING = {"OMPI_MCA_mpi_yield_when_idle": "1"}
_OPENMPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

_MPICH4_NOTE = (
    "MPICH 4 may have been built so that a waiting rank never gives its core away (Debian's is): then each "
    "message between ranks that share one takes milliseconds; Open MPI and MPICH 5 do not"
)

_FAMILIES = {
    "openmpi4": _Family(
        bound=_bind_openmpi,
        oversubscribed=_Settings(("--oversubscribe", "--bind-to", "none"), _OPENMPI_SHARING),
        free=_Settings(("--use-hwthread-cpus", "--bind-to", "none")),
        as_root=_OPENMPI_ROOT,
    ),
    "openmpi5": _Family(
        bound=_bind_openmpi,
        oversubscribed=_Settings(("--map-by", ":oversubscribe", "--bind-to", "none"), _OPENMPI_SHARING),
        free=_Settings(("--map-by", ":hwtcpus", "--bind-to", "none")),
        as_root=_OPENMPI_ROOT,
    ),
    "mpich4": _Family(
        bound=_bind_hydra,
        oversubscribed=_Settings((), _MPICH_SHARING | _HYDRA_FREE, (_MPICH4_NOTE,)),
        free=_Settings(environment=_HYDRA_FREE),
    ),
    "mpich5": _Family(
        bound=_bind_hydra,
        oversubscribed=_Settings((), _MPICH_SHARING | _HYDRA_FREE),
        free=_Settings(environment=_HYDRA_FREE),
    ),
    # Intel MPI gives way by itself.
    "intel": _Family(
        bound=_bind_intel,
        oversubscribed=_Settings(environment={"I_MPI_PIN": "0"}),
        free=_Settings(environment={"I_MPI_PIN": "0"}),
    ),
}
