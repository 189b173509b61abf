"""What checks look for in what was true while launches ran: neighbours, ranks that were moved, steal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from steelyard.evidence import Evidence, sentences
from steelyard.lanes import cpu_set, moved_lanes
from steelyard.records import Busy, JobFile, Place, State
from steelyard.units import format_time
from steelyard.wording import row_name

BUSY = 0.05  # of a CPU, over a launch: less is what every system does
BUSY_A_WHILE = 0.25  # ... between two looks
TICKS = 5  # of 10 ms, as the kernel counts CPU time: less says nothing
TICK_NS = 10_000_000
STOLEN = 0.01  # of the time of a rank's CPUs
SLOWER = 1.1  # a step of the same work, from the fastest to the slowest
LOST_WAITING = 0.02  # of the time that a rank waited for its windows


@dataclass(frozen=True, slots=True)
class Span:
    """Between two states of one rank: ns that passed on each of `cpus`, and what they went to on all."""

    file: JobFile
    rank: int
    cpus: frozenset[int]
    passed_ns: int
    busy_ns: int  # to anything, the rank among it
    own_ns: int
    steal_ns: int
    voluntary: int  # context switches of the rank
    involuntary: int
    migrations: int


def spans_of(file: JobFile) -> Iterator[Span]:
    """From the first to the last state with the same binding, of each rank."""
    for rank in range(len(file.states[0].cpus) if file.states else 0):
        same = [state for state in file.states if state.cpus[rank] == file.states[0].cpus[rank]]
        first, last = same[0], same[-1]
        if last is not first:
            yield Span(
                file=file,
                rank=rank,
                cpus=cpu_set(first.cpus[rank]),
                passed_ns=last.at_ns[rank] - first.at_ns[rank],
                busy_ns=_grown(first.busy_ns, last.busy_ns, rank),
                own_ns=_grown(first.own_ns, last.own_ns, rank),
                steal_ns=_grown(first.steal_ns, last.steal_ns, rank),
                voluntary=_grown(first.voluntary, last.voluntary, rank),
                involuntary=_grown(first.involuntary, last.involuntary, rank),
                migrations=_grown(first.migrations, last.migrations, rank),
            )


def _grown(first: Sequence[int], last: Sequence[int], rank: int) -> int:
    """How much a count has grown; 0 where the system does not tell."""
    told = rank < len(first) and rank < len(last) and min(first[rank], last[rank]) >= 0
    return last[rank] - first[rank] if told else 0


def _place(file: JobFile, rank: int) -> Place | None:
    places = file.launch.places if file.launch else ()
    return next((place for place in places if place.rank == rank), None)


def _cpus_words(cpus: frozenset[int]) -> str:
    return f"cpu{'s' if len(cpus) > 1 else ''} {','.join(map(str, sorted(cpus)))}"


def busy_neighbour(seen: Evidence) -> str | None:
    """Processes that were none of the launch's and took CPU time where its ranks were, by name."""
    return sentences([*neighbours(seen.measured.files), *_unnamed(seen.measured.files)])


def neighbours(files: Sequence[JobFile]) -> Iterator[str]:
    """Each process that was watched once, of the launch in which it took most; the busiest first."""
    worst: dict[tuple[int, str], tuple[float, str]] = {}
    for file in files:
        for watch in file.watches:
            ranks = [
                (place.rank, cpu_set(place.cpus))
                for place in (file.launch.places if file.launch else ())
                if place.host == watch.host
            ]
            for one in watch.processes:
                disturbed = [rank for rank, cpus in ranks if cpus & set(one.cpus)]
                if disturbed and _is_busy(one):
                    words = _neighbour_words(one, disturbed, file.job.launch)
                    key = one.pid, one.command
                    worst[key] = max(worst.get(key, (0.0, "")), (one.cpu_ns / 1e9, words))
    yield from (words for _, words in sorted(worst.values(), reverse=True))


def _is_busy(one: Busy) -> bool:
    share = one.cpu_ns / 1e9 / one.seconds if one.seconds > 0 else 0.0
    return one.cpu_ns >= TICKS * TICK_NS and (share > BUSY or one.peak_share > BUSY_A_WHILE)


def _neighbour_words(one: Busy, ranks: list[int], launch: int) -> str:
    took = f"{format_time(one.cpu_ns)} of {one.seconds:.1f} s"
    named = f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks[:4]))}"
    more = f" and {len(ranks) - 4} more" if len(ranks) > 4 else ""
    return (
        f"'{one.command}' (pid {one.pid}) took {100 * one.cpu_ns / 1e9 / one.seconds:.0f} % of a CPU "
        f"({took}) in launch {launch}, on {_cpus_words(frozenset(one.cpus))}, where {named}{more} ran"
    )


@dataclass(frozen=True, slots=True)
class Shared:
    """Ranks of one host that may use the same CPUs, and what others took of these: ns, and a share."""

    host: str
    cpus: frozenset[int]
    spans: tuple[Span, ...]
    others_ns: int
    share: float


def shared_by(file: JobFile) -> Iterator[Shared]:
    """The ranks by their CPUs; left out are those whose CPUs overlap with others' only in part."""
    groups: dict[tuple[str, frozenset[int]], list[Span]] = {}
    for span in spans_of(file):
        if (place := _place(file, span.rank)) is not None:
            groups.setdefault((place.host, span.cpus), []).append(span)
    for (host, cpus), spans in groups.items():
        overlaps = any(other != cpus and other & cpus and at == host for at, other in groups)
        whole = max(span.passed_ns for span in spans) * len(cpus)
        if not overlaps and whole > 0:
            others = max(span.busy_ns for span in spans) - sum(span.own_ns for span in spans)
            yield Shared(host, cpus, tuple(spans), others, max(0.0, others / whole))


