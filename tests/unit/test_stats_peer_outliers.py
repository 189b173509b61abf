"""Places that do the same: one that is slower is found, and none where all are alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from further import further
from steelyard.stats.peer_outliers import compare_peers

PLACES, LAUNCHES = 8, 6


def alike(rng: np.random.Generator, kind: str) -> NDArray[np.float64]:
    """A test of places that are alike: launches differ, and what each place adds is of that kind."""
    shape = (LAUNCHES, PLACES)
    added = {
        "normal": 0.02 * rng.standard_normal(shape),
        "tails": 0.01 * rng.standard_t(2, shape),
        "modes": np.log(2.0) * (rng.random(shape) < 0.3) + 0.01 * rng.standard_normal(shape),
    }[kind]
    return np.asarray(added + 0.1 * rng.standard_normal((LAUNCHES, 1)))


@pytest.mark.parametrize("kind", ["normal", further("tails"), "modes"])
def test_of_200_machines_without_fault_at_most_four_have_an_odd_place(kind: str) -> None:
    """1 % of 200 and 2 for chance."""
    rng = np.random.default_rng(20)
    alarms = 0
    for machine in range(200):
        found = compare_peers([alike(rng, kind) for _ in range(2)], seed=machine)
        alarms += any((one.p <= 0.01).any() for one in found)
    assert alarms <= 4


def test_a_slow_place_is_found_and_its_interval_holds_what_it_lost() -> None:
    rng = np.random.default_rng(1)
    tables = [alike(rng, "normal") for _ in range(3)]
    tables[1][:, 5] += math.log(1.12)
    found = compare_peers(tables)
    assert np.flatnonzero(found[1].p <= 0.01).tolist() == [5]
    assert found[1].low[5] < math.log(1.12) < found[1].high[5]
    assert all((one.p > 0.01).all() for one in (found[0], found[2]))


def test_launches_without_any_scatter_are_no_division_by_nothing() -> None:
    table = np.zeros((LAUNCHES, PLACES))
    assert (compare_peers([table])[0].p == 1.0).all()
    table[:, 2] = 0.1
    assert np.flatnonzero(compare_peers([table])[0].p <= 0.01).tolist() == [2]


@pytest.mark.parametrize("shape", [(5, 3), (4, 8)])
def test_few_places_or_launches_are_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="4 places and 5 launches"):
        compare_peers([np.zeros(shape)])


def test_no_test_has_no_answer() -> None:
    assert compare_peers([]) == ()


def test_places_that_differ_lastingly_differ_beyond_chance_and_are_not_odd() -> None:
    rng = np.random.default_rng(4)
    table = alike(rng, "normal") + 0.05 * rng.standard_normal(PLACES)
    (found,) = compare_peers([table])
    assert (found.p <= 0.01).any()
    assert not found.odd.any()
    assert found.spread == pytest.approx(0.05, rel=0.5)


def test_what_chance_may_have_done_is_not_odd_however_far_it_is() -> None:
    """One place that was in the slow mode in each launch, as happens once in 1400 places."""
    rng = np.random.default_rng(6)
    table = 0.01 * rng.standard_normal((LAUNCHES, PLACES))
    table[:, 2] += math.log(2.0) * np.array([1, 1, 1, 0, 0, 0])
    (found,) = compare_peers([table])
    assert found.p[2] > 0.01
    assert not found.odd.any()


def test_cores_of_equal_hosts_share_what_cores_differ_by() -> None:
    rng = np.random.default_rng(8)
    tables = [0.01 * rng.standard_normal((LAUNCHES, 4)) + 0.02 * rng.standard_normal(4) for _ in range(8)]
    tables[3][:, 1] += math.log(1.25)
    shared = compare_peers(tables, ["cores"] * 8)
    assert [(test, int(j)) for test, one in enumerate(shared) for j in np.flatnonzero(one.odd)] == [(3, 1)]
    assert len({one.spread for one in shared}) == 1
