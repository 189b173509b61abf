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
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from steelyard.base.cpulist import cpu_words
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.engines.build import Engine, engine_environment
from steelyard.engines.mpi import Mpi
from steelyard.launch.launcher_choice import choose_launcher
from steelyard.launch.launchers import ENGINE_READS, CoreCpus, Start
from steelyard.launch.preloads import check_preloads
from steelyard.launch.request import LaunchRequest
from steelyard.launch.waiting_settings import library_of
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
    fit = _fit(machine, request)
    around = _around(engine, request, fit)
    cpus = fit.placement.cpus if fit.placement else ()
    if engine.mpi is None and fit.placement is None and not fit.over:
        cpus = tuple(core[0] for core in fit.cores[: fit.lanes])
    text = _cpu_lists(cpus, fit.threads) or (UNBOUND if fit.placement else "")
    has_team = engine.mpi is not None or fit.ranks > 1
    alone = LaunchCommand(
        argv_prefix=around.wrapper,
        engine_args=(
            *(("--ranks", str(request.ranks)) if has_team else ()),
            *(("--cpus", text) if text else ()),
            *("--yield", request.yield_mode),
        ),
        environment=around.environment | around.given,
        preset=fit.preset,
        notes=around.notes,
        unset=around.unset,
    )
    return (
        alone
        if engine.mpi is None
        else _launched(alone, engine.mpi, machine, request, fit, extra, allocation)
    )


class _Fit(msgspec.Struct, frozen=True):
    """How the ranks and threads of a host fit on its cores.

    `placement` is one of CPUs, None for the default. `over`: they are more than the cores.
    """

    ranks: int
    threads: int
    cores: CoreCpus
    placement: Placement | None
    over: bool

    @property
    def lanes(self) -> int:
        """All threads of all ranks."""
        return self.ranks * self.threads

    @property
    def shares(self) -> bool:
        """Do some of them share a CPU?"""
        return self.over or (self.placement is not None and self.placement.shares)

    @property
    def preset(self) -> str | None:
        """The name of the way of sharing in the records."""
        return "oversubscribed" if self.over else "shared-cpus" if self.shares else None

    def notes(self, yield_mode: str) -> Iterator[str]:
        """Say what sharing does to times."""
        if self.shares:
            cpus = cpu_words(self.placement.cpus if self.placement else ())
            where = f"{len(self.cores)} cores" if self.over else f"CPU {cpus}"
            yield f"{_team_words(self.ranks, self.threads)} share {where}: times include waiting for the CPU"
            if yield_mode == "none":
                yield "with yield=none a waiting rank keeps its core until the kernel takes it away"


def _team_words(ranks: int, threads: int) -> str:
    """`4 ranks`, `2 threads`, `2 ranks of 2 threads`."""
    if ranks == 1:
        return counted(threads, "thread")
    return f"{ranks} ranks" if threads == 1 else f"{ranks} ranks of {threads} threads"


def _fit(machine: Machine, request: LaunchRequest) -> _Fit:
    """Fit a request on a host. Raises InputError."""
    ranks, threads = request.ranks // (request.hosts or 1), request.threads
    placement = request.placement if request.placement and not request.placement.hosts else None
    placed = placement.cpus if placement else ()
    check_cpus(placed, machine.cpus, machine.online, placement.text if placement else "")
    over = not placed and ranks * threads > len(machine.cores)
    if over and not request.oversubscribe:
        wanted = _team_words(ranks, threads)
        raise InputError(
            f"{wanted} are more than the {counted(len(machine.cores), 'core')} that this process may use; "
            "ask for fewer, or add --oversubscribe to let them share"
        )
    return _Fit(ranks, threads, machine.cores, placement, over)


class _Around(msgspec.Struct, frozen=True):
    """What is around an engine: words before it, variables that are set and those removed.

    `given` are the variables that the plan sets, which outweigh all others.
    """

    wrapper: tuple[str, ...]
    environment: dict[str, str]
    given: dict[str, str]
    unset: tuple[str, ...]
    notes: tuple[str, ...]


