"""Launchers of ranks, a row each: their words for how many ranks, on which hosts, and on which cores.

Rank r of a host gets the r-th group of its cores, a core per thread, nothing shared. Library and launcher are
two things: waiting_settings.py says which comes with which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

CoreCpus = Sequence[Sequence[int]]  # the hardware threads of each core


class Start(Struct, frozen=True):
    """A number of ranks on these hosts, equally many on each; without names on one host of the launcher's
    choice.

    `groups` are the cores of each rank of a host, none for unbound ranks. `restricted`: this process may use
    only some of the CPUs.
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
    """Arguments of a launcher, and variables, for one way of binding.

    `argv` stands before the number of ranks, `behind` between it and the engine, as programs that bind do.
    """

    argv: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


class Launcher(Struct, frozen=True):
    """The words of one launcher.

    `counted` says how many ranks and where, `bound` binds them. `free` leaves them unbound, up to one for
    each hardware thread, and `oversubscribed` lets more of them share cores (None: `free` does). `program` is
    None for the library's own mpiexec, else a program on PATH, recognised by its output (`known_by`:
    arguments and a text). `within` is the batch system in whose allocations it is the default. `local_rank`
    are the variables with a rank's number on its host, only those of ENGINE_READS. `survives` is None for one
    that ends a launch when a rank dies, whatever it is told.
    """

    name: str
    starts: tuple[str, ...]  # families of libraries
    counted: Callable[[Start], tuple[str, ...]]
    bound: Callable[[Start], LauncherWords]
    free: LauncherWords
    oversubscribed: LauncherWords | None = None
    program: str | None = None
    verb: tuple[str, ...] = ()
    known_by: tuple[tuple[str, ...], str] | None = None
    within: str | None = None
    local_rank: tuple[str, ...] = ()
    as_root: Mapping[str, str] = {}
    survives: tuple[str, ...] | None = None  # words with which it lets ranks live when another dies
    tried: bool = True  # on a real system; else only by its manual

    @property
    def word(self) -> str:
        """Its name on a command line, which rows may share: `srun`."""
        return self.program or "mpiexec"


def _joined(start: Start, within: str, between: str) -> str:
    """Join Linux's numbers of the CPUs of each rank of a host."""
    ranks = (within.join(str(cpu) for core in cores for cpu in core) for cores in start.groups)
    return between.join(ranks)


def _masks(start: Start) -> str:
    """Write the CPUs of each rank of a host as masks of Linux's numbers."""
    return ",".join(f"0x{sum(1 << cpu for core in cores for cpu in core):x}" for cores in start.groups)


def _count_openmpi(start: Start) -> tuple[str, ...]:
    """Name hosts with numbers: one without a number has one slot."""
    hosts = ",".join(f"{host}:{start.per_host}" for host in start.hosts)
    return (*(("--host", hosts) if hosts else ()), "-n", str(start.ranks))


def _bind_openmpi(start: Start) -> LauncherWords:
    """Bind by slots: Open MPI counts cores itself, in the hardware's order, and ignores taskset.

    Its lists of CPUs (--cpu-list, pe-list) are hwloc's logical numbers, not Linux's, so they do not help.
    """
    if start.restricted:
        note = (
            "this process may use only some of the machine's CPUs, which Open MPI's binding ignores: "
            "ranks are not bound one to a core, they only stay on the allowed CPUs"
        )
        return LauncherWords(argv=("--bind-to", "none"), notes=(note,))
    return LauncherWords(argv=("--map-by", f"slot:PE={start.threads}", "--bind-to", "core"))


def _count_hydra(start: Start) -> tuple[str, ...]:
    hosts = ("-hosts", ",".join(start.hosts), "-ppn", str(start.per_host)) if start.hosts else ()
    return (*hosts, "-n", str(start.ranks))


def _bind_hydra(start: Start) -> LauncherWords:
    """Bind by Linux's numbers: CPUs of one rank joined by +, ranks by commas."""
    return LauncherWords(argv=("-bind-to", "user:" + _joined(start, "+", ",")))


def _bind_intel(start: Start) -> LauncherWords:
    """Bind by masks, which Intel's Hydra reads; its -bind-to has no effect."""
    return LauncherWords(environment={"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{_masks(start)}]"})


def _count_srun(start: Start) -> tuple[str, ...]:
    hosts = max(1, len(start.hosts))
    named = (f"--nodelist={','.join(start.hosts)}",) if start.hosts else ()
    counts = (f"--nodes={hosts}", f"--ntasks={start.ranks}", f"--ntasks-per-node={start.per_host}")
    # A step ends with the first rank that fails. Without --overlap it waits for one before that is ending.
    return ("--kill-on-bad-exit=1", "--overlap", *counts, *named)


def _bind_srun(start: Start) -> LauncherWords:
    """Bind by masks, which need the whole host; without it, --cpus-per-task would remove CPUs again."""
    if start.restricted:
        return LauncherWords(argv=(f"--cpus-per-task={start.threads}", "--cpu-bind=cores"))
    return LauncherWords(argv=(f"--cpu-bind=mask_cpu:{_masks(start)}",))


def _count_flux(start: Start) -> tuple[str, ...]:
    hosts = (f"--requires=host:{','.join(start.hosts)}",) if start.hosts else ()
    return (*hosts, f"--nodes={max(1, len(start.hosts))}", f"--tasks-per-node={start.per_host}")


def _bind_flux(start: Start) -> LauncherWords:
    """Bind by Flux: as many tasks on each host, each bound to a part of it."""
    del start
    return LauncherWords(argv=("-o", "cpu-affinity=per-task"))


