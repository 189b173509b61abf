"""Checks of binding: where ranks may run, whether that was asked for, and whether it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from steelyard.base.cpulist import cpu_set
from steelyard.base.diagnostic import WARNING, check
from steelyard.base.plural import counted
from steelyard.diagnostics.results.evidence import Evidence, listed, mpi_name, sentences
from steelyard.records.job_file import JobFile
from steelyard.records.parts import Place
from steelyard.records.schema import Job
from steelyard.results.load import Measured
from steelyard.results.states import cpus_words, who
from steelyard.results.threads import moved_lanes, sharing_lanes, stray_lanes
from steelyard.rows.words import row_name

# Ops that put their threads on one CPU, or on others in turn: that is what they measure.
BINDS_ITSELF = ("pthread.switch", "pthread.slice", "pthread.migrate")
# Different lists of a launch have no more in all: 16,384 ranks with 64 of their own, read in a second.
MOST_CPUS = 2**20


@check(
    "oversubscribed",
    WARNING,
    "More ranks than cores",
    why="Ranks take turns on a core. Times show the scheduler, and how the library waits.",
    remedy="Use as many ranks as there are cores, or read these test cases as a test of function.",
)
def oversubscribed(evidence: Evidence) -> str | None:
    """Find launches with more ranks and threads than cores."""
    jobs = [file.job for file in evidence.measured.files if _is_oversubscribed(file.job)]
    kinds = sorted({(_on_one_host(job), job.cores, mpi_name(job)) for job in jobs})
    return sentences(f"{asked} ranks and threads on {cores} cores ({mpi})" for asked, cores, mpi in kinds)


def _is_oversubscribed(job: Job) -> bool:
    if job.preset == "oversubscribed":
        return True
    return not job.cpus and 0 < job.cores < _on_one_host(job)


def _on_one_host(job: Job) -> int:
    """Count the ranks and threads of the fullest host: `cores` are those of one, and all have their own."""
    return -(-job.ranks // max(1, len(job.hosts))) * job.threads


@check(
    "unbound",
    WARNING,
    "Ranks are not bound",
    why="A rank that moves to another core loses its caches, so launches differ for reasons outside the MPI.",
    remedy="Let this process use all CPUs (no taskset, no cpuset), or bind in the launcher; srun binds where "
    "Slurm has a TaskPlugin.",
)
def unbound(evidence: Evidence) -> str | None:
    """Find ranks that may move between more cores than they have threads."""
    found: list[str] = []
    for mpi, threads, places in _bound_jobs(evidence.measured):
        for place, cores in places:
            if len(cores) > threads:
                found.append(f"rank {place.rank} of {mpi} may run on CPUs {place.cpus}")
    return sentences(found)


@check(
    "shared-cores",
    WARNING,
    "Ranks or threads share cores",
    why="Two ranks or threads on one core take turns: latencies jump from a microsecond to the scheduler's "
    "milliseconds.",
    remedy="Ask for fewer ranks, or look at how the launcher was asked to bind (the job record has its "
    "command).",
    caused_by=("unbound",),
)
def shared_cores(evidence: Evidence) -> str | None:
    """Find two ranks of one host, or threads of a rank, on one core although there are enough cores."""
    found: list[str] = []
    for mpi, _, places in _bound_jobs(evidence.measured):
        owner: dict[int, Place] = {}
        entered: set[str] = set()
        for place, cores in places:
            other = next((owner[core] for core in cores if core in owner), None)
            if other is not None:
                cpus = f"CPUs {other.cpus} and {place.cpus}"
                found.append(f"ranks {other.rank} and {place.rank} of {mpi} may run on one core ({cpus})")
            if place.cpus not in entered:
                entered.add(place.cpus)
                owner.update(dict.fromkeys(cores, place))
    names = _bound_by_us(evidence)
    for file in evidence.measured.files:
        if not _is_oversubscribed(file.job) and not file.job.cpus:
            found += sharing_lanes(file, names)
    return sentences(found)


def _bound_by_us(evidence: Evidence) -> dict[int, str]:
    """Name the points whose ops leave their threads where the launch bound them."""
    return {row.point: row_name(row) for row in evidence.rows if row.op not in BINDS_ITSELF}


def _bound_jobs(measured: Measured) -> Iterator[tuple[str, int, list[tuple[Place, tuple[int, ...]]]]]:
    """List, for each host of each launch with enough cores: MPI, threads of a rank, places with
    their cores in order; those places alone whose CPUs are among the first `MOST_CPUS` of the launch.
    """
    groups = measured.campaign.machine.get("cores")
    groups = groups if isinstance(groups, list | tuple) else []
    core_of = {cpu: number for number, group in enumerate(groups) for cpu in group}
    for file in measured.files:
        if file.launch is None or _is_oversubscribed(file.job) or file.job.placement:
            continue
        mpi = mpi_name(file.job)
        places = sorted(file.launch.places, key=lambda place: (place.host, place.rank))
        cores_of = cores_by_cpus(places, core_of)
        for _, on_host in groupby(places, key=lambda place: place.host):
            with_cores = [(place, cores_of[place.cpus]) for place in on_host if place.cpus in cores_of]
            yield mpi, file.job.threads, with_cores


def cores_by_cpus(places: Sequence[Place], core_of: Mapping[int, int]) -> dict[str, tuple[int, ...]]:
    """Read each list of CPUs once, as cores in order."""
    cores_of: dict[str, tuple[int, ...]] = {}
    left = MOST_CPUS
    for text in dict.fromkeys(place.cpus for place in places):
        cpus = cpu_set(text)
        left -= len(cpus)
        if left < 0:
            break
        cores_of[text] = tuple(sorted({core_of.get(cpu, -1 - cpu) for cpu in cpus}))
    return cores_of


@check(
    "misplaced",
    WARNING,
    "Ranks or threads are not on the CPUs that were asked for",
    why="A rank or thread that runs elsewhere measures another pair of cores than its row says.",
    remedy="Look at how the launcher and the control group bind. The report shows the verified binding.",
)
def misplaced(evidence: Evidence) -> str | None:
    """Find ranks and threads that were not where a placement put them, or that the kernel did not bind."""
    return sentences(sentence for file in evidence.measured.files for sentence in strays(file))


def strays(file: JobFile) -> Iterator[str]:
    """Find those of one launch: `rank 1 of openmpi-4.1.4 was asked for CPU 1, was allowed 0-1`."""
    job, mpi = file.job, mpi_name(file.job)
    for place in file.launch.places if file.launch else ():
        if place.refused:
            yield f"rank {place.rank} of {mpi} was not bound: {place.refused}"
        asked = job.cpus[place.rank * job.threads : (place.rank + 1) * job.threads]
        allowed = place.lanes if job.threads > 1 else (place.cpus,)
        for thread, (cpu, cpus) in enumerate(zip(asked, allowed, strict=False)):
            if cpu_set(cpus) != {cpu}:
                name = f"thread {thread} of rank {place.rank}" if job.threads > 1 else f"rank {place.rank}"
                yield f"{name} of {mpi} was asked for CPU {cpu}, was allowed {cpus}"
    yield from stray_lanes(file)


@check(
    "other-hosts",
    WARNING,
    "Ranks are on other hosts than asked for",
    why="A message between hosts may have gone through memory instead, or the other way round.",
    remedy="Look at the launcher's command (in the job record), and at the names of nodes.",
)
def other_hosts(evidence: Evidence) -> str | None:
    """Find launches whose ranks were on more, fewer or other hosts than the launcher got."""
    found = {}
    for file in evidence.measured.files:
        places = file.launch.places if file.launch else ()
        hosts = list(dict.fromkeys(place.host for place in places))
        asked = set(file.job.hosts)
        if asked and len(places) == file.job.ranks and _are_others(hosts, asked):
            where = f"{counted(len(asked), 'host')} ({', '.join(sorted(asked))})"
            ran = f"{len(hosts)} ({', '.join(hosts)})"
            found[where, ran] = f"{mpi_name(file.job)} was given {where}, its ranks are on {ran}"
    return sentences(found.values())


def _are_others(hosts: Sequence[str], asked: Collection[str]) -> bool:
    """Are these not the hosts that were asked for? Where no name is the same, nodes have two names each, and
    an address is no name.
    """
    ran, wanted = ({name.partition(".")[0].lower() for name in names} for names in (hosts, asked))
    has_address = any(name.isdigit() for name in wanted)
    return len(hosts) != len(asked) or (ran != wanted and not ran.isdisjoint(wanted) and not has_address)


@check(
    "other-machines",
    WARNING,
    "Ranks are on other kinds of machines than rank 0",
    why="Ranks are bound as if all hosts were like rank 0's. A slow host delays all ranks.",
    remedy="Ask the batch system for hosts of one kind (a constraint, a partition), or measure each kind.",
)
def other_machines(evidence: Evidence) -> str | None:
    """Find hosts whose CPUs or kernel differ from those of rank 0's host."""
    found = {}
    for file in evidence.measured.files:
        places = file.launch.places if file.launch else ()
        first = min(places, key=lambda place: place.rank, default=None)
        if first is None:
            continue
        for place in places:
            if place.machine and place.machine != first.machine:
                found[place.host] = f"{place.host} is {place.machine}, and {first.host} is {first.machine}"
    return sentences(found.values())


