"""What pairs on two hosts reach together by the ranks a host, and from which number the link is full.

The pairs of `mpi.pattern.bisection` on two hosts all go from host to host, as many at once as there are ranks
a host. The rate of all together grows with their number until something that they share is full: the line,
or what a host can inject or take. Launch by launch each number is held against the one that reached most:

    r(k) = rate of k ranks a host / the highest rate

A number is full if the interval of r is above 95 %, and is not if it is below. The link is full from the
first number with r of 95 %, and somewhere between the first that may be full and the first that is. If that
is the largest number that was measured, its rate may still grow, and nobody can tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Interfaces
from steelyard.results.key import curves_of
from steelyard.results.roofs import moved_bytes
from steelyard.results.row import Row, launch_medians, modes_of
from steelyard.rows.labels import told_params
from steelyard.stats import Interval, span_of

FULL = 0.95  # of the highest rate
_OP, _HOSTS = "mpi.pattern.bisection", 2
_BY_NUMBER = ("ranks", "hosts", "placed")  # one rank a host is a placement of its own
_BOTH_WAYS = ("exchange", "isend", "biwindow", "pingpong")  # kinds whose bytes go half each way


class RanksAHost(Struct, frozen=True, kw_only=True):
    """So many ranks on each of the two hosts: `time` in ns of a repetition of all pairs at once, `rate` in
    bytes/s of all together, with intervals over launches; `relative` is r.

    `of_line` is the rate of the busier direction over the line rate of the interface that moved most; None
    if the system states none.
    """

    per_host: int
    time: Interval
    rate: Interval
    relative: Interval
    of_line: float | None


class HostLink(Struct, frozen=True, kw_only=True):
    """Two hosts under one setting; `full` is the number of ranks a host from which the link is full, with
    the ends of its interval; None: nobody can tell.
    """

    op: str
    mpi: str | None
    bytes: int
    method: str
    env: dict[str, str]
    params: Params
    numbers: tuple[RanksAHost, ...]
    full: Interval | None


def host_links(rows: Sequence[Row]) -> tuple[HostLink, ...]:
    """Find each setting that was measured with two numbers of ranks a host or more, in the order of rows."""
    kept = curves_of(filter(is_between, rows), _BY_NUMBER, lambda row: row.ranks // _HOSTS)
    among = [row for curve in kept for row in curve.values()]
    return tuple(_link(curve, among) for curve in kept)


def is_between(row: Row) -> bool:
    """Is each rank's partner on the other one of two hosts?"""
    hosts = [part.rpartition(":")[0] for part in (row.placement or "").split("|")]
    half = row.ranks // _HOSTS
    return (
        row.base == _OP
        and row.status == "ok"
        and bool(moved_bytes(row) and launch_medians(row))
        and len(hosts) == row.ranks == 2 * half
        and len(set(hosts)) == _HOSTS
        and all(hosts[i] != hosts[i + half] for i in range(half))
    )


def _link(curve: dict[int, Row], among: Sequence[Row]) -> HostLink:
    rates = {number: _rates(row) for number, row in curve.items()}
    best = max(curve, key=lambda number: moved_bytes(curve[number]) / (curve[number].time or 1.0))
    numbers = tuple(_number(number, row, rates[number], rates[best]) for number, row in curve.items())
    first = curve[best]
    return HostLink(
        op=first.op,
        mpi=first.mpi,
        bytes=first.bytes,
        method=first.method,
        env=first.env,
        params=told_params(first, among),
        numbers=numbers,
        full=full_from([(ranks.per_host, ranks.relative) for ranks in numbers]),
    )


def _rates(row: Row) -> dict[int, float]:
    """Compute bytes/s of each launch."""
    return {launch: 1e9 * moved_bytes(row) / median for launch, median in launch_medians(row).items()}


def _number(number: int, row: Row, mine: dict[int, float], best: dict[int, float]) -> RanksAHost:
    ratios = [mine[launch] / best[launch] for launch in sorted(mine.keys() & best.keys())]
    rate = 1e9 * moved_bytes(row) / (row.time or 1.0)
    one_way = rate / 2 if row.params.get("kind") in _BOTH_WAYS else rate
    moved = [interface for interface in row.get(Interfaces).interfaces if interface.mbits]
    carrier = max(moved, key=lambda interface: interface.received + interface.sent, default=None)
    return RanksAHost(
        per_host=number,
        time=Interval(row.time or 0.0, row.time_low, row.time_high),
        rate=span_of(list(mine.values()), alike=row.likeness),
        relative=span_of(ratios, alike=modes_of(row)) if ratios else Interval(0.0),
        of_line=8 * one_way / (1e6 * (carrier.mbits or 1)) if carrier else None,
    )


def full_from(numbers: Sequence[tuple[int, Interval]]) -> Interval | None:
    """Find the number from which the rate is full, of `(number, r)` in their order; None: cannot tell."""
    sure = next((number for number, r in numbers if r.low is not None and r.low >= FULL), None)
    if sure is None or sure == numbers[-1][0]:
        return None
    first = next(number for number, r in numbers if r.value >= FULL)
    may = next(number for number, r in numbers if r.high is not None and r.high >= FULL)
    return Interval(float(first), float(may), float(sure))
