"""Modes and drift of series whose regimes are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from further import further
from samples import generator
from steelyard.stats import block_interval, drift_of, find_modes, mode_interval, share_interval, typical_mode
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import Likeness


def regimes(count: int, levels: tuple[float, ...], dwell: int, seed: int = 29) -> FloatArray:
    where = (np.arange(count) // dwell) % len(levels)
    return np.asarray(np.array(levels)[where] * np.exp(0.05 * generator(seed).standard_normal(count)))


def test_two_regimes_are_two_modes() -> None:
    found = find_modes([regimes(8000, (0.2, 0.45), 1000)])
    assert [mode.value for mode in found] == pytest.approx([0.2, 0.45], rel=0.02)
    assert [mode.share for mode in found] == pytest.approx([0.5, 0.5], abs=0.05)


def test_three_regimes_are_three_modes() -> None:
    assert len(find_modes([regimes(9000, (100.0, 200.0, 450.0), 500)])) == 3


def test_a_mode_of_whole_launches() -> None:
    """Two launches make a mode; one alone may have met anything, and hides no mode of others."""
    steady = [generator(seed).normal(200, 5, 1000) for seed in range(8)]
    slow = [generator(seed).normal(440, 5, 1000) for seed in (8, 9)]
    found = find_modes([*steady, *slow])
    assert [mode.share for mode in found] == pytest.approx([0.8, 0.2])
    assert [one is None for one in found[1].by_launch] == [True] * 8 + [False] * 2
    assert len(find_modes([*steady, slow[0]])) == 1
    found = find_modes([*steady, *slow, np.full(100, 5000.0)])
    assert [mode.value for mode in found] == pytest.approx([200, 440], rel=0.02)


def test_short_launches_are_a_block_each() -> None:
    found = find_modes([[200.0, 201.0, 199.0]] * 4 + [[430.0, 441.0]] * 2)
    assert [mode.value for mode in found] == [200.0, 435.5]
    assert [mode.share for mode in found] == pytest.approx([2 / 3, 1 / 3])


def _count(logs: FloatArray) -> int:
    """How many modes launches have that took these medians."""
    return len(find_modes([np.full(8, one) for one in np.exp(logs)]))


@pytest.mark.parametrize(("deviations", "modes"), [(3.7, 1), (4.3, 2)])
def test_a_gap_of_four_deviations_is_one_between_modes(deviations: float, modes: int) -> None:
    """Of so many launches that it is not Student's t that asks for more: 3.6 of 38 degrees of freedom."""
    inside = 0.03 * np.resize([-1.0, 1.0], 20)
    gap = deviations * np.std(inside, ddof=1)
    assert _count(np.concatenate((inside, 0.06 + gap + inside))) == modes


@pytest.mark.parametrize(("scatter", "most"), [(0.03, 0.005), (0.3, 0.025)])
@pytest.mark.parametrize("launches", [6, 10, further(20)])
def test_launches_that_scatter_seldom_have_modes(scatter: float, most: float, launches: int) -> None:
    draws = generator(51).standard_normal((400, launches))
    assert np.mean([_count(scatter * row) > 1 for row in draws]) <= most


@pytest.mark.parametrize(("launches", "least"), [(10, 0.65), further(20, 0.85)])
def test_modes_that_are_a_third_apart_are_found(launches: int, least: float) -> None:
    """30 % of launches are slow: of ten launches fewer than two are in 15 %, and then there is no mode."""
    rng = generator(52)
    draws = 0.03 * rng.standard_normal((400, launches)) + np.log(1.3) * (rng.random((400, launches)) < 0.3)
    assert np.mean([_count(row) == 2 for row in draws]) >= least


def test_the_typical_mode_is_the_same_in_equal_campaigns() -> None:
    """Medians of equal campaigns differ by more than 10 % in a quarter of them, typical modes seldom."""
    rng = generator(53)
    found = []
    for _ in range(300):
        level = np.where(rng.random(10) < 0.3, 2.0, 1.0) * np.exp(0.03 * rng.standard_normal(10))
        modes = find_modes([np.full(8, one) for one in level])
        if len(modes) == 2:
            found.append((float(np.median(level)), modes[typical_mode(modes)].value))
    assert len(found) > 240
    medians, values = np.array(found).T
    assert np.mean(np.abs(np.diff(np.log(medians))) > 0.1) > 0.15
    assert np.mean(np.abs(np.diff(np.log(values))) > 0.1) < 0.06


