"""The state of the system while launches ran: who else used their CPUs, and what the system took away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from steelyard.base.cpulist import cpu_set, cpu_words
from steelyard.base.plural import plural
from steelyard.records.job_file import JobFile
from steelyard.records.parts import Busy, Place

BUSY = 0.05  # of a CPU, over a launch: every system uses less
BUSY_A_WHILE = 0.25  # ... between two looks
TICKS = 5  # of 10 ms, as the kernel counts CPU time: fewer mean nothing
TICK_NS = 10_000_000
STOLEN = 0.01  # of the time of a rank's CPUs


@dataclass(frozen=True, slots=True)
class StateChange:
    """The change between two states of one rank: ns that passed on each of `cpus`, and how all of them were
    used.
    """

    file: JobFile
    rank: int
    cpus: frozenset[int]
    passed_ns: int
    busy_ns: int  # by anything, including the rank
    own_ns: int
    steal_ns: int
    voluntary: int  # context switches of the rank
    involuntary: int
    migrations: int

    @property
    def stolen(self) -> float:
        """The share of the time of its CPUs that the hypervisor gave to others."""
        whole = self.passed_ns * len(self.cpus)
        return self.steal_ns / whole if whole > 0 else 0.0


def changes_of(file: JobFile) -> Iterator[StateChange]:
    """Compute the change from the first to the last state with the same binding, for each rank."""
    for at in range(len(file.states[0].cpus) if file.states else 0):
        same = [state for state in file.states if state.cpus[at] == file.states[0].cpus[at]]
        first, last = same[0], same[-1]
        if last is not first:
            yield StateChange(
                file=file,
                rank=first.rank(at),
                cpus=cpu_set(first.cpus[at]),
                passed_ns=last.at_ns[at] - first.at_ns[at],
                busy_ns=grown(first.busy_ns, last.busy_ns, at),
                own_ns=grown(first.own_ns, last.own_ns, at),
                steal_ns=grown(first.steal_ns, last.steal_ns, at),
                voluntary=grown(first.voluntary, last.voluntary, at),
                involuntary=grown(first.involuntary, last.involuntary, at),
                migrations=grown(first.migrations, last.migrations, at),
            )


def grown(first: Sequence[int], last: Sequence[int], at: int) -> int:
    """Compute the growth of a count in the item at that index; 0 if the system does not have it."""
    told = at < len(first) and at < len(last) and min(first[at], last[at]) >= 0
    return last[at] - first[at] if told else 0


@dataclass(frozen=True, slots=True)
class Shared:
    """Ranks of one host that may use the same CPUs, and what others took of these: ns, and a share."""

    host: str
    cpus: frozenset[int]
    changes: tuple[StateChange, ...]
    others_ns: int
    share: float


def shared_by(file: JobFile) -> Iterator[Shared]:
    """Group the ranks by their CPUs; without those whose CPUs overlap only in part.

    If states are of chosen ranks, CPUs that other ranks may use are left out, too. What the package itself
    took on this host is not the others': nobody knows on which CPUs, so each group has its part of it.
    """
    groups = list(_groups(file))
    for watch in file.watches:
        here = [group for group in groups if group.host == watch.host]
        others = sum(max(0, group.others_ns) for group in here)
        part = max(0.0, 1 - watch.own_cpu_ns / others) if others > 0 else 1.0
        groups = [
            replace(group, others_ns=round(part * group.others_ns), share=part * group.share)
            if group in here
            else group
            for group in groups
        ]
    yield from groups


def _groups(file: JobFile) -> Iterator[Shared]:
    groups: dict[tuple[str, frozenset[int]], list[StateChange]] = {}
    all_tell = not any(state.ranks for state in file.states)
    for change in changes_of(file):
        is_own = all_tell or len(change.cpus) <= file.job.threads
        if is_own and (place := _place(file, change.rank)) is not None:
            groups.setdefault((place.host, change.cpus), []).append(change)
    for (host, cpus), changes in groups.items():
        overlaps = any(other != cpus and other & cpus and at == host for at, other in groups)
        whole = max(change.passed_ns for change in changes) * len(cpus)
        if not overlaps and whole > 0:
            others = max(change.busy_ns for change in changes) - sum(change.own_ns for change in changes)
            yield Shared(host, cpus, tuple(changes), others, max(0.0, others / whole))


def neighbours(file: JobFile) -> Iterator[tuple[Busy, tuple[int, ...]]]:
    """List processes outside the launch that took CPU time on its ranks' CPUs, with these ranks."""
    places = file.launch.places if file.launch else ()
    for watch in file.watches:
        ranks = [(place.rank, cpu_set(place.cpus)) for place in places if place.host == watch.host]
        for process in watch.processes:
            disturbed = tuple(rank for rank, cpus in ranks if cpus & set(process.cpus))
            if disturbed and _is_busy(process):
                yield process, disturbed


