"""Times of short messages must not jump, as those of long ones may where protocols change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_factor
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.accept.measurement import FALSE_ALARM
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.job_file import JobFile
from steelyard.records.kinds import LATENCY, MPI
from steelyard.results.row import Row, has_time
from steelyard.stats import launch_interval
from steelyard.stats.interval import Estimate

# As long as its parts, one after the other: a rendezvous costs a round trip more, which must pay off.
MOST_TIMES = 2.0
# Bytes of the longest message that is judged: libraries change by themselves at 4 KiB or later.
LONGEST = 2048
_WIDE = 100.0  # from one end of an interval to the other: beyond, it says nothing
_LIMITS = ("eager", "rndv", "thresh", "rendezvous")  # in names of variables for such limits


@dataclass(frozen=True, slots=True)
class _Step:
    """A size and the next larger one, which is so many `parts` of it: its time over that of the parts."""

    smaller: Row
    larger: Row
    parts: int
    ratios: tuple[float, ...]


@criterion(
    "protocol",
    "Does no short message take longer than its parts?",
    remedy="the library changes its protocol between these sizes: too early. Raise its limit, or unset it "
    "(OMPI_MCA_btl_vader_eager_limit, MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE, UCX_RNDV_THRESH); see what a sound "
    "folder was set to by steelyard diff.",
)
def protocol(candidate: Candidate) -> Finding:
    """Compare each size of a message with the next larger one, in each launch; all verdicts are
    one family.
    """
    steps = [step for step in _steps(candidate.weighed.rows) if len(step.ratios) > 1]
    if not steps:
        return Finding(
            CANNOT_TELL,
            f"no message was measured at two sizes of up to {format_bytes(LONGEST)} in two launches.",
            candidate.weighed.measure_it(),
        )
    level = 1 - 2 * FALSE_ALARM / len(steps)  # the lower bound of each is used
    found = [(step, launch_interval(step.ratios, level)) for step in steps]
    bad = [(step, said) for step, said in found if said.low > MOST_TIMES]
    worst = _words(*max(bad or found, key=lambda one: one[1].value))
    scope = counted(len(found), "step")
    if bad:
        most = max(said.value for _, said in bad)
        told = _told(candidate.weighed.measured.files)
        return Finding(
            NOT_WELL,
            f"{len(bad)} of {scope}: {worst}; {MOST_TIMES:g} times are allowed.{told}",
            launches=max(len(step.ratios) for step, _ in bad),
            brief=f"short messages take up to {format_factor(most)} times as long as their parts",
        )
    if any(said.high > MOST_TIMES for _, said in found):
        return Finding(
            CANNOT_TELL,
            f"{worst}; the intervals leave open whether some message takes more than {MOST_TIMES:g} times.",
            candidate.weighed.more_launches(),
        )
    return Finding(WELL, f"the highest of {scope}: {worst}.")


def _steps(rows: Sequence[Row]) -> Iterator[_Step]:
    """Pair neighbouring sizes of one test case, the larger a multiple of the smaller."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.layer == MPI and row.role == LATENCY and row.status == "ok" and 0 < row.bytes <= LONGEST:
            settings = (*row.params.items(), *row.omp.items(), *row.env.items())
            key = (row.op, row.mpi, row.method, row.ranks, row.threads, row.placed, *map(str, settings))
            groups.setdefault(key, []).append(row)
    for group in groups.values():
        for smaller, larger in itertools.pairwise(sorted(group, key=lambda row: row.bytes)):
            parts, rest = divmod(larger.bytes, smaller.bytes)
            if rest == 0 and parts > 1:
                yield _Step(smaller, larger, parts, _ratios(smaller, larger, parts))


def _ratios(smaller: Row, larger: Row, parts: int) -> tuple[float, ...]:
    """Compute, in each launch that has both, the time of the larger over that of its parts."""
    before = {launch.launch: launch.median or math.nan for launch in smaller.launches if has_time(launch)}
    after = {launch.launch: launch.median or math.nan for launch in larger.launches if has_time(launch)}
    return tuple(after[i] / (parts * before[i]) for i in before if i in after)


def _words(step: _Step, said: Estimate) -> str:
    """Write `128 B take 3.5 times (2.9 to 4.2) as long as 2 messages of 64 B in mpi.pingpong of
    openmpi-4.1.4`.
    """
    span = f"({format_factor(said.low)} to {format_factor(said.high)})"
    if said.high > _WIDE * said.low:
        span = "(which launches tell hardly)"
    return (
        f"{format_bytes(step.larger.bytes)} take {format_factor(said.value)} times {span} as long "
        f"as {step.parts} messages of {format_bytes(step.smaller.bytes)} in {step.larger.op} of "
        f"{step.larger.mpi}"
    )


def _told(files: Sequence[JobFile]) -> str:
    """Name the variables for such limits in the launches' environment, as a sentence."""
    given = {
        f"{name}={value}": None
        for file in files
        if file.launch
        for name, value in file.launch.environment.items()
        if any(word in name.lower() for word in _LIMITS)
    }
    return f" The launches had {', '.join(given)}." if given else ""
