"""Ranks that wait for messages: do they learn of them in time, and do they wait as in the reference?"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.waiting.model import CANNOT_TELL as UNKNOWN_WAY
from steelyard.analyses.waiting.model import OVERLOAD, QUEUES, Waiting, waitings
from steelyard.base.units import format_share, format_time
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.results.facets import OfferedLoad
from steelyard.results.row import Row

# How late a rank may learn of a message: one that sleeps in the kernel is woken after 5 to 100 us, and after
# a turn of the scheduler (some ms) only where somebody else has its CPU.
_MOST_LATE_NS = 1e6
_MOST_NAMED = 3
_OVERLOADED = (
    "More messages are offered than the path or its receiver takes: see what else has the CPU of that rank, "
    "and what each message costs it (steelyard run open-loop finds the rate up to which they are taken)."
)


@criterion(
    "waiting",
    "Do ranks that wait learn of their messages in time, and wait as in the reference?",
    remedy="See what else has the CPU of that rank, and how the library is told to wait: its settings of "
    "progress, of yielding and of interrupts (steelyard run waiting shows what each costs).",
)
def waiting(candidate: Candidate) -> Finding | None:
    """Judge how late messages are, and how their receivers wait; None where none was offered at a rate."""
    waits = _of_mpis(candidate.weighed.rows)
    if not waits:
        return None
    launches = min(row.launch_count for row in candidate.weighed.rows if _is_offered(row))
    late = [wait for wait in waits if _least_late(wait)]
    overloads = [wait for wait in late if wait.way == OVERLOAD]
    slow = [f"{_name(wait)} comes {_woken(wait)} after it was due" for wait in late if wait.way != OVERLOAD]
    said = [*map(_overload, overloads), *slow, *_changed(candidate, waits)]
    if said:
        rest = f"; and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
        allowed = f"; {format_time(_MOST_LATE_NS)} is allowed" if slow else ""
        evidence = f"{'; '.join(said[:_MOST_NAMED])}{rest}{allowed}."
        return Finding(NOT_WELL, evidence, _OVERLOADED if overloads else "", launches, said[0])
    latest = max(waits, key=lambda wait: wait.woken.high or float("inf"))
    if latest.woken.high is None or latest.woken.high > _MOST_LATE_NS:
        return Finding(
            CANNOT_TELL,
            f"{_name(latest)} comes {_woken(latest)} after it was due; the launches leave open whether that "
            f"is more than {format_time(_MOST_LATE_NS)}.",
            candidate.weighed.more_launches(),
        )
    burnt = max(waits, key=lambda wait: wait.burnt or 0.0)
    burns = "" if burnt.burnt is None else f"; the most that one burns: {format_share(burnt.burnt)} of a CPU"
    return Finding(WELL, f"The latest: {_name(latest)}, {_woken(latest)} after it was due{burns}.")


def _of_mpis(rows: Sequence[Row]) -> list[Waiting]:
    return [wait for wait in waitings(rows) if wait.mpi is not None]


def _is_offered(row: Row) -> bool:
    return row.status == "ok" and row.mpi is not None and row.get(OfferedLoad).offered_rate is not None


def _least_late(wait: Waiting) -> bool:
    return wait.woken.low is not None and wait.woken.low > _MOST_LATE_NS


def _changed(candidate: Candidate, waits: Sequence[Waiting]) -> list[str]:
    """Name those that wait in another way than in the reference."""
    if candidate.reference is None:
        return []
    before = {_key(wait): wait for wait in _of_mpis(candidate.reference.rows)}
    unknown = (UNKNOWN_WAY, QUEUES, OVERLOAD)
    return [
        f"{_name(wait)}: its receiver {wait.way}{_burns(wait)}, in {candidate.reference.name} it "
        f"{base.way}{_burns(base)}"
        for wait in waits
        if (base := before.get(_key(wait))) is not None
        and wait.way != base.way
        and not {wait.way, base.way} & set(unknown)
    ]


def _key(wait: Waiting) -> tuple[object, ...]:
    settings = (tuple(sorted(of.items())) for of in (wait.params, wait.env))
    return (wait.op, wait.mpi, wait.bytes, wait.placement, wait.wait, *settings)


def _name(wait: Waiting) -> str:
    return f"a message of {wait.op} of {wait.mpi} every {format_time(wait.wait)}"


def _overload(wait: Waiting) -> str:
    came, low, high = (
        "?" if end is None else f"{end:.4g}" for end in (wait.came.value, wait.came.low, wait.came.high)
    )
    return (
        f"overload: of {1e9 / wait.wait:.4g} messages/s of {wait.op} of {wait.mpi} {came} ({low} to {high}) "
        f"come, so they queue, in the median for {format_time(wait.woken.value)}"
    )


def _woken(wait: Waiting) -> str:
    low, high = wait.woken.low, wait.woken.high
    span = "" if low is None or high is None else f" ({format_time(low)} to {format_time(high)})"
    return f"{format_time(wait.woken.value)}{span}"


def _burns(wait: Waiting) -> str:
    return "" if wait.burnt is None else f" and burns {format_share(wait.burnt)} of a CPU"
