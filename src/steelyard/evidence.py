"""What checks look for: each function gives its evidence in one sentence, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from steelyard.crosscheck import disagreements
from steelyard.lanes import cpu_set, sharing_lanes, stray_lanes
from steelyard.observations import Measured
from steelyard.records import Job, JobFile, Place
from steelyard.row import Row
from steelyard.units import format_time, format_values
from steelyard.wording import YIELDS, blame_words, mode_words, relative_words, row_name

INSTRUMENT = "self."  # ops that measure the instrument: empty and the like may well be next to nothing
MOST_NAMED = 4  # points that a sentence names before it counts the others
WIDE = 0.05  # half-width of an interval, relative to the median
LAUNCHES_DIFFER = 3.0  # spread between launches over the interval inside one
LAUNCHES_RATIO = 1.1  # slowest launch over fastest: less is not worth a word
COARSE_TICK = 0.05  # tick of the clock relative to the median
DEAR_CLOCK = 0.2  # cost of the clock relative to the median
REJECTED = 0.05  # share of observations


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check may look at: a folder and the rows made from it, in the same order as its points."""

    measured: Measured
    rows: tuple[Row, ...]


def _several(count: int, noun: str) -> str:
    """`1 point`, `3 points`, `2 launches`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def _list(rows: Iterable[Row], detail: Callable[[Row], str], verb: str = "") -> str | None:
    """`3 points failed: name (detail); ...`, the first few by name; None without rows."""
    chosen = list(rows)
    if not chosen:
        return None
    shown = chosen[:MOST_NAMED]
    named = "; ".join(f"{_name(row, shown)} ({detail(row)})" for row in shown)
    others = f"; and {len(chosen) - MOST_NAMED} more" if len(chosen) > MOST_NAMED else ""
    return f"{_several(len(chosen), 'point')}{verb}: {named}{others}."


def _name(row: Row, among: Sequence[Row]) -> str:
    """`mpi.bcast 8 B by barrier with root=1`: method and parameters where they tell it from its namesakes."""
    name = row_name(row)
    namesakes = [one for one in among if row_name(one) == name]
    if any(one.method != row.method for one in namesakes):
        name += f" by {row.method}"
    if row.params and any(one.params != row.params for one in namesakes):
        name += f" with {format_values(row.params)}"
    return name


def _measured(rows: tuple[Row, ...]) -> Iterator[tuple[Row, float]]:
    """Rows of ops other than the instrument's own with a positive median, and that median."""
    for row in rows:
        if row.median is not None and row.median > 0 and not row.op.startswith(INSTRUMENT):
            yield row, row.median


def wrong(seen: Evidence, by_mpi: bool = True) -> str | None:
    """Points whose answer was not the right one: those of an MPI, or those without."""
    rows = [row for row in seen.rows if row.status == "failed" and _is_wrong(row)]
    rows = [row for row in rows if (row.mpi is not None) == by_mpi]
    return _list(rows, lambda row: row.why or "wrong", " gave wrong answers")


def _is_wrong(row: Row) -> bool:
    return (row.why or "").startswith("wrong")


def failed(seen: Evidence) -> str | None:
    """Points that failed otherwise."""
    rows = [row for row in seen.rows if row.status == "failed" and not _is_wrong(row)]
    return _list(rows, lambda row: row.why or "no reason given", " failed")


def skipped(seen: Evidence) -> str | None:
    """Points that were not measured."""
    by_reason: dict[str, list[Row]] = {}
    for row in seen.rows:
        if row.status == "skipped":
            by_reason.setdefault(row.why or "no reason given", []).append(row)
    return sentences(
        f"{_several(len(rows), 'point')} of {', '.join(dict.fromkeys(row.op for row in rows))} ({why})"
        for why, rows in by_reason.items()
    )


def cut(seen: Evidence) -> str | None:
    """Files whose writer died in the middle of a line."""
    names = [file.path.name for file in seen.measured.files if file.cut_line]
    return f"The last line of {', '.join(names)} is cut off." if names else None


def not_positive(seen: Evidence) -> str | None:
    """Points with nothing left after the cost of the clock was subtracted."""
    lost = [row for row in seen.rows if row.median is not None and row.median <= 0]
    lost = [row for row in lost if not row.op.startswith(INSTRUMENT)]
    return _list(lost, lambda row: f"{row.median:.3g} ns after subtracting {row.overhead:.3g} ns")


