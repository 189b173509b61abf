"""Checks of test cases: their answers, how they ended, their modes and tails, how far their numbers carry."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.base.diagnostic import ERROR, NOTE, WARNING, check
from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.checks.evidence import Evidence, listed, sentences, valued
from steelyard.checks.interference import CAUSES
from steelyard.results.facets import Modes, Ranks, Samples
from steelyard.results.row import Row
from steelyard.show.row_words import ALIKE, YIELDS
from steelyard.show.words import blame_words, mode_words, relative_words, row_name
from steelyard.stats import holm

WIDE = 0.05  # half-width of an interval, relative to the median
LAUNCHES_DIFFER = 3.0  # spread between launches over the interval inside one
LAUNCHES_RATIO = 1.1  # slowest launch over fastest: less is not worth a word
REJECTED = 0.05  # share of samples


# ---- answers and ends --------------------------------------------------------------------------------------


@check(
    "wrong-answer",
    ERROR,
    "Wrong answers",
    why="A library that computes the wrong result may do so in any time. These test cases have no numbers "
    "to compare.",
    remedy="Report it to the makers of that MPI. The records name the first wrong byte.",
)
def wrong(seen: Evidence) -> str | None:
    """Test cases of an MPI whose answer was not the right one."""
    return _wrong(row for row in seen.rows if row.mpi is not None)


@check(
    "wrong-answer-solo",
    ERROR,
    "Wrong answers without MPI",
    why="What computes the wrong result may do so in any time. These test cases have no numbers to compare.",
    remedy="Measure the test case alone and without OMP_ variables. If it is still wrong, report it to us "
    "and to the makers of the compiler. The records say what was wrong first.",
)
def wrong_solo(seen: Evidence) -> str | None:
    """Test cases without an MPI whose answer was not the right one."""
    return _wrong(row for row in seen.rows if row.mpi is None)


def _wrong(rows: Iterator[Row]) -> str | None:
    return listed(
        (row for row in rows if row.status == "failed" and _is_wrong(row)),
        lambda row: row.why or "wrong",
        " gave wrong answers",
    )


def _is_wrong(row: Row) -> bool:
    return (row.why or "").startswith("wrong")


@check(
    "failed",
    ERROR,
    "Failed test cases",
    why="What is missing cannot be compared, and a launch that died may have disturbed its neighbours.",
    remedy="Measure the test case alone: steelyard run OP --bytes N. For a hang, try another MPI.",
)
def failed(seen: Evidence) -> str | None:
    """Test cases that failed otherwise."""
    rows = [row for row in seen.rows if row.status == "failed" and not _is_wrong(row)]
    return listed(rows, lambda row: row.why or "no reason given", " failed")


@check(
    "skipped",
    NOTE,
    "Skipped test cases",
    why="They are no failures, but the table has gaps.",
    remedy="See steelyard list for what an op needs.",
)
def skipped(seen: Evidence) -> str | None:
    """Test cases that were not measured."""
    by_reason: dict[str, list[Row]] = {}
    for row in seen.rows:
        if row.status == "skipped":
            by_reason.setdefault(row.why or "no reason given", []).append(row)
    return sentences(
        f"{counted(len(rows), 'test case')} of {', '.join(dict.fromkeys(row.op for row in rows))} ({why})"
        for why, rows in by_reason.items()
    )


@check(
    "cut-line",
    NOTE,
    "Cut records",
    why="The engine or the machine was stopped while it wrote. That chunk of samples is lost, the rest is "
    "kept.",
    remedy="Nothing need be done: the same command again measures what is missing.",
)
def cut(seen: Evidence) -> str | None:
    """Files whose writer died in the middle of a line."""
    names = [file.path.name for file in seen.measured.files if file.cut_line]
    return f"The last line of {', '.join(names)} is cut off." if names else None


@check(
    "retried",
    NOTE,
    "Failures that were measured again",
    why="The table shows the last measurement. A test case that fails at times may fail again.",
    remedy="Look at the first failure in the records before you trust the second measurement.",
)
def retried(seen: Evidence) -> str | None:
    """Test cases that failed in a launch in which they were then measured, with the first reason."""
    failures = {
        (file.job.launch, run.index): run.end.why or "no reason given"
        for file in reversed(seen.measured.files)
        for run in file.points
        if run.end is not None and run.end.status == "failed"
    }
    reasons: dict[int, str] = {}
    for row in seen.rows:
        for one in row.launches:
            if one.status == "ok" and (why := failures.get((one.launch, row.point))):
                reasons.setdefault(row.point, why)
    rows = (row for row in seen.rows if row.point in reasons)
    return listed(rows, lambda row: reasons[row.point], " failed before")


# ---- how the library waits ---------------------------------------------------------------------------------


@check(
    "what-if",
    WARNING,
    "Yielding was switched off",
    why="With --yield none the MPI library does not run as its makers ship it. The numbers show what "
    "yielding costs.",
    remedy="Compare with a campaign without --yield none. Quote these numbers as a what-if only.",
)
def what_if(seen: Evidence) -> str | None:
    """Launches in which sched_yield did nothing."""
    count = sum(1 for file in seen.measured.files if file.launch and file.launch.yield_ != "real")
    return f"sched_yield did nothing in {counted(count, 'launch')}." if count else None


@check(
    "yielding",
    NOTE,
    "The MPI yields while it waits",
    why="Each sched_yield is a system call in the path of a message, and leaves the core to whoever else is "
    "there.",
    remedy="Measure again with --yield none and compare: the difference is what yielding costs here.",
)
def yielding(seen: Evidence) -> str | None:
    """MPIs that call sched_yield inside timed regions, each with its worst point."""
    per_mpi: dict[str, Row] = {}
    for row in seen.rows:
        if _yields(row) >= YIELDS and row.mpi:
            per_mpi[row.mpi] = max(per_mpi.get(row.mpi, row), row, key=_yields)
    return sentences(
        f"{mpi} calls sched_yield up to {_yields(row):.3g} times per operation, in {row_name(row, mpi=False)}"
        for mpi, row in per_mpi.items()
    )


def _yields(row: Row) -> float:
    return row.get(Ranks).yields_per_op or 0.0


# ---- modes, tails and trends -------------------------------------------------------------------------------


@check(
    "modes",
    WARNING,
    "Several modes",
    why="The median falls into one mode or the other, or between them, by luck. No single number describes "
    "such a test case, and what was seen of the machine does not tell where its modes come from.",
    remedy="Quote each mode with its share. On a virtual machine the host may move CPUs: more launches show "
    "how often.",
    caused_by=CAUSES,
)
def modes(seen: Evidence) -> str | None:
    """Test cases with several modes whose cause is not known, each mode with its share."""
    split = [row for row in seen.rows if len(row.get(Modes).modes) > 1]
    return listed((row for row in split if row.get(Modes).blame is None), mode_words)


@check(
    "modes-below",
    WARNING,
    "Modes from below MPI",
    why="A cache line handed from rank to rank without MPI became slower with the operation: cores, caches "
    "or the hypervisor changed, and no MPI can do better.",
    remedy="Compare within one mode, or on a machine whose cores stay where they are. Do not blame the "
    "library.",
    caused_by=CAUSES,
)
def modes_below(seen: Evidence) -> str | None:
    """Test cases whose modes go with what a cache line takes without MPI."""
    return _blamed(seen, "below")


@check(
    "modes-outside",
    WARNING,
    "Modes with lost time",
    why="The operation was slow when ranks lost time to others: other work, interrupts or the hypervisor.",
    remedy="Quiet the machine, or use cores that nothing else may use.",
    caused_by=CAUSES,
)
def modes_outside(seen: Evidence) -> str | None:
    """Test cases whose modes go with the time that ranks lose."""
    return _blamed(seen, "noise")


@check(
    "modes-above",
    WARNING,
    "Modes though the machine stayed the same",
    why="Nothing else was seen on the ranks' CPUs, and a cache line handed from rank to rank without MPI "
    "took as long in the slow mode as in the fast one. What is left is the MPI library and its processes: "
    "where buffers lie, which path was taken, a helper thread, or who gets the core when the library gives "
    "it away to wait.",
    remedy="If the library yields, measure with --yield none. Else look at what differs between the "
    "launches.",
)
def modes_above(seen: Evidence) -> str | None:
    """Test cases with modes that the machine had no part in."""
    return _blamed(seen, "above")


def _blamed(seen: Evidence, layer: str) -> str | None:
    rows = [row for row in seen.rows if row.get(Modes).blame == layer]
    return listed(rows, lambda row: f"{mode_words(row)}; {blame_words(row)}")


@check(
    "tail",
    WARNING,
    "Heavy tails",
    why="More than one call in twenty takes over three medians. Applications feel p99 more than the median.",
    remedy="Look for other load and interrupts (steelyard doctor). Quote p99 beside the median.",
    caused_by=CAUSES,
)
def tail(seen: Evidence) -> str | None:
    """Test cases with one mode and many slow samples."""
    tailed = [row for row in seen.rows if "NOISY" in row.flags and len(row.get(Modes).modes) == 1]
    return listed(tailed, _tail_words)


def _tail_words(row: Row) -> str:
    samples = row.get(Samples)
    ratio = f"{samples.p99 / row.median:.3g}" if samples.p99 is not None and row.median else "?"
    return f"{100 * (samples.slow_share or 0):.0f} % of samples over 3 x the median, p99 {ratio} x"


@check(
    "drift",
    WARNING,
    "Drift inside launches",
    why="The operation became slower or faster while it was measured: warm-up, frequency, temperature or "
    "other load.",
    remedy="Measure longer, fix the frequency governor, or look at the launches one by one.",
    caused_by=CAUSES,
)
def drifting(seen: Evidence) -> str | None:
    """Test cases that became slower or faster inside launches."""
    rows = [row for row in seen.rows if "DRIFT" in row.flags]
    return listed(rows, lambda row: f"median {format_time(row.median or 0)}")


@check(
    "unsettled",
    WARNING,
    "Not converged",
    why="The interval inside a launch did not become as narrow as was asked for.",
    remedy="Quiet the machine, add launches, or give more time with --time-budget. The interval of several "
    "launches is made of their medians and stays sound; that of a single launch may be too narrow.",
    caused_by=CAUSES,
)
def unsettled(seen: Evidence) -> str | None:
    """Test cases whose stop rule ran out of time or samples."""
    open_rows = [row for row in seen.rows if {"UNSETTLED", "TIME"} & set(row.flags)]
    return listed(open_rows, lambda row: f"in {_ended(row)}")


def _ended(row: Row) -> str:
    """In how many launches a stop rule did not settle."""
    count = sum(1 for one in row.launches if one.flag in ("UNSETTLED", "TIME"))
    return f"{count} of {counted(len(row.launches), 'launch')}"


# ---- how far the numbers carry -----------------------------------------------------------------------------


@check(
    "one-launch",
    WARNING,
    "One launch",
    why="Launches differ by more than what is seen inside one. The interval is that of this launch alone.",
    remedy="Add launches: the same command with --launches 10 and --out, into the same folder.",
)
def one_launch(seen: Evidence) -> str | None:
    """How many test cases rest on a single launch."""
    return _few(seen.rows, 1, 1)


@check(
    "few-launches",
    NOTE,
    "Few launches",
    why="The interval assumes that logarithms of launch medians are normal, and is wide.",
    remedy="Use six launches or more: their interval assumes nothing of the kind. Ten are a good default.",
)
def few_launches(seen: Evidence) -> str | None:
    """How many test cases rest on launches too few for order statistics."""
    return _few(seen.rows, 2, 5)


def _few(rows: tuple[Row, ...], least: int, most: int) -> str | None:
    few = sum(1 for row in rows if least <= row.launch_count <= most)
    if not few:
        return None
    launches = "one launch" if most == 1 else f"{least} to {most} launches"
    return f"{few} of {counted(len(rows), 'test case')} rest{'s' if few == 1 else ''} on {launches}."


@check(
    "wide",
    NOTE,
    "Wide intervals",
    why="Differences smaller than the interval cannot be seen.",
    remedy="Add launches: four times as many halve the interval where launches are alike. Where they have "
    "modes or other work disturbs them, mend that first.",
    caused_by=("one-launch", "few-launches", *CAUSES),
)
def wide(seen: Evidence) -> str | None:
    """Test cases with wide intervals, the widest first."""
    halves = {row.point: half for row, half in _half_widths(seen.rows) if half > WIDE}
    rows = sorted((row for row in seen.rows if row.point in halves), key=lambda row: -halves[row.point])
    return listed(rows, relative_words)


def _half_widths(rows: tuple[Row, ...]) -> Iterator[tuple[Row, float]]:
    for row, value in valued(rows):
        if row.time_low is not None and row.time_high is not None:
            yield row, (row.time_high - row.time_low) / 2 / value


@check(
    "launches-alike",
    NOTE,
    "Launches are like their neighbours in time",
    why="The machine was in one state and then in another, longer than a launch lasts. Such launches count "
    "for fewer, and their interval is wider for it; what another hour adds cannot be known from one sitting.",
    remedy="Spread launches over time: --spread 2h. To compare, measure rivals as neighbours: --arms, or "
    "several --mpi.",
    caused_by=CAUSES,
)
def launches_alike(seen: Evidence) -> str | None:
    """Test cases whose launches are not in random order, by Holm's method over all of them."""
    rows = [row for row in seen.rows if row.alike_p is not None]
    adjusted = holm([row.alike_p or 0.0 for row in rows])
    p = {row.point: value for row, value in zip(rows, adjusted, strict=True)}
    found = sorted((row for row in rows if p[row.point] < ALIKE), key=lambda row: p[row.point])
    return listed(found, lambda row: f"p {p[row.point]:.2g}, interval {row.widened or 1:.1f} times as wide")


