"""Whether places that should be alike are: cores, hosts, and links of the same class.

All of them are held against their sisters at once (`stats.sisters`), so that the promise holds for the
machine: of 100 without fault at most one is told of any place that is slower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.accept.criterion import (
    CANNOT_TELL,
    FALSE_ALARM,
    NOT_WELL,
    WELL,
    Evidence,
    Finding,
    criterion,
)
from steelyard.base.plural import counted, plural
from steelyard.records.kinds import NOISE
from steelyard.records.schema import Place
from steelyard.results.durations import pairs_of
from steelyard.results.load import PointLaunch, PointLaunches
from steelyard.results.row import Row, has_time
from steelyard.show.words import row_name
from steelyard.stats.sisters import LEAST_LAUNCHES, LEAST_PLACES, Sisters, compare_sisters

LEAST = 0.05  # the least difference from the sisters that is called a fault
MARGIN = (
    0.10  # the greatest that may be ignored: beyond, an interval leaves too much open to call places alike
)
_MOST_NAMED = 4  # places in a sentence
# Ops in which each rank works for itself, on its core and its memory.
_ALONE = ("mem.", "self.")
# Ops whose pairs of ranks are of one class where cores are numbered package by package.
_PAIRED = ("mpi.pattern.neighbours", "mpi.pattern.bisection")


@dataclass(frozen=True)
class Alike:
    """A test of places that should be alike: `what` it is, `kind` of place, and what each took.

    `table`: logarithms of times in ns, shape (launches, places), of the launches that have all places.
    """

    what: str
    kind: str
    names: tuple[str, ...]
    table: NDArray[np.float64]

    @property
    def can_tell(self) -> bool:
        """Are there places and launches enough?"""
        return self.table.shape[0] >= LEAST_LAUNCHES and self.table.shape[1] >= LEAST_PLACES


@criterion(
    "cores",
    "Are all cores and hosts as fast as their sisters?",
    remedy="Look for what slows that place: its frequency and temperature, a daemon or interrupts bound to "
    "it, a memory module that is missing or slow. Measure again; if it stays, take it out of use.",
)
def cores(seen: Evidence) -> Finding:
    """Cores, and hosts where there are several."""
    return _judge(seen, "core", "steelyard accept measures them")


@criterion(
    "links",
    "Are links between cores or hosts of one class alike?",
    remedy="Measure the slow pair alone: steelyard run mpi.pingpong --placement A,B. If it stays, look at "
    "what both ends share: a cable, a port, a core that is slow itself.",
)
def links(seen: Evidence) -> Finding:
    """Pairs of ranks that exchange messages, each class for itself."""
    return _judge(seen, "link", "steelyard accept measures some, mpi.pingpong --placement all each")


def _judge(seen: Evidence, kind: str, how: str) -> Finding:
    """What is said of cores or of links; the family is both."""
    tests = tests_of(seen)
    known = [one for one in tests if one.can_tell]
    found = compare_sisters([one.table for one in known], level=1 - FALSE_ALARM)
    is_link = kind == "link"
    own = [(test, said) for test, said in zip(known, found, strict=True) if (test.kind == "link") == is_link]
    if not own:
        return _too_few([one for one in tests if (one.kind == "link") == is_link], kind, how)
    odd = [sentence for test, said in own for sentence in _odd_ones(test, said)]
    if odd:
        more = f"; and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
        return Finding(NOT_WELL, _capital("; ".join(odd[:_MOST_NAMED]) + more + "."))
    widest, test = max(((float(said.high.max()), test) for test, said in own), key=lambda one: one[0])
    scope = f"{counted(max(len(test.names) for test, _ in own), kind)} in {counted(len(own), 'test')}"
    said = f"at most {_percent(widest)} slower than its sisters ({test.what})"
    if widest > math.log1p(MARGIN):
        return Finding(
            CANNOT_TELL,
            f"Of {scope} each is {said}: the launches differ too much to say less.",
            "Give it more launches (--launches), on a quiet machine.",
        )
    return Finding(WELL, f"Of {scope} each is {said}.")


def _too_few(tests: Sequence[Alike], kind: str, how: str) -> Finding:
    if not tests:
        return Finding(
            CANNOT_TELL, f"No {plural(kind, 2)} were measured beside each other.", _capital(f"{how}.")
        )
    most = max(len(one.names) for one in tests)
    if most < LEAST_PLACES:
        return Finding(
            CANNOT_TELL,
            f"{_capital(counted(most, kind))} of a kind: among fewer than {LEAST_PLACES} none is odd.",
            "Compare with another machine: --reference DIR.",
        )
    launches = max(one.table.shape[0] for one in tests)
    return Finding(
        CANNOT_TELL,
        f"They were measured in {counted(launches, 'launch')}; {LEAST_LAUNCHES} can tell.",
        f"Give it {LEAST_LAUNCHES} launches at least (--launches).",
    )


def _odd_ones(test: Alike, said: Sisters) -> Iterator[str]:
    """`core 17 is 12 % (10 to 14 %) slower in mem.stream.triad 32 MiB than its 31 sisters`."""
    odd = np.flatnonzero((said.p <= FALSE_ALARM) & (said.estimate >= math.log1p(LEAST)))
    for j in sorted(odd, key=lambda j: -said.estimate[j]):
        span = f"{_percent(max(0.0, said.low[j]), bare=True)} to {_percent(said.high[j])}"
        yield (
            f"{test.kind} {test.names[j]} is {_percent(said.estimate[j])} ({span}) slower in {test.what} "
            f"than its {len(test.names) - 1} sisters"
        )


def _percent(log: float, bare: bool = False) -> str:
    return f"{100 * math.expm1(log):.3g}{'' if bare else ' %'}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


# ---- what was measured of places ------------------------------------------------------------------------


def tests_of(seen: Evidence) -> tuple[Alike, ...]:
    """All tests of places in a folder, whether there are enough of them or not."""
    rows = {row.point: row for row in seen.weighed.rows}
    found: list[Alike] = []
    for point in seen.weighed.measured.points:
        row = rows.get(point.plan.point)
        if row is None or row.threads > 1:
            continue
        if row.op.startswith(_ALONE) and row.ranks > 1:
            found += _of_ranks(row, point)
        elif row.op in _PAIRED:
            found += _of_pairs(row, point)
    return (*found, *_of_placements(seen.weighed.rows))


def _of_ranks(row: Row, point: PointLaunches) -> Iterator[Alike]:
    """Ranks that work each for itself: a place each, and their hosts where there are several."""
    yield from _test(row_name(row), "core", point, _by_core)
    if any(len({place.host for place in _places(cell)}) > 1 for cell in point.cells):
        yield from _test(row_name(row), "host", point, _by_host)


def _by_core(cell: PointLaunch) -> Mapping[str, float]:
    places = _places(cell)
    several = len({place.host for place in places}) > 1
    medians = cell.taken.rank_medians
    return {
        _core_name(place, several): float(medians[place.rank])
        for place in places
        if place.rank < medians.size
    }


def _by_host(cell: PointLaunch) -> Mapping[str, float]:
    """The geometric mean of the ranks of each host."""
    own: dict[str, list[float]] = {}
    for place in _places(cell):
        if place.rank < cell.taken.rank_medians.size:
            own.setdefault(place.host, []).append(float(cell.taken.rank_medians[place.rank]))
    return {host: float(np.exp(np.mean(np.log(values)))) for host, values in own.items() if min(values) > 0}


def _of_pairs(row: Row, point: PointLaunches) -> Iterator[Alike]:
    """Pairs of ranks that exchange messages at the same time, each message timed."""
    yield from _test(row_name(row), "link", point, _by_pair)


def _by_pair(cell: PointLaunch) -> Mapping[str, float]:
    place = {place.rank: place for place in _places(cell)}
    several = len({one.host for one in place.values()}) > 1
    if cell.point is None or cell.point.partners is None or cell.taken.pairs < 2:
        return {}
    medians = np.median(cell.values.reshape(-1, cell.taken.pairs), axis=0)
    pairs = pairs_of(cell.point)
    return {
        " – ".join(_core_name(place[rank], several) for rank in pair): float(value)
        for pair, value in zip(pairs, medians, strict=True)
        if set(pair) <= place.keys()
    }


def _places(cell: PointLaunch) -> tuple[Place, ...]:
    return cell.start.places if cell.start is not None and cell.status == "ok" else ()


def _core_name(place: Place, several_hosts: bool) -> str:
    return f"{place.host}:{place.cpus}" if several_hosts else place.cpus


def _test(
    what: str, kind: str, point: PointLaunches, values: Callable[[PointLaunch], Mapping[str, float]]
) -> Iterator[Alike]:
    yield from _table(what, kind, [told for cell in point.cells if (told := values(cell))])


def _table(what: str, kind: str, launches: Sequence[Mapping[str, float]]) -> Iterator[Alike]:
    """The launches that have all places, each with a time; nothing without any."""
    names = tuple(dict.fromkeys(name for one in launches for name in one))
    whole = [one for one in launches if len(one) == len(names) and min(one.values()) > 0]
    if whole:
        table = np.log(np.array([[one[name] for name in names] for one in whole]))
        yield Alike(what, kind, names, table)


def _of_placements(rows: Iterable[Row]) -> Iterator[Alike]:
    """Pairs of CPUs that a test case was placed on, each class for itself, launch by launch."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        placed = row.placed
        if placed is None or len(placed.cpus) != 2 or row.role == NOISE:
            continue
        params = tuple(sorted((name, str(value)) for name, value in row.params.items()))
        key = (row.op, row.bytes, row.mpi, row.method, params, placed.kind, placed.interrupts)
        groups.setdefault(key, []).append(row)
    for own in groups.values():
        launches: dict[int, dict[str, float]] = {}
        for row in own:
            name = " – ".join(map(str, row.placed.cpus if row.placed else ()))
            for one in row.launches:
                if has_time(one):
                    launches.setdefault(one.launch, {})[name] = one.median or math.nan
        kind = own[0].placed.kind if own[0].placed else ""
        yield from _table(f"{row_name(own[0])} ({kind})", "link", list(launches.values()))