def what_if(seen: Evidence) -> str | None:
    """Launches in which sched_yield did nothing."""
    count = sum(1 for file in seen.measured.files if file.launch and file.launch.yield_ != "real")
    return f"sched_yield did nothing in {_several(count, 'launch')}." if count else None


def oversubscribed(seen: Evidence) -> str | None:
    """Launches with more ranks and threads than cores."""
    jobs = [file.job for file in seen.measured.files if _is_oversubscribed(file.job)]
    kinds = sorted({(job.ranks * job.threads, job.cores, _mpi_name(job)) for job in jobs})
    return sentences(f"{asked} ranks and threads on {cores} cores ({mpi})" for asked, cores, mpi in kinds)


def _mpi_name(job: Job) -> str:
    return job.mpi.name if job.mpi else "a launch without MPI"


def _is_oversubscribed(job: Job) -> bool:
    if job.preset == "oversubscribed":
        return True
    return not job.cpus and job.cores > 0 and job.ranks * job.threads > job.cores


def _bound_jobs(measured: Measured) -> Iterator[tuple[str, int, list[tuple[Place, frozenset[int]]]]]:
    """For each host of each launch with cores enough: MPI, threads of a rank, places with their cores."""
    groups = measured.campaign.machine.get("cores")
    groups = groups if isinstance(groups, list | tuple) else []
    core_of = {cpu: number for number, group in enumerate(groups) for cpu in group}
    for file in measured.files:
        if file.launch is None or _is_oversubscribed(file.job) or file.job.placement:
            continue
        mpi = _mpi_name(file.job)
        places = sorted(file.launch.places, key=lambda place: (place.host, place.rank))
        for _, on_host in groupby(places, key=lambda place: place.host):
            with_cores = [
                (place, frozenset(core_of.get(cpu, -1 - cpu) for cpu in cpu_set(place.cpus)))
                for place in on_host
            ]
            yield mpi, file.job.threads, with_cores


def shared_cores(seen: Evidence) -> str | None:
    """Two ranks of one host, or threads of a rank, on the same core although there are cores enough."""
    found: list[str] = []
    for mpi, _, places in _bound_jobs(seen.measured):
        owner: dict[int, Place] = {}
        for place, cores in places:
            other = next((owner[core] for core in sorted(cores) if core in owner), None)
            if other is not None:
                cpus = f"cpus {other.cpus} and {place.cpus}"
                found.append(f"ranks {other.rank} and {place.rank} of {mpi} may run on one core ({cpus})")
            owner.update(dict.fromkeys(cores, place))
    names = {row.point: row_name(row) for row in seen.rows}
    for file in seen.measured.files:
        if not _is_oversubscribed(file.job) and not file.job.cpus:
            found += sharing_lanes(file, names)
    return sentences(found)


def unbound(seen: Evidence) -> str | None:
    """Ranks that may move between more cores than they have threads."""
    found: list[str] = []
    for mpi, threads, places in _bound_jobs(seen.measured):
        for place, cores in places:
            if len(cores) > threads:
                found.append(f"rank {place.rank} of {mpi} may run on cpus {place.cpus}")
    return sentences(found)


def misplaced(seen: Evidence) -> str | None:
    """Ranks and threads that were elsewhere than a placement asked for, or that the kernel did not bind."""
    return sentences(sentence for file in seen.measured.files for sentence in strays(file))


def strays(file: JobFile) -> Iterator[str]:
    """Of one launch: `rank 1 of openmpi-4.1.4 was asked for CPU 1, was allowed 0-1`."""
    job, mpi = file.job, _mpi_name(file.job)
    for place in file.launch.places if file.launch else ():
        if place.refused:
            yield f"rank {place.rank} of {mpi} was not bound: {place.refused}"
        asked = job.cpus[place.rank * job.threads : (place.rank + 1) * job.threads]
        allowed = place.lanes if job.threads > 1 else (place.cpus,)
        for thread, (cpu, cpus) in enumerate(zip(asked, allowed, strict=False)):
            if cpu_set(cpus) != {cpu}:
                who = f"thread {thread} of rank {place.rank}" if job.threads > 1 else f"rank {place.rank}"
                yield f"{who} of {mpi} was asked for CPU {cpu}, was allowed {cpus}"
    yield from stray_lanes(file)


def sentences(findings: Iterable[str]) -> str | None:
    """Findings without repeats as one sentence, the first few in full; None without any."""
    found = list(dict.fromkeys(findings))
    if not found:
        return None
    others = f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return "; ".join(found[:MOST_NAMED]) + others + "."