@check(
    "launches-differ",
    NOTE,
    "Launches differ",
    why="Measuring longer inside a launch makes such a number no better.",
    remedy="Add launches rather than time. The picture of launches in the report shows clusters.",
    caused_by=CAUSES,
)
def launches_differ(seen: Evidence) -> str | None:
    """Test cases whose launch medians lie further apart than the intervals inside the launches explain."""
    ratio: dict[int, float] = {}
    for row, _ in valued(seen.rows):
        medians = [one.median for one in row.launches if one.median is not None]
        pairs = [(one.ci_low, one.ci_high) for one in row.launches]
        inner = sorted(high - low for low, high in pairs if low is not None and high is not None)
        if len(medians) < 2 or not inner or min(medians) <= 0:
            continue
        far = max(medians) - min(medians) > LAUNCHES_DIFFER * inner[len(inner) // 2]
        if far and max(medians) / min(medians) > LAUNCHES_RATIO:
            ratio[row.point] = max(medians) / min(medians)
    rows = sorted((row for row in seen.rows if row.point in ratio), key=lambda row: -ratio[row.point])
    return listed(rows, lambda row: f"slowest launch {ratio[row.point]:.3g} times the fastest")


@check(
    "rejected",
    NOTE,
    "Rejected samples",
    why="Samples that began late or overran are left out. When they are many, what is left may be biased.",
    remedy="Give the method a wider window, or quiet the machine.",
    caused_by=CAUSES,
)
def rejected(seen: Evidence) -> str | None:
    """Test cases with many rejected samples."""
    many = [row for row in seen.rows if row.rejected > REJECTED * (row.count + row.rejected)]
    return listed(many, _rejected_words)


def _rejected_words(row: Row) -> str:
    total = row.count + row.rejected
    return f"{100 * row.rejected / total:.0f} % of {total}"
