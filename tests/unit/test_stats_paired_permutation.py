"""Comparing arms: false alarms, power and intervals from simulations whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from further import further
from steelyard.stats.paired_permutation import GAPS, compare_arms, least_pairs, level_modes, modes_of
from steelyard.stats.unpaired import compare_sittings

Table = NDArray[np.float64]
_ALARM = 0.01


def _slots(rng: np.random.Generator, pairs: int, columns: int, world: str, cv: float) -> Table:
    """Logarithms of times, (2 pairs, columns), in the order in which they were measured."""
    count = 2 * pairs
    values = rng.normal(0, cv, (count, columns))
    half = np.arange(columns) < columns // 2
    if "hour" in world:
        values += rng.normal(0, 0.02, (count, 1))
    if "modes" in world:
        values += np.log(2) * ((rng.random((count, columns)) < 0.3) & half)
    if "lasting" in world:
        state = rng.normal(size=(count, columns))
        for i in range(1, count):
            state[i] = 0.8 * state[i - 1] + 0.6 * state[i]
        values += np.log(2) * ((state > 0.52) & half)
    if "drift" in world:
        values += np.cumsum(rng.normal(0, 0.05, (count, columns)), axis=0)
    if "tails" in world:
        values += np.log1p(0.02 * rng.pareto(1.5, (count, columns)))
    return values


def _arms(
    seed: int, pairs: int, columns: int, world: str, cv: float, by_turns: bool = True
) -> tuple[Table, Table]:
    """Two arms that are the same: by turns, a coin for each pair; else the one after the other."""
    rng = np.random.default_rng([seed, pairs, columns, len(world)])
    slots = _slots(rng, pairs, columns, world, cv)
    if not by_turns:
        return slots[:pairs], slots[pairs:]
    both = slots.reshape(pairs, 2, columns)
    coin = rng.integers(0, 2, pairs)
    return both[np.arange(pairs), coin], both[np.arange(pairs), 1 - coin]


_WORLDS = ("hour", "hour modes", "lasting", "drift", "drift modes tails")


@pytest.mark.parametrize(("seeds", "least"), [(15, 5), further(30, 7)])
def test_equal_arms_are_called_different_in_one_comparison_of_a_hundred(seeds: int, least: int) -> None:
    """5 comparisons a seed of 40 test cases, at 1 % each: so many have a probability of 0.001 (binomial)."""
    alarms = sum(
        compare_arms(*_arms(seed, 8, 40, world, 0.03), seed=seed).p.min() <= _ALARM
        for world in _WORLDS
        for seed in range(seeds)
    )
    assert alarms < least


@pytest.mark.parametrize(("false_alarm", "pairs"), [(0.01, 8), (0.005, 9), (0.01 / 6, 11), (0.01 / 36, 13)])
def test_so_many_pairs_can_tell_at_all(false_alarm: float, pairs: int) -> None:
    """Arms a factor of two apart are told by so many pairs, and by one less whatever they show."""
    assert least_pairs(false_alarm) == pairs
    rng = np.random.default_rng(2)
    for count, told in ((pairs, True), (pairs - 1, False)):
        first, second = rng.normal(0, 0.01, (2, count, 3))
        found = compare_arms(first, second + np.log(2), level=1 - false_alarm)
        assert bool(found.p[0] <= false_alarm) == told


def test_the_same_test_is_worthless_without_turns() -> None:
    """The design carries the promise, not the formula: what an hour adds is found as a difference."""
    alarms = 0
    for seed in range(20):
        first, second = _arms(seed, 8, 40, "", 0.01, by_turns=False)
        an_hour_later = np.random.default_rng(seed).normal(0, 0.03, (1, 40))
        alarms += int(compare_arms(first, second + an_hour_later, seed=seed).p.min() <= _ALARM)
    assert alarms > 10


@pytest.mark.parametrize(
    ("world", "cv", "pairs", "effect", "least"),
    [("", 0.01, 8, 0.05, 0.85), further("", 0.03, 12, 0.10, 0.8), ("modes", 0.01, 14, 0.05, 0.8)],
)
def test_a_slow_down_is_found(world: str, cv: float, pairs: int, effect: float, least: float) -> None:
    """The powers of 100 test cases that the method was designed for are 100, 90 and 90 %; in one comparison
    of a hundred the pairs look alike by chance.
    """
    found, inside, rounds, slowed = 0, 0, 8, 5
    truth = np.where(np.arange(100) < slowed, np.log1p(effect), 0.0)
    for seed in range(rounds):
        first, second = _arms(seed, pairs, 100, world, cv)
        said = compare_arms(first, second + truth, seed=seed)
        found += int((said.p[:slowed] <= _ALARM).sum())
        inside += int(((said.low <= truth) & (truth <= said.high)).all())
    assert found >= least * rounds * slowed
    assert inside >= rounds - 1


@pytest.mark.parametrize(
    ("columns", "slowed", "effect", "cv", "pairs", "half", "least"),
    [
        (20, 20, 0.5, 0.01, 8, 0.035, 1.0),
        (20, 15, 0.1, 0.03, 8, 0.085, 0.75),
        (4, 3, 0.1, 0.03, 8, 0.075, 0.7),
    ],
)
def test_a_difference_in_most_columns_widens_no_interval(
    columns: int, slowed: int, effect: float, cv: float, pairs: int, half: float, least: float
) -> None:
    """The scale of the statistic holds no effect: intervals of 2.3, 7.0 and 5.7 %, power 100, 89 and 91 %."""
    truth = np.where(np.arange(columns) < slowed, np.log1p(effect), 0.0)
    halves, found, held, rounds = [], 0, 0, 20
    for seed in range(rounds):
        first, second = _arms(seed, pairs, columns, "", cv)
        said = compare_arms(first, second + truth, seed=seed)
        halves.append(float(np.median(said.high - said.low)) / 2)
        found += int((said.p[:slowed] <= _ALARM).sum())
        held += int(((said.low <= truth) & (truth <= said.high)).all())
    assert np.median(halves) < half
    assert found >= least * rounds * slowed
    assert held >= rounds - 1


def test_zero_is_in_the_interval_just_where_nothing_is_told() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, second = _arms(seed, 9, 12, "modes", 0.02)
        said = compare_arms(first, second + rng.choice([0.0, 0.03, 0.06, -0.1], 12), seed=seed)
        told = said.p <= _ALARM
        assert not ((said.low < 0) & (said.high > 0))[told].any()
        assert ((said.low <= 0) & (said.high >= 0))[~told].all()


def _lasting(rng: np.random.Generator, pairs: int, columns: int, stays: float) -> Table:
    """An arm that drifts by itself: its logarithms are AR(1) over launches."""
    values = rng.normal(0, 0.03, (pairs, columns))
    for i in range(1, pairs):
        values[i] = stays * values[i - 1] + np.sqrt(1 - stays**2) * values[i]
    return values


@pytest.mark.parametrize("stays", [further(0.4), 0.8])
def test_arms_that_drift_by_themselves_are_not_told(stays: float) -> None:
    """Without a look at the order of pairs, 22 and 95 % of such comparisons of equals alarm."""
    alarms, seen = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        said = compare_arms(_lasting(rng, 12, 40, stays), _lasting(rng, 12, 40, stays), seed=seed)
        alarms += int(said.p.min() <= _ALARM)
        seen += said.alike
    assert alarms <= 1
    assert seen >= 18


def test_a_difference_far_beyond_the_drift_is_told() -> None:
    rng = np.random.default_rng(5)
    said = compare_arms(_lasting(rng, 12, 40, 0.8), _lasting(rng, 12, 40, 0.8) + np.log(2))
    assert said.alike
    assert (said.p <= _ALARM).all()


@pytest.mark.parametrize("effect", [0.3, 1.0])
def test_a_large_difference_is_not_taken_for_modes(effect: float) -> None:
    """Each arm is then a cluster of its own, which no look at the values alone tells from a mode."""
    first, second = _arms(1, 10, 20, "", 0.02)
    second = second.copy()
    second[:, :3] += np.log1p(effect)
    said = compare_arms(first, second)
    assert (said.p[:3] <= _ALARM).all()
    np.testing.assert_allclose(np.exp(said.estimate[:3]), 1 + effect, rtol=0.03)
    assert (said.low[:3] > 0.5 * np.log1p(effect)).all()


def test_a_difference_that_is_not_significant_is_not_hidden_by_modes() -> None:
    """Four pairs cannot have a p of 1 %; the estimate must still be the difference that is there."""
    first, second = _arms(2, 4, 3, "", 0.01)
    said = compare_arms(first, second + np.log(1.5))
    assert (said.p > _ALARM).all()
    np.testing.assert_allclose(said.estimate, np.log(1.5), atol=0.05)


def test_modes_are_taken_off_without_knowing_the_arms() -> None:
    values = np.array([0.0, 0.01, 0.70, 0.71, np.nan, -0.01])
    left = level_modes(values[:, None], 1.25)[:, 0]
    assert np.isnan(left[4])
    np.testing.assert_allclose(left[np.isfinite(left)], [0.0, 0.01, -0.005, 0.005, -0.01], atol=1e-12)
    assert modes_of(values, 1.25) == 2
    assert modes_of(values, np.inf) == 1


def test_launches_that_are_missing_are_left_out_in_pairs() -> None:
    first, second = _arms(3, 10, 4, "", 0.01)
    first, second = first.copy(), second + 0.2
    first[2, 0] = second[5, 0] = np.nan
    first[:, 3] = np.nan
    said = compare_arms(first, second)
    assert said.pairs.tolist() == [8, 10, 10, 0]
    np.testing.assert_allclose(said.estimate[:3], 0.2, atol=0.02)
    assert np.isnan(said.estimate[3])
    assert said.p[3] == 1.0


@pytest.mark.parametrize("shape", [(1, 3), (4,)])
def test_too_little_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two pairs"):
        compare_arms(np.zeros(shape), np.zeros(shape))


def test_all_swaps_or_two_thousand() -> None:
    """The least p that there can be: 1 of 2^(n-1), or of 2000."""
    for pairs, least in ((8, 1 / 128), (10, 1 / 512), (20, 1 / 2000)):
        first, second = _arms(4, pairs, 2, "", 0.001)
        assert compare_arms(first, second + 1.0).p == pytest.approx(least)


def test_sittings_allow_for_what_an_hour_adds() -> None:
    """Each sitting is off by 3 %, as a machine is from one hour to the next: 1 % alarms of 60 comparisons."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        hours = rng.normal(0, 0.03, (2, 1, 20))
        first, second = (hour + rng.normal(0, 0.02, (10, 20)) for hour in hours)
        alarms += int(compare_sittings(first, second).p.min() <= _ALARM)
    assert alarms <= 4
    first, second = rng.normal(0, 0.02, (10, 20)), rng.normal(0.7, 0.02, (10, 20))
    assert (compare_sittings(first, second).p <= _ALARM).all()


def test_gaps_begin_with_none() -> None:
    assert np.isinf(GAPS[0])
