"""How an engine is started: the command line, and the variables that are set on purpose.

What every MPI is asked for is the same: rank r on the r-th group of cores, a core per thread, nothing shared.
A placement that is asked for is the engine's to bind, which knows its rank before MPI_Init: each launcher has
limits of its own. The engine reports where its ranks really are. `environment` is what is set on purpose,
and is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from steelyard.base.cpulist import cpu_words
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.engines.build import Engine, engine_environment
from steelyard.launch.binding import Cores, family_of
from steelyard.launch.request import UNSET, LaunchRequest
from steelyard.records.campaign_file import UNBOUND, Placement
from steelyard.system.machine import Machine
from steelyard.system.openmp import omp_launch
from steelyard.system.topology import check_cpus


class LaunchCommand(msgspec.Struct, frozen=True):
    """Start `[*argv_prefix, engine.path, "run", *engine_args, ...]` with os.environ | environment.

    The variables `unset` are taken out.
    """

    argv_prefix: tuple[str, ...]
    engine_args: tuple[str, ...]
    environment: dict[str, str]
    preset: str | None  # "oversubscribed" when there are more ranks and threads than cores
    notes: tuple[str, ...]  # what a reader of the numbers should know
    unset: tuple[str, ...] = ()  # variables


def plan_launch(
    engine: Engine, machine: Machine, request: LaunchRequest, extra: Sequence[str] = ()
) -> LaunchCommand:
    """Plan the start of what is asked for on this machine; `extra` goes to mpiexec as it is.

    Raises InputError when there are more ranks and threads than cores and that is not asked for, where the
    placement names a CPU that this process may not use, or where OpenMP's variables in our environment
    contradict what is asked for.
    """
    ranks, threads, placement = request.ranks, request.threads, request.placement
    cores = machine.cores
    placed = placement.cpus if placement else ()
    check_cpus(placed, machine.cpus, machine.online, placement.text if placement else "")
    over = not placed and ranks * threads > len(cores)
    if over and not request.oversubscribe:
        wanted = f"{ranks} ranks" if threads == 1 else f"{counted(ranks, 'rank')} of {threads} threads"
        raise InputError(
            f"{wanted} are more than the {len(cores)} cores that this process may use; "
            "ask for fewer, or add --oversubscribe to let them share"
        )
    shares = over or (placement is not None and placement.shares)
    notes: list[str] = []
    if shares:
        where = f"{len(cores)} cores" if over else f"CPU {cpu_words(placed)}"
        notes.append(f"{ranks * threads} ranks and threads share {where}: times include waiting for the CPU")
        if request.yield_mode == "none":
            notes.append("with yield=none a waiting rank keeps its core until the kernel takes it away")
    preset = "oversubscribed" if over else "shared-cpus" if shares else None
    environment = engine_environment(engine)
    given = {name: value for name, value in request.env.items() if value != UNSET}
    unset = tuple(name for name in request.env if name not in given)
    if threads > 1 or request.omp:
        bound = _openmp(engine, ranks, threads, cores, placement, over)
        told = omp_launch(request.omp, threads, bound, os.environ, shares=shares)
        environment |= told.environment
        notes += told.notes
    if engine.mpi is None and placement is None and not over:
        placed = tuple(core[0] for core in cores[: ranks * threads])
    text = _cpu_lists(placed, threads) or (UNBOUND if placement else "")
    engine_args = (*(("--cpus", text) if text else ()), "--yield", request.yield_mode)
    team = ("--ranks", str(ranks)) if engine.mpi is not None or ranks > 1 else ()
    if engine.mpi is None:
        environment |= given
        return LaunchCommand((), (*team, *engine_args), environment, preset, tuple(notes), unset)
    family = family_of(engine.mpi.family, engine.mpi.version)
    groups = [cores[rank * threads : (rank + 1) * threads] for rank in range(ranks)]
    if shares:
        settings = family.oversubscribed
    else:
        settings = family.free if placement else family.bound(groups, machine.restricted)
    if os.geteuid() == 0:
        environment |= family.as_root
    environment |= {**settings.environment, **given}
    return LaunchCommand(
        argv_prefix=(engine.mpi.mpiexec, *settings.argv, *extra, "-n", str(ranks)),
        engine_args=(*team, *engine_args),
        environment=environment,
        preset=preset,
        notes=(*notes, *settings.notes),
        unset=unset,
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