def yielding(seen: Evidence) -> str | None:
    """MPIs that call sched_yield inside timed regions, each with its worst point."""
    per_mpi: dict[str, Row] = {}
    for row in seen.rows:
        if (row.yields_per_op or 0) >= YIELDS and row.mpi:
            per_mpi[row.mpi] = max(per_mpi.get(row.mpi, row), row, key=lambda one: one.yields_per_op or 0)
    return sentences(
        f"{mpi} calls sched_yield up to {row.yields_per_op:.3g} times per operation, "
        f"in {row_name(row, mpi=False)}"
        for mpi, row in per_mpi.items()
    )


def modes(seen: Evidence) -> str | None:
    """Points with several modes, each mode with its share."""
    return _list([row for row in seen.rows if len(row.modes) > 1], mode_words)


def modes_below(seen: Evidence) -> str | None:
    """Points whose modes go with what a cache line takes without MPI."""
    return _blamed(seen, "below")


def modes_outside(seen: Evidence) -> str | None:
    """Points whose modes go with the time that ranks lose."""
    return _blamed(seen, "noise")


def modes_above(seen: Evidence) -> str | None:
    """Points with modes that the machine had no part in."""
    return _blamed(seen, "above")


def _blamed(seen: Evidence, layer: str) -> str | None:
    return _list([row for row in seen.rows if row.blame == layer], lambda row: blame_words(row) or "")


def unsettled(seen: Evidence) -> str | None:
    """Points whose stop rule ran out of time or observations."""
    open_rows = [row for row in seen.rows if {"UNSETTLED", "TIME"} & set(row.flags)]
    return _list(open_rows, lambda row: f"{row.flag}, {_ended(row)}")


def _ended(row: Row) -> str:
    """In how many launches a stop rule did not settle."""
    count = sum(1 for one in row.launches if one.flag in ("UNSETTLED", "TIME"))
    return f"{count} of {_several(len(row.launches), 'launch')}"


def drifting(seen: Evidence) -> str | None:
    """Points that became slower or faster inside launches."""
    rows = [row for row in seen.rows if "DRIFT" in row.flags]
    return _list(rows, lambda row: f"median {format_time(row.median or 0)}")


def tail(seen: Evidence) -> str | None:
    """Points with one mode and many slow observations."""
    tailed = [row for row in seen.rows if "NOISY" in row.flags and len(row.modes) == 1]
    return _list(tailed, _tail_words)


def _tail_words(row: Row) -> str:
    ratio = f"{row.p99 / row.median:.3g}" if row.p99 is not None and row.median else "?"
    return f"{100 * (row.slow_share or 0):.0f} % above 3 medians, p99 {ratio} medians"


def wide(seen: Evidence) -> str | None:
    """Points with wide intervals, the widest first."""
    halves = {row.point: half for row, half in _half_widths(seen.rows) if half > WIDE}
    rows = sorted((row for row in seen.rows if row.point in halves), key=lambda row: -halves[row.point])
    return _list(rows, relative_words)


def _half_widths(rows: tuple[Row, ...]) -> Iterator[tuple[Row, float]]:
    for row, value in _measured(rows):
        if row.ci_low is not None and row.ci_high is not None:
            yield row, (row.ci_high - row.ci_low) / 2 / value


