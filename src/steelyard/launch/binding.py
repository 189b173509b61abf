"""What binds ranks: how each family of MPI libraries is told where they run, a row each.

What every MPI is asked for is the same: rank r on the r-th group of cores, a core per thread, nothing shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

Cores = Sequence[Sequence[int]]  # the hardware threads of each core


class LauncherWords(Struct, frozen=True):
    """Arguments of mpiexec and variables for one way of starting."""

    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


class Family(Struct, frozen=True):
    """How one kind of MPI is told what is the same for all. `bound` takes a group of cores for each rank.

    `free` leaves ranks alone, up to one for each hardware thread.
    """

    bound: Callable[[Sequence[Cores], bool], LauncherWords]
    oversubscribed: LauncherWords
    free: LauncherWords
    as_root: Mapping[str, str] = {}


def _bind_openmpi(groups: Sequence[Cores], restricted: bool) -> LauncherWords:
    """Open MPI counts cores itself, in the hardware's order, and does not see that taskset left it fewer.

    Its lists of CPUs (--cpu-list, pe-list) are hwloc's logical numbers, not Linux's, so they are no way out.
    """
    if restricted:
        note = (
            "this process may use only some of the machine's CPUs, which Open MPI's binding ignores: "
            "ranks are not bound one to a core, they only stay on the allowed CPUs"
        )
        return LauncherWords(argv=("--bind-to", "none"), notes=(note,))
    return LauncherWords(argv=("--map-by", f"slot:PE={len(groups[0])}", "--bind-to", "core"))


def _bind_hydra(groups: Sequence[Cores], restricted: bool) -> LauncherWords:
    """Hydra takes Linux's numbers: CPUs of one rank joined by +, ranks by commas."""
    del restricted  # the numbers are of allowed CPUs in any case
    ranks = ("+".join(str(cpu) for core in cores for cpu in core) for cores in groups)
    return LauncherWords(argv=("-bind-to", "user:" + ",".join(ranks)))


def _bind_intel(groups: Sequence[Cores], restricted: bool) -> LauncherWords:
    """Intel's Hydra binds by a mask of Linux's numbers for each rank; its -bind-to does nothing."""
    del restricted
    masks = (f"0x{sum(1 << cpu for core in cores for cpu in core):x}" for cores in groups)
    return LauncherWords(environment={"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{','.join(masks)}]"})


# By the variable and not by `-bind-to none`, after which Hydra aborts when ranks spawn others.
_HYDRA_FREE = {"HYDRA_BINDING": "none"}
# MPICH's collectives within a node spin on shared memory, whoever waits for the core; those over messages
# yield, and with HEAVY_YIELD they sleep for a moment: some 50 times faster with 4 ranks on 2 cores.
_MPICH_SHARING = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
_OPENMPI_SHARING = {"OMPI_MCA_mpi_yield_when_idle": "1"}
_OPENMPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

_MPICH4_NOTE = (
    "in some builds of MPICH 4 (Debian's is one) a waiting rank never yields its core: then each message "
    "between ranks that share one takes milliseconds; Open MPI and MPICH 5 yield"
)

FAMILIES = {
    "openmpi4": Family(
        bound=_bind_openmpi,
        oversubscribed=LauncherWords(("--oversubscribe", "--bind-to", "none"), _OPENMPI_SHARING),
        free=LauncherWords(("--use-hwthread-cpus", "--bind-to", "none")),
        as_root=_OPENMPI_ROOT,
    ),
    "openmpi5": Family(
        bound=_bind_openmpi,
        oversubscribed=LauncherWords(("--map-by", ":oversubscribe", "--bind-to", "none"), _OPENMPI_SHARING),
        free=LauncherWords(("--map-by", ":hwtcpus", "--bind-to", "none")),
        as_root=_OPENMPI_ROOT,
    ),
    "mpich4": Family(
        bound=_bind_hydra,
        oversubscribed=LauncherWords((), _MPICH_SHARING | _HYDRA_FREE, (_MPICH4_NOTE,)),
        free=LauncherWords(environment=_HYDRA_FREE),
    ),
    "mpich5": Family(
        bound=_bind_hydra,
        oversubscribed=LauncherWords((), _MPICH_SHARING | _HYDRA_FREE),
        free=LauncherWords(environment=_HYDRA_FREE),
    ),
    # Intel MPI gives way by itself.
    "intel": Family(
        bound=_bind_intel,
        oversubscribed=LauncherWords(environment={"I_MPI_PIN": "0"}),
        free=LauncherWords(environment={"I_MPI_PIN": "0"}),
    ),
}


def family_of(family: str, version: str) -> Family:
    """The row of a family and version: Open MPI's launcher was replaced in 5, MPICH's waiting changed."""
    major = int(version.partition(".")[0] or 0)
    if family == "openmpi":
        return FAMILIES["openmpi4" if major < 5 else "openmpi5"]
    if family == "mpich":
        return FAMILIES["mpich4" if major < 5 else "mpich5"]
    return FAMILIES[family]
