"""Times of messages from each host to each other, and the hosts that stand out.

Pairs of hosts are measured one by one, by placements, or all in rounds, by `mpi.pattern.round_robin` with a
rank on each host. A pair has one time here, whichever way round it was measured:

    time of a host = the median over its pairs with other hosts

A slow host is slow in each of its pairs, and each other host only in one of its own. So medians over pairs
show it, from four hosts on. It stands out if the intervals of its pairs, too, are apart from the middle host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.facets import Messages
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row
from steelyard.stats.arrays import FloatArray
from steelyard.stats.hampel import hampel_outliers

_LEAST_HOSTS = 3  # two hosts are one pair
_LEAST_KNOWN = 0.5  # of a host's pairs: fewer are no fair sample of its partners


_Span = tuple[float, float, float]  # a time and its interval, in ns


class HostTimes(Struct, frozen=True):
    """A host: the median of its pairs in ns, `ratio` over the median host's, its nearest and its farthest."""

    host: str
    median: float
    ratio: float
    nearest: tuple[str, float]
    farthest: tuple[str, float]
    stands_out: bool


class HostMatrix(Struct, frozen=True):
    """A test case on pairs of hosts: `ns[i][j]` from host i to host j, nan if it was not measured.

    `row` is one of its rows, for its name.
    """

    row: Row
    hosts: tuple[str, ...]
    ns: tuple[tuple[float, ...], ...]
    times: tuple[HostTimes, ...]


def host_matrices(rows: Sequence[Row]) -> tuple[HostMatrix, ...]:
    """Make a matrix for each test case that was measured between three hosts or more, in most of
    their pairs.
    """
    found: dict[RowKey, tuple[Row, dict[tuple[str, str], _Span]]] = {}
    for row in rows:
        if row.status != "ok":
            continue
        for a, b, span in _cells(row):
            key = key_of(row, ("placed", "hosts", "param.round"))
            found.setdefault(key, (row, {}))[1][a, b] = span
    made = (_matrix(row, cells) for row, cells in found.values())
    return tuple(matrix for matrix in made if matrix is not None)


def hosts_of_ranks(row: Row) -> tuple[str, ...]:
    """List the host of each rank, if all are known and different; else none."""
    if row.placed is not None:
        return ()
    hosts = tuple(part.rpartition(":")[0] for part in (row.placement or "").split("|"))
    return hosts if len(set(hosts)) == row.ranks and all(hosts) else ()


def _cells(row: Row) -> Iterator[tuple[str, str, _Span]]:
    """Find two different hosts, and the row's time between them."""
    pair = row.placed.hosts if row.placed is not None else ()
    if len(set(pair)) == 2 and row.time is not None and row.time > 0:
        yield pair[0], pair[1], (row.time, row.time_low or row.time, row.time_high or row.time)
    hosts = hosts_of_ranks(row)
    for one in row.get(Messages).pairs if hosts and "round" in row.params else ():
        if one.median > 0:
            yield hosts[one.low], hosts[one.high], (one.median, one.median, one.median)


def _matrix(row: Row, cells: dict[tuple[str, str], _Span]) -> HostMatrix | None:
    """Make the matrix; None if there are too few hosts, or a host has too few pairs."""
    hosts = tuple(dict.fromkeys(host for pair in cells for host in pair))
    place = {host: index for index, host in enumerate(hosts)}
    spans = np.full((3, len(hosts), len(hosts)), np.nan)
    for (a, b), span in cells.items():
        spans[:, place[a], place[b]] = span
    ns = spans[0]
    partners = (np.isfinite(ns) | np.isfinite(ns.T)).sum(axis=1)
    if len(hosts) < _LEAST_HOSTS or partners.min() <= _LEAST_KNOWN * (len(hosts) - 1):
        return None
    return HostMatrix(row, hosts, tuple(map(tuple, ns.tolist())), tuple(_times(hosts, spans)))


def _times(hosts: Sequence[str], spans: FloatArray) -> Iterator[HostTimes]:
    either, low, high = map(_either_way, spans)
    medians = np.nanmedian(either, axis=1)
    middle = float(np.median(medians))
    apart = (np.nanmedian(low, axis=1) > middle) | (np.nanmedian(high, axis=1) < middle)
    odd = hampel_outliers(medians) & apart
    for host, row, median, is_odd in zip(hosts, either, medians, odd, strict=True):
        known = [(hosts[other], float(row[other])) for other in np.flatnonzero(np.isfinite(row)).tolist()]
        known.sort(key=lambda one: one[1])
        yield HostTimes(host, float(median), float(median) / middle, known[0], known[-1], bool(is_odd))


def _either_way(ns: FloatArray) -> FloatArray:
    """Take the mean of the two ways of each pair, or the one that is known; shape (hosts, hosts)."""
    both = np.stack([ns, ns.T])
    mean = np.nan_to_num(both).sum(axis=0) / np.isfinite(both).sum(axis=0).clip(1)
    return np.where(np.isfinite(both).any(axis=0), mean, np.nan)
