"""Places that should be alike: cores, hosts, and links of the same class.

All of them are compared with their sisters at once (`Weighed.sisters`), so the error level holds for the
machine: of 100 machines without fault, at most one has any place that is called slower.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.accept.alike import BETWEEN, CORE, HOST, LINK, Alike
from steelyard.accept.criterion import CANNOT_TELL, NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.accept.weighed import FALSE_ALARM, Weighed
from steelyard.base.plural import counted, plural
from steelyard.stats.sisters import LEAST_LAUNCHES, LEAST_PLACES, Sisters

_MOST_NAMED = 4  # places in a sentence


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Limits for a kind of place: the least fault, and the largest difference that may be ignored.

    An interval beyond the latter leaves too much open to call places alike.
    """

    least: float
    ignored: float


# In a mesh some cores are nearer to each other than others: sound links of a class differ by some 10 %.
_BOUNDS = {CORE: _Bounds(0.05, 0.10), HOST: _Bounds(0.05, 0.10), LINK: _Bounds(0.20, 0.40)}


@dataclass(frozen=True, slots=True)
class _Odd:
    """A place that is slower than its sisters: by how much, in logarithms, and in which test."""

    name: str
    estimate: float
    low: float
    high: float
    test: Alike


@criterion(
    "hosts",
    "Are all hosts as fast as their peers?",
    remedy="Compare how that host is set up (steelyard doctor there): frequencies, memory modules, limits of "
    "power, other jobs; in messages, its cable and port. Measure again; if it stays, take it out of use.",
)
def hosts(seen: Candidate) -> Finding | None:
    """Judge hosts, by the work of their ranks alone and by their messages to all others; None for
    one host.
    """
    several = any(one.kind == HOST for one in seen.weighed.tests)
    return _judge(seen.weighed, HOST, "") if several else None


@criterion(
    "cores",
    "Are all cores of a host as fast as their peers?",
    remedy="Look for what slows that core: its frequency and temperature, a daemon or interrupts bound to "
    "it, memory of another node. Measure again; if it stays, take it out of use.",
)
def cores(seen: Candidate) -> Finding:
    """Judge the cores of each host."""
    return _judge(seen.weighed, CORE, "the plan acceptance measures them")


@criterion(
    "links",
    "Are links between cores or hosts of one class alike?",
    remedy="Measure the slow pair alone: steelyard run mpi.pingpong --placement A,B. If it stays, look at "
    "what both ends share: a cable, a port, a core that is slow itself.",
)
def links(seen: Candidate) -> Finding:
    """Judge pairs of ranks that exchange messages, each class separately."""
    how = "the plan acceptance measures some, and 'steelyard run mpi.pingpong --placement all' all of them"
    return _judge(seen.weighed, LINK, how)


def _judge(weighed: Weighed, kind: str, how: str) -> Finding:
    """Judge cores, hosts or links; `how` they are measured."""
    own = [(test, said) for test, said in weighed.sisters if test.kind == kind]
    if not own:
        return _too_few([one for one in weighed.tests if one.kind == kind], kind, how)
    if odd := _odd_places(own):
        return Finding(NOT_WELL, _odd_words(odd))
    widest, test = max(((float(said.high.max()), test) for test, said in own), key=lambda one: one[0])
    places = {name for test, _ in own for name in test.names}
    scope = f"{counted(len(places), kind)} in {counted(len({test.what for test, _ in own}), 'test')}"
    said = f"at most {_percent(widest)} slower than its peers ({test.what})"
    if math.expm1(widest) > _BOUNDS[kind].ignored:
        return Finding(
            CANNOT_TELL,
            f"Each of {scope} is {said}: the launches differ too much to say less.",
            "Give it more launches (--launches), on a quiet machine.",
        )
    return Finding(WELL, f"Each of {scope} is {said}.")


def _too_few(tests: Sequence[Alike], kind: str, how: str) -> Finding:
    if not tests:
        return Finding(CANNOT_TELL, f"No {plural(kind, 2)} were measured beside each other.", f"{how}.")
    most = max(len(one.names) for one in tests)
    if most < LEAST_PLACES:
        return Finding(
            CANNOT_TELL,
            f"{counted(most, kind)} of a kind: among fewer than {LEAST_PLACES} none is odd.",
            "Compare with another machine: --reference DIR.",
        )
    launches = max(one.table.shape[0] for one in tests)
    return Finding(
        CANNOT_TELL,
        f"They were measured in {counted(launches, 'launch')}; {LEAST_LAUNCHES} can tell.",
        f"Give it {LEAST_LAUNCHES} launches at least (--launches).",
    )


def _odd_places(own: Sequence[tuple[Alike, Sisters]]) -> tuple[tuple[_Odd, ...], ...]:
    """Find the places that are slower than their sisters, the slowest first: each with its tests, worst
    first.
    """
    places: dict[str, list[_Odd]] = {}
    for one in sorted(_odd_ones(own), key=lambda one: -one.estimate):
        places.setdefault(one.name, []).append(one)
    return tuple(map(tuple, places.values()))


def _odd_ones(own: Sequence[tuple[Alike, Sisters]]) -> Iterator[_Odd]:
    for test, said in own:
        is_odd = (said.p <= FALSE_ALARM) & (np.expm1(said.estimate) >= _BOUNDS[test.kind].least)
        for j in np.flatnonzero(is_odd):
            yield _Odd(test.names[j], float(said.estimate[j]), float(said.low[j]), float(said.high[j]), test)


def _odd_words(odd: Sequence[Sequence[_Odd]]) -> str:
    """Write `core 17 is 12 % (10 to 14 %) slower in mem.stream.triad 32 MiB than its 31 peers; ... .`."""
    named = "; ".join(_place_words(*one) for one in odd[:_MOST_NAMED])
    more = f"; and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
    ends = [set(one[0].name.split(BETWEEN)) for one in odd]
    shared = set.intersection(*ends) if len(odd) > 1 else set()
    end = f"; all of them end at {min(shared)}" if shared else ""
    return f"{named}{more}{end}."


def _place_words(worst: _Odd, *others: _Odd) -> str:
    span = f"{_percent(max(0.0, worst.low), bare=True)} to {_percent(worst.high)}"
    also = f", and slower in {counted(len(others), 'further test')}" if others else ""
    return (
        f"{worst.test.kind} {worst.name} is {_percent(worst.estimate)} ({span}) slower in {worst.test.what} "
        f"than its {len(worst.test.names) - 1} peers{also}"
    )


def _percent(log: float, bare: bool = False) -> str:
    return f"{100 * math.expm1(log):.3g}{'' if bare else ' %'}"
