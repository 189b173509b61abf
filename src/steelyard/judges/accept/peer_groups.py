"""Measurements of places that should be alike: cores of a host, hosts, and links of one class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from steelyard.analyses.hosts.in_full import ROUNDS
from steelyard.analyses.hosts.model import LEAST_ROUNDS, host_pairs
from steelyard.base.cpulist import told_cpus
from steelyard.records.campaign_file import OTHER_HOST
from steelyard.records.kinds import FILE, NOISE
from steelyard.records.parts import Place
from steelyard.results.durations import pairs_of
from steelyard.results.hosts import hosts_of_ranks
from steelyard.results.key import RowKey, key_of
from steelyard.results.load import Measured, PointLaunch, PointLaunches
from steelyard.results.row import Row, has_time
from steelyard.rows.words import row_name
from steelyard.stats.arrays import FloatArray
from steelyard.stats.lasting_differences import kinds_of
from steelyard.stats.peer_outliers import LEAST_LAUNCHES, LEAST_PLACES
from steelyard.system.topology import NOWHERE, Cpu, Topology, class_of

CORE, HOST, LINK = "core", "host", "link"
FILES_HOST = "file client"  # a host whose ranks use files of their own
CONTACT = "first contact"  # a host, by the first message to a rank of it
BETWEEN = " – "  # the two ends of a link
# Ops in which each rank works alone, on its core and its memory.
_ALONE = ("mem.", "cpu.", "self.")
# Ops in which ranks exchange messages in pairs.
_PAIRED = ("mpi.pattern.neighbours", "mpi.pattern.bisection")
_CONTACT = "mpi.first.message"  # the op that sends one to a rank
_LEAST_PAIRS = 3  # of a round: the median of two says nothing of either
_MOST_LINKS = 8192  # of 1024 hosts in 16 rounds; shuffles of more would take minutes

_Round = Mapping[tuple[str, str], float]  # of each pair of hosts its time in ns
Launches = Sequence[Mapping[str, float]]  # of each launch, the time of each place in ns


@dataclass(frozen=True)
class PeerGroup:
    """Places that should be alike in a test: `what` was measured, the `kind` of place, and the times.

    `table`: logarithms of times in ns, shape (launches, places), of the launches that have all places.
    `partly`: one of the rows, where each host met only some of the others. `mpi` is that of pairs.
    """

    what: str
    kind: str
    names: tuple[str, ...]
    table: FloatArray
    partly: Row | None = None
    mpi: str | None = None

    @property
    def can_tell(self) -> bool:
        """Are there enough places and launches?"""
        launches, places = self.table.shape
        return bool(launches >= LEAST_LAUNCHES and places >= LEAST_PLACES)

    @property
    def family(self) -> tuple[str, ...]:
        """What has places that differ lastingly by as much: the cores of all hosts, in the same test."""
        return (self.what, self.kind) if self.kind == CORE else (self.what, self.kind, *self.names)

    @property
    def means(self) -> FloatArray:
        """The mean over launches of each place, against the median of all, in logarithms: (places,)."""
        return np.asarray((self.table - np.median(self.table, axis=1, keepdims=True)).mean(axis=0))

    def only(self, chosen: NDArray[np.bool_]) -> PeerGroup:
        """Make the test of some of the places."""
        names = tuple(name for name, own in zip(self.names, chosen, strict=True) if own)
        return PeerGroup(self.what, self.kind, names, self.table[:, chosen], self.partly, self.mpi)


@dataclass(frozen=True)
class Kinds:
    """A test whose places are of two kinds, as nobody said: `slower` ones, and the others.

    `apart`: the logarithm of the slower ones' time over that of the others.
    """

    test: PeerGroup
    slower: tuple[str, ...]
    apart: float

    @property
    def shared_end(self) -> str:
        """The place at which all of the slower links end; empty if there is none."""
        ends = [set(name.split(BETWEEN)) for name in self.slower]
        shared = set.intersection(*ends) if self.test.kind == LINK else set()
        return min(shared, default="")


def by_kinds(
    tests: Iterable[PeerGroup], least: Mapping[str, float]
) -> tuple[tuple[PeerGroup, ...], tuple[Kinds, ...]]:
    """Divide the tests whose places are of two kinds, at least so far apart (as a share, by kind of place).

    Each kind becomes a test of its own.
    """
    divided: list[PeerGroup] = []
    kinds: list[Kinds] = []
    for test in tests:
        means = test.means
        slower = kinds_of(means, least=math.log1p(least[test.kind]))
        if slower.any():
            apart = float(means[slower].mean() - means[~slower].mean())
            kinds.append(Kinds(test, test.only(slower).names, apart))
            divided += [test.only(~slower), test.only(slower)]
        else:
            divided.append(test)
    return tuple(divided), tuple(kinds)


def peer_groups_of(measured: Measured, rows: Sequence[Row]) -> tuple[PeerGroup, ...]:
    """Make all tests of places in a folder, also those with too few of them."""
    by_point = {row.point: row for row in rows}
    cpus = {cpu.number: cpu for cpu in _topology(measured.campaign.topology).cpus}
    groups: list[PeerGroup] = []
    for point in measured.points:
        row = by_point.get(point.plan.point)
        if row is None or row.threads > 1 or row.ranks < 2:
            continue
        if row.op.startswith(_ALONE):
            groups += _of_ranks(row, point, cpus)
        elif row.role == FILE and "own" in (row.params.get("file"), row.params.get("folder")):
            groups += _table(row_name(row), FILES_HOST, _of_hosts([_by_host(cell) for cell in point.cells]))
        elif row.op in _PAIRED:
            groups += _of_pairs(row, point, cpus)
    of_hosts = (*_of_host_messages(rows), *_of_rounds(measured, by_point), *_of_contacts(rows))
    return (*groups, *of_hosts, *_of_placements(rows, cpus))


def _topology(described: Mapping[str, object] | None) -> Topology:
    try:
        return msgspec.convert(described, Topology) if described else NOWHERE
    except msgspec.ValidationError:
        return NOWHERE


def _table(what: str, kind: str, launches: Launches, mpi: str | None = None) -> Iterator[PeerGroup]:
    """Table the launches that have all places, each with a time; nothing if there is none."""
    names = tuple(dict.fromkeys(name for launch in launches for name in launch))
    whole = [
        launch for launch in launches if len(launch) == len(names) and min(launch.values(), default=0.0) > 0
    ]
    if whole:
        table = np.log(np.array([[launch_times[name] for name in names] for launch_times in whole]))
        yield PeerGroup(what, kind, names, table, mpi=mpi)


# ---- ranks that work each for itself ----------------------------------------------------------------------


def _of_ranks(row: Row, point: PointLaunches, cpus: Mapping[int, Cpu]) -> Iterator[PeerGroup]:
    """Test the cores of each host and kind, each bound to one rank; and hosts, each by the median of its
    ranks.
    """
    launches = [_by_host(cell) for cell in point.cells]
    hosts = tuple(dict.fromkeys(host for launch in launches for host in launch))
    several = len(hosts) > 1
    for host in hosts:
        cores = [_cores(launch.get(host, ()), several, cpus) for launch in launches]
        for kind in dict.fromkeys(kind for core in cores for kind in core):
            what = f"{row_name(row)} ({kind})" if kind else row_name(row)
            yield from _table(what, CORE, [core.get(kind, {}) for core in cores])
    if several:
        yield from _table(row_name(row), HOST, _of_hosts(launches))


def _of_hosts(launches: Sequence[Mapping[str, Sequence[tuple[Place, float]]]]) -> Launches:
    """Take the median of the ranks of each host; nothing on one host."""
    medians = [
        {host: float(np.median([time for _, time in ranks])) for host, ranks in launch.items()}
        for launch in launches
    ]
    return medians if len({host for by_host in medians for host in by_host}) > 1 else ()


def _by_host(cell: PointLaunch) -> dict[str, list[tuple[Place, float]]]:
    """Group the ranks of each host, with the median of each in ns."""
    by_host: dict[str, list[tuple[Place, float]]] = {}
    medians = cell.taken.rank_medians if cell.status == "ok" else np.empty(0)
    times = dict(zip(cell.taken.kept or range(medians.size), medians, strict=True))
    for place in _places(cell):
        if place.rank in times:
            by_host.setdefault(place.host, []).append((place, float(times[place.rank])))
    return by_host


def _cores(
    ranks: Sequence[tuple[Place, float]], several_hosts: bool, cpus: Mapping[int, Cpu]
) -> Mapping[str, Mapping[str, float]]:
    """Map each core to its time, by kind; nothing if ranks were not bound to a core each."""
    by_kind: dict[str, dict[str, float]] = {}
    for place, time in ranks:
        kind = _kind(_cpu(place, cpus))
        by_kind.setdefault(f"{kind} cores" if kind else "", {})[_core_name(place, several_hosts)] = time
    return by_kind if sum(map(len, by_kind.values())) == len(ranks) else {}


def _cpu(place: Place, cpus: Mapping[int, Cpu]) -> Cpu | None:
    return cpus.get(min(told_cpus(place.cpus), default=-1))


def _kind(cpu: Cpu | None) -> str:
    return cpu.kind if cpu else ""


def _places(cell: PointLaunch) -> tuple[Place, ...]:
    return cell.start.places if cell.start is not None else ()


def _core_name(place: Place, several_hosts: bool) -> str:
    return f"{place.host}:{place.cpus}" if several_hosts else place.cpus


# ---- pairs of ranks that exchange messages ----------------------------------------------------------------


def _of_pairs(row: Row, point: PointLaunches, cpus: Mapping[int, Cpu]) -> Iterator[PeerGroup]:
    """Test pairs of ranks at the same time, each message timed; each class of pairs separately."""
    launches = [_by_class(cell, cpus) for cell in point.cells]
    for kind in dict.fromkeys(kind for launch in launches for kind in launch):
        what = f"{row_name(row)} ({kind})" if kind else row_name(row)
        yield from _table(what, LINK, [launch.get(kind, {}) for launch in launches], row.mpi)


def _by_class(cell: PointLaunch, cpus: Mapping[int, Cpu]) -> Mapping[str, Mapping[str, float]]:
    """Group the medians of pairs in ns by class and name."""
    if cell.taken.pairs < 2:
        return {}
    several = len({place.host for place in _places(cell)}) > 1
    by_class: dict[str, dict[str, float]] = {}
    for first, second, time in _pair_times(cell):
        name = BETWEEN.join(_core_name(end, several) for end in (first, second))
        by_class.setdefault(_class(first, second, cpus), {})[name] = time
    return by_class


def _pair_times(cell: PointLaunch) -> Iterator[tuple[Place, Place, float]]:
    """List the places of each pair that exchanges messages, and its median in ns."""
    if cell.status != "ok" or cell.point is None or cell.point.partners is None:
        return
    pairs = pairs_of(cell.point)
    if len(pairs) != cell.taken.pairs:
        return  # the method gives one value for all pairs
    places = {place.rank: place for place in _places(cell)}
    medians = np.median(cell.values.reshape(-1, len(pairs)), axis=0)
    for (first, second), time in zip(pairs, medians, strict=True):
        if {first, second} <= places.keys():
            yield places[first], places[second], float(time)


def _class(one: Place, other: Place, cpus: Mapping[int, Cpu]) -> str:
    """Find the class of the places of two ranks; empty if unknown. Hosts are alike."""
    first, second = (_cpu(place, cpus) for place in (one, other))
    if one.host != other.host:
        return _with_kinds(OTHER_HOST, first, second)
    return _with_kinds(class_of(first, second), first, second) if first and second else ""


def _with_kinds(name: str, cpu: Cpu | None, other: Cpu | None) -> str:
    """Add to a class the kinds of the cores at both ends: `shared-l3, E with P`; none where all are alike."""
    kinds = sorted(kind for kind in (_kind(cpu), _kind(other)) if kind)
    return f"{name}, {' with '.join(kinds)}" if kinds else name


def _of_host_messages(rows: Sequence[Row]) -> Iterator[PeerGroup]:
    """Test hosts by their messages with the others, as the table from host to host does."""
    for table in host_pairs(rows):
        if table.by_launch.size:
            what, partly = (
                row_name(replace(table.row, placed=None)),
                table.row if table.is_drawn else None,
            )
            yield PeerGroup(what, HOST, table.hosts, table.by_launch, partly)


def _of_contacts(rows: Sequence[Row]) -> Iterator[PeerGroup]:
    """Test hosts by the first message to each, which has launches of its own."""
    tests: dict[RowKey, tuple[str, dict[int, dict[str, float]]]] = {}
    for row in rows:
        hosts = hosts_of_ranks(row)
        if row.op != _CONTACT or row.status != "ok" or not hosts or row.params.get("use", 1) != 1:
            continue
        what = row_name(replace(row, params={}))
        _, launches = tests.setdefault(key_of(row, ("param.peer",)), (what, {}))
        for launch in filter(has_time, row.launches):
            peer = hosts[int(row.params.get("peer", 1))]
            launches.setdefault(launch.launch, {})[peer] = launch.median or 0.0
    for what, launches in tests.values():
        yield from _table(what, CONTACT, list(launches.values()))


def _of_rounds(measured: Measured, by_point: Mapping[int, Row]) -> Iterator[PeerGroup]:
    """Test the links of hosts that have met in rounds, all of them or some: each by what its pair takes
    beyond what both hosts take in their other pairs.
    """
    tests: dict[RowKey, tuple[str, dict[int, list[_Round]]]] = {}
    for point in measured.points:
        row = by_point.get(point.plan.point)
        if row is None or row.op != ROUNDS:
            continue
        _, launches = tests.setdefault(key_of(row, ("param.round",)), (row_name(row), {}))
        for cell in point.cells:
            met = {
                (one.host, other.host): time
                for one, other, time in _pair_times(cell)
                if one.host != other.host and time > 0
            }
            launches.setdefault(cell.launch, []).append(met)
    for what, launches in tests.values():
        whole = [rounds for rounds in launches.values() if _are_fair(rounds)]
        if whole and sum(map(len, whole[0])) <= _MOST_LINKS:
            yield from _table(f"{what} ({OTHER_HOST})", LINK, [_links(rounds) for rounds in whole])


def _are_fair(rounds: Sequence[_Round]) -> bool:
    """Has each host met enough others, and as many as each other one? One may wait where they are odd."""
    met = Counter(host for round_ in rounds for pair in round_ for host in pair)
    often = met.values()
    return (
        len(rounds) >= LEAST_ROUNDS and min(map(len, rounds)) >= _LEAST_PAIRS and max(often) - min(often) <= 1
    )


def _host_medians(rounds: Sequence[_Round]) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for round_ in rounds:
        for pair, time in round_.items():
            for host in pair:
                times.setdefault(host, []).append(time)
    return {host: float(np.median(of_host)) for host, of_host in times.items()}


def _links(rounds: Sequence[_Round]) -> dict[str, float]:
    """Divide the time of each pair by the median of its round, and by what both hosts take of that."""
    relative_rounds = [
        {pair: time / float(np.median(list(round_.values()))) for pair, time in round_.items()}
        for round_ in rounds
    ]
    hosts = _host_medians(relative_rounds)
    usual = float(np.median(list(hosts.values())))
    return {
        BETWEEN.join(sorted(pair)): time * usual / (hosts[pair[0]] * hosts[pair[1]])
        for relative in relative_rounds
        for pair, time in relative.items()
    }


def _of_placements(rows: Iterable[Row], cpus: Mapping[int, Cpu]) -> Iterator[PeerGroup]:
    """Test pairs of CPUs, or of hosts, that a test case was placed on, each class separately, launch by
    launch.
    """
    launches: dict[tuple[str, str, object, bool, str | None], dict[int, dict[str, float]]] = {}
    for row in rows:
        placed = row.placed
        ends = () if placed is None else placed.hosts or placed.cpus
        if placed is None or len(ends) != 2 or row.role == NOISE:
            continue
        kind = placed.kind if placed.hosts else _with_kinds(placed.kind, *map(cpus.get, placed.cpus))
        what = f"{row_name(replace(row, placed=None))} ({kind})"
        params = tuple(sorted((name, str(value)) for name, value in row.params.items()))
        medians = launches.setdefault((what, row.method, params, placed.interrupts != (), row.mpi), {})
        for launch in row.launches:
            if has_time(launch):
                medians.setdefault(launch.launch, {})[BETWEEN.join(map(str, ends))] = (
                    launch.median or math.nan
                )
    for (what, *_, mpi), by_launch in launches.items():
        yield from _table(what, LINK, list(by_launch.values()), mpi)
