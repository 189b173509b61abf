"""First uses: what a job pays once for a connection, against a reference, and hosts among their peers."""

from __future__ import annotations

import math
from collections.abc import Callable

from steelyard.base.units import format_time
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion, gravest_of
from steelyard.judges.accept.peer_groups import CONTACT
from steelyard.judges.accept.places import judge_places
from steelyard.judges.accept.reference import against_reference, is_first_use
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row
from steelyard.rows.words import row_name

# What a connection may take that is made when it is first used: adapters' own handshakes take 0.1 to 2 ms.
_MOST_ONCE_NS = 3e6
_OF_ONE = ("mpi.first.message", "mpi.first.put")  # with one partner: others connect to as many as there are
_USE = "use"


@criterion(
    "first use",
    "Are first messages about as fast as later ones?",
    remedy="The library connects when it first sends. Set it to connect early, if it can (the plan "
    "first-use shows what that saves), and look at the adapter's settings and name service.",
)
def first_use(candidate: Candidate) -> Finding | None:
    """Judge by what a first use costs beyond the second; None where none was measured."""
    rows = [row for row in candidate.weighed.rows if is_first_use(row)]
    if not rows:
        return None
    if all(row.status != "ok" for row in rows):
        return Finding(CANNOT_TELL, "No first use ended well.", candidate.weighed.measure_it())
    found = [one for find in _QUESTIONS if (one := find(candidate)) is not None]
    return gravest_of(found) if found else Finding(CANNOT_TELL, _ONE_ALONE, candidate.weighed.measure_it())


_ONE_ALONE = "First uses were measured without a second one, or other hosts, to compare them with."


def _slower_than_reference(candidate: Candidate) -> Finding | None:
    """Only what is slower: a launch is one sample, so launches scatter too much to say that none is."""
    found = against_reference(candidate, is_first_use)
    return found if found is not None and found.verdict == NOT_WELL else None


def _among_hosts(candidate: Candidate) -> Finding | None:
    has_hosts = any(test.kind == CONTACT and test.can_tell for test in candidate.weighed.tests)
    return judge_places(candidate.weighed, CONTACT) if has_hosts else None


def _beyond_the_second(candidate: Candidate) -> Finding | None:
    """Hold what is paid once against what a connection may take, with both intervals."""
    uses: dict[RowKey, dict[object, Row]] = {}
    for row in candidate.weighed.rows:
        if row.op in _OF_ONE and row.status == "ok" and row.time is not None:
            uses.setdefault(key_of(row, (f"param.{_USE}",)), {})[row.params.get(_USE, 1)] = row
    pairs = [(use[1], use[2]) for use in uses.values() if {1, 2} <= use.keys()]
    if not pairs:
        return None
    first, second = worst = max(pairs, key=_least_once)
    if _least_once(worst) > _MOST_ONCE_NS:
        launches = min(first.launch_count, second.launch_count)
        brief = f"{row_name(first)} takes {format_time(first.time or 0.0)} when it is first used"
        allowed = f"{_words(worst)}; {format_time(_MOST_ONCE_NS)} are allowed."
        return Finding(NOT_WELL, allowed, "", launches, brief)
    widest = max(pairs, key=_most_once)
    if _most_once(widest) > _MOST_ONCE_NS:
        return Finding(
            CANNOT_TELL,
            f"{_words(widest)}; the intervals leave open whether more than {format_time(_MOST_ONCE_NS)} are "
            "paid once.",
            candidate.weighed.more_launches(),
        )
    return Finding(WELL, f"The most that is paid once: {_words(max(pairs, key=_once))}.")


def _words(pair: tuple[Row, Row]) -> str:
    first, second = pair
    return (
        f"{row_name(first)}: {format_time(first.time or 0.0)} first, {format_time(second.time or 0.0)} then"
    )


def _once(pair: tuple[Row, Row]) -> float:
    """Take what the first use costs beyond the second, in ns."""
    first, second = pair
    return (first.time or 0.0) - (second.time or 0.0)


def _most_once(pair: tuple[Row, Row]) -> float:
    """Take the most that the intervals leave of it; no end without both."""
    first, second = pair
    if first.time_high is None or second.time_low is None:
        return math.inf
    return first.time_high - second.time_low


def _least_once(pair: tuple[Row, Row]) -> float:
    """Take the least that the intervals leave of it."""
    first, second = pair
    return (first.time_low or 0.0) - (second.time_high or second.time or 0.0)


_QUESTIONS: tuple[Callable[[Candidate], Finding | None], ...] = (
    _slower_than_reference,
    _among_hosts,
    _beyond_the_second,
)
