"""Times of messages from each host to each other, and the hosts that stand out.

Pairs of hosts are measured one by one, by placements, or all in rounds, by `mpi.pattern.round_robin` with a
rank on each host. A pair has one time here, whichever way round it was measured:

    time of a host = the median over its pairs with other hosts

A slow host is slow in each of its pairs, and each other host only in one of its own. So medians over pairs
show it, from four hosts and five launches on (`stats.peer_outliers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from steelyard.results.facets import Messages
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row, has_time
from steelyard.stats.arrays import FloatArray
from steelyard.stats.peer_outliers import LEAST_LAUNCHES, LEAST_PLACES, compare_peers

_LEAST_HOSTS = 3  # two hosts are one pair
_LEAST_KNOWN = 0.5  # of a host's pairs: fewer are no fair sample of its partners
LEAST_SLOWER = 0.05  # of a time: a host that is slower by less is as fast as its peers

_Launches = Mapping[int, float]  # of each launch of a pair the median in ns
_Pairs = dict[tuple[str, str], tuple[float, _Launches]]  # of two hosts the time in ns, and that of launches


class HostTimes(Struct, frozen=True):
    """A host: the median of its pairs in ns, `ratio` over the median host's, its nearest and its farthest."""

    host: str
    median: float
    ratio: float
    nearest: tuple[str, float]
    farthest: tuple[str, float]
    is_slower: bool


class HostPairs(Struct, frozen=True):
    """A test case on pairs of hosts: `ns[i][j]` from host i to host j, nan if it was not measured.

    `row` is one of its rows, for its name. `by_launch` are the logarithms of the times of each host, shape
    (launches, hosts), of the launches in which each host was measured with each other one.
    """

    row: Row
    hosts: tuple[str, ...]
    ns: tuple[tuple[float, ...], ...]
    by_launch: FloatArray

    @property
    def can_tell(self) -> bool:
        """Are there enough hosts and launches to say which host is slower than its peers?"""
        launches, hosts = self.by_launch.shape
        return bool(launches >= LEAST_LAUNCHES and hosts >= LEAST_PLACES)


class HostMatrix(HostPairs, frozen=True):
    """The same, and what it says of each host."""

    times: tuple[HostTimes, ...]


def host_pairs(rows: Sequence[Row]) -> tuple[HostPairs, ...]:
    """Make a table for each test case that was measured between three hosts or more, in most of their
    pairs.
    """
    cases: dict[RowKey, tuple[Row, _Pairs]] = {}
    for row in rows:
        if row.status != "ok":
            continue
        for pair, time, launches in _pairs(row):
            key = key_of(row, ("placed", "hosts", "param.round"))
            cases.setdefault(key, (row, {}))[1][pair] = time, launches
    made = (_table(row, pairs) for row, pairs in cases.values())
    return tuple(table for table in made if table is not None)


def host_matrices(rows: Sequence[Row]) -> tuple[HostMatrix, ...]:
    """Make these tables, and compare each host with its peers in all of them at once."""
    tables = host_pairs(rows)
    able = [table for table in tables if table.can_tell]
    compared = compare_peers([table.by_launch for table in able])
    slower = {id(table): one.slower_by(LEAST_SLOWER) for table, one in zip(able, compared, strict=True)}
    return tuple(
        HostMatrix(
            table.row,
            table.hosts,
            table.ns,
            table.by_launch,
            tuple(_times(table, slower.get(id(table), np.zeros(len(table.hosts), dtype=bool)))),
        )
        for table in tables
    )


def hosts_of_ranks(row: Row) -> tuple[str, ...]:
    """List the host of each rank, if all are known and different; else none."""
    if row.placed is not None:
        return ()
    hosts = tuple(part.rpartition(":")[0] for part in (row.placement or "").split("|"))
    return hosts if len(set(hosts)) == row.ranks and all(hosts) else ()


def _pairs(row: Row) -> Iterator[tuple[tuple[str, str], float, _Launches]]:
    """Find two different hosts, and the row's time between them."""
    pair = row.placed.hosts if row.placed is not None else ()
    if len(set(pair)) == 2 and row.time is not None and row.time > 0:
        medians = {one.launch: one.median or 0.0 for one in row.launches if has_time(one)}
        yield (pair[0], pair[1]), row.time, medians
    hosts = hosts_of_ranks(row)
    good = [one.launch for one in row.launches if one.status == "ok"]
    for two in row.get(Messages).pairs if hosts and "round" in row.params else ():
        if two.median > 0:
            launches = {launch: ns for launch, ns in zip(good, two.medians, strict=False) if ns > 0}
            yield (hosts[two.low], hosts[two.high]), two.median, launches


def _table(row: Row, pairs: _Pairs) -> HostPairs | None:
    """Make the table; None if there are too few hosts, or a host has too few pairs."""
    hosts = tuple(dict.fromkeys(host for pair in pairs for host in pair))
    ns = _matrix(hosts, {pair: time for pair, (time, _) in pairs.items()})
    partners = (np.isfinite(ns) | np.isfinite(ns.T)).sum(axis=1)
    if len(hosts) < _LEAST_HOSTS or partners.min() <= _LEAST_KNOWN * (len(hosts) - 1):
        return None
    numbers = sorted({number for _, launches in pairs.values() for number in launches})
    each = [
        _matrix(hosts, {pair: launches.get(number, np.nan) for pair, (_, launches) in pairs.items()})
        for number in numbers
    ]
    whole = [
        _host_medians(one) for one in each if (np.isfinite(_either_way(one)).sum() == one.size - len(one))
    ]
    by_launch = np.log(np.array(whole).reshape(-1, len(hosts)))
    return HostPairs(row, hosts, tuple(map(tuple, ns.tolist())), by_launch)


def _matrix(hosts: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> FloatArray:
    """Lay times out from host to host, shape (hosts, hosts)."""
    place = {host: index for index, host in enumerate(hosts)}
    ns = np.full((len(hosts), len(hosts)), np.nan)
    for (a, b), time in pairs.items():
        ns[place[a], place[b]] = time
    return ns


def _times(table: HostPairs, slower: NDArray[np.bool_]) -> Iterator[HostTimes]:
    ns = np.array(table.ns)
    medians = _host_medians(ns)
    middle = float(np.median(medians))
    for host, row, median, is_slower in zip(table.hosts, _either_way(ns), medians, slower, strict=True):
        known = [(table.hosts[other], float(row[other])) for other in np.flatnonzero(np.isfinite(row))]
        known.sort(key=lambda one: one[1])
        yield HostTimes(host, float(median), float(median) / middle, known[0], known[-1], bool(is_slower))


def _host_medians(ns: FloatArray) -> FloatArray:
    """Compute the time of each host: the median over its pairs, shape (hosts,)."""
    return np.asarray(np.nanmedian(_either_way(ns), axis=1))


def _either_way(ns: FloatArray) -> FloatArray:
    """Take the mean of the two ways of each pair, or the one that is known; shape (hosts, hosts)."""
    both = np.stack([ns, ns.T])
    mean = np.nan_to_num(both).sum(axis=0) / np.isfinite(both).sum(axis=0).clip(1)
    return np.where(np.isfinite(both).any(axis=0), mean, np.nan)
