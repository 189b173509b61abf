"""How an engine is started: launcher, binding and settings, a row per MPI family.

What every MPI is asked for is the same: rank r on the r-th group of cores, a core per thread, nothing shared.
The engine reports where its ranks really are. `environment` is what is set here on purpose, and is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from steelyard.engine import Engine, engine_environment
from steelyard.errors import InputError
from steelyard.machine import Machine

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
    """How one kind of MPI is told what is the same for all. `bound` takes a group of cores for each rank."""

    bound: Callable[[Sequence[Cores], bool], _Settings]
    oversubscribed: _Settings
    as_root: Mapping[str, str] = {}


def plan_launch(
    engine: Engine,
    ranks: int,
    threads: int,
    machine: Machine,
    *,
    oversubscribe: bool = False,
    yield_mode: str = "real",
    extra: Sequence[str] = (),
) -> Launch:
    """Plan the start of `ranks` ranks of `threads` threads on this machine; `extra` goes to mpiexec as it is.

    Raises InputError when they are more than the cores and `oversubscribe` is not set.
    """
    cores = machine.cores
    over = ranks * threads > len(cores)
    if over and not oversubscribe:
        wanted = f"{ranks} ranks" if threads == 1 else f"{ranks} x {threads} threads"
        raise InputError(
            f"{wanted} are more than the {len(cores)} cores that this process may use; "
            "ask for fewer, or add --oversubscribe to let them share"
        )
    environment = engine_environment(engine)
    notes: list[str] = []
    if over:
        notes.append(
            f"{ranks * threads} ranks and threads share {len(cores)} cores: times include waiting for a turn"
        )
        if yield_mode == "none":
            notes.append("with yield=none a waiting rank keeps its core until the kernel takes it away")
    cpus = [core[0] for core in cores[:threads]]
    groups = [cores[rank * threads : (rank + 1) * threads] for rank in range(ranks)]
    if threads > 1 and not over and (engine.mpi is not None or ranks == 1):
        # Each OpenMP thread stays on a core of its own; ranks that are forks share one OMP_PLACES.
        places = ",".join(f"{{{cpu}}}" for cpu in cpus) if engine.mpi is None else "cores"
        environment |= {"OMP_PROC_BIND": "true", "OMP_PLACES": places}
    if engine.mpi is None:
        lists = [",".join(str(core[0]) for core in group) for group in groups]
        binding = () if over else ("--cpus", "/".join(lists))
        forks = ("--ranks", str(ranks)) if ranks > 1 else ()
        preset = "oversubscribed" if over else None
        return Launch((), (*binding, *forks, "--yield", yield_mode), environment, preset, tuple(notes))
    family = _FAMILIES[_family_key(engine.mpi.family, engine.mpi.version)]
    settings = family.oversubscribed if over else family.bound(groups, machine.restricted)
    if os.geteuid() == 0:
        environment |= family.as_root
    environment |= settings.environment
    return Launch(
        argv_prefix=(engine.mpi.mpiexec, *settings.argv, *extra, "-n", str(ranks)),
        engine_args=("--ranks", str(ranks), "--yield", yield_mode),
        environment=environment,
        preset="oversubscribed" if over else None,
        notes=(*notes, *settings.notes),
    )


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
        as_root=_OPENMPI_ROOT,
    ),
    "openmpi5": _Family(
        bound=_bind_openmpi,
        oversubscribed=_Settings(("--map-by", ":oversubscribe", "--bind-to", "none"), _OPENMPI_SHARING),
        as_root=_OPENMPI_ROOT,
    ),
    "mpich4": _Family(
        bound=_bind_hydra,
        oversubscribed=_Settings(
            ("-bind-to", "none"),
            _MPICH_SHARING,
            (_MPICH4_NOTE,),
        ),
    ),
    "mpich5": _Family(bound=_bind_hydra, oversubscribed=_Settings(("-bind-to", "none"), _MPICH_SHARING)),
    # Intel MPI gives way by itself.
    "intel": _Family(bound=_bind_intel, oversubscribed=_Settings(environment={"I_MPI_PIN": "0"})),
}
