"""Start an engine: the command line, and the variables that are set on purpose.

Every MPI is asked for the same: rank r on the r-th group of cores, a core per thread, nothing shared. If a
placement is asked for, the engine binds ranks itself, because each launcher has other limits; it knows its
rank before MPI_Init. The engine reports where its ranks really are. `environment` is set on purpose, and
recorded.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence

import msgspec

from steelyard.base.cpulist import cpu_words
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.engines.build import Engine, engine_environment
from steelyard.launch.choose import choose_launcher
from steelyard.launch.launchers import ENGINE_READS, CoreCpus, Start
from steelyard.launch.libraries import library_of
from steelyard.launch.preloads import check_preloads
from steelyard.launch.request import LaunchRequest
from steelyard.records.campaign_file import AROUND, MODULES, UNBOUND, UNSET, WRAPPER, Placement
from steelyard.system.allocation import AllocatedHost, Allocation, named_hosts, take_hosts
from steelyard.system.machine import Machine
from steelyard.system.modules import load_modules, module_names
from steelyard.system.openmp import omp_launch
from steelyard.system.topology import check_cpus


class LaunchCommand(msgspec.Struct, frozen=True):
    """Start `[*argv_prefix, engine.path, "run", *engine_args, ...]` with os.environ | environment.

    The variables `unset` are removed.
    """

    argv_prefix: tuple[str, ...]
    engine_args: tuple[str, ...]
    environment: dict[str, str]
    preset: str | None  # "oversubscribed" if there are more ranks and threads than cores
    notes: tuple[str, ...]  # for readers of the results
    unset: tuple[str, ...] = ()  # variables
    launcher: str | None = None  # None without MPI
    hosts: tuple[str, ...] = ()  # given to the launcher; none without an allocation


def plan_launch(
    engine: Engine,
    machine: Machine,
    request: LaunchRequest,
    extra: Sequence[str] = (),
    allocation: Allocation | None = None,
) -> LaunchCommand:
    """Plan the start of a request; `extra` goes to the launcher unchanged.

    All hosts are assumed to be like this machine. Raises InputError if there are more ranks and threads than
    cores of a host and that was not asked for, if the allocation is too small, if the placement names a CPU
    that this process may not use, or if OpenMP's variables in our environment contradict the request.
    """
    ranks, threads = request.ranks // (request.hosts or 1), request.threads
    named = request.placement.hosts if request.placement else ()
    placement = None if named else request.placement  # of CPUs
    cores = machine.cores  # of one host, as are `ranks`
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
    around = {name: _around(request.env, name) for name in AROUND.values()}
    own = engine.mpi.modules if engine.mpi else ()
    loaded = load_modules((*own, *(module_names(around[MODULES]) if around[MODULES] else ())))
    wrapper = tuple(shlex.split(around[WRAPPER]))
    path = loaded.environment.get("PATH", os.environ.get("PATH"))
    if wrapper and shutil.which(wrapper[0], path=path) is None:
        raise InputError(
            f"there is no {visible(wrapper[0])} on PATH, which the ranks are to be run by; give another"
        )
    variables = {name: value for name, value in request.env.items() if name not in around}
    given = {name: value for name, value in variables.items() if value != UNSET}
    unset = (*loaded.unset, *(name for name in variables if name not in given))
    if not wrapper:  # a container has files of its own
        check_preloads(given, {**os.environ, **loaded.environment, **given})
    environment = dict(loaded.environment)
    environment |= engine_environment(engine, {**os.environ, **environment})
    if threads > 1 or request.omp:
        bound = _openmp(engine, ranks, threads, cores, placement, over)
        told = omp_launch(request.omp, threads, bound, os.environ, shares=shares)
        environment |= told.environment
        notes += told.notes
    if engine.mpi is None and placement is None and not over:
        placed = tuple(core[0] for core in cores[: ranks * threads])
    text = _cpu_lists(placed, threads) or (UNBOUND if placement else "")
    engine_args = (*(("--cpus", text) if text else ()), "--yield", request.yield_mode)
    team = ("--ranks", str(request.ranks)) if engine.mpi is not None or ranks > 1 else ()
    if engine.mpi is None:
        environment |= given
        return LaunchCommand(wrapper, (*team, *engine_args), environment, preset, tuple(notes), unset)
    library = library_of(engine.mpi.family, engine.mpi.version)
    launcher = choose_launcher(request.launcher, engine.mpi, allocation)
    if named:
        hosts = named_hosts(allocation, named)
    else:
        hosts = take_hosts(allocation, request.hosts or 1, machine.host)
    if not over:
        _check_room(hosts, ranks * threads)
    if placed and not set(launcher.local_rank) & set(ENGINE_READS):
        raise InputError(
            f"{launcher.name} does not tell ranks their number on a host in a way that the engine reads, so "
            "no placement can be made; leave --placement out"
        )
    start = Start(
        ranks=request.ranks,
        threads=threads,
        hosts=tuple(host.name for host in hosts),
        groups=tuple(cores[rank * threads : (rank + 1) * threads] for rank in range(0 if over else ranks)),
        restricted=machine.restricted,
    )
    if shares:
        settings = launcher.oversubscribed or launcher.free
        environment |= library.sharing
        notes += library.sharing_notes
    else:
        settings = launcher.free if placement else launcher.bound(start)
    if os.geteuid() == 0:
        environment |= launcher.as_root
    environment |= {**settings.environment, **given}
    program = (launcher.program or engine.mpi.mpiexec, *launcher.verb)
    return LaunchCommand(
        argv_prefix=(*program, *settings.argv, *extra, *launcher.counted(start), *wrapper),
        engine_args=(*team, *engine_args),
        environment=environment,
        preset=preset,
        notes=(*notes, *settings.notes),
        unset=unset,
        launcher=launcher.name,
        hosts=start.hosts,
    )


def _around(env: Mapping[str, str], name: str) -> str:
    """Find the modules or the wrapper of a launch; nothing if there are none."""
    return "" if env.get(name) == UNSET else env.get(name, "")


def _check_room(hosts: Sequence[AllocatedHost], wanted: int) -> None:
    """Raise InputError if the batch system gave fewer CPUs of a host than ranks and threads need."""
    for host in hosts:
        if host.cpus is not None and host.cpus < wanted:
            raise InputError(
                f"{wanted} ranks and threads are to run on {host.name}, of which this allocation has "
                f"{counted(host.cpus, 'CPU')}; ask for a larger one or for fewer ranks"
            )


def _cpu_lists(cpus: Sequence[int], threads: int) -> str:
    """Write the CPUs of each rank's threads for the engine: `0,2/1,3`."""
    ranks = (cpus[first : first + threads] for first in range(0, len(cpus), threads))
    return "/".join(",".join(map(str, rank)) for rank in ranks)


def _openmp(
    engine: Engine, ranks: int, threads: int, cores: CoreCpus, placement: Placement | None, over: bool
) -> dict[str, str]:
    """Keep each OpenMP thread on a core of its own, or where the placement puts it.

    The variables are the same for all ranks. If the engine binds several ranks, the threads of a rank share
    its CPUs and are not bound one by one.
    """
    if threads == 1 or (placement is None and (over or (engine.mpi is None and ranks > 1))):
        return {}
    if placement is not None and (not placement.cpus or ranks > 1):
        return {"OMP_PROC_BIND": "false"}
    if placement is None and engine.mpi is not None:
        return {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
    cpus = placement.cpus if placement else [core[0] for core in cores[:threads]]
    return {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus)}
