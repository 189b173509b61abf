"""Checks of samples: yields, modes, tails, trends, and rejected samples."""

from __future__ import annotations

from steelyard.base.diagnostic import NOTE, WARNING, check
from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.diagnostics.results.evidence import Evidence, listed, sentences
from steelyard.diagnostics.results.interference import CAUSES
from steelyard.results.facets import Modes, Ranks, Samples
from steelyard.results.row import Row
from steelyard.rows.row_words import YIELDS
from steelyard.rows.words import blame_words, mode_words, row_name

REJECTED = 0.05  # share of samples


@check(
    "what-if",
    WARNING,
    "Yielding was switched off",
    why="With --yield none the MPI library does not run as its makers ship it. The numbers show what "
    "yielding costs.",
    remedy="Compare with a campaign without --yield none. Quote these numbers as a what-if only.",
)
def what_if(evidence: Evidence) -> str | None:
    """Find launches in which sched_yield did nothing."""
    count = sum(1 for file in evidence.measured.files if file.launch and file.launch.yield_ != "real")
    return f"sched_yield did nothing in {counted(count, 'launch')}." if count else None


@check(
    "yielding",
    NOTE,
    "The MPI yields while it waits",
    why="Each sched_yield is a system call in the path of a message, and leaves the core to whoever else is "
    "there.",
    remedy="Measure again with --yield none and compare: the difference is what yielding costs here.",
)
def yielding(evidence: Evidence) -> str | None:
    """Find MPIs that call sched_yield inside timed regions, each with its worst point."""
    per_mpi: dict[str, Row] = {}
    for row in evidence.rows:
        if _yields(row) >= YIELDS and row.mpi:
            per_mpi[row.mpi] = max(per_mpi.get(row.mpi, row), row, key=_yields)
    return sentences(
        f"{mpi} calls sched_yield up to {_yields(row):.3g} times per operation, in {row_name(row, mpi=False)}"
        for mpi, row in per_mpi.items()
    )


def _yields(row: Row) -> float:
    return row.get(Ranks).yields_per_op or 0.0


@check(
    "modes",
    NOTE,
    "Several modes",
    why="The median falls into one mode or the other, or between them, by luck. No single number describes "
    "such a test case, and the probes do not show where its modes come from.",
    remedy="Quote each mode with its fraction. On a virtual machine the host may move CPUs: more launches "
    "show how often.",
    caused_by=CAUSES,
)
def modes(evidence: Evidence) -> str | None:
    """Find test cases with several modes of unknown cause, each mode with its share."""
    split = [row for row in evidence.rows if len(row.get(Modes).modes) > 1]
    return listed((row for row in split if row.get(Modes).blame is None), mode_words)


@check(
    "modes-below",
    NOTE,
    "Modes from below MPI",
    why="A cache line handed from rank to rank without MPI became slower with the operation: cores, caches "
    "or the hypervisor changed, and no MPI can do better.",
    remedy="Compare within one mode, or on a machine whose cores stay where they are. Do not blame the "
    "library.",
    caused_by=CAUSES,
)
def modes_below(evidence: Evidence) -> str | None:
    """Find test cases whose modes go with the time of a cache line without MPI."""
    return _blamed(evidence, "below")


@check(
    "modes-outside",
    NOTE,
    "Modes with lost time",
    why="The operation was slow when ranks lost time to others: other work, interrupts or the hypervisor.",
    remedy="Quiet the machine, or use cores that nothing else may use.",
    caused_by=CAUSES,
)
def modes_outside(evidence: Evidence) -> str | None:
    """Find test cases whose modes go with the time that ranks lose."""
    return _blamed(evidence, "noise")


@check(
    "modes-above",
    NOTE,
    "Modes though the machine stayed the same",
    why="Nothing else was seen on the ranks' CPUs, and a cache line handed from rank to rank without MPI "
    "took as long in the slow mode as in the fast one. What is left is the MPI library and its processes: "
    "where buffers lie, which path was taken, a helper thread, or who gets the core when the library gives "
    "it away to wait.",
    remedy="If the library yields, measure with --yield none. Else look at what differs between the "
    "launches.",
)
def modes_above(evidence: Evidence) -> str | None:
    """Find test cases whose modes do not come from the machine."""
    return _blamed(evidence, "above")


def _blamed(evidence: Evidence, layer: str) -> str | None:
    rows = [row for row in evidence.rows if row.get(Modes).blame == layer]
    return listed(rows, lambda row: f"{mode_words(row)}; {blame_words(row)}")


@check(
    "tail",
    NOTE,
    "Heavy tails",
    why="More than one call in twenty takes over three medians. Applications feel p99 more than the median.",
    remedy="Look for other load and interrupts (steelyard doctor). Quote p99 beside the median.",
    caused_by=CAUSES,
)
def tail(evidence: Evidence) -> str | None:
    """Find test cases with one mode and many slow samples."""
    tailed = [row for row in evidence.rows if "NOISY" in row.flags and len(row.get(Modes).modes) == 1]
    return listed(tailed, _tail_words)


def _tail_words(row: Row) -> str:
    samples = row.get(Samples)
    ratio = f"{samples.p99 / row.median:.3g}" if samples.p99 is not None and row.median else "?"
    return f"{100 * (samples.slow_share or 0):.0f} % of samples over 3 x the median, p99 {ratio} x"


@check(
    "drift",
    NOTE,
    "Drift inside launches",
    why="The operation became slower or faster in most launches, by more than the interval of its time: "
    "warm-up, frequency, temperature or other load.",
    remedy="Measure longer, fix the frequency governor, or look at the launches one by one.",
    caused_by=CAUSES,
)
def drifting(evidence: Evidence) -> str | None:
    """Find test cases that became slower or faster inside launches; of a single one its row says it."""
    rows = [row for row in evidence.rows if "DRIFT" in row.flags and row.launch_count > 1]
    return listed(rows, lambda row: f"median {format_time(row.median or 0)}")


@check(
    "unsettled",
    NOTE,
    "Not converged",
    why="The interval inside a launch did not become as narrow as was asked for, and it is all there is of a "
    "single launch. It may be too narrow.",
    remedy="Measure more launches: their medians make an interval that does not need it.",
    caused_by=CAUSES,
)
def unsettled(evidence: Evidence) -> str | None:
    """Find test cases of a single launch whose stop rule ran out of time or samples."""
    open_rows = [
        row for row in evidence.rows if row.launch_count == 1 and {"UNSETTLED", "TIME"} & set(row.flags)
    ]
    return listed(open_rows, lambda row: f"median {format_time(row.median or 0)}")


@check(
    "rejected",
    NOTE,
    "Rejected samples",
    why="Samples that began late or overran are left out. If they are many, the rest may be biased.",
    remedy="Give the method a wider window, or quiet the machine.",
    caused_by=CAUSES,
)
def rejected(evidence: Evidence) -> str | None:
    """Find test cases with many rejected samples."""
    many = [row for row in evidence.rows if row.rejected > REJECTED * (row.count + row.rejected)]
    return listed(many, _rejected_words)


def _rejected_words(row: Row) -> str:
    total = row.count + row.rejected
    return f"{100 * row.rejected / total:.0f} % of {total}"
