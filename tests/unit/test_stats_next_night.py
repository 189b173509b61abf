"""Nights: false alarms, power, dates and intervals of changes and of tonight, from simulations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from further import further
from steelyard.stats.change_points import LEAST_SIDE, find_changes, scale_of
from steelyard.stats.next_night import nights_needed, screen_tonight

Table = NDArray[np.float64]


def _nights(seed: int, nights: int, columns: int, alike: float = 0.0, cv: float = 0.01) -> Table:
    """Logarithms of times, (nights, columns), each night correlated with the one before."""
    rng = np.random.default_rng([seed, nights, columns])
    values = rng.normal(0, cv, (nights, columns))
    for night in range(1, nights):
        values[night] = alike * values[night - 1] + np.sqrt(1 - alike**2) * values[night]
    return values


@pytest.mark.parametrize(("histories", "least"), [(30, 3), further(60, 4)])
def test_a_history_without_a_change_has_none_dated(histories: int, least: int) -> None:
    """Of 12 series at 1 % each: so many or more have a probability of 0.003 (binomial)."""
    alarms = sum(bool(find_changes(_nights(seed, 24, 12), seed=seed)) for seed in range(histories))
    assert alarms < least


@pytest.mark.parametrize(("histories", "least"), [(20, 4), further(40, 6)])
def test_nights_that_are_like_the_one_before_are_not_taken_for_changes(histories: int, least: int) -> None:
    """With a correlation of 0.5 the same orders without regard to it find a change in every third history."""
    alarms = sum(bool(find_changes(_nights(seed, 30, 12, alike=0.5), seed=seed)) for seed in range(histories))
    assert alarms < least


@pytest.mark.parametrize("effect", [0.05, further(-0.05), further(1.0)])
def test_a_change_is_dated(effect: float) -> None:
    found, exact, dated, inside, others, runs = 0, 0, 0, 0, 0, 10
    truth, at = np.log1p(effect), 20
    for seed in range(runs):
        values = _nights(seed, 30, 20)
        values[at:, 3] += truth
        told = find_changes(values, seed=seed)
        mine = [one for one in told if one.column == 3 and abs(one.at - at) <= 1]
        others += len(told) - len(mine)
        found += len(mine)
        exact += sum(one.at == at for one in mine)
        dated += sum(one.earliest <= at <= one.latest for one in mine)
        inside += sum(one.low <= truth <= one.high for one in mine)
    assert found >= 9
    assert exact >= 8
    assert dated >= found - 1
    assert inside >= found - 1
    assert others <= 1


def test_there_and_back_again_are_two_changes() -> None:
    values = _nights(1, 45, 5)
    values[15:30, 2] += 0.1
    told = find_changes(values)
    assert [(one.column, one.at, one.estimate > 0) for one in told] == [(2, 15, True), (2, 30, False)]


def test_a_wild_night_is_no_change_and_hides_none() -> None:
    values = _nights(2, 30, 5)
    values[8] += 0.5
    assert find_changes(values) == ()
    values[20:, 1] += 0.06
    assert [(one.column, one.at) for one in find_changes(values)] == [(1, 20)]


def test_nights_that_lack_a_series_are_stepped_over() -> None:
    values = _nights(3, 30, 4)
    values[18:, 0] += 0.1
    values[[2, 9, 17, 25], 0] = np.nan
    values[:, 3] = np.nan
    (told,) = find_changes(values)
    assert (told.column, told.at) == (0, 18)


@pytest.mark.parametrize("nights", [1, 2, 2 * LEAST_SIDE - 1])
def test_few_nights_show_no_change(nights: int) -> None:
    values = _nights(4, nights, 3)
    values[nights // 2 :] += 1.0
    assert find_changes(values) == ()


def test_nights_that_agree_to_the_last_digit_are_no_change() -> None:
    values = np.zeros((20, 2))
    assert find_changes(values) == ()
    values[10:] += 1e-6
    assert find_changes(values) == ()


def test_the_scale_of_normal_numbers() -> None:
    """2.2219 makes Qn the standard deviation of many normal numbers (Rousseeuw and Croux 1993)."""
    drawn = np.random.default_rng(5).normal(0, 3, 1500)
    assert 2.2219 * float(scale_of(drawn)) == pytest.approx(3, rel=0.06)
    drawn[:600] = 1e6
    assert float(scale_of(drawn)) < 20


@pytest.mark.parametrize(("nights", "least"), [(100, 5), further(200, 7)])
def test_a_night_like_those_before_is_not_slower(nights: int, least: int) -> None:
    """Of 20 series at 1 % each: so many or more have a probability of 0.004 (binomial)."""
    alarms = 0
    for seed in range(nights):
        values = _nights(seed, 15, 20)
        alarms += bool((screen_tonight(values, [(0,)] * 20).p <= 0.01).any())
    assert alarms < least


def test_nights_with_heavy_tails_alarm_little_more() -> None:
    """Lognormal nights, 20 of 50 series: without regard to tails 44 % alarm."""
    alarms, runs = 0, 25
    for seed in range(runs):
        values = 0.01 * np.exp(np.random.default_rng([seed, 4]).normal(0, 0.6, (21, 50)))
        said = screen_tonight(values, [(0,)] * 50)
        beyond = np.abs(said.estimate) > said.farthest  # as a verdict asks
        alarms += bool(((said.p <= 0.01) & beyond).any())
    assert alarms <= 2


def test_a_slow_night_is_found_and_its_interval_holds() -> None:
    found = inside = 0
    for seed in range(20):
        values = _nights(seed, 21, 20)
        values[-1, 0] += np.log(1.1)
        said = screen_tonight(values, [(0,)] * 20)
        found += bool(said.p[0] <= 0.01)
        truth = np.r_[np.log(1.1), np.zeros(19)]
        inside += bool(((said.low <= truth) & (truth <= said.high)).all())
    assert found >= 18
    assert inside >= 19


def test_tonight_is_held_against_its_own_level() -> None:
    values = _nights(6, 31, 2)
    values[20:, 0] += 0.3
    said = screen_tonight(values, [(0, 20), (0,)])
    assert said.nights.tolist() == [10, 30]
    assert said.p[0] > 0.01
    assert abs(said.estimate[0]) < 0.05
    assert screen_tonight(values, [(0,), (0,)]).scatter[0] > 1.5 * said.scatter[0]


def test_one_wild_night_before_hides_no_slow_one() -> None:
    values = _nights(7, 21, 1)
    values[4] += 0.5
    values[-1] += 0.1
    said = screen_tonight(values, [(0,)])
    assert said.p[0] <= 0.01
    assert said.farthest[0] > 0.4


def test_too_few_nights_say_so() -> None:
    said = screen_tonight(_nights(8, 3, 2), [(0,), (0,)])
    assert np.isnan(said.estimate).all()
    assert (said.p == 1).all()


def test_how_many_nights_would_tell() -> None:
    """More nights narrow the interval to what a night adds, and no further."""
    few = nights_needed(0.01, 0.05, 0.01)
    many = nights_needed(0.01, 0.05, 0.0001)
    assert 3 < (few or 0) < (many or 0)
    assert nights_needed(0.03, 0.05, 0.01) is None


def test_many_nights_are_as_few_ones_are() -> None:
    """Beyond 60 nights the scale's properties are those for many: the interval does not jump there."""
    few, many = (screen_tonight(_nights(9, n + 1, 30), [(0,)] * 30) for n in (60, 61))
    widths = [np.median((one.high - one.low) / one.scatter) for one in (few, many)]
    assert widths[1] == pytest.approx(widths[0], rel=0.03)


