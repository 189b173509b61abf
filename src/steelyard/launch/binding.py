"""What binds the ranks of a host to its cores: the words for each launcher that binds in its own way.

Rank r of a host is to have the r-th group of its cores, a core per thread, nothing shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

CoreCpus = Sequence[Sequence[int]]  # the hardware threads of each core


class Start(Struct, frozen=True):
    """So many ranks on these hosts, as many on each; without names the launcher knows where, on one host.

    `groups` are the cores of each rank of a host, none for ranks that are left alone. `restricted`: this
    process may use only some of the CPUs.
    """

    ranks: int
    threads: int = 1
    hosts: tuple[str, ...] = ()
    groups: tuple[CoreCpus, ...] = ()
    restricted: bool = False

    @property
    def per_host(self) -> int:
        """Ranks on each host."""
        return self.ranks // max(1, len(self.hosts))


class LauncherWords(Struct, frozen=True):
    """Arguments of a launcher and variables for one way of binding."""

    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


def bind_openmpi(start: Start) -> LauncherWords:
    """Open MPI counts cores itself, in the hardware's order, and does not see that taskset left it fewer.

    Its lists of CPUs (--cpu-list, pe-list) are hwloc's logical numbers, not Linux's, so they are no way out.
    """
    if start.restricted:
        note = (
            "this process may use only some of the machine's CPUs, which Open MPI's binding ignores: "
            "ranks are not bound one to a core, they only stay on the allowed CPUs"
        )
        return LauncherWords(argv=("--bind-to", "none"), notes=(note,))
    return LauncherWords(argv=("--map-by", f"slot:PE={start.threads}", "--bind-to", "core"))


def _joined(start: Start, within: str, between: str) -> str:
    """Linux's numbers of the CPUs of each rank of a host."""
    ranks = (within.join(str(cpu) for core in cores for cpu in core) for cores in start.groups)
    return between.join(ranks)


def _masks(start: Start) -> str:
    """The CPUs of each rank of a host as masks of Linux's numbers."""
    return ",".join(f"0x{sum(1 << cpu for core in cores for cpu in core):x}" for cores in start.groups)


def bind_hydra(start: Start) -> LauncherWords:
    """Hydra takes Linux's numbers: CPUs of one rank joined by +, ranks by commas."""
    return LauncherWords(argv=("-bind-to", "user:" + _joined(start, "+", ",")))


def bind_intel(start: Start) -> LauncherWords:
    """Intel's Hydra binds by masks; its -bind-to does nothing."""
    return LauncherWords(environment={"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{_masks(start)}]"})


def bind_srun(start: Start) -> LauncherWords:
    """Slurm takes masks only from who has the whole host; then --cpus-per-task would take CPUs away again."""
    if start.restricted:
        return LauncherWords(argv=(f"--cpus-per-task={start.threads}", "--cpu-bind=cores"))
    return LauncherWords(argv=(f"--cpu-bind=mask_cpu:{_masks(start)}",))


def bind_flux(start: Start) -> LauncherWords:
    """By Flux itself: as many tasks on a host, each bound to a part of it."""
    del start
    return LauncherWords(argv=("-o", "cpu-affinity=per-task"))


def bind_jsrun(start: Start) -> LauncherWords:
    """By jsrun itself, which packs resource sets of so many cores."""
    cores = str(start.threads)
    return LauncherWords(argv=("--cpu_per_rs", cores, "--bind", f"packed:{cores}"))


def bind_pals(start: Start) -> LauncherWords:
    """Linux's numbers: CPUs of one rank joined by commas, ranks by colons."""
    return LauncherWords(argv=("--cpu-bind", f"list:{_joined(start, ',', ':')}"))


def bind_aprun(start: Start) -> LauncherWords:
    """As PALS does, with the number of threads."""
    return LauncherWords(argv=("-d", str(start.threads), "-cc", _joined(start, ",", ":")))