def test_the_interval_of_a_mode_and_of_its_share_hold_the_truth() -> None:
    rng, held = generator(54), []
    for _ in range(300):
        is_slow = rng.random(12) < 0.3
        level = np.where(is_slow, 2.0, 1.0) * np.exp(0.03 * rng.standard_normal(12))
        modes = find_modes([np.full(8, one) for one in level])
        if len(modes) == 2:
            span, (low, high) = mode_interval(modes[0]), share_interval(modes[1].shares)
            held.append((span.low <= 1 <= span.high, low <= 0.3 <= high))
    assert np.mean(held, axis=0) == pytest.approx([0.97, 0.97], abs=0.03)


def test_share_of_launches_is_as_clopper_and_pearson_say() -> None:
    """Figures: three of ten, tables of the binomial distribution."""
    assert share_interval([1.0] * 3 + [0.0] * 7) == pytest.approx((0.0667, 0.6525), abs=1e-4)
    assert share_interval([0.0] * 10) == pytest.approx((0, 0.3085), abs=1e-4)
    assert share_interval([0.4]) == (0, 1)


def test_the_value_of_a_mode_allows_for_launches_that_are_alike() -> None:
    modes = find_modes([[one] for one in (100.0, 101.0, 102.0, 103.0, 150.0, 151.0, 152.0, 153.0)])
    alone, beside = (mode_interval(modes[0], alike=Likeness(rho)) for rho in (0.0, 0.7))
    assert beside.low < alone.low < alone.value == beside.value < alone.high < beside.high


def test_one_launch_has_modes_with_intervals_of_its_blocks() -> None:
    fast, slow = find_modes([regimes(8000, (100.0, 130.0), 1000)])
    assert (fast.value, slow.value) == pytest.approx((100, 130), rel=0.02)
    span = mode_interval(fast)
    assert 0.97 * 100 < span.low < 100 < span.high < 1.03 * 100


@pytest.mark.parametrize(
    "series",
    [
        generator(31).normal(100, 3, 5000),
        generator(31).lognormal(3, 0.3, 5000),
        np.where(generator(31).random(5000) < 0.1, 30.0, 1.0)
        * generator(32).normal(100, 3, 5000),  # slow calls
        np.concatenate((np.full(4900, 100.0), np.full(100, 900.0))),  # 2 % of the time
        regimes(8000, (100.0, 108.0), 1000),  # less than 1.1 apart
        np.linspace(100, 400, 8000),  # a drift has no gap
        np.array([5.0]),
    ],
    ids=["normal", "skewed", "outliers", "short", "near", "drift", "one"],
)
def test_one_mode(series: FloatArray) -> None:
    assert len(find_modes([series])) == 1


def test_a_block_that_saw_the_change_does_not_bridge_the_gap() -> None:
    series = np.concatenate((np.full(3150, 200.0), np.full(64, 300.0), np.full(3186, 450.0)))
    assert [mode.value for mode in find_modes([series])] == pytest.approx([200, 450])


def test_modes_closer_than_a_tick_are_none() -> None:
    series = np.repeat([10.0, 20.0] * 8, 100)
    assert len(find_modes([series], 10.0)) == 1
    assert len(find_modes([series], 1.0)) == 2


@given(st.lists(st.lists(st.floats(0.1, 1e6), max_size=80), min_size=1, max_size=6))
def test_shares_make_a_whole(launches: list[list[float]]) -> None:
    found = find_modes(launches)
    assert bool(found) == any(launches)
    if found:
        assert sum(mode.share for mode in found) == pytest.approx(1)
        assert all(mode.share >= 0.05 - 1e-6 for mode in found) or len(found) == 1
        assert [mode.value for mode in found] == sorted(mode.value for mode in found)


@pytest.mark.parametrize("factor", [0.25, 8.0])
def test_modes_scale(factor: float) -> None:
    series = regimes(4000, (100.0, 220.0), 500)
    ours, theirs = find_modes([series], 1.0), find_modes([factor * series], factor)
    assert [(factor * mode.value, mode.share) for mode in ours] == [
        (mode.value, mode.share) for mode in theirs
    ]


def drifts_of(series: FloatArray) -> bool:
    found = block_interval(series)
    return drift_of(found.medians) > 0


def test_drift() -> None:
    noise = generator(37).normal(0, 1, 4000)
    assert drifts_of(100 + np.linspace(0, 5, 4000) + noise)
    assert drifts_of(100 + np.where(np.arange(4000) < 2000, 0, 3) + noise)
    assert not drifts_of(100 + noise)
    assert not drifts_of(noise[:20])


def test_steady_series_seldom_seem_to_drift() -> None:
    rows = generator(41).standard_normal((400, 512))
    assert np.mean([drifts_of(row) for row in rows]) < 0.02
