"""Intervals inside a launch and over launches: by hand, and how often the truth is in them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import generator
from steelyard.stats import (
    block_interval,
    block_quantiles,
    launch_interval,
    median,
    quantile,
    slope_interval,
    with_tick,
)
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import (
    FEW_RHO,
    MOST_RHO,
    NOT_ALIKE,
    Likeness,
    alike_p,
    common_likeness,
    lag1,
    likeness,
)
from steelyard.stats.interval import t_quantile

Draw = Callable[[np.random.Generator, int], FloatArray]

# ---- intervals inside a launch


def covered(rows: FloatArray, truth: float) -> float:
    inside = [one.estimate.low <= truth <= one.estimate.high for one in (block_interval(row) for row in rows)]
    return float(np.mean(inside))


@pytest.mark.parametrize("count", [100, 2048])
@pytest.mark.parametrize("shape", ["normal", "lognormal"])
def test_blocks_cover_the_median_of_independent_data(count: int, shape: str) -> None:
    normal = generator(11).standard_normal((400, count))
    rows, truth = (normal, 0.0) if shape == "normal" else (np.exp(0.5 * normal), 1.0)
    assert 0.92 <= covered(rows, truth) <= 0.985


def correlated(rng: np.random.Generator, shape: tuple[int, ...], time: float) -> FloatArray:
    """AR(1) of unit variance with a correlation time of `time` samples, stationary from the start."""
    from scipy.signal import lfilter  # which takes each worker a second, and few need it

    phi = math.exp(-1 / time)
    noise = math.sqrt(1 - phi**2) * rng.standard_normal(shape)
    noise[..., 0] /= math.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise, axis=-1), dtype=np.float64)


def test_blocks_cover_the_median_of_correlated_data_that_is_long_enough() -> None:
    rows = correlated(generator(13), (300, 32_768), 50)
    assert 0.92 <= covered(rows, 0.0) <= 0.98
    assert np.mean([(block_interval(row).lag1 or 0) < 0.4 for row in rows]) > 0.95


def test_lag1_says_that_correlated_data_is_too_short() -> None:
    """The rule of the engine: not settled while fine blocks that follow each other are alike."""
    rows = correlated(generator(17), (100, 256), 50)
    assert np.mean([(block_interval(row).lag1 or 0) > 0.4 for row in rows]) > 0.95


@pytest.mark.parametrize(
    ("count", "tau"), [(2857, 10), (2857, 50), (2857, 200), (100, 10), (100, 50), (100, 200)]
)
def test_an_interval_of_correlated_data_is_widened_or_none(count: int, tau: int) -> None:
    """Blocks alone cover 76 % of 2857 values whose correlation lasts for 200, and 19 % of 100."""
    assert covered(correlated(generator(tau), (300, count), tau), 0.0) >= 0.87


def test_a_walk_has_no_interval() -> None:
    assert math.isinf(block_interval(1000 + np.cumsum(generator().normal(size=5000))).estimate.high)


def test_block_interval_by_hand() -> None:
    """128 values are their own fine blocks; the coarse ones are 8 each, with means i."""
    values = np.repeat(np.arange(16.0), 8) + np.tile([100.0, -100.0], 64)  # no two neighbours are alike
    found = block_interval(values)
    half = 2.13145 * np.std(np.arange(16.0), ddof=1) / 4
    assert found.medians.tolist() == list(range(16))
    assert found.estimate.value == 7.5
    assert found.estimate.high - 7.5 == pytest.approx(half, rel=1e-4)
    assert found.estimate.low - 7.5 == pytest.approx(-half, rel=1e-4)
    assert (found.estimate.kind, found.estimate.n, found.estimate.level) == ("blocks", 128, 0.95)


def test_what_fills_no_block_is_left_out_at_the_start() -> None:
    steady = np.repeat(np.arange(16.0), 8)
    assert block_interval(np.concatenate(([1e9] * 5, steady))).medians.tolist() == list(range(16))


@pytest.mark.parametrize(
    ("count", "kind", "has_lag1"),
    [(1, "none", False), (2, "t of logs", False), (5, "t of logs", False), (6, "ranks", False),
     (31, "ranks", False),
     (32, "blocks", True), (127, "blocks", True), (128, "blocks", True)],
)  # fmt: skip
def test_short_series_say_what_they_rest_on(count: int, kind: str, has_lag1: bool) -> None:
    found = block_interval(generator().normal(100, 1, count))
    assert found.estimate.kind == kind
    assert (found.lag1 is not None) == has_lag1
    assert found.estimate.low <= found.estimate.value <= found.estimate.high
    assert math.isinf(found.estimate.high) == (count == 1)


def test_a_clock_that_does_not_dither_leaves_half_a_tick() -> None:
    estimate = block_interval([40.0] * 500, tick=10.0).estimate
    assert (estimate.value, estimate.low, estimate.high) == (40.0, 35.0, 45.0)
    dithered = block_interval([40.0, 50.0] * 250, tick=10.0).estimate
    assert dithered.high - dithered.low < 1.0
    assert with_tick(estimate, np.array([40.0, 60.0]), 10.0) == estimate


@given(st.integers(0, 2**32 - 1), st.sampled_from([20, 60, 300]), st.sampled_from([0.5, 2.0, 64.0]))
def test_block_interval_scales(seed: int, count: int, factor: float) -> None:
    values = generator(seed).lognormal(3, 0.2, count)
    one, other = block_interval(values, 0.5).estimate, block_interval(factor * values, 0.5 * factor).estimate
    scaled = (factor * one.value, factor * one.low, factor * one.high)
    assert (other.value, other.low, other.high) == pytest.approx(scaled, rel=1e-9)


def test_lag1_of_known_series() -> None:
    assert lag1([1.0] * 10) == 0.0
    assert lag1([1.0, -1.0] * 50) == pytest.approx(-0.99)
    assert lag1(np.arange(1000.0)) == pytest.approx(1.0, abs=0.01)


POSITIVE = st.floats(1e-3, 1e12, allow_subnormal=False)


@given(st.lists(POSITIVE, min_size=2, max_size=40), st.integers(1, 8), st.sampled_from([0.0, 0.5, 10.0]))
def test_intervals_of_positive_values_are_positive(values: list[float], times: int, tick: float) -> None:
    """A time is never below 0, however few and however different the samples or launches are."""
    for found in (block_interval(values * times, tick).estimate, launch_interval(values)):
        assert found.low <= found.value <= found.high
        assert found.kind == "none" or math.isinf(found.low) or found.low >= 0.0
        assert tick or found.kind == "none" or math.isinf(found.low) or found.low > 0.0


@pytest.mark.parametrize("values", [[10.0, 5000.0], [1.0] * 120 + [1e9] * 8, [1e-3, 1e12, 1.0]])
def test_wild_samples_have_wide_intervals_above_0(values: list[float]) -> None:
    assert 0 < block_interval(values).estimate.low <= block_interval(values).estimate.high < math.inf


# ---- intervals over launches


def far_from_neighbours(count: int) -> list[float]:
    """0 to count - 1, the least and the greatest by turns: neighbours are not alike."""
    return [float(i // 2 if i % 2 == 0 else count - 1 - i // 2) for i in range(count)]


def test_the_order_of_launches_is_tested_exactly() -> None:
    """16 of the 720 orders of six have neighbours as near as those of one that only goes up."""
    orders = np.array(list(itertools.permutations(range(6)))) - 2.5
    sums = (orders[:, :-1] * orders[:, 1:]).sum(axis=1)
    assert np.count_nonzero(sums >= sums[0]) == 16
    assert alike_p([1.0, 2.0, 3.0, 4.0, 5.0, 60.0]) == pytest.approx(16 / 720)
    assert alike_p(far_from_neighbours(6)) == pytest.approx(1, abs=0.03)
    assert alike_p([1.0, 2.0, 3.0, 4.0, 5.0]) == 1
    assert alike_p([1.0] * 10) == 1


def test_launches_in_random_order_seldom_seem_alike() -> None:
    draws = np.exp(generator(61).standard_normal((600, 10)))
    assert np.mean([alike_p(row) <= 0.05 for row in draws]) == pytest.approx(0.05, abs=0.025)


@pytest.mark.parametrize(("count", "most"), [(10, 1.4), (20, 1.25)])
def test_independent_launches_pay_little_for_those_that_are_alike(count: int, most: float) -> None:
    """Half of them next to nothing, and this factor in the mean."""
    wider = [launch_interval(row).widened for row in np.exp(generator(63).standard_normal((300, count)))]
    assert np.median(wider) < 1.12
    assert 1.1 < np.exp(np.mean(np.log(wider))) < most


@pytest.mark.parametrize(
    ("count", "phi", "least"),
    [(3, 0.4, 0.92), (5, 0.4, 0.92), (10, 0.4, 0.95), (20, 0.4, 0.94), (10, 0.8, 0.86), (20, 0.8, 0.92)],
)
def test_launches_that_are_alike_have_a_wider_interval(count: int, phi: float, least: float) -> None:
    """At lag-1 0.4 order statistics alone hold 92 and 85 %, Student's t of five 82 %, and at 0.8 63 and 59 %;
    independent launches hold what is stated.
    """
    rng = generator(62)
    alike = np.exp(0.03 * correlated(rng, (500, count), -1 / math.log(phi)))
    held = [one.low <= 1 <= one.high for one in map(launch_interval, alike)]
    assert np.mean(held) >= least
    free = np.exp(0.03 * rng.standard_normal((500, count)))
    held = [one.low <= 1 <= one.high for one in map(launch_interval, free)]
    assert 0.95 <= np.mean(held) <= 0.995


@pytest.mark.parametrize(
    ("phi", "cases", "low", "high"),
    [(0.0, 20, 0.0, 0.1), (0.4, 20, 0.2, 0.45), (0.8, 20, 0.55, 0.85), (0.8, 1, 0.0, 0.9)],
)
def test_all_test_cases_together_show_how_alike_launches_are(
    phi: float, cases: int, low: float, high: float
) -> None:
    """Where one test case says next to nothing: the middle of 40 folders of ten launches."""
    draws = correlated(generator(64), (40, cases, 10), -1 / math.log(phi or 1e-9))
    assert low <= np.median([common_likeness(folder).rho for folder in draws]) <= high


@pytest.mark.parametrize("count", [3, 4, 5, 10])
@pytest.mark.parametrize("phi", [0.0, 0.4, 0.75])
def test_many_test_cases_show_their_likeness_in_few_launches(count: int, phi: float) -> None:
    """What a rho makes of so few is known, without bias."""
    table = correlated(generator(66), (4000, count), -1 / math.log(phi or 1e-9))
    assert common_likeness(np.exp(table)).rho == pytest.approx(phi, abs=0.12)


def test_test_cases_that_share_the_scatter_of_launches_show_no_more_than_one() -> None:
    """Launches in random order that are slow or fast in all of twenty test cases at once."""
    rng = generator(67)
    shared = [common_likeness(rng.standard_normal(5) + 0.3 * rng.standard_normal((20, 5))) for _ in range(60)]
    apart = [common_likeness(rng.standard_normal((20, 5))) for _ in range(60)]
    assert np.median([one.series for one in shared]) < 4
    assert np.median([one.series for one in apart]) > 18
    assert np.mean([one.rho > FEW_RHO for one in shared]) < 0.25


def test_what_cannot_show_likeness_says_nothing_of_it() -> None:
    assert common_likeness([]) == common_likeness([[1.0, 2.0], [7.0] * 10]) == Likeness()
    assert (likeness([7.0] * 10), likeness([1.0, 2.0, 3.0]), likeness(range(30))) == (0.0, FEW_RHO, MOST_RHO)


@pytest.mark.parametrize(("count", "alone", "together"), [(8, 0.9, 0.95), (10, 0.91, 0.95), (20, 0.94, 0.96)])
def test_launches_that_stay_alike_hold_by_what_all_test_cases_show(
    count: int, alone: float, together: float
) -> None:
    """AR(1) of 0.8, 25 folders of 20 test cases."""
    draws = np.exp(0.03 * correlated(generator(65), (25, 20, count), -1 / math.log(0.8)))
    held = {
        pooled: np.mean(
            [
                one.low <= 1 <= one.high
                for folder in draws
                for one in (
                    launch_interval(row, alike=common_likeness(folder) if pooled else NOT_ALIKE)
                    for row in folder
                )
            ]
        )
        for pooled in (False, True)
    }
    assert held[True] >= together > alone
    assert held[False] < held[True] - 0.02


def test_an_interval_is_widened_to_both_sides_of_its_value() -> None:
    up, mixed = (
        launch_interval([1 + one for one in order]) for order in (range(10), far_from_neighbours(10))
    )
    assert (up.value, up.level, mixed.widened) == (mixed.value, mixed.level, 1)
    known = launch_interval([1 + one for one in far_from_neighbours(10)], alike=Likeness(0.6))
    assert known.widened == pytest.approx(2 * t_quantile(0.95, 3) / t_quantile(0.95, 9))  # worth four
    assert up.widened == pytest.approx(3 * t_quantile(0.95, 3) / t_quantile(0.95, 9))  # rho of 0.8 at most
    assert math.log(up.high / up.value) == pytest.approx(up.widened * math.log(mixed.high / mixed.value))
    assert math.log(up.value / up.low) == pytest.approx(up.widened * math.log(mixed.value / mixed.low))


@pytest.mark.parametrize(
    ("count", "left_out", "level"),
    [(6, 0, 0.96875), (8, 0, 0.9921875), (9, 1, 0.9609375), (10, 1, 0.978515625), (20, 5, 0.958610534667969)],
)
def test_order_statistics_by_the_book(count: int, left_out: int, level: float) -> None:
    """Ranks and coverage as in any table of the sign test: [2nd, 9th] of 10, [6th, 15th] of 20."""
    found = launch_interval(far_from_neighbours(count))
    assert (found.low, found.high) == (left_out, count - 1 - left_out)
    assert found.level == pytest.approx(level)
    assert (found.kind, found.n, found.value) == ("ranks", count, (count - 1) / 2)


def test_where_no_ranks_reach_the_level_logs_do() -> None:
    found = launch_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], level=0.99)
    assert (found.kind, found.level) == ("t of logs", 0.99)


def test_student_on_logs_by_hand() -> None:
    found = launch_interval([1.0, math.e, math.e**2])
    # Three of AR(1), 0.4: squares along the trend and across it are 0.84 and 0.52; the mean has 1.64 / 3.
    half = t_quantile(0.95, 1.36**2 / (0.84**2 + 0.52**2)) * math.sqrt(1.64 / 3)
    half *= 1.0 / math.sqrt(1.36 / 2)  # their deviation, which is seen, over what is expected of it
    assert found.value == pytest.approx(math.e)
    assert math.log(found.high) == pytest.approx(1 + half, rel=1e-4)
    assert math.log(found.low) == pytest.approx(1 - half, rel=1e-4)
    assert found.kind == "t of logs"
    assert launch_interval([-1.0, 1.0]).kind == "t"


@pytest.mark.parametrize(
    ("count", "low", "high"), [(2, 0.93, 0.97), (5, 0.93, 1.0), (10, 0.96, 0.995), (20, 0.94, 0.98)]
)
def test_launches_cover_the_population(count: int, low: float, high: float) -> None:
    """Launches that differ by 10 %: the interval is for all launches, which one launch cannot know."""
    medians = np.exp(0.1 * generator(19).standard_normal((1500, count)))
    inside = [found.low <= 1.0 <= found.high for found in (launch_interval(row.tolist()) for row in medians)]
    assert low <= float(np.mean(inside)) <= high


@pytest.mark.parametrize("count", [2, 5, 9])
def test_launches_of_correlated_values_cover_the_population(count: int) -> None:
    """Launches that differ by 10 %, of 1024 values each with a correlation time of 50: nominally 95 %."""
    rng, trials = generator(43), 400
    inside = 0
    for _ in range(trials):
        effects = np.exp(0.1 * rng.standard_normal((count, 1)))
        rows = effects * (1 + 0.05 * correlated(rng, (count, 1024), 50))
        found = launch_interval([median(row) for row in rows])
        inside += found.low <= 1.0 <= found.high
    assert 0.92 <= inside / trials <= 0.99


@pytest.mark.parametrize("count", [5, 9])
def test_launches_cover_a_quantile_of_the_population(count: int) -> None:
    """The median over launches of their own p95, where the values of a launch are lognormal."""
    rng, trials, truth = generator(47), 400, math.exp(0.2 * 1.6449)
    inside = 0
    for _ in range(trials):
        effects = np.exp(0.1 * rng.standard_normal((count, 1)))
        rows = effects * np.exp(0.2 * rng.standard_normal((count, 2048)))
        found = launch_interval([quantile(row, (0.95,))[0] for row in rows])
        inside += found.low <= truth <= found.high
    assert inside / trials >= 0.92


def test_a_quantile_needs_values_beyond_it() -> None:
    """Ten in each coarse block: 16,000 values for p99, else the interval is infinite."""
    values = generator(53).lognormal(0, 0.3, 16_016)
    few, enough = block_interval(values[:15_984], p=0.99), block_interval(values, p=0.99)
    assert (few.estimate.kind, few.lag1) == ("none", None)
    assert math.isinf(few.estimate.high)
    assert few.estimate.value == pytest.approx(math.exp(0.3 * 2.3263), rel=0.05)
    assert enough.estimate.kind == "blocks"
    assert enough.estimate.low < math.exp(0.3 * 2.3263) < enough.estimate.high
    assert enough.medians == pytest.approx(block_quantiles(values[16:], 16, 0.99))


def test_one_launch_does_not_cover_the_population() -> None:
    """Why launches are the unit of replication: an interval inside one is honest for that launch only."""
    rng = generator(23)
    effects = np.exp(0.1 * rng.standard_normal((200, 1)))
    rows = effects * np.exp(0.05 * rng.standard_normal((200, 2048)))
    assert covered(rows, 1.0) < 0.2
    own = [covered(row[None, :], effect) for row, effect in zip(rows, effects[:, 0], strict=True)]
    assert np.mean(own) > 0.9


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_launch_interval_holds_its_value_in_any_order(medians: list[float], random: object) -> None:
    found = launch_interval(medians)
    assert found.low <= found.value <= found.high
    random.shuffle(medians)  # type: ignore[attr-defined]
    other = launch_interval(medians)
    assert other.value == pytest.approx(found.value)
    assert other.low <= other.value <= other.high


# ---- intervals of a slope


def test_slope_interval_covers_the_slope_as_often_as_it_says_whatever_a_few_points_are_off() -> None:
    rng, inside, runs = generator(7), 0, 400
    for _ in range(runs):
        x = rng.uniform(20.0, 40.0, 24)
        y = 1000.0 + 9.7 * x + rng.standard_t(2, 24)
        found = slope_interval(x, y)
        assert found is not None
        inside += found.low <= 9.7 <= found.high
    assert 0.92 <= inside / runs <= 0.98


def test_slope_interval_of_points_that_do_not_differ_in_x_is_none() -> None:
    assert slope_interval(np.full(9, 3.0), np.arange(9.0)) is None
    assert slope_interval(np.ones(1), np.ones(1)) is None
