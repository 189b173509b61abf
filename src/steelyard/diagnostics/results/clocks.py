"""Checks of clocks: whether they are sound, fine, cheap, and agree with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from steelyard.base.diagnostic import NOTE, WARNING, check
from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.diagnostics.results.contradictions import disagreements
from steelyard.diagnostics.results.evidence import Evidence, listed, sentences, valued
from steelyard.records.kinds import INSTRUMENT
from steelyard.records.parts import Place
from steelyard.results.facets import ClockError, Rate, Timer
from steelyard.results.row import Row
from steelyard.rows.host_words import hosts_words

COARSE_TICK = 0.05  # tick of the clock relative to the median
DEAR_CLOCK = 0.2  # cost of the clock relative to the median
_LEAST_NS = 0.01  # a tenth of the fastest step of any processor
_MOST_BYTES_PER_SECOND = 1e15  # a hundred times the fastest memory of a node


@check(
    "methods-disagree",
    WARNING,
    "Methods contradict each other",
    why="Two independent methods measured one operation, and cannot both be right under the same "
    "conditions. The clocks may be off by more than they state, or the machine changed between the two.",
    remedy="Measure both again with more launches. If the contradiction stays, do not trust the "
    "synchronised latency: use the method bounds, and --paths asymmetric where messages may take longer one "
    "way than back.",
)
def methods_disagree(evidence: Evidence) -> str | None:
    """Find test cases for which two methods contradict each other."""
    found = disagreements(evidence.rows)
    sentence = {one.other.point: one.sentence for one in found}
    verb = "contradicts" if len(found) == 1 else "contradict"
    return listed((one.other for one in found), lambda row: sentence[row.point], f" {verb} another method")


@check(
    "unsound-clock",
    WARNING,
    "A clock is not sound",
    why="A clock that steps, or that runs differently on another core, makes durations of any length.",
    remedy="Measure without --clock: the engine then takes the best clock that all ranks find sound.",
)
def unsound_clock(evidence: Evidence) -> str | None:
    """Find launches whose clock is not sound on some rank; each clock and reason once."""
    found: Counter[tuple[str, str, str]] = Counter()
    for launch in (file.launch for file in evidence.measured.files if file.launch):
        doubts: dict[str, list[str]] = {}
        for place in launch.places:
            if place.clock_doubt:
                doubts.setdefault(place.clock_doubt, []).append(place.host)
        for doubt, hosts in doubts.items():
            is_several = len({place.host for place in launch.places}) > 1
            where = f" on {hosts_words(hosts)}" if is_several else ""
            found[launch.clock.name, where, doubt] += 1
    told = [
        f"clock {name}{where} in {counted(n, 'launch')}: {doubt}" for (name, where, doubt), n in found.items()
    ]
    return sentences([*told, *_wild_clocks(evidence)])


def _wild_clocks(evidence: Evidence) -> Iterator[str]:
    """Find launches in which a point failed because of its clocks, which timed all other points, too."""
    for file in evidence.measured.files:
        ends = [run.end for run in file.points if run.end]
        why = next((end.why for end in ends if end.why and end.why.startswith("clock: ")), None)
        others = sum(end.status == "ok" for end in ends)
        if why and others:
            said = why.removeprefix("clock: ").partition(";")[0]
            rest = f"the same clocks timed {counted(others, 'other test case')} of it"
            yield f"launch {file.job.launch}: {said}, and {rest}"


@check(
    "odd-clock",
    NOTE,
    "A clock is doubtful on some ranks alone",
    why="All ranks read another clock, so the numbers are sound. But alike hosts should have alike clocks.",
    remedy="Look at that host's clock source (/sys/devices/system/clocksource), and for clocks in what its "
    "kernel says (dmesg).",
)
def odd_clock(evidence: Evidence) -> str | None:
    """Find ranks that alone find a better clock doubtful than all then read, each host and reason once."""
    found: Counter[tuple[str, str, str]] = Counter()
    for launch in (file.launch for file in evidence.measured.files if file.launch):
        passed: dict[str, list[Place]] = {}
        for place in launch.places:
            if place.clock_passed:
                passed.setdefault(place.clock_passed, []).append(place)
        for told, places in passed.items():
            if len(places) < len(launch.places):
                found[launch.clock.name, hosts_words(place.host for place in places), told] += 1
    return sentences(
        f"on {hosts} in {counted(count, 'launch')}, clock {told}; all ranks read {name}"
        for (name, hosts, told), count in found.items()
    )


@check(
    "not-positive",
    WARNING,
    "Nothing is left after the cost of the clock",
    why="Reading the clock costs as much as what was measured. The number says nothing.",
    remedy="Measure with --method batch, which puts many repetitions between two readings of the clock.",
)
def not_positive(evidence: Evidence) -> str | None:
    """Find test cases with nothing left after the cost of the clock was subtracted."""
    lost = [row for row in evidence.rows if row.median is not None and row.median <= 0]
    lost = [row for row in lost if row.role != INSTRUMENT]
    return listed(lost, lambda row: f"{row.median:.3g} ns after subtracting {row.get(Timer).overhead:.3g} ns")


@check(
    "impossible",
    WARNING,
    "Impossible numbers",
    why="No processor does anything in less than a hundredth of a nanosecond, and no memory moves 1000 TB in "
    "a second. The records are damaged, or the clock is wrong.",
    remedy="Measure again. If it stays, report it to us with the folder's records.",
)
def impossible(evidence: Evidence) -> str | None:
    """Find test cases whose value no machine can reach."""
    wrong = [
        row
        for row, value in valued(evidence.rows)
        if value < _LEAST_NS or (row.get(Rate).bandwidth or 0) > _MOST_BYTES_PER_SECOND
    ]
    return listed(wrong, lambda row: f"{row.median:.3g} ns")


@check(
    "coarse-clock",
    NOTE,
    "The clock is coarse",
    why="Single samples are rounded to the tick. Medians are interpolated inside it; minima and quantiles "
    "less well.",
    remedy="Measure with --method batch, or with a clock of a smaller tick.",
)
def coarse_clock(evidence: Evidence) -> str | None:
    """Find test cases whose clock's tick is large against the value."""
    coarse = [
        row for row, value in valued(evidence.rows) if (row.get(Timer).clock_tick or 0) > COARSE_TICK * value
    ]
    return listed(
        coarse, lambda row: f"tick {row.get(Timer).clock_tick:.3g} ns of {format_time(row.median or 0)}"
    )


