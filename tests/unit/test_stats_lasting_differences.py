"""Places that differ lastingly: an odd one is found, several are, and none where they only differ."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard.stats.lasting_differences import kinds_of, odd_places

TWO_PERCENT, ROUNDS = 0.02, 300


def places(rng: np.random.Generator, count: int, **slow: float) -> NDArray[np.float64]:
    """Means of places that differ by 2 %; `p3=1.1` makes the fourth so much slower."""
    values = TWO_PERCENT * rng.standard_normal(count)
    for name, times in slow.items():
        values[int(name[1:])] = math.log(times)
    return np.asarray(values)


@pytest.mark.parametrize("counts", [(4,), (7,), (16,), (64,), (4,) * 8], ids=str)
def test_where_places_only_differ_at_most_one_in_a_hundred_machines_has_an_odd_one(
    counts: tuple[int, ...],
) -> None:
    """1 % of 300 and 5 for chance."""
    rng = np.random.default_rng(5)
    alarms = sum(
        any(one.any() for one in odd_places([places(rng, count) for count in counts]).slow)
        for _ in range(ROUNDS)
    )
    assert alarms <= 8


@pytest.mark.parametrize(
    ("count", "slow"),
    [
        (16, {"p3": 1.25}),
        (64, {"p3": 1.15}),
        (64, {f"p{i}": 1.2 for i in range(8)}),
        (64, {"p0": 10.0, "p1": 1.2, "p2": 1.2}),  # the slowest does not hide the others
    ],
)
def test_odd_ones_are_found_and_no_others(count: int, slow: dict[str, float]) -> None:
    (found,) = odd_places([places(np.random.default_rng(7), count, **slow)]).slow
    assert [f"p{i}" for i in np.flatnonzero(found)] == list(slow)


def test_a_fast_place_is_not_slow() -> None:
    (found,) = odd_places([places(np.random.default_rng(7), 16, p3=0.7)]).slow
    assert not found.any()


def test_cores_of_other_hosts_say_what_cores_differ_by() -> None:
    """Three peers cannot tell; those of seven further hosts can. Each host has its own speed."""
    rng = np.random.default_rng(11)
    odd, *others = [places(rng, 4, p2=1.2), *(places(rng, 4) + host for host in range(1, 8))]
    assert not odd_places([odd]).slow[0].any()
    found = odd_places([odd, *others])
    assert [np.flatnonzero(one).tolist() for one in found.slow] == [[2], *[[]] * 7]
    assert found.spread == pytest.approx(TWO_PERCENT, rel=0.3)


def test_what_is_said_to_be_odd_is_beyond_what_is_said_to_be_told() -> None:
    values = places(np.random.default_rng(3), 16)
    (least,) = odd_places([values]).least
    for times, is_odd in ((1.5, True), (0.7, False)):
        one = values.copy()
        rest = np.delete(one, 5)
        one[5] = rest.mean() + times * least
        assert bool(odd_places([one]).slow[0][5]) is is_odd


def test_places_without_any_scatter_are_no_division_by_nothing() -> None:
    values = np.zeros(8)
    assert not odd_places([values], finest=1e-4).slow[0].any()
    values[2] = 0.1
    assert np.flatnonzero(odd_places([values], finest=1e-4).slow[0]).tolist() == [2]


def test_three_places_are_refused() -> None:
    with pytest.raises(ValueError, match="groups of 4"):
        odd_places([np.zeros(3)])


@pytest.mark.parametrize(
    ("means", "slower"),
    [
        ([0.0, 0.01, 0.3, 0.31], [2, 3]),
        ([0.3, 0.0, 0.31, 0.01, 0.02, 0.29], [0, 2, 5]),
        ([0.0, 0.01, 0.02, 0.3], []),  # one of four is odd, and no kind
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.3], []),  # nor are two of seven
        ([0.0, 0.01, 0.05, 0.06], []),  # less apart than matters
        ([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], []),  # one long row
        ([0.0, 0.3, 0.3], []),
    ],
)
def test_two_kinds(means: list[float], slower: list[int]) -> None:
    assert np.flatnonzero(kinds_of(np.array(means), least=0.1)).tolist() == slower


def test_places_that_only_differ_are_of_one_kind() -> None:
    rng = np.random.default_rng(2)
    assert not any(
        kinds_of(places(rng, count), least=math.log(1.1)).any() for count in (4, 8, 64) for _ in range(ROUNDS)
    )
