"""What is made of several rows reaches to a mode that no launch may have been in, or has no interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from macro_rows import pingpongs, row
from steelyard.analyses.congestion.model import congestions
from steelyard.analyses.growth.model import growths_of
from steelyard.analyses.loggp.model import log_models
from steelyard.analyses.max_rate.model import max_rates_of
from steelyard.analyses.overheads.model import overheads_of
from steelyard.records.kinds import COLLECTIVE
from steelyard.results.row import Row, likeness_of, modes_of
from steelyard.stats import Interval

FACTORS = (0.98, 1.0, 1.01, 1.02, 0.99)
APART = 2.0


def _times(middle: float) -> list[float]:
    return [middle * factor for factor in FACTORS]


def _gap(rows: Sequence[Row]) -> Interval:
    return log_models(rows)[0].pieces[-1].gap


def _pair(rows: Sequence[Row]) -> Interval:
    return max_rates_of(rows)[0].pair


def _ahead(rows: Sequence[Row]) -> Interval:
    return growths_of(rows)[0].ahead[0].time


def _slowed(rows: Sequence[Row]) -> Interval:
    return congestions(rows)[0].impact["p50"]


def _patterns() -> list[Row]:
    return [
        row(
            "mpi.pattern.neighbours",
            "a",
            _times(1e5),
            ranks=2 * pairs,
            bytes=65536,
            sized=True,
            bandwidth=6e8,
        )
        for pairs in (1, 2, 4)
    ]


def _collectives() -> list[Row]:
    return [
        row("mpi.allreduce", "a", _times(1000.0 + 100.0 * ranks), ranks=ranks, role=COLLECTIVE, bytes=8)
        for ranks in (2, 4, 8, 16)
    ]


def _victims() -> list[Row]:
    return [
        row("mpi.pattern.victim_allreduce", "a", _times(time), ranks=8, params={"traffic": traffic})
        for traffic, time in (("none", 1000.0), ("fan_in", 1500.0))
    ]


@pytest.mark.parametrize(
    ("rows", "of"),
    [
        (pingpongs("a", 1.0), _gap),
        (_patterns(), _pair),
        (_collectives(), _ahead),
        (_victims(), _slowed),
    ],
    ids=["LogGP", "max rate", "growth", "congestion"],
)
def test_what_is_made_of_rows_reaches_as_far_as_they(
    rows: list[Row], of: Callable[[Sequence[Row]], Interval]
) -> None:
    seen, reaching = of(rows), of([replace(one, apart=APART) for one in rows])
    assert reaching.value == seen.value
    assert None not in (seen.low, seen.high, reaching.low, reaching.high)
    assert (reaching.low or 0.0) <= min(seen.low or 0.0, 1.01 * seen.value / APART)
    assert (reaching.high or 0.0) >= max(seen.high or 0.0, 0.99 * seen.value * APART)


def test_differences_have_no_interval_where_a_mode_may_have_been_missed() -> None:
    """How far a difference moves with either time is not known."""
    rows = [
        row("mpi.train", "a", _times(time), bytes=8, sized=True, params={"messages": count, "work_us": 0.0})
        for count, time in ((1, 1000.0), (16, 4000.0))
    ]
    (seen,) = overheads_of(rows)
    (missed,) = overheads_of([replace(one, apart=APART) for one in rows])
    assert seen.gap is not None
    assert seen.gap.low is not None
    assert missed.gap == Interval(seen.gap.value)


def test_rows_together_are_as_alike_and_as_far_apart_as_any() -> None:
    plain = row("mpi.bcast", "a", _times(1.0))
    rows = [replace(plain, alike=0.3), replace(plain, alike=0.1, apart=APART)]
    together = likeness_of(rows)
    assert (together.rho, together.apart) == (0.3, modes_of(*rows).apart)
    assert modes_of(*rows).rho == 0.0
    assert modes_of(plain).apart == 0.0