def beside(file: JobFile) -> Iterator[Busy]:
    """List processes outside the launch that took CPU time of its host, but not on its ranks' CPUs."""
    near = {one.pid for one, _ in neighbours(file)}
    hosts = {place.host for place in (file.launch.places if file.launch else ())}
    for watch in (watch for watch in file.watches if watch.host in hosts):
        yield from (process for process in watch.processes if process.pid not in near and _is_busy(process))


def _is_busy(busy: Busy) -> bool:
    share = busy.cpu_ns / 1e9 / busy.seconds if busy.seconds > 0 else 0.0
    return busy.cpu_ns >= TICKS * TICK_NS and (share > BUSY or busy.peak_share > BUSY_A_WHILE)


def unnamed(file: JobFile) -> Iterator[Shared]:
    """List CPUs that others used although no process was seen: on another host, or between two looks."""
    for group in shared_by(file):
        named = any(
            watch.host == group.host
            and any(_is_busy(process) and group.cpus & set(process.cpus) for process in watch.processes)
            for watch in file.watches
        )
        if not named and group.share > BUSY and group.others_ns > TICKS * TICK_NS * len(group.cpus):
            yield group


@dataclass(frozen=True, slots=True)
class Interference:
    """What was seen to take CPU time from the ranks of a launch, in ns; `whole_ns` is the time of their CPUs.

    `was_seen`: this launch alone shows it, by a process or by missing time, or the ranks were stopped.
    """

    was_seen: bool
    others_ns: int
    stolen_ns: int
    whole_ns: int


def interference_in(file: JobFile) -> Interference:
    """Find what disturbed a launch; nothing without states and watches."""
    groups = list(shared_by(file))
    return Interference(
        was_seen=any(neighbours(file)) or any(unnamed(file)) or _was_stopped(file),
        others_ns=sum(group.others_ns for group in groups),
        stolen_ns=sum(max(change.steal_ns for change in group.changes) for group in groups),
        whole_ns=sum(max(change.passed_ns for change in group.changes) * len(group.cpus) for group in groups),
    )


def is_disturbed(launches: Iterable[Interference]) -> bool:
    """Did others use the ranks' CPUs, or stop them, in any of the launches or in all together?

    The kernel counts CPU time in steps of 10 ms, so one launch may be too short to show it.
    """
    seen = list(launches)
    whole = sum(one.whole_ns for one in seen)
    return (
        any(one.was_seen for one in seen)
        or sum(one.others_ns for one in seen) > max(BUSY * whole, TICKS * TICK_NS)
        or sum(one.stolen_ns for one in seen) > max(STOLEN * whole, TICKS * TICK_NS)
    )


def _was_stopped(file: JobFile) -> bool:
    """Was a rank stopped by its control group, which had used up its CPU time, or by the heat of a core?"""
    if not file.states:
        return False
    first, last = file.states[0], file.states[-1]
    return any(
        grown(before, after, rank) > 0
        for before, after in ((first.quota_stops, last.quota_stops), (first.throttles, last.throttles))
        for rank in range(len(first.cpus))
    )


def who(file: JobFile, rank: int) -> str:
    """Name a rank: `rank 1 (pid 812 on node7) of launch 3`."""
    place = _place(file, rank)
    where = f" (pid {place.pid} on {place.host})" if place else ""
    return f"rank {rank}{where} of launch {file.job.launch}"


def _place(file: JobFile, rank: int) -> Place | None:
    places = file.launch.places if file.launch else ()
    return next((place for place in places if place.rank == rank), None)


def cpus_words(cpus: frozenset[int]) -> str:
    """Name CPUs: `CPU 3`, `CPUs 0-1,4`."""
    return f"{plural('CPU', len(cpus))} {cpu_words(cpus)}"
