"""Checks of what took the ranks' cores or slowed them: processes, the hypervisor, limits, heat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from steelyard.base.diagnostic import NOTE, WARNING, check
from steelyard.base.plural import counted, plural
from steelyard.base.units import format_time
from steelyard.diagnostics.results.evidence import Evidence, sentences
from steelyard.records.job_file import JobFile
from steelyard.records.parts import Busy
from steelyard.records.schema import State
from steelyard.results.facets import Windows
from steelyard.results.states import (
    STOLEN,
    TICK_NS,
    TICKS,
    Shared,
    beside,
    changes_of,
    cpus_words,
    grown,
    neighbours,
    unnamed,
    who,
)
from steelyard.rows.words import row_name

SLOWER = 1.1  # a step of the same work, the slowest over the fastest
LOST_WAITING = 0.02  # of the time that a rank waited for its windows
BESIDE = 0.1  # of all cores of the host
MOST_RANKS = 4  # that a sentence names

# What slows ranks at times, and so may explain findings on their times.
CAUSES = (
    "oversubscribed",
    "unbound",
    "shared-cores",
    "quota",
    "busy-neighbour",
    "busy-unnamed",
    "stolen",
    "throttled",
    "too-hot",
)


@check(
    "busy-neighbour",
    WARNING,
    "Other processes ran where the ranks did",
    why="A rank that must share its core is as slow as its share, and those that wait for it are too.",
    remedy="End these processes, or keep them from these CPUs (taskset, a cpuset), and measure again.",
)
def busy_neighbour(evidence: Evidence) -> str | None:
    """Find processes by name, with the CPU time that they took; others are one sentence, not a finding."""
    named_busy = sentences(neighbour_words(evidence.measured.files))
    named = _hosts_with_named(evidence.measured.files)
    brief = sum(
        any(interference.host in named for interference in unnamed(file)) for file in evidence.measured.files
    )
    if named_busy is None or not brief:
        return named_busy
    return f"{named_busy} In {counted(brief, 'launch')} others ran too briefly to be named."


def _hosts_with_named(files: Iterable[JobFile]) -> set[str]:
    """Find the hosts on which some launch saw a process on the ranks' CPUs."""
    return {
        place.host
        for file in files
        for _, ranks in neighbours(file)
        for place in (file.launch.places if file.launch else ())
        if place.rank in ranks
    }


def neighbour_words(files: Iterable[JobFile]) -> list[str]:
    """List each process that ran on ranks' CPUs, in the launch where it took most; the busiest first."""
    worst: dict[tuple[int, str], tuple[float, str]] = {}
    for file in files:
        for busy, ranks in neighbours(file):
            words = _neighbour_words(busy, ranks, file.job.launch)
            key = busy.pid, busy.command
            worst[key] = max(worst.get(key, (0.0, "")), (busy.cpu_ns / 1e9, words))
    return [words for _, words in sorted(worst.values(), reverse=True)]


def _neighbour_words(busy: Busy, ranks: tuple[int, ...], launch: int) -> str:
    return (
        f"'{busy.name}' (pid {busy.pid}) took {100 * busy.cpu_ns / 1e9 / busy.seconds:.0f} % of a CPU "
        f"in launch {launch}, on {cpus_words(frozenset(busy.cpus))}, where {_ranks_words(ranks)} ran"
    )


@check(
    "busy-unnamed",
    WARNING,
    "Unknown processes ran where the ranks did",
    why="A rank that must share its core is as slow as its share, and those that wait for it are too.",
    remedy="Run steelyard doctor on that host to see who works there, or give the ranks CPUs that nothing "
    "else may use (a cpuset), and measure again.",
)
def busy_unnamed(evidence: Evidence) -> str | None:
    """Find CPU time of the ranks' CPUs that went to others, on hosts where no launch saw a process."""
    by_share: list[tuple[float, str]] = []
    named = _hosts_with_named(evidence.measured.files)
    for file in evidence.measured.files:
        groups_of_host = groupby(
            sorted(unnamed(file), key=lambda shared: shared.host), lambda shared: shared.host
        )
        for host, groups in groups_of_host:
            if host in named:
                continue  # `busy_neighbour` has it
            by_rank = sorted(groups, key=lambda group: group.changes[0].rank)
            watched = any(watch.host == host for watch in file.watches)
            why = "too briefly to be named" if watched else "on a host whose processes were not watched"
            shares = [
                f"{100 * shared.share:.0f} % of {cpus_words(shared.cpus)} ({_ranks(shared)})"
                for shared in by_rank
            ]
            took = " and ".join(filter(None, [", ".join(shares[:-1]), shares[-1]]))
            words = f"in launch {file.job.launch} others took {took} of {host}, {why}"
            by_share.append((sum(shared.share for shared in by_rank), words))
    return sentences(words for _, words in sorted(by_share, reverse=True))


def _ranks(group: Shared) -> str:
    """Name ranks that may run on some CPUs: `rank 0`, `ranks 0, 1, 2, 3 and 4 more`."""
    return _ranks_words(tuple(change.rank for change in group.changes))


def _ranks_words(ranks: tuple[int, ...]) -> str:
    more = f" and {len(ranks) - MOST_RANKS} more" if len(ranks) > MOST_RANKS else ""
    return f"{plural('rank', len(ranks))} {', '.join(map(str, ranks[:MOST_RANKS]))}{more}"


