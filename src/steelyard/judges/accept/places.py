"""Places that should be alike: cores, hosts, and links of the same class.

All of them are compared with their peers at once (`Weighed.peers`), so the error level holds for the
machine: of 100 machines without fault, at most one has any place that is called slower. Places that differ
lastingly by what sound ones do are no fault.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analyses.hosts.in_full import measured_in_full
from steelyard.base.plural import counted, joined, plural
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.accept.measurement import FALSE_ALARM, LEAST_FAULT, Weighed
from steelyard.judges.accept.peer_groups import (
    BETWEEN,
    CONTACT,
    CORE,
    FILES_HOST,
    HOST,
    LINK,
    Kinds,
    PeerGroup,
)
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.command_line import command
from steelyard.stats.peer_outliers import LEAST_LAUNCHES, LEAST_PLACES, PeerComparison

_MOST_NAMED = 4  # places in a sentence
_MOST_OF_A_KIND = 8
_KINDS_REMEDY = (
    "If they are meant to be alike, the slower ones are at fault: look for what they share (a memory module, "
    "a socket, a limit of power, a switch). If the machine has two kinds of them, it is well in this topic."
)
_SUSPECT_REMEDY = (
    "Compare with a sound machine of this kind (--reference DIR), or measure more of them together; more "
    "launches do not tell it."
)


# The largest difference that may be ignored, by kind of place: an interval beyond it leaves too much open to
# call places alike.
_IGNORED = {CORE: 0.10, HOST: 0.10, LINK: 0.40, FILES_HOST: 0.40, CONTACT: 2.0}


@dataclass(frozen=True, slots=True)
class _Odd:
    """A place that is slower than its peers: by how much, in logarithms, and in which test."""

    name: str
    estimate: float
    low: float
    high: float
    test: PeerGroup
    least: float


@criterion(
    "hosts",
    "Are all hosts as fast as their peers?",
    remedy="Compare how that host is set up (steelyard doctor there): frequencies, memory modules, limits of "
    "power, other jobs; in messages, its cable and port. Measure again; if it stays, take it out of use.",
)
def hosts(candidate: Candidate) -> Finding | None:
    """Judge hosts, by the work of their ranks alone and by their messages to others; None for one
    host.
    """
    several = any(test.kind == HOST for test in candidate.weighed.tests)
    return judge_places(candidate.weighed, HOST) if several else None


@criterion(
    "cores",
    "Are all cores of a host as fast as their peers?",
    remedy="Look for what slows that core: its frequency and temperature, a daemon or interrupts bound to "
    "it, memory of another node. Measure again; if it stays, take it out of use.",
)
def cores(candidate: Candidate) -> Finding:
    """Judge the cores of each host."""
    return judge_places(candidate.weighed, CORE)


@criterion(
    "links",
    "Are links between cores or hosts of one class alike?",
    remedy="Look at what both ends share: a cable, a port, a core that is slow itself.",
)
def links(candidate: Candidate) -> Finding:
    """Judge pairs of ranks that exchange messages, each class separately."""
    return judge_places(candidate.weighed, LINK)


def judge_places(weighed: Weighed, kind: str) -> Finding:
    """Judge cores, hosts or links, or hosts by their files."""
    own = [(test, said) for test, said in weighed.peers if test.kind == kind]
    kinds = [one for one in weighed.kinds if one.test.kind == kind]
    bad = [_shared_words(one) for one in kinds if one.shared_end]
    if odd := _by_place(_odd_ones(own)):
        bad = [_odd_words(odd), *bad]
        return Finding(NOT_WELL, " ".join(bad), _measured_alone(odd), brief=_odd_brief(odd))
    if bad:
        return Finding(NOT_WELL, " ".join(bad))
    if kinds:
        return Finding(CANNOT_TELL, _kinds_words(kinds), _KINDS_REMEDY)
    if not own:
        return _too_few(weighed, kind)
    if suspects := _by_place(_suspects(own)):
        return Finding(CANNOT_TELL, _suspect_words(suspects[0][0]), _SUSPECT_REMEDY)
    widest, test, at = max(
        ((float(said.high.max()), test, said) for test, said in own), key=lambda one: one[0]
    )
    places = {name for test, _ in own for name in test.names}
    scope = f"{counted(len(places), kind)} in {counted(len({test.what for test, _ in own}), 'test')}"
    said = f"at most {_percent(widest)} slower than its peers ({test.what})"
    if math.expm1(widest) > _IGNORED[kind]:
        return Finding(
            CANNOT_TELL,
            f"Each of {scope} is {said}: the launches differ too much to say less.",
            weighed.more_launches(),
        )
    lasting = f"; they differ by {_percent(at.spread)} (standard deviation)"
    return Finding(WELL, f"Each of {scope} is {said}{lasting}.")


def _too_few(weighed: Weighed, kind: str) -> Finding:
    tests = [test for test in weighed.tests if test.kind == kind]
    if not tests:
        return Finding(
            CANNOT_TELL, f"No {plural(kind, 2)} were measured beside each other.", weighed.measure_it()
        )
    most = max(len(test.names) for test in tests)
    if most < LEAST_PLACES:
        return Finding(
            CANNOT_TELL,
            f"{counted(most, kind)} of a kind: among fewer than {LEAST_PLACES} none is odd.",
            "Compare with another machine: --reference DIR.",
        )
    launches = max(test.table.shape[0] for test in tests)
    return Finding(
        CANNOT_TELL,
        f"They were measured in {counted(launches, 'launch')}; {LEAST_LAUNCHES} can tell.",
        weighed.more_launches(),
    )


def _by_place(odd_places: Iterable[_Odd]) -> tuple[tuple[_Odd, ...], ...]:
    """Group what is slower by place, the slowest first: each with its tests, worst first."""
    places: dict[str, list[_Odd]] = {}
    for odd in sorted(odd_places, key=lambda place: -place.estimate):
        places.setdefault(odd.name, []).append(odd)
    return tuple(map(tuple, places.values()))


def _odd_ones(own: Sequence[tuple[PeerGroup, PeerComparison]]) -> Iterator[_Odd]:
    """List the places that are odd, and slower by what matters."""
    for test, said in own:
        slower = said.slower_by(LEAST_FAULT[test.kind])
        yield from (_odd(test, said, int(j)) for j in np.flatnonzero(slower))


def _suspects(own: Sequence[tuple[PeerGroup, PeerComparison]]) -> Iterator[_Odd]:
    """List the places that are slower beyond chance, and may be so by what matters, but whose peers are too
    few or too unlike to call that odd.
    """
    for test, said in own:
        is_slow = (said.p <= FALSE_ALARM) & (said.estimate > 0) & (np.expm1(said.high) > _IGNORED[test.kind])
        yield from (_odd(test, said, int(j)) for j in np.flatnonzero(is_slow))


def _odd(test: PeerGroup, said: PeerComparison, j: int) -> _Odd:
    numbers = (float(said.estimate[j]), float(said.low[j]), float(said.high[j]))
    return _Odd(test.names[j], *numbers, test, said.least)


def _odd_words(odd: Sequence[Sequence[_Odd]]) -> str:
    """Write `core 17 is 12 % (10 to 14 %) slower in mem.stream.triad 32 MiB than its 31 peers; ... .`."""
    named = "; ".join(_place_words(*one) for one in odd[:_MOST_NAMED])
    more = f"; and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
    ends = [set(one[0].name.split(BETWEEN)) for one in odd]
    shared = set.intersection(*ends) if len(odd) > 1 else set()
    end = f"; all of them end at {min(shared)}" if shared else ""
    return f"{named}{more}{end}."


def _odd_brief(odd: Sequence[Sequence[_Odd]]) -> str:
    """Write `core 17 is 12 % slower in mem.stream.triad 48 MiB than its 31 peers`, `cores 9 and 11 are up to
    25 % slower than their peers`.
    """
    worst = odd[0][0]
    if len(odd) == 1:
        slower = f"{_percent(worst.estimate)} slower in {worst.test.what} than {_peers(worst)}"
        return f"{worst.test.kind} {worst.name} is {slower}"
    names = joined(own[0].name for own in odd[:_MOST_NAMED])
    if len(odd) > _MOST_NAMED:
        names = f"{', '.join(own[0].name for own in odd[:_MOST_NAMED])} and {len(odd) - _MOST_NAMED} more"
    return (
        f"{plural(worst.test.kind, 2)} {names} are up to {_percent(worst.estimate)} slower than their peers"
    )


def _peers(odd: _Odd) -> str:
    return f"its {len(odd.test.names) - 1} peers"


def _place_words(worst: _Odd, *others: _Odd) -> str:
    span = f"{_percent(max(0.0, worst.low), bare=True)} to {_percent(worst.high)}"
    also = f", and slower in {counted(len(others), 'further test')}" if others else ""
    return (
        f"{worst.test.kind} {worst.name} is {_percent(worst.estimate)} ({span}) slower in {worst.test.what} "
        f"than {_peers(worst)}{also}"
    )


def _percent(log: float, bare: bool = False) -> str:
    return f"{100 * math.expm1(log):.3g}{'' if bare else ' %'}"


def _measured_alone(odd: Sequence[Sequence[_Odd]]) -> str:
    """Write how to measure the slowest pair of CPUs alone, or slow hosts with each of a few others; empty for
    what has no such command.
    """
    worst = odd[0][0]
    if worst.test.partly is not None:
        again = measured_in_full([own[0].name for own in odd], worst.test.names, worst.test.partly)
        return f"To measure it with each of a few others: {again}; if it stays, take it out." if again else ""
    ends = worst.name.split(BETWEEN)
    if worst.test.kind != LINK or not all(re.fullmatch("[0-9]+", end) for end in ends):
        return ""
    alone = command("run", "mpi.pingpong", placement=",".join(ends), mpi=worst.test.mpi)
    return f"Measure the slow pair alone: {alone}; if it stays, look at what both ends share."


def _suspect_words(odd: _Odd) -> str:
    """Say what hides whether a place is odd."""
    return (
        f"{_place_words(odd)}. That is beyond chance, but its peers are too few, or differ too much "
        f"themselves, to call it odd: less than {_percent(odd.least)} is not told from what they differ by."
    )


def _shared_words(kinds: Kinds) -> str:
    """Write `links 0 – 3 and 1 – 3 are 50 % slower in mpi.pingpong 8 B than the 4 others; all of them end at
    3.`.
    """
    return (
        f"{_named(kinds)} are {_percent(kinds.apart)} slower in {kinds.test.what} than the "
        f"{len(kinds.test.names) - len(kinds.slower)} others; all of them end at {kinds.shared_end}."
    )


def _kinds_words(kinds: Sequence[Kinds]) -> str:
    """Say that places are of two kinds, in the test in which these are farthest apart."""
    worst = max(kinds, key=lambda kind: kind.apart)
    places = plural(worst.test.kind, 2)
    others = len(worst.test.names) - len(worst.slower)
    also = f" {counted(len(kinds) - 1, 'further test')} {'shows' if len(kinds) == 2 else 'show'} two kinds."
    return (
        f"the {places} are of two kinds: {_named(worst)} are {_percent(worst.apart)} slower in "
        f"{worst.test.what} than the {others} others, and no {worst.test.kind} is between them."
        f"{also if len(kinds) > 1 else ''}"
    )


def _named(kinds: Kinds) -> str:
    """Name the slower places: `cores 4, 5, 6, 7`, `links 0 – 3, 1 – 3 and 5 more`."""
    more = f" and {len(kinds.slower) - _MOST_OF_A_KIND} more" if len(kinds.slower) > _MOST_OF_A_KIND else ""
    return f"{plural(kinds.test.kind, 2)} {', '.join(kinds.slower[:_MOST_OF_A_KIND])}{more}"
