"""Modes and drift of series whose regimes are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import FloatArray, generator
from steelyard.stats import block_interval, drifts, find_modes


def regimes(count: int, levels: tuple[float, ...], dwell: int, seed: int = 29) -> FloatArray:
    where = (np.arange(count) // dwell) % len(levels)
    return np.asarray(np.array(levels)[where] * np.exp(0.05 * generator(seed).standard_normal(count)))


def test_two_regimes_are_two_modes() -> None:
    found = find_modes([regimes(8000, (0.2, 0.45), 1000)])
    assert [mode.value for mode in found] == pytest.approx([0.2, 0.45], rel=0.02)
    assert [mode.share for mode in found] == pytest.approx([0.5, 0.5], abs=0.05)


def test_three_regimes_are_three_modes() -> None:
    assert len(find_modes([regimes(9000, (100.0, 200.0, 450.0), 500)])) == 3


def test_a_regime_of_whole_launches() -> None:
    steady = [generator(seed).normal(200, 5, 1000) for seed in range(9)]
    found = find_modes([*steady, generator(9).normal(440, 5, 1000)])
    assert [mode.share for mode in found] == pytest.approx([0.9, 0.1])


def test_short_launches_are_a_block_each() -> None:
    found = find_modes([[200.0, 201.0, 199.0]] * 4 + [[430.0, 441.0]])
    assert [mode.value for mode in found] == [200.0, 435.5]
    assert [mode.share for mode in found] == pytest.approx([0.8, 0.2])


@pytest.mark.parametrize(
    "series",
    [
        generator(31).normal(100, 3, 5000),
        generator(31).lognormal(3, 0.3, 5000),
        np.where(generator(31).random(5000) < 0.1, 30.0, 1.0)
        * generator(32).normal(100, 3, 5000),  # slow calls
        np.concatenate((np.full(4900, 100.0), np.full(100, 900.0))),  # 2 % of the time
        regimes(8000, (100.0, 130.0), 1000),  # less than 1.5 apart
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
    return drifts(found.medians)


def test_drift() -> None:
    noise = generator(37).normal(0, 1, 4000)
    assert drifts_of(100 + np.linspace(0, 5, 4000) + noise)
    assert drifts_of(100 + np.where(np.arange(4000) < 2000, 0, 3) + noise)
    assert not drifts_of(100 + noise)
    assert not drifts_of(noise[:20])


def test_steady_series_seldom_seem_to_drift() -> None:
    rows = generator(41).standard_normal((400, 512))
    assert np.mean([drifts_of(row) for row in rows]) < 0.02