@check(
    "other-libraries",
    WARNING,
    "Ranks run other programs or libraries than rank 0",
    why="A rank with another build of the MPI or the engine measures something else.",
    remedy="Install the same MPI and engine on all hosts, or use a file system that all of them see.",
)
def other_libraries(evidence: Evidence) -> str | None:
    """Find ranks whose build ids differ from those of rank 0."""
    found = {}
    for file in evidence.measured.files:
        for place in file.launch.places if file.launch else ():
            if place.other_libraries:
                found[place.rank, place.host] = f"rank {place.rank} of {mpi_name(file.job)} on {place.host}"
    return sentences(found.values())


@check(
    "placements-vary",
    WARNING,
    "Launches were placed differently",
    why="Launches that differ widen the interval and can make modes.",
    remedy="Fix the launcher's binding, or measure each placement as a campaign of its own.",
)
def placements_vary(evidence: Evidence) -> str | None:
    """Find test cases whose launches were bound differently."""
    varying = []
    for point, row in zip(evidence.measured.points, evidence.rows, strict=True):
        starts = [cell.start for cell in point.cells if cell.start]
        if len({tuple(place.cpus for place in start.places) for start in starts}) > 1:
            varying.append(row)
    return listed(varying, lambda row: f"mostly {row.placement}")