@check(
    "busy-beside",
    WARNING,
    "Other processes ran beside the ranks",
    why="They share caches, memory bandwidth, and the power on which the frequency of all cores depends.",
    remedy="Wait until they have ended, or measure on another node.",
)
def busy_beside(evidence: Evidence) -> str | None:
    """Find launches in which others took many of the host's cores but none of the ranks', the worst first."""
    by_share: list[tuple[float, str]] = []
    if any(True for file in evidence.measured.files for _ in neighbours(file)):
        return None  # that they ran on the ranks' CPUs says more
    for file in evidence.measured.files:
        others = sorted(beside(file), key=lambda busy: -busy.cpu_ns)
        share = sum(other.cpu_ns / 1e9 / other.seconds for other in others) / max(1, file.job.cores)
        if share > BESIDE:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            took = f"{100 * share:.0f} % of {counted(file.job.cores, 'core')} in launch {file.job.launch}"
            by_share.append((share, f"'{others[0].command}' (pid {others[0].pid}){more} took {took}"))
    return sentences(words for _, words in sorted(by_share, reverse=True))


@check(
    "stolen",
    WARNING,
    "The hypervisor took CPUs away",
    why="Other guests ran on the cores of these ranks. Nothing inside this machine shows it but steal time.",
    remedy="Measure on dedicated cores, or over many launches, and compare medians.",
)
def stolen(evidence: Evidence) -> str | None:
    """Find CPUs of ranks that the hypervisor gave to others."""
    by_share = [
        (change.stolen, f"{cpus_words(change.cpus)} of {who(file, change.rank)}: {100 * change.stolen:.1f} %")
        for file in evidence.measured.files
        for change in changes_of(file)
        if change.stolen > STOLEN and change.steal_ns > TICKS * TICK_NS
    ]
    return sentences(words for _, words in sorted(by_share, reverse=True))


@check(
    "throttled",
    WARNING,
    "The limit on CPU time was reached",
    why="The kernel stops all of a control group for the rest of a period, some 0.1 s, wherever a rank is.",
    remedy="Ask for fewer ranks than the limit allows, or have it raised.",
)
def throttled(evidence: Evidence) -> str | None:
    """Find ranks whose control group had used up its CPU time."""
    return _counted(evidence, lambda state: state.quota_stops, "in {} periods")


@check(
    "too-hot",
    WARNING,
    "Cores were too hot",
    why="A core that is slowed down is slower in all that it does.",
    remedy="Improve the cooling, or measure for shorter times with pauses.",
)
def too_hot(evidence: Evidence) -> str | None:
    """Find ranks whose cores were slowed down because they were too hot."""
    return _counted(evidence, lambda state: state.throttles, "{} times")


def _counted(evidence: Evidence, of: Callable[[State], tuple[int, ...]], words: str) -> str | None:
    """Find counters that grew from the first to the last state of a launch."""
    by_times = []
    for file in evidence.measured.files:
        for at in range(len(file.states[0].cpus) if file.states else 0):
            times = grown(of(file.states[0]), of(file.states[-1]), at)
            if times > 0:
                by_times.append((times, f"{who(file, file.states[0].rank(at))} {words.format(times)}"))
    return sentences(text for _, text in sorted(by_times, reverse=True))


@check(
    "frequency",
    NOTE,
    "Cores did not keep their speed",
    why="The same work took longer at one time than at another, undisturbed: frequency, a busy sibling "
    "thread, or the hypervisor.",
    remedy="Fix the governor and switch turbo off. Where that is impossible, compare what was measured "
    "close in time.",
    caused_by=CAUSES,
)
def frequency_changed(evidence: Evidence) -> str | None:
    """Find ranks whose cores did the same work at another speed later in the launch."""
    by_ratio = []
    for file in evidence.measured.files:
        for at in range(len(file.states[0].cpus) if file.states else 0):
            steps = [state.step_ps[at] for state in file.states if at < len(state.step_ps)]
            steps = [step for step in steps if step > 0]
            if len(steps) > 1 and max(steps) > SLOWER * min(steps):
                ratio = max(steps) / min(steps)
                rank = file.states[0].rank(at)
                by_ratio.append((ratio, f"{who(file, rank)}: the slowest {ratio:.2f} times the fastest"))
    return sentences(words for _, words in sorted(by_ratio, reverse=True))


@check(
    "lost-waiting",
    NOTE,
    "Ranks lost time while they waited",
    why="A rank that only reads its clock loses time to interrupts and other processes. So do the "
    "operations.",
    remedy="Measure the noise itself: steelyard run noise.",
    caused_by=CAUSES,
)
def lost_waiting(evidence: Evidence) -> str | None:
    """Find test cases whose ranks lost time while they waited for their windows."""
    by_share: list[tuple[float, str]] = []
    for row in evidence.rows:
        worst = max(row.get(Windows).spun, key=lambda waiting: waiting.share, default=None)
        if worst is not None and worst.share > LOST_WAITING:
            lost = f"rank {worst.rank}: {100 * worst.share:.1f} %"
            gap = f"the longest gap {format_time(worst.longest_ns)}"
            by_share.append((worst.share, f"{row_name(row)} ({lost}, {gap})"))
    return sentences(words for _, words in sorted(by_share, reverse=True))