def launches_differ(seen: Evidence) -> str | None:
    """Points whose launch medians lie further apart than the intervals inside the launches explain."""
    ratio: dict[int, float] = {}
    for row, _ in _measured(seen.rows):
        medians = [one.median for one in row.launches if one.median is not None]
        pairs = [(one.ci_low, one.ci_high) for one in row.launches]
        inner = sorted(high - low for low, high in pairs if low is not None and high is not None)
        if len(medians) < 2 or not inner or min(medians) <= 0:
            continue
        far = max(medians) - min(medians) > LAUNCHES_DIFFER * inner[len(inner) // 2]
        if far and max(medians) / min(medians) > LAUNCHES_RATIO:
            ratio[row.point] = max(medians) / min(medians)
    rows = sorted((row for row in seen.rows if row.point in ratio), key=lambda row: -ratio[row.point])
    return _list(rows, lambda row: f"slowest launch {ratio[row.point]:.3g} times the fastest")


def one_launch(seen: Evidence) -> str | None:
    """How many points rest on a single launch."""
    return _few(seen.rows, 1, 1)


def few_launches(seen: Evidence) -> str | None:
    """How many points rest on launches too few for order statistics."""
    return _few(seen.rows, 2, 5)


def _few(rows: tuple[Row, ...], least: int, most: int) -> str | None:
    few = sum(1 for row in rows if least <= row.launch_count <= most)
    if not few:
        return None
    launches = "one launch" if most == 1 else f"{least} to {most} launches"
    return f"{few} of {_several(len(rows), 'point')} rest{'s' if few == 1 else ''} on {launches}."


def busy(seen: Evidence) -> str | None:
    """Other load when the campaign began."""
    load = seen.measured.campaign.machine.get("load")
    load = load[0] if isinstance(load, list | tuple) and load else load
    if isinstance(load, int | float) and load > 0.5:
        return f"The load average was {load:.3g} when the campaign began."
    return None


def methods_disagree(seen: Evidence) -> str | None:
    """Points of which two methods say what cannot both be true."""
    found = disagreements(seen.rows)
    sentence = {one.other.point: one.sentence for one in found}
    verb = "contradicts" if len(found) == 1 else "contradict"
    return _list((one.other for one in found), lambda row: sentence[row.point], f" {verb} another method")


def unsound_clock(seen: Evidence) -> str | None:
    """Launches whose clock is not sound on some rank, each clock and reason once."""
    found: dict[tuple[str, str], int] = {}
    for launch in (file.launch for file in seen.measured.files if file.launch):
        doubts = (place.clock_doubt for place in launch.places if place.clock_doubt)
        for doubt in dict.fromkeys(doubts):
            found[launch.clock.name, doubt] = found.get((launch.clock.name, doubt), 0) + 1
    told = [f"{name} in {_several(count, 'launch')}: {doubt}" for (name, doubt), count in found.items()]
    return sentences([*told, *_wild_clocks(seen)])


def _wild_clocks(seen: Evidence) -> Iterator[str]:
    """Launches in which a point failed by its clocks, which timed all others, too."""
    for file in seen.measured.files:
        ends = [run.end for run in file.points if run.end]
        why = next((end.why for end in ends if end.why and end.why.startswith("clock: ")), None)
        others = sum(end.status == "ok" for end in ends)
        if why and others:
            said = why.removeprefix("clock: ").partition(";")[0]
            rest = f"the same clocks timed {_several(others, 'other point')} of it"
            yield f"launch {file.job.launch}: {said}, and {rest}"


def coarse_clock(seen: Evidence) -> str | None:
    """Points whose clock has a tick that is large against the value."""
    coarse = [row for row, value in _measured(seen.rows) if (row.clock_tick or 0) > COARSE_TICK * value]
    return _list(coarse, lambda row: f"tick {row.clock_tick:.3g} ns of {format_time(row.median or 0)}")


def dear_clock(seen: Evidence) -> str | None:
    """Points whose clock costs much against the value."""
    dear = [row for row, value in _measured(seen.rows) if (row.overhead or 0) > DEAR_CLOCK * value]
    return _list(dear, lambda row: f"{row.overhead:.3g} ns subtracted, {format_time(row.median or 0)} left")


def closed_clocks(seen: Evidence) -> str | None:
    """Points with several clocks whose stated error is what the closure saw."""
    rows = [
        row
        for point, row in zip(seen.measured.points, seen.rows, strict=True)
        if any(cell.by_closure for cell in point.cells if cell.status == "ok")
    ]
    return _list(rows, _clock_words)


def _clock_words(row: Row) -> str:
    stated, certain = format_time(row.clock_error_ns or 0), format_time(row.clock_bound_ns or 0)
    return f"clocks ±{stated}, for certain ±{certain}"


def rejected(seen: Evidence) -> str | None:
    """Points with many rejected observations."""
    many = [row for row in seen.rows if row.rejected > REJECTED * (row.count + row.rejected)]
    return _list(many, lambda row: f"{row.rejected} of {row.count + row.rejected}")


def placements_vary(seen: Evidence) -> str | None:
    """Points whose launches were bound differently."""
    varying = []
    for point, row in zip(seen.measured.points, seen.rows, strict=True):
        starts = [cell.start for cell in point.cells if cell.start]
        if len({tuple(place.cpus for place in start.places) for start in starts}) > 1:
            varying.append(row)
    return _list(varying, lambda row: f"mostly {row.placement}")
