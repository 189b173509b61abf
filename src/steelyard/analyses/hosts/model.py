"""Times of messages from each host to each other, and the hosts that stand out.

Pairs of hosts are measured one by one, by placements, or all in rounds, by `mpi.pattern.round_robin` with a
rank on each host. A pair has one time here, whichever way round it was measured:

    time of a host = the median over its pairs with other hosts

A slow host is slow in each of its pairs, and each other host only in one of its own. So medians over pairs
show it, from four hosts and five launches on (`stats.peer_outliers`). Some rounds of many are enough for
that: each host then has as many partners as there are rounds, drawn from all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from steelyard.results.facets import Messages
from steelyard.results.hosts import hosts_of_ranks
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row, has_time
from steelyard.stats.arrays import FloatArray
from steelyard.stats.peer_outliers import LEAST_LAUNCHES, LEAST_PLACES, compare_peers

_LEAST_HOSTS = 3  # two hosts are one pair
_LEAST_KNOWN = 0.5  # of a host's pairs: fewer that were chosen are no fair sample of its partners
LEAST_ROUNDS = 5  # that were drawn: the median of five partners is not that of an odd one, nor of two
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
    """A test case on pairs of hosts: `ns[p]` is the time of pair p, whose hosts are `hosts[i]` for the two i
    in `ends[p]`.

    `row` is one of its rows, for its name. `by_launch` are the logarithms of the times of each host, shape
    (launches, hosts), of the launches in which all of these pairs were measured. `of_host` has the pairs of
    each host, shape (hosts, most of one), filled with -1.
    """

    row: Row
    hosts: tuple[str, ...]
    ends: NDArray[np.int64]
    ns: FloatArray
    of_host: NDArray[np.int64]
    by_launch: FloatArray

    @property
    def is_drawn(self) -> bool:
        """Did each host meet only some of the others?"""
        return 2 * len(self.ends) < len(self.hosts) * (len(self.hosts) - 1)

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
            table.ends,
            table.ns,
            table.of_host,
            table.by_launch,
            tuple(_times(table, slower.get(id(table), np.zeros(len(table.hosts), dtype=bool)))),
        )
        for table in tables
    )


def _pairs(row: Row) -> Iterator[tuple[tuple[str, str], float, _Launches]]:
    """Find two different hosts, and the row's time between them."""
    pair = row.placed.hosts if row.placed is not None else ()
    if len(set(pair)) == 2 and row.time is not None and row.time > 0:
        medians = {launch.launch: launch.median or 0.0 for launch in row.launches if has_time(launch)}
        yield (pair[0], pair[1]), row.time, medians
    hosts = hosts_of_ranks(row)
    good = [launch.launch for launch in row.launches if launch.status == "ok"]
    for two in row.get(Messages).pairs if hosts and "round" in row.params else ():
        if two.median > 0:
            launches = {launch: ns for launch, ns in zip(good, two.medians, strict=False) if ns > 0}
            yield (hosts[two.low], hosts[two.high]), two.median, launches


def _table(row: Row, pairs: _Pairs) -> HostPairs | None:
    """Make the table; None if there are too few hosts, or a host has too few pairs."""
    hosts = tuple(dict.fromkeys(host for pair in pairs for host in pair))
    place = {host: index for index, host in enumerate(hosts)}
    either_way: dict[tuple[int, int], list[tuple[float, _Launches]]] = {}
    for (a, b), told in pairs.items():
        ends = (min(place[a], place[b]), max(place[a], place[b]))
        either_way.setdefault(ends, []).append(told)
    own: list[list[int]] = [[] for _ in hosts]
    for number, ends in enumerate(either_way):
        for end in ends:
            own[end].append(number)
    fewest = min(map(len, own), default=0)
    is_drawn = "round" in row.params and fewest >= LEAST_ROUNDS
    if len(hosts) < _LEAST_HOSTS or not (is_drawn or fewest > _LEAST_KNOWN * (len(hosts) - 1)):
        return None
    of_host = np.full((len(hosts), max(map(len, own))), -1)
    for host, numbers in enumerate(own):
        of_host[host, : len(numbers)] = numbers
    launches = sorted({launch for _, known in pairs.values() for launch in known})
    each = np.array(
        [
            [_mean([known[launch] for _, known in told if launch in known]) for told in either_way.values()]
            for launch in launches
        ]
    ).reshape(-1, len(either_way))
    whole = each[np.isfinite(each).all(axis=1) & (is_drawn or fewest == len(hosts) - 1)]
    ns = np.array([_mean([time for time, _ in told]) for told in either_way.values()])
    by_launch = np.log(host_medians(whole, of_host))
    return HostPairs(row, hosts, np.array(list(either_way)), ns, of_host, by_launch)


def _mean(times: Sequence[float]) -> float:
    """Take the mean of the two ways of a pair, or the one that is known; nan without any."""
    return sum(times) / len(times) if times else np.nan


def _times(table: HostPairs, slower: NDArray[np.bool_]) -> Iterator[HostTimes]:
    medians = host_medians(table.ns, table.of_host)
    middle = float(np.median(medians))
    for host, (own, median, is_slower) in enumerate(zip(table.of_host, medians, slower, strict=True)):
        known = own[own >= 0]
        partners = table.ends[known].sum(axis=1) - host
        times = table.ns[known]
        ends = [
            (table.hosts[partners[at]], float(times[at])) for at in (int(times.argmin()), int(times.argmax()))
        ]
        yield HostTimes(
            table.hosts[host], float(median), float(median) / middle, ends[0], ends[1], bool(is_slower)
        )


def host_medians(ns: FloatArray, of_host: NDArray[np.int64]) -> FloatArray:
    """Compute the time of each host: the median over its pairs. ns: (..., pairs); shape (..., hosts)."""
    filled = np.concatenate([ns, np.full((*ns.shape[:-1], 1), np.nan)], axis=-1)  # what -1 points to
    return np.asarray(np.nanmedian(filled[..., of_host], axis=-1))