def _unnamed(files: Sequence[JobFile]) -> Iterator[str]:
    """Time that nobody is named for: on another host, or of what began and ended between two looks."""
    for file in files:
        for group in shared_by(file):
            named = any(
                watch.host == group.host
                and any(_is_busy(one) and group.cpus & set(one.cpus) for one in watch.processes)
                for watch in file.watches
            )
            if not named and group.share > BUSY and group.others_ns > TICKS * TICK_NS * len(group.cpus):
                yield (
                    f"others took {100 * group.share:.0f} % of {_cpus_words(group.cpus)} of {group.host} in "
                    f"launch {file.job.launch}, where rank {group.spans[0].rank} ran; nobody was seen at it"
                )


def moved(seen: Evidence) -> str | None:
    """Ranks and threads that were bound and then, during the launch, bound elsewhere or seen elsewhere."""
    names = {row.point: row_name(row) for row in seen.rows}
    found: dict[tuple[str, int], str] = {}
    for file in seen.measured.files:
        for before, after in pairwise(file.states):
            for rank, (old, new) in enumerate(zip(before.cpus, after.cpus, strict=True)):
                if old != new:
                    told = f"was moved from {_cpus_words(cpu_set(old))} to {_cpus_words(cpu_set(new))}"
                    when = f"while {names.get(after.point or 0, 'a point')} was measured"
                    found.setdefault((file.job.job, rank), f"{_who(file, rank)} {told} {when}")
        for thread, told in enumerate(moved_lanes(file, names)):
            found[file.job.job, -1 - thread] = told
    for point, row in zip(seen.measured.points, seen.rows, strict=True):
        for cell in point.cells:
            for place in cell.start.places if cell.start else ():
                allowed = cpu_set(place.cpus)
                seen_on = cell.taken.cpus[place.rank] if place.rank < len(cell.taken.cpus) else frozenset()
                outside = frozenset(cpu for cpu in seen_on - allowed if cpu >= 0)
                if allowed and outside:
                    who = f"rank {place.rank} (pid {place.pid} on {place.host}) of launch {cell.launch}"
                    words = f"was seen on {_cpus_words(outside)}, but bound to {_cpus_words(allowed)}"
                    when = f"while {row_name(row)} was measured"
                    found.setdefault((cell.job.job, place.rank), f"{who} {words}, {when}")
    return sentences(found.values())


def _who(file: JobFile, rank: int) -> str:
    place = _place(file, rank)
    where = f" (pid {place.pid} on {place.host})" if place else ""
    return f"rank {rank}{where} of launch {file.job.launch}"


def stolen(seen: Evidence) -> str | None:
    """CPUs of ranks that the hypervisor gave to others."""
    found = []
    for file in seen.measured.files:
        for span in spans_of(file):
            share = span.steal_ns / (span.passed_ns * len(span.cpus)) if span.passed_ns and span.cpus else 0.0
            if share > STOLEN and span.steal_ns > TICKS * TICK_NS:
                found.append(
                    (share, f"{_cpus_words(span.cpus)} of {_who(file, span.rank)}: {100 * share:.1f} %")
                )
    return sentences(words for _, words in sorted(found, reverse=True))


def throttled(seen: Evidence) -> str | None:
    """Ranks whose control group had used up its CPU time."""
    return _counted(seen, lambda state: state.quota_stops, "in {} periods")


def too_hot(seen: Evidence) -> str | None:
    """Ranks whose cores were slowed down because they were too hot."""
    return _counted(seen, lambda state: state.throttles, "{} times")


def _counted(seen: Evidence, of: Callable[[State], tuple[int, ...]], words: str) -> str | None:
    """What grew from the first to the last state of a launch."""
    found = []
    for file in seen.measured.files:
        for rank in range(len(file.states[0].cpus) if file.states else 0):
            grown = _grown(of(file.states[0]), of(file.states[-1]), rank)
            if grown > 0:
                found.append((grown, f"{_who(file, rank)} {words.format(grown)}"))
    return sentences(text for _, text in sorted(found, reverse=True))


def frequency_changed(seen: Evidence) -> str | None:
    """Ranks whose cores did the same work at another speed later in the launch."""
    found = []
    for file in seen.measured.files:
        for rank in range(len(file.states[0].cpus) if file.states else 0):
            steps = [state.step_ps[rank] for state in file.states if rank < len(state.step_ps)]
            steps = [step for step in steps if step > 0]
            if len(steps) > 1 and max(steps) > SLOWER * min(steps):
                ratio = max(steps) / min(steps)
                found.append((ratio, f"{_who(file, rank)}: the slowest {ratio:.2f} times the fastest"))
    return sentences(words for _, words in sorted(found, reverse=True))


def lost_waiting(seen: Evidence) -> str | None:
    """Points whose ranks lost time while they waited for their windows."""
    found: list[tuple[float, str]] = []
    for row in seen.rows:
        worst = max(row.spun, key=lambda one: one.share, default=None)
        if worst is not None and worst.share > LOST_WAITING:
            lost = f"rank {worst.rank}: {100 * worst.share:.1f} %"
            gap = f"the longest gap {format_time(worst.longest_ns)}"
            found.append((worst.share, f"{row_name(row)} ({lost}, {gap})"))
    return sentences(words for _, words in sorted(found, reverse=True))
