"""Contradictions between methods that measured the same operation.

A lower bound that needs no common clock (ack, trigger) must not exceed a latency on synchronised clocks. That
latency must lie in the interval of the method bounds, which needs no common clock either. Each side may be
off by its stated error. Lower bounds take it that an acknowledgement or a trigger takes half of its round
trip. Only the whole round trip is sure, so as much again is left to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from msgspec import Struct

from steelyard.base.units import format_time
from steelyard.records.kinds import LOWER, UPPER
from steelyard.results.facets import ClockError, Watched, Windows
from steelyard.results.key import key_of
from steelyard.results.row import Row

SLACK = 0.02  # of the latency: the effect that the start of a loop and rounding may have on a bound


class Disagreement(Struct, frozen=True):
    """Two rows that cannot both be right; `sentence` says why."""

    estimate: Row
    other: Row
    sentence: str


def disagreements(rows: tuple[Row, ...]) -> tuple[Disagreement, ...]:
    """Find every contradiction between rows of one operation, size, team, placement and MPI, in
    rows' order.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.time is not None:
            key = key_of(row, ("method", "method_params"))
            groups.setdefault(key, []).append(row)
    return tuple(found for group in groups.values() for found in _in_group(group))


def _in_group(rows: list[Row]) -> Iterator[Disagreement]:
    estimates = [
        row
        for row in rows
        if row.get(ClockError).clock_error_ns is not None and row.get(Windows).low_ns is not None
    ]
    for estimate, other in product(estimates, rows):
        if sentence := _contradiction(estimate, other):
            yield Disagreement(estimate, other, sentence)


def _contradiction(estimate: Row, other: Row) -> str | None:
    """Say how a latency on synchronised clocks and a row of another method contradict each other,
    if they do.
    """
    latency, low, error = (
        estimate.time or 0.0,
        estimate.get(Windows).low_ns or 0.0,
        estimate.get(ClockError).error_ns or 0.0,
    )
    most, least = latency + error + SLACK * latency, low - error - SLACK * latency
    said = f"{estimate.method} says {format_time(latency)} ±{format_time(error)}"
    if other.bound == LOWER and (sure := _sure_bound(other)) > most:
        return f"{said}, {other.method} at least {format_time(sure)} whatever its messages take"
    if other.bound != UPPER:
        return None
    if (other.get(Windows).low_ns or 0.0) > most:
        return f"{said}, calls back to back take {format_time(other.get(Windows).low_ns or 0.0)} each"
    if other.time_high is not None and other.time_high < least:
        return f"{said}, but with a barrier behind it at most {format_time(other.time_high)}"
    return None


def _sure_bound(row: Row) -> float:
    """Compute what is left of a lower bound if its messages take a whole round trip."""
    path = row.get(Watched).path
    return (row.time_low or 0.0) - (path.late_ns + path.observer_ns if path else 0.0)
