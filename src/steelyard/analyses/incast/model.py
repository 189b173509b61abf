"""What many senders to one receiver, or one sender to many receivers, reach together, by their number.

All ranks call rank 0 (`mpi.pattern.fan_in`), or it calls them (`mpi.pattern.fan_out`). Its link is what they
share: with more of them the rate grows until that is full, and then stays. So the highest rate is what the
host of rank 0 can take (ejection), or give (injection). Where messages are lost on the way, senders wait
until they send again, and the rate falls: incast collapse. Launch by launch, with k senders:

    r(k) = rate of k senders / the highest rate of fewer senders

The rate collapses where the interval of r of the most senders lies below `COLLAPSED`, and holds where it lies
above. How even senders are is the shortest of the ranks' own times over the longest: with kind=served the
receiver answers each sender as soon as its own messages have come.

Source: A. Phanishayee, E. Krevat et al., Measurement and analysis of TCP throughput collapse in cluster-based
storage systems, FAST 2008.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Interfaces, Ranks
from steelyard.results.key import curves_of
from steelyard.results.roofs import moved_bytes
from steelyard.results.row import Row, launch_medians, modes_of
from steelyard.rows.labels import told_params
from steelyard.stats import Interval, span_of

COLLAPSED = 0.7  # of the highest rate: a shared link that is full loses less
INCAST_OPS = ("mpi.pattern.fan_in", "mpi.pattern.fan_out")
COLLAPSES, HOLDS, CANNOT_TELL = "collapses", "holds", "cannot tell"
_BY_NUMBER = ("ranks", "hosts", "placed")


class Senders(Struct, frozen=True, kw_only=True):
    """So many senders, or receivers: `time` in ns of a repetition of all at once, `rate` in bytes/s of all
    together, with intervals over launches; `relative` is r (None: these are the fewest).

    `of_line` is the rate over the line rate of the interface of rank 0's host that moved most; None if the
    system states none. `even`: the shortest of the ranks' times over the longest; None if they are not known.
    `again`: the share of TCP's segments that hosts sent again; None if the system does not tell.
    """

    senders: int
    time: Interval
    rate: Interval
    relative: Interval | None
    of_line: float | None
    even: Interval | None
    again: Interval | None


class Incast(Struct, frozen=True, kw_only=True):
    """One size and setting over numbers of senders, the fewest first."""

    op: str
    mpi: str | None
    bytes: int
    method: str
    env: dict[str, str]
    params: Params
    numbers: tuple[Senders, ...]
    verdict: str


def incasts(rows: Sequence[Row]) -> tuple[Incast, ...]:
    """Find each setting that was measured with two numbers of senders or more, in the order of rows."""
    sent = [row for row in rows if row.base in INCAST_OPS and row.status == "ok"]
    sent = [row for row in sent if moved_bytes(row) and launch_medians(row)]
    kept = curves_of(sent, _BY_NUMBER, lambda row: row.ranks - 1)
    among = [row for curve in kept for row in curve.values()]
    return tuple(_incast(curve, among) for curve in kept)


def _incast(curve: dict[int, Row], among: Sequence[Row]) -> Incast:
    numbers: list[Senders] = []
    best: dict[int, float] = {}
    for count, row in curve.items():
        rates = {launch: 1e9 * moved_bytes(row) / ns for launch, ns in launch_medians(row).items()}
        ratios = [rates[launch] / best[launch] for launch in sorted(rates.keys() & best.keys())]
        numbers.append(_senders(count, row, list(rates.values()), ratios))
        if not best or span_of(list(rates.values())).value > span_of(list(best.values())).value:
            best = rates
    first = next(iter(curve.values()))
    return Incast(
        op=first.op,
        mpi=first.mpi,
        bytes=first.bytes,
        method=first.method,
        env=first.env,
        params=told_params(first, among),
        numbers=tuple(numbers),
        verdict=_verdict(numbers[-1].relative),
    )


def _senders(count: int, row: Row, rates: list[float], ratios: list[float]) -> Senders:
    ranks, network = row.get(Ranks), row.get(Interfaces)
    even = ranks.rank_evenness
    again = network.tcp_resent
    return Senders(
        senders=count,
        time=Interval(row.time or 0.0, row.time_low, row.time_high),
        rate=span_of(rates, alike=row.likeness),
        relative=span_of(ratios, alike=modes_of(row)) if ratios else None,
        of_line=_of_line(row, span_of(rates).value),
        even=None if even is None else Interval(even, ranks.rank_evenness_low, ranks.rank_evenness_high),
        again=None if again is None else Interval(again, network.tcp_resent_low, network.tcp_resent_high),
    )


def _of_line(row: Row, rate: float) -> float | None:
    root = (row.placement or "").partition("|")[0].rpartition(":")[0]
    of_root = [port for port in row.get(Interfaces).interfaces if port.host == root]
    carrier = max(of_root, key=lambda port: port.received + port.sent, default=None)
    return 8 * rate / (1e6 * carrier.mbits) if carrier and carrier.mbits else None


def _verdict(relative: Interval | None) -> str:
    if relative is None or relative.low is None or relative.high is None:
        return CANNOT_TELL
    if relative.high < COLLAPSED:
        return COLLAPSES
    return HOLDS if relative.low > COLLAPSED else CANNOT_TELL