def _around(engine: Engine, request: LaunchRequest, fit: _Fit) -> _Around:
    """Load modules, find the wrapper, and make the variables. Raises InputError."""
    own = engine.mpi.modules if engine.mpi else ()
    modules, words = (_asked(request.env, name) for name in (MODULES, WRAPPER))
    loaded = load_modules((*own, *(module_names(modules) if modules else ())))
    wrapper = tuple(shlex.split(words))
    path = loaded.environment.get("PATH", os.environ.get("PATH"))
    if wrapper and shutil.which(wrapper[0], path=path) is None:
        raise InputError(
            f"there is no {visible(wrapper[0])} on PATH, the wrapper of the ranks; give its path, or another"
        )
    given = _given(request.env)
    asked = (name for name in request.env if name not in AROUND.values() and name not in given)
    unset = (*loaded.unset, *asked)
    if not wrapper:  # a container has files of its own
        check_preloads(given, {**os.environ, **loaded.environment, **given})
    environment = dict(loaded.environment)
    environment |= engine_environment(engine, {**os.environ, **environment})
    notes = tuple(fit.notes(request.yield_mode))
    if fit.threads > 1 or request.omp:
        told = omp_launch(request.omp, fit.threads, _openmp(engine, fit), os.environ, shares=fit.shares)
        environment |= told.environment
        notes += tuple(told.notes)
    return _Around(wrapper, environment, given, unset, notes)


def _given(env: Mapping[str, str]) -> dict[str, str]:
    """List the variables that a plan sets; what is around the engine is none."""
    return {name: value for name, value in env.items() if name not in AROUND.values() and value != UNSET}


def _asked(env: Mapping[str, str], name: str) -> str:
    """Find the modules or the wrapper of a launch; nothing if there are none."""
    return "" if env.get(name) == UNSET else env.get(name, "")


def _launched(
    alone: LaunchCommand,
    mpi: Mpi,
    machine: Machine,
    request: LaunchRequest,
    fit: _Fit,
    extra: Sequence[str],
    allocation: Allocation | None,
) -> LaunchCommand:
    """Start the engine of `alone` by a launcher. Raises InputError."""
    library = library_of(mpi.family, mpi.version)
    launcher = choose_launcher(request.launcher, mpi, allocation)
    named = request.placement.hosts if request.placement else ()
    hosts = (
        named_hosts(allocation, named) if named else take_hosts(allocation, request.hosts or 1, machine.host)
    )
    if not fit.over:
        _check_room(hosts, fit.lanes)
    is_placed = fit.placement is not None and fit.placement.cpus != ()
    if is_placed and not set(launcher.local_rank) & set(ENGINE_READS):
        raise InputError(
            f"{launcher.name} does not tell ranks their number on a host in a way that the engine reads, so "
            "no placement can be made; leave --placement out"
        )
    groups = (fit.cores[rank * fit.threads : (rank + 1) * fit.threads] for rank in range(fit.ranks))
    start = Start(
        ranks=request.ranks + request.loses,
        threads=fit.threads,
        hosts=tuple(host.name for host in hosts),
        groups=() if fit.over else tuple(groups),
        restricted=machine.restricted,
    )
    sharing, sharing_notes = (library.sharing, library.sharing_notes) if fit.shares else ({}, ())
    if request.loses and launcher.survives is None:
        raise InputError(
            f"{launcher.name} ends a launch when a rank dies, so nothing after a death can be measured; give "
            "another --launcher, or leave the ops mpi.ft.* out"
        )
    if fit.shares or request.loses:  # who dies needs no core
        settings = launcher.oversubscribed or launcher.free
    else:
        settings = launcher.free if fit.placement else launcher.bound(start)
    as_root = launcher.as_root if os.geteuid() == 0 else {}
    program = (launcher.program or mpi.mpiexec, *launcher.verb)
    survives = (launcher.survives or ()) if request.loses else ()
    words = (*settings.argv, *survives, *extra, *launcher.counted(start), *settings.behind)
    return msgspec.structs.replace(
        alone,
        argv_prefix=(*program, *words, *alone.argv_prefix),
        environment={
            **alone.environment,
            **sharing,
            **as_root,
            **settings.environment,
            **_given(request.env),
        },
        notes=(*alone.notes, *sharing_notes, *settings.notes),
        launcher=launcher.name,
        hosts=start.hosts,
    )


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


def _openmp(engine: Engine, fit: _Fit) -> dict[str, str]:
    """Keep each OpenMP thread on a core of its own, or where the placement puts it.

    The variables are the same for all ranks. If the engine binds several ranks, the threads of a rank share
    its CPUs and are not bound one by one.
    """
    placement = fit.placement
    if fit.threads == 1 or (placement is None and (fit.over or (engine.mpi is None and fit.ranks > 1))):
        return {}
    if placement is not None and (not placement.cpus or fit.ranks > 1):
        return {"OMP_PROC_BIND": "false"}
    if placement is None and engine.mpi is not None:
        return {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
    cpus = placement.cpus if placement else [core[0] for core in fit.cores[: fit.threads]]
    return {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus)}
