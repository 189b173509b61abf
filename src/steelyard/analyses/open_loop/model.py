"""The latency of messages from when they were due, over the rate at which they are offered, and its knee.

In a closed loop a message waits for the answer to the one before: while a receiver stalls, nothing is
sent, and one slow message stands for all that would have come (Tene 2013: coordinated omission). In an open
loop messages are due at their instants whatever became of others (method `open-loop`), so that each counts
the time that it waited. Where rates come near what the path carries, messages queue and latencies rise.

The knee of a quantile lies between two rates. Up to the lower one its interval is below `KNEE` times the
value at the lowest rate of all; at the upper one it is above `KNEE` times that value's upper end. Rates
between cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import OfferedLoad, Samples
from steelyard.results.key import key_of
from steelyard.results.row import Row
from steelyard.rows.labels import told_params
from steelyard.stats import Interval

KNEE = 2.0
LEAST_RATES = 2
P50, P99, P999 = "p50", "p99", "p99.9"
QUANTILES = (P50, P99, P999)
_RATE = "rate"
_FREE = ("method", "method_params")  # in which a closed loop and open ones may differ


class Load(Struct, frozen=True, kw_only=True):
    """Messages/s that were offered at each sender (None in a closed loop) and that came, and their latencies.

    `quantiles` are in ns, by their names, those of which launches have enough samples.
    """

    offered: float | None
    came: Interval
    quantiles: dict[str, Interval]


class Knee(Struct, frozen=True):
    """The quantile has not risen up to the rate `below`, and has at `above`; None: at no measured rate."""

    quantile: str
    below: float | None
    above: float | None


class OpenLoop(Struct, frozen=True, kw_only=True):
    """The rates of one op, size and team under one MPI, the lowest first; `closed` is a closed loop beside.

    `params` are those that the plan sets or in which rows differ, `due` the parameters of the method that all
    rates share.
    """

    op: str
    mpi: str | None
    bytes: int
    ranks: int
    placement: str | None
    env: dict[str, str]
    params: Params
    due: Params
    loads: tuple[Load, ...]
    closed: Load | None
    knees: tuple[Knee, ...]


def open_loops(rows: Sequence[Row]) -> tuple[OpenLoop, ...]:
    """Take together what was offered at `LEAST_RATES` rates or more, in the order of the rows."""
    timed = [row for row in rows if row.status == "ok" and row.get(OfferedLoad).came_rate is not None]
    closed = {key_of(row, _FREE): row for row in reversed(timed) if row.get(OfferedLoad).offered_rate is None}
    series: dict[tuple[object, ...], dict[float, Row]] = {}
    for row in timed:
        if (rate := row.get(OfferedLoad).offered_rate) is not None:
            series.setdefault(key_of(row, (f"param.{_RATE}",)), {}).setdefault(rate, row)
    return tuple(
        _of(dict(sorted(rates.items())), closed, timed)
        for rates in series.values()
        if len(rates) >= LEAST_RATES
    )


def _of(rates: dict[float, Row], closed: dict[tuple[object, ...], Row], among: Sequence[Row]) -> OpenLoop:
    first = next(iter(rates.values()))
    beside = closed.get(key_of(first, _FREE))
    loads = tuple(_load(row) for row in rates.values())
    return OpenLoop(
        op=first.op,
        mpi=first.mpi,
        bytes=first.bytes,
        ranks=first.ranks,
        placement=first.placed_text,
        env=first.env,
        params=told_params(first, among),
        due={name: value for name, value in first.method_params.items() if name != _RATE},
        loads=loads,
        closed=_load(beside) if beside else None,
        knees=tuple(_knees(loads)),
    )


def _load(row: Row) -> Load:
    offered, samples = row.get(OfferedLoad), row.get(Samples)
    has_p99 = samples.p99_low is not None or offered.p999 is not None
    quantiles = {
        P50: Interval(row.time or 0.0, row.time_low, row.time_high),
        P99: Interval(samples.p99, samples.p99_low, samples.p99_high) if has_p99 and samples.p99 else None,
        P999: Interval(offered.p999, offered.p999_low, offered.p999_high) if offered.p999 else None,
    }
    return Load(
        offered=offered.offered_rate,
        came=Interval(offered.came_rate or 0.0, offered.came_low, offered.came_high),
        quantiles={name: value for name, value in quantiles.items() if value is not None},
    )


def _knees(loads: Sequence[Load]) -> Iterator[Knee]:
    for quantile in QUANTILES:
        points = [
            (load.offered or 0.0, load.quantiles[quantile]) for load in loads if quantile in load.quantiles
        ]
        if len(points) >= LEAST_RATES and all(value.low is not None for _, value in points):
            yield _knee(quantile, points)


def _knee(quantile: str, points: Sequence[tuple[float, Interval]]) -> Knee:
    at_first = points[0][1]
    certain = KNEE * (at_first.high or at_first.value)
    above = next((rate for rate, value in points[1:] if (value.low or 0.0) > certain), None)
    below = points[0][0]
    for rate, value in points[1:]:
        if (value.high or value.value) >= KNEE * at_first.value:
            break
        below = rate
    return Knee(quantile, below, above)