@check(
    "moved",
    WARNING,
    "A rank was moved during a launch",
    why="Samples before and after belong to two placements. The row names the first one.",
    remedy="Find what changes bindings (taskset, a batch system, an irq balancer's script) and measure "
    "again.",
)
def moved(evidence: Evidence) -> str | None:
    """Find ranks and threads that were bound elsewhere or seen elsewhere during the launch."""
    names = {row.point: row_name(row) for row in evidence.rows}
    found: dict[tuple[str, int], str] = {}
    for file in evidence.measured.files:
        for before, after in pairwise(file.states):
            for at, (old, new) in enumerate(zip(before.cpus, after.cpus, strict=True)):
                if old != new:
                    rank = before.rank(at)
                    told = f"was moved from {cpus_words(cpu_set(old))} to {cpus_words(cpu_set(new))}"
                    when = f"while {names.get(after.point or 0, 'a test case')} was measured"
                    found.setdefault((file.job.job, rank), f"{who(file, rank)} {told} {when}")
        for thread, told in enumerate(moved_lanes(file, _bound_by_us(evidence))):
            found[file.job.job, -1 - thread] = told
    for key, sentence in _seen_elsewhere(evidence):
        found.setdefault(key, sentence)
    return sentences(found.values())


def _seen_elsewhere(evidence: Evidence) -> Iterator[tuple[tuple[str, int], str]]:
    """Find ranks seen outside of their CPUs between samples, by job and rank."""
    for point, row in zip(evidence.measured.points, evidence.rows, strict=True):
        for cell in point.cells:
            for place in cell.start.places if cell.start else ():
                allowed = cpu_set(place.cpus)
                seen_on = cell.taken.cpus[place.rank] if place.rank < len(cell.taken.cpus) else frozenset()
                outside = frozenset(cpu for cpu in seen_on - allowed if cpu >= 0)
                if allowed and outside:
                    name = f"rank {place.rank} (pid {place.pid} on {place.host}) of launch {cell.launch}"
                    words = f"was seen on {cpus_words(outside)}, but bound to {cpus_words(allowed)}"
                    yield (cell.job.job, place.rank), f"{name} {words}, while {row_name(row)} was measured"