def _count_jsrun(start: Start) -> tuple[str, ...]:
    """Make a resource set for each rank; jsrun fills host after host."""
    return ("--nrs", str(start.ranks), "--tasks_per_rs", "1", "--rs_per_host", str(start.per_host))


def _bind_jsrun(start: Start) -> LauncherWords:
    """Bind by jsrun, which packs resource sets of so many cores."""
    cores = str(start.threads)
    return LauncherWords(argv=("--cpu_per_rs", cores, "--bind", f"packed:{cores}"))


def _count_pals(start: Start) -> tuple[str, ...]:
    hosts = ("--hosts", ",".join(start.hosts)) if start.hosts else ()
    return (*hosts, "--ppn", str(start.per_host), "-n", str(start.ranks))


def _bind_pals(start: Start) -> LauncherWords:
    """Bind by Linux's numbers: CPUs of one rank joined by commas, ranks by colons."""
    return LauncherWords(argv=("--cpu-bind", f"list:{_joined(start, ',', ':')}"))


def _count_aprun(start: Start) -> tuple[str, ...]:
    hosts = ("-L", ",".join(start.hosts)) if start.hosts else ()
    return (*hosts, "-N", str(start.per_host), "-n", str(start.ranks))


def _bind_aprun(start: Start) -> LauncherWords:
    """Bind as PALS does, with the number of threads."""
    return LauncherWords(argv=("-d", str(start.threads), "-cc", _joined(start, ",", ":")))


# Variables that the engine reads before MPI_Init (engine/launch/bind.c): the rank on a host or, with PMI_ and
# PMIX_, in the launch, which is the same on one host.
ENGINE_READS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK", "PMIX_RANK", "SLURM_LOCALID")

_OPENMPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def _srun(pmi: str, family: str, variable: str) -> Launcher:
    """Make the row of Slurm's launcher for one of its interfaces to libraries."""
    return Launcher(
        name=f"srun-{pmi}",
        program="srun",
        verb=(f"--mpi={pmi}",),
        known_by=(("--mpi=list",), pmi),
        within="slurm",
        starts=(family,),
        counted=_count_srun,
        bound=_bind_srun,
        free=LauncherWords(argv=("--cpu-bind=none",)),
        oversubscribed=LauncherWords(argv=("--overcommit", "--cpu-bind=none")),
        local_rank=("SLURM_LOCALID", variable),
    )


LAUNCHERS = (
    Launcher(
        name="hydra",
        starts=("mpich",),
        counted=_count_hydra,
        bound=_bind_hydra,
        # not by `-bind-to none`, after which Hydra aborts when ranks spawn others
        free=LauncherWords(environment={"HYDRA_BINDING": "none"}),
        local_rank=("MPI_LOCALRANKID", "PMI_RANK"),
        survives=("-disable-auto-cleanup",),
    ),
    Launcher(
        name="orte",
        starts=("openmpi",),
        counted=_count_openmpi,
        bound=_bind_openmpi,
        free=LauncherWords(argv=("--use-hwthread-cpus", "--bind-to", "none")),
        oversubscribed=LauncherWords(argv=("--oversubscribe", "--bind-to", "none")),
        local_rank=("OMPI_COMM_WORLD_LOCAL_RANK",),
        as_root=_OPENMPI_ROOT,
    ),
    Launcher(
        name="prrte",
        starts=("openmpi",),
        counted=_count_openmpi,
        bound=_bind_openmpi,
        free=LauncherWords(argv=("--map-by", ":hwtcpus", "--bind-to", "none")),
        oversubscribed=LauncherWords(argv=("--map-by", ":oversubscribe", "--bind-to", "none")),
        local_rank=("OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_RANK"),
        as_root=_OPENMPI_ROOT,
        survives=("--with-ft", "ulfm"),
    ),
    Launcher(
        name="intel",
        starts=("intel",),
        counted=_count_hydra,
        bound=_bind_intel,
        free=LauncherWords(environment={"I_MPI_PIN": "0"}),
        local_rank=("MPI_LOCALRANKID", "PMI_RANK"),
    ),
    _srun("pmi2", "mpich", "PMI_RANK"),
    _srun("pmix", "openmpi", "PMIX_RANK"),
    Launcher(
        name="flux",
        program="flux",
        verb=("run",),
        within="flux",
        starts=("mpich", "openmpi"),
        counted=_count_flux,
        bound=_bind_flux,
        free=LauncherWords(argv=("-o", "cpu-affinity=off")),
        local_rank=("FLUX_TASK_LOCAL_ID", "PMI_RANK"),
        tried=False,
    ),
    Launcher(
        name="jsrun",
        program="jsrun",
        within="lsf",
        starts=("openmpi",),
        counted=_count_jsrun,
        bound=_bind_jsrun,
        free=LauncherWords(argv=("--cpu_per_rs", "1", "--bind", "none")),
        local_rank=("OMPI_COMM_WORLD_LOCAL_RANK",),
        tried=False,
    ),
    Launcher(
        name="pals",
        program="mpiexec",
        known_by=(("--help",), "--cpu-bind"),
        within="pbs",
        starts=("mpich",),
        counted=_count_pals,
        bound=_bind_pals,
        free=LauncherWords(argv=("--cpu-bind", "none")),
        local_rank=("PALS_LOCAL_RANKID", "PMI_RANK"),
        tried=False,
    ),
    Launcher(
        name="aprun",
        program="aprun",
        within="pbs",
        starts=("mpich",),
        counted=_count_aprun,
        bound=_bind_aprun,
        free=LauncherWords(argv=("-cc", "none")),
        local_rank=("ALPS_APP_PE",),
        tried=False,
    ),
)