@check(
    "dear-clock",
    NOTE,
    "Reading the clock takes long",
    why="An error in the cost of the clock goes into the number in full.",
    remedy="Measure with --method batch, which reads the clock once for many repetitions.",
)
def dear_clock(evidence: Evidence) -> str | None:
    """Find test cases whose clock costs much against the value."""
    dear = [
        row for row, value in valued(evidence.rows) if (row.get(Timer).overhead or 0) > DEAR_CLOCK * value
    ]
    return listed(
        dear, lambda row: f"{row.get(Timer).overhead:.3g} ns subtracted, {format_time(row.median or 0)} left"
    )


@check(
    "closed-clocks",
    NOTE,
    "Clocks were compared over paths that may be asymmetric",
    why="A message that takes longer one way than back shifts a clock by half the difference. No exchange "
    "of messages can see that, nor can the closure, which states the error. Only the bound is guaranteed.",
    remedy="Where paths may be asymmetric, measure with --paths asymmetric: then the bound is stated.",
)
def closed_clocks(evidence: Evidence) -> str | None:
    """Find test cases with several clocks whose stated error is that of the closure."""
    rows = [
        row
        for point, row in zip(evidence.measured.points, evidence.rows, strict=True)
        if any(cell.by_closure for cell in point.cells if cell.status == "ok")
    ]
    return listed(rows, _clock_words)


def _clock_words(row: Row) -> str:
    error = row.get(ClockError)
    stated, bound = format_time(error.clock_error_ns or 0), format_time(error.clock_bound_ns or 0)
    return f"stated error ±{stated}, guaranteed bound ±{bound}"
