"""Durations of few samples that are worked out by hand: whose cost of the clock is subtracted, and where."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from steelyard.records.parts import WatchedPath
from steelyard.records.schema import Point, Sync
from steelyard.results.durations import Durations, Stamps, durations, on_reference
from steelyard.stats.arrays import FloatArray

_NONE = np.empty((2, 0))
COST = np.array([20.0, 50.0])  # of ranks 0 and 1


def of(
    report: Literal["root", "slowest", "message"],
    start: list[list[float]],
    stop: list[list[float]],
    synchronised: bool = False,
    low: tuple[FloatArray, FloatArray] = (_NONE, _NONE),
    **more: Any,
) -> Durations:
    """Samples of two ranks: `start[rank][i]`."""
    point = Point(
        point=0, op="mpi.bcast", bytes=8, ranks=2, threads=1, method="batch", rule="fixed", reps=1, parts=1,
        report=report, **more,
    )  # fmt: skip
    return durations(
        Stamps(point, np.array(start), np.array(stop), *low, synchronised, COST, 10.0, (), (len(start[0]),))
    )


def test_on_one_clock_the_last_rank_ends_and_its_cost_is_taken_off() -> None:
    """In the first sample the later stop is of rank 1, which reads its clock longer: rank 0 ended later."""
    found = of("slowest", [[0, 1005], [10, 1000]], [[120, 1050], [140, 1090]], synchronised=True)
    assert found.values.tolist() == [100, 40]
    assert found.low is not None
    assert found.low.tolist() == [90, 35]
    assert found.paid.tolist() == [20, 50]
    assert found.slowest.tolist() == [0, 1]
    assert found.skew is not None
    assert found.skew.tolist() == [10, 5]
    assert found.imbalance is not None
    assert found.imbalance.tolist() == [0, 40]
    assert found.finishes is not None
    assert found.finishes.tolist() == [[100, 30], [90, 40]]


def test_on_clocks_of_their_own_the_longest_duration_counts() -> None:
    found = of("slowest", [[0, 0], [500, 500]], [[120, 60], [640, 640]])
    assert (found.values.tolist(), found.paid.tolist(), found.slowest.tolist()) == (
        [100, 90],
        [20, 50],
        [0, 1],
    )
    assert (found.low, found.skew, found.imbalance, found.finishes) == (None, None, None, None)


def test_calls_back_to_back_are_a_lower_bound() -> None:
    low = np.array([[700.0], [100.0]]), np.array([[1020.0], [510.0]])
    found = of("slowest", [[0], [0]], [[120], [140]], low=low, low_reps=4)
    assert found.low is not None
    assert (found.values.tolist(), found.low.tolist()) == ([100], [90])


@pytest.mark.parametrize(
    ("path", "value"), [(None, 300), (WatchedPath(late=1, observer=0, late_ns=75, observer_ns=25), 200)]
)
def test_the_duration_of_the_root_is_without_what_the_observer_takes(
    path: WatchedPath | None, value: float
) -> None:
    found = of("root", [[0], [0]], [[320], [999]], path=path)
    assert (found.values.tolist(), found.paid.tolist()) == ([value], [20])


@pytest.mark.parametrize("partners", [(1, 0), None])
def test_a_message_lasts_from_the_one_side_to_the_other(partners: tuple[int, ...] | None) -> None:
    """There and back: half of both readings is the message's."""
    found = of("message", [[0, 0], [0, 0]], [[1000, 1900], [1500, 1600]], partners=partners)
    assert found.values.tolist() == [465, 265]
    assert (found.paid.tolist(), found.slowest.tolist()) == ([35], [1, 0])


def sync_of(at_ns: int, offset_ns: float) -> Sync:
    """Rank 0 is the reference; rank 1 is ahead of it, and drifts by 2 ppm."""
    return Sync(
        index=0, algorithm="tree", domains=2, at_ns=(at_ns, at_ns), offset_ns=(0.0, offset_ns),
        drift_ppm=(0.0, 2.0), error_ns=(10.0, 20.0), bound_ns=(10.0, 30.0), cost_ns=1000,
    )  # fmt: skip


def test_offsets_are_interpolated_and_with_one_synchronisation_its_drift_is_used() -> None:
    before, after = sync_of(1_000_000, 100.0), sync_of(5_000_000, 140.0)
    stamps = np.array([[2e6, 4e6], [2e6, 4e6]])
    assert on_reference(stamps, before, after).tolist() == [[2e6, 4e6], [2e6 - 110, 4e6 - 130]]
    assert on_reference(stamps, before, before).tolist() == [[2e6, 4e6], [2e6 - 102, 4e6 - 106]]
