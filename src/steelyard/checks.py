"""Checks: doubts that the tool raises itself, each with what was seen, why it matters and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from msgspec import Struct

from steelyard import evidence, evidence_noise
from steelyard.evidence import Evidence
from steelyard.observations import Measured
from steelyard.row import Row

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)


class Doubt(Struct, frozen=True, kw_only=True):
    """What a check has found: `evidence` was seen, `why` it matters, `remedy` is what to do."""

    name: str
    severity: str
    what: str
    evidence: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the table of checks; `find` returns the evidence, one sentence, or None."""

    name: str
    severity: str
    what: str
    find: Callable[[Evidence], str | None]
    why: str
    remedy: str


def doubts(measured: Measured, rows: tuple[Row, ...]) -> tuple[Doubt, ...]:
    """All checks that find something, the gravest first, in the order of the table."""
    seen = Evidence(measured, rows)
    found = [
        Doubt(
            name=check.name,
            severity=check.severity,
            what=check.what,
            evidence=sentence,
            why=check.why,
            remedy=check.remedy,
        )
        for check in CHECKS
        if (sentence := check.find(seen)) is not None
    ]
    return tuple(sorted(found, key=lambda doubt: SEVERITIES.index(doubt.severity)))


CHECKS = (
    Check(
        "wrong-answer",
        ERROR,
        "Wrong answers",
        evidence.wrong,
        "A library that computes the wrong thing may do so in any time; these points have no numbers to "
        "compare.",
        "Report it to the makers of that MPI; the records name the first wrong byte.",
    ),
    Check(
        "wrong-answer-solo",
        ERROR,
        "Wrong answers without MPI",
        partial(evidence.wrong, by_mpi=False),
        "What computes the wrong thing may do so in any time; these points have no numbers to compare.",
        "Measure the point alone and without OMP_ variables; if it is still wrong, report it to us and the "
        "makers of the compiler; the records say what was wrong first.",
    ),
    Check(
        "failed",
        ERROR,
        "Failed points",
        evidence.failed,
        "What is missing cannot be compared, and a launch that died may have disturbed its neighbours.",
        "Measure the point alone with steelyard run OP --bytes N; for a hang, try another MPI.",
    ),
    Check(
        "methods-disagree",
        WARNING,
        "Methods contradict each other",
        evidence.methods_disagree,
        "Methods that rest on different things measured one operation and cannot both be right: the clocks "
        "may be wrong by more than they state, or the machine changed between the two.",
        "Measure both again with more launches; if it stays so, do not trust the synchronised latency: use "
        "bounds, and --paths asymmetric where paths may differ there and back.",
    ),
    Check(
        "not-positive",
        WARNING,
        "Durations of nothing",
        evidence.not_positive,
        "The cost of the clock is as large as what was measured: the number says nothing.",
        "Measure with --method batch, which puts many repetitions between two readings of the clock.",
    ),
    Check(
        "what-if",
        WARNING,
        "Yielding was switched off",
        evidence.what_if,
        "With --yield none the MPI library does not run as its makers ship it; the numbers show what "
        "yielding costs.",
        "Compare with a campaign without --yield none; quote these numbers as a what-if only.",
    ),
    Check(
        "unsound-clock",
        WARNING,
        "A clock that is not sound",
        evidence.unsound_clock,
        "A clock that steps, or that runs differently on another core, makes durations of any length.",
        "Measure without --clock: the engine then takes the best clock that all ranks find sound.",
    ),
    Check(
        "oversubscribed",
        WARNING,
        "More ranks than cores",
        evidence.oversubscribed,
        "Ranks wait for each other's turn on a core, so times show the scheduler and the way the "
        "library waits.",
        "Use as many ranks as there are cores, or read these points as a test of function.",
    ),
    Check(
        "shared-cores",
        WARNING,
        "Ranks or threads share cores",
        evidence.shared_cores,
        "Two ranks or threads on one core take turns: latencies jump from a microsecond to the scheduler's "
        "milliseconds.",
        "Ask for fewer ranks, or look at how the launcher was told to bind (the job record has its command).",
    ),
    Check(
        "unbound",
        WARNING,
        "Ranks are not bound",
        evidence.unbound,
        "A rank that moves to another core loses its caches, and launches differ for no reason of the MPI's.",
        "Let this process use all CPUs (no taskset, no cpuset), or bind in the launcher.",
    ),
    Check(
        "misplaced",
        WARNING,
        "Not where it was asked to be",
        evidence.misplaced,
        "A rank or thread that runs elsewhere measures another pair of cores than its row says.",
        "Look at what the launcher and the control group do to affinities; believe the verified binding in "
        "the report.",
    ),
    Check(
        "placements-vary",
        WARNING,
        "Launches were placed differently",
        evidence.placements_vary,
        "Launches that are not alike widen the interval and can make modes.",
        "Fix what the launcher does, or measure each placement as a campaign of its own.",
    ),
    Check(
        "modes",
        WARNING,
        "Several modes",
        evidence.modes,
        "The median falls into one mode or the other, or between them, by luck; no single number describes "
        "such a point.",
        "Quote each mode with its share. On a virtual machine the host may move cpus: more launches "
        "show how often.",
    ),
    Check(
        "modes-below",
        NOTE,
        "Modes that come from below MPI",
        evidence.modes_below,
        "A cache line handed from rank to rank without MPI became slower with the operation: cores, caches "
        "or the hypervisor changed, and no MPI can do better.",
        "Compare within one mode, or on a machine whose cores stay where they are; do not blame the library.",
    ),
    Check(
        "modes-outside",
        NOTE,
        "Modes that come with lost time",
        evidence.modes_outside,
        "The operation was slow when ranks lost time to others: other work, interrupts or the hypervisor.",
        "Quiet the machine, or use cores that nothing else may use.",
    ),
    Check(
        "modes-above",
        NOTE,
        "Modes that do not come from the machine",
        evidence.modes_above,
        "A cache line handed from rank to rank without MPI took as long in either mode, so the cause is in "
        "the MPI library or its processes: where buffers lie, which path was taken, a helper thread, or "
        "who gets the core when the library gives it away to wait.",
        "If it yields, measure with --yield none; else look at what differs between the launches.",
    ),
    Check(
        "unsettled",
        WARNING,
        "Unsettled points",
        evidence.unsettled,
        "The interval inside a launch did not become as narrow as was asked for.",
        "Quiet the machine, add launches, or give more time with --time-budget. An interval over launches "
        "does not rest on it; that of a single launch may be too narrow.",
    ),
    Check(
        "drift",
        WARNING,
        "Drift inside launches",
        evidence.drifting,
        "The operation became slower or faster while it was measured: warm-up, frequency, temperature "
        "or other load.",
        "Measure longer, fix the frequency governor, or look at the launches one by one.",
    ),
    Check(
        "tail",
        WARNING,
        "Heavy tails",
        evidence.tail,
        "More than one call in twenty takes over three medians: applications feel p99 more than the median.",
        "Look for other load and interrupts (steelyard doctor); quote p99 beside the median.",
    ),
    Check(
        "busy",
        WARNING,
        "Other work on the machine",
        evidence.busy,
        "Whatever else runs takes cores and caches from the ranks.",
        "Wait until the machine is idle, or use cores that nothing else may use.",
    ),
    Check(
        "busy-neighbour",
        WARNING,
        "Others ran where the ranks did",
        evidence_noise.busy_neighbour,
        "A rank that must share its core is as slow as its share, and those that wait for it are too.",
        "End that process, or keep it from these CPUs (taskset, a cpuset), and measure again.",
    ),
    Check(
        "moved",
        WARNING,
        "A rank was moved during a launch",
        evidence_noise.moved,
        "What was measured before and after belongs to two placements; the row says that of the beginning.",
        "Find who changes affinities (taskset, a batch system, an irq balancer's script) and measure again.",
    ),
    Check(
        "stolen",
        WARNING,
        "The hypervisor took CPUs away",
        evidence_noise.stolen,
        "Other guests ran on the cores of these ranks; nothing inside this machine shows it but steal time.",
        "Measure on dedicated cores, or over many launches, and compare medians.",
    ),
    Check(
        "throttled",
        WARNING,
        "The limit on CPU time was reached",
        evidence_noise.throttled,
        "The kernel stops all of a control group for the rest of a period, some 0.1 s, wherever a rank is.",
        "Ask for fewer ranks than the limit allows, or have it raised.",
    ),
    Check(
        "too-hot",
        WARNING,
        "Cores were too hot",
        evidence_noise.too_hot,
        "A core that is slowed down is slower in all that it does.",
        "Look after the cooling, or measure shorter with pauses.",
    ),
    Check(
        "frequency",
        NOTE,
        "Cores did not keep their speed",
        evidence_noise.frequency_changed,
        "The same work took longer at one time than at another, undisturbed: frequency, a busy sibling "
        "thread, or the hypervisor.",
        "Fix the governor and switch turbo off; where that is impossible, compare what was measured close in "
        "time.",
    ),
    Check(
        "lost-waiting",
        NOTE,
        "Time was lost while ranks waited",
        evidence_noise.lost_waiting,
        "A rank that only reads its clock loses time to interrupts and others; so do the operations.",
        "Measure the noise itself: steelyard run noise.",
    ),
    Check(
        "one-launch",
        WARNING,
        "One launch",
        evidence.one_launch,
        "Launches differ by more than what is seen inside one; the interval is that of this launch alone.",
        "Add launches: steelyard run with --launches 10 into the same folder.",
    ),
    Check(
        "few-launches",
        NOTE,
        "Few launches",
        evidence.few_launches,
        "The interval rests on the assumption that logarithms of launch medians are normal, and is wide.",
        "From six launches on the interval needs no such assumption; ten are a good default.",
    ),
    Check(
        "wide",
        NOTE,
        "Wide intervals",
        evidence.wide,
        "Differences smaller than the interval cannot be seen.",
        "Add launches (four times as many halve it), or compare inside one launch.",
    ),
    Check(
        "launches-differ",
        NOTE,
        "Launches differ",
        evidence.launches_differ,
        "Measuring longer inside a launch makes such a number no better.",
        "Add launches rather than time; see the picture of launches in the report for clusters.",
    ),
    Check(
        "yielding",
        NOTE,
        "The MPI yields while it waits",
        evidence.yielding,
        "Each sched_yield is a system call in the path of a message, and leaves the core to whoever "
        "else is there.",
        "Measure again with --yield none and compare: the difference is what yielding costs here.",
    ),
    Check(
        "coarse-clock",
        NOTE,
        "The clock is coarse",
        evidence.coarse_clock,
        "Single observations are rounded to the tick; medians are interpolated, minima and quantiles "
        "less well.",
        "Measure with --method batch, or with a clock of a smaller tick.",
    ),
    Check(
        "dear-clock",
        NOTE,
        "The clock costs much",
        evidence.dear_clock,
        "An error in the cost of the clock goes into the number in full.",
        "Measure with --method batch, which reads the clock once for many repetitions.",
    ),
    Check(
        "closed-clocks",
        NOTE,
        "Clocks were compared over paths that may be asymmetric",
        evidence.closed_clocks,
        "A message that takes longer one way than back shifts a clock by half the difference. No exchange of "
        "messages can see that, nor can the closure, which states the error; only the bound is certain.",
        "Where paths may be asymmetric, measure with --paths asymmetric: then the bound is stated.",
    ),
    Check(
        "rejected",
        NOTE,
        "Rejected observations",
        evidence.rejected,
        "Observations that began late or overran are left out; when they are many, what is left may be "
        "biased.",
        "Give the method a wider window, or quiet the machine.",
    ),
    Check(
        "skipped",
        NOTE,
        "Skipped points",
        evidence.skipped,
        "They are no failures, but the table has gaps.",
        "See steelyard list for what an op needs.",
    ),
    Check(
        "cut-line",
        NOTE,
        "Cut records",
        evidence.cut,
        "The engine or the machine was stopped while it wrote; that chunk of observations is lost, the "
        "rest is kept.",
        "Nothing need be done: run the same command again to finish what is missing.",
    ),
)