def _series(rng: np.random.Generator, nights: int, columns: int, kind: str) -> Table:
    """Nights of series that are alike, of series whose scatter differs by a factor of 8, or with tails."""
    if kind == "differ":
        scatter = np.exp(rng.uniform(np.log(0.005), np.log(0.04), columns))
        return np.asarray(scatter * rng.standard_normal((nights, columns)))
    if kind == "tails":
        return np.asarray(0.01 * rng.standard_t(4, (nights, columns)))
    return np.asarray(0.01 * rng.standard_normal((nights, columns)))


@pytest.mark.parametrize("kind", ["alike", "differ", "tails"])
@pytest.mark.parametrize("before", [3, further(5)])
def test_few_nights_do_not_alarm(kind: str, before: int) -> None:
    """100 tables of 20 series at 1 % each: 8 or more have a probability below 0.0001 (binomial).

    In 300 tables of other numbers 0 to 2.3 % alarmed.
    """
    alarms = 0
    for seed in range(100):
        values = _series(np.random.default_rng([seed, before]), before + 1, 20, kind)
        told = screen_tonight(values, [[0]] * 20)
        alarms += bool(((told.p <= 0.01) & (np.abs(told.estimate) > told.farthest)).any())
    assert alarms < 8


def test_three_nights_find_what_is_far_off() -> None:
    """Series that are alike lend each other their scatter; one alone has two degrees of freedom."""
    found, alone = 0, 0
    for seed in range(20):
        values = _series(np.random.default_rng(seed), 4, 20, "alike")
        values[-1, 0] += np.log(1.3)
        found += bool(screen_tonight(values, [[0]] * 20).p[0] <= 0.01)
        alone += bool(screen_tonight(values[:, :1], [[0]]).p[0] <= 0.01 / 20)
    assert found >= 18
    assert alone <= 12


def test_series_lend_as_far_as_they_are_alike() -> None:
    rng = np.random.default_rng(2)
    alike, differ = (
        screen_tonight(_series(rng, 13, 20, kind), [[0]] * 20).lent for kind in ("alike", "differ")
    )
    assert alike > 8
    assert differ < 4
    assert screen_tonight(_series(rng, 13, 2, "alike"), [[0]] * 2).lent == 0  # two show no such thing


def test_what_others_lend_saves_nights() -> None:
    alone, lent = (nights_needed(0.01, 0.05, 0.01, lent=lent) for lent in (0.0, 20.0))
    assert alone is not None
    assert lent is not None
    assert lent < alone
