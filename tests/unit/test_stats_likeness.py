"""Launches that stay in modes or change slowly, as all test cases of a folder show them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from samples import generator
from steelyard.stats import Interval, launch_interval, span_of
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import NOT_ALIKE, Likeness, common_likeness
from steelyard.stats.interval import MODES


def _folder(rng: np.random.Generator, count: int, *, apart: float, slow: float, stay: float) -> FloatArray:
    """Make launch medians of forty test cases with two modes, (40, launches), in logarithms.

    Each launch stays in the mode of the launch before, or is slow by chance.
    """
    is_slow = rng.random((40, count)) < slow
    for k in range(1, count):
        is_slow[:, k] = np.where(rng.random(40) < stay, is_slow[:, k - 1], is_slow[:, k])
    return np.asarray(0.03 * rng.standard_normal(is_slow.shape) + apart * is_slow)


@pytest.mark.parametrize("count", [3, 4, 5, 6, 10])
@pytest.mark.parametrize("apart", [2.0, 1.4])
def test_intervals_hold_where_all_launches_may_be_in_one_mode(apart: float, count: int) -> None:
    """A third of the launches slow, 12 folders; without what other test cases show, 71 to 88 % hold."""
    rng = generator(68)
    held: list[bool] = []
    alone: list[bool] = []
    for _ in range(12):
        folder = np.exp(_folder(rng, count, apart=math.log(apart), slow=0.3, stay=0.8))
        alike = common_likeness(folder)
        for known, counted in ((alike, held), (NOT_ALIKE, alone)):
            found = [launch_interval(own, alike=known) for own in folder]
            counted += [one.low <= 1.01 and one.high >= 1.01 for one in found]
    assert np.mean(held) >= 0.92
    assert np.mean(alone) <= 0.88


@pytest.mark.parametrize("count", [3, 6])
def test_launches_that_scatter_are_not_taken_to_miss_a_mode(count: int) -> None:
    """Independent, with tails, and with accidents by large factors, as where other programs take CPUs."""
    rng = generator(69)
    for _ in range(10):
        folder = 0.03 * rng.standard_normal((40, count))
        assert common_likeness(np.exp(folder)).apart == 0.0
        by_tails = np.exp(0.03 * rng.standard_t(3, (40, count)))
        assert common_likeness(by_tails).apart <= math.log(1.5)
        folder[:12, 0] += rng.uniform(3.0, 9.0, 12)
        assert common_likeness(np.exp(folder)).apart == 0.0


def test_an_interval_reaches_to_a_mode_that_no_launch_was_in() -> None:
    near, apart = [1000.0, 1010.0, 1005.0, 990.0, 1002.0], math.log(2.0)
    plain, said = (launch_interval(near, alike=one) for one in (NOT_ALIKE, Likeness(apart=apart)))
    assert (said.value, said.low, said.high) == pytest.approx((1002.0, 501.0, 2004.0))
    assert said.kind == f"{plain.kind}{MODES}"
    both = [1000.0, 1010.0, 2005.0, 1990.0, 1002.0]  # they saw the other
    assert launch_interval(both, alike=Likeness(apart=apart)) == launch_interval(both)
    shares = launch_interval([0.1, 0.2, 0.15], logs=False, alike=Likeness(apart=apart))
    assert (shares.kind, shares.low, shares.high) == ("none", -math.inf, math.inf)
    assert span_of([0.1, 0.2, 0.15], logs=False, alike=Likeness(apart=apart)) == Interval(0.15)


@pytest.mark.parametrize(("count", "least"), [(3, 0.89), (4, 0.92), (5, 0.92), (6, 0.94)])
def test_launches_that_rise_and_fall_slowly_are_seen_by_forty_test_cases(count: int, least: float) -> None:
    """A wave of 5 % in twenty launches, scatter of 3 %, each test case at its own place; 12 folders."""
    rng, held = generator(70), []
    for _ in range(12):
        places = np.arange(count) / 20 + rng.random((40, 1))
        folder = np.exp(0.03 * rng.standard_normal((40, count)) + 0.05 * np.sin(2 * np.pi * places))
        alike = common_likeness(folder)
        held += [one.low <= 1 <= one.high for one in (launch_interval(own, alike=alike) for own in folder)]
    assert np.mean(held) >= least


@pytest.mark.parametrize(
    ("launches", "series", "assumes"), [(1, 1.0, False), (3, 1.0, True), (3, 40.0, False), (6, 1.0, False)]
)
def test_few_launches_assume_what_too_few_test_cases_show(
    launches: int, series: float, assumes: bool
) -> None:
    assert Likeness(rho=0.4, series=series).assumes(launches) == assumes


def test_a_test_case_without_a_time_hides_no_modes_of_the_others() -> None:
    """One whose median is 0 in a launch has no logarithm."""
    folder = np.exp(_folder(generator(71), 6, apart=math.log(2.0), slow=0.3, stay=0.8))
    known = common_likeness(folder).apart
    assert known > 0.5
    assert common_likeness([*folder, [0.0, 900.0, 300.0, 4000.0, 20.0, 700.0]]).apart > 0.5
