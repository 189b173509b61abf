from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import lfilter

import steelyard.stats
from steelyard.stats import (
    block_interval,
    block_medians,
    block_quantiles,
    drifts,
    find_modes,
    launch_interval,
    median,
    quantile,
    with_tick,
)
from steelyard.stats.interval import lag1

FloatArray = NDArray[np.float64]

numbers = st.lists(st.floats(min_value=1.0, max_value=1e6), min_size=1, max_size=300)


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_stats_import_nothing_of_ours_but_stats() -> None:
    for path in Path(steelyard.stats.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            assert all(
                not name.startswith("steelyard") or name.startswith("steelyard.stats") for name in names
            )


# ---- medians and quantiles of rounded data


@pytest.mark.parametrize(
    ("values", "tick", "expected"),
    [
        ([3.0, 1.0, 2.0], 0.0, 2.0),
        ([4.0, 1.0, 2.0, 3.0], 0.0, 2.5),
        ([5.0], 10.0, 5.0),
        ([0.0, 100.0], 1.0, 50.0),  # the cell around the middle is empty
        ([10.0, 20.0], 10.0, 15.0),
        ([20.0] * 3 + [30.0], 10.0, 15 + 2 / 3 * 10),  # L = 15, F = 0, f = 3, n/2 = 2
        ([10.0] * 2 + [20.0] * 5 + [30.0] * 3, 10.0, 15 + 3 / 5 * 10),  # L = 15, F = 2, f = 5, n/2 = 5
        ([-7.4] * 2 + [2.6] * 5 + [12.6] * 3, 10.0, -2.4 + 6),  # the grid may be shifted
    ],
)
def test_grouped_median(values: list[float], tick: float, expected: float) -> None:
    assert median(values, tick) == pytest.approx(expected)


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.25, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("jitter", [0.0, 3.0, 30.0])
def test_grouped_median_recovers_a_dithered_truth(fraction: float, jitter: float) -> None:
    """A clock of 10 ns read at a random phase: the truth is found to a tenth of a tick, and the noise."""
    rng, tick, count = generator(7), 10.0, 4000
    truth = 40.0 + 10.0 * fraction
    start = rng.uniform(0, 1e6, count)
    stop = start + truth + jitter * rng.standard_normal(count)
    seen = np.floor(stop / tick) * tick - np.floor(start / tick) * tick
    noise = 4 * 1.2533 * max(jitter, 1.0) / math.sqrt(count)
    assert abs(median(seen, tick) - truth) < 0.1 * tick + noise


def test_plain_median_of_rounded_data_is_off_by_half_a_tick() -> None:
    """What the grouped median is for: the plain one reads 40 for a truth of 44."""
    rng = generator(3)
    start = rng.uniform(0, 1e6, 4000)
    seen = np.floor((start + 44.0) / 10) * 10 - np.floor(start / 10) * 10
    assert np.median(seen) == 40.0
    assert abs(median(seen, 10.0) - 44.0) < 1.0


def test_grouped_quantiles_of_a_rounded_uniform() -> None:
    rng = generator(5)
    data = rng.uniform(1000, 2000, 50_000)
    rounded = np.floor(data / 10) * 10 + 5
    shares = (0.05, 0.5, 0.9, 0.99)
    assert quantile(rounded, shares, 10.0) == pytest.approx(tuple(np.quantile(data, shares)), abs=1.0)


@given(numbers, st.lists(st.floats(min_value=0, max_value=1), min_size=2, max_size=5), st.floats(0, 100))
def test_quantiles_are_ordered_and_inside(values: list[float], shares: list[float], tick: float) -> None:
    found = quantile(values, sorted(shares), 0.0)
    assert list(found) == sorted(found)
    for value in quantile(values, shares, tick):
        assert min(values) <= value <= max(values)


@given(numbers, st.sampled_from([0.25, 0.5, 2.0, 4.0, 1024.0]), st.sampled_from([0.0, 1.0, 16.0]))
def test_median_scales_with_its_unit(values: list[float], factor: float, tick: float) -> None:
    """Powers of two keep all digits, so that the equality is exact."""
    assert median([factor * value for value in values], factor * tick) == factor * median(values, tick)


@given(
    st.lists(st.integers(0, 2**20), min_size=1, max_size=300),
    st.integers(-(2**20), 2**20),
    st.integers(0, 64),
)
def test_median_moves_with_a_shift(values: list[int], shift: int, tick: int) -> None:
    moved = median([value + shift for value in values], 2.0 * tick)
    assert moved == pytest.approx(median(values, 2.0 * tick) + shift, abs=1e-6)


@given(numbers, st.randoms(use_true_random=False), st.floats(0, 10))
def test_median_knows_no_order(values: list[float], random: object, tick: float) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert median(shuffled, tick) == median(values, tick)


@given(st.lists(st.integers(0, 50), min_size=32, max_size=200))
def test_block_medians_are_medians_of_blocks(values: list[int]) -> None:
    size = len(values) // 16
    blocks = [values[len(values) - 16 * size :][i * size : (i + 1) * size] for i in range(16)]
    for tick in (0.0, 1.0):
        expected = [median(block, tick) for block in blocks]
        assert block_medians(values, 16, tick) == pytest.approx(expected)


@given(st.lists(st.integers(0, 50), min_size=32, max_size=200), st.sampled_from([0.1, 0.5, 0.9, 0.99]))
def test_block_quantiles_are_quantiles_of_blocks(values: list[int], p: float) -> None:
    size = len(values) // 16
    blocks = [values[len(values) - 16 * size :][i * size : (i + 1) * size] for i in range(16)]
    for tick in (0.0, 1.0):
        expected = [quantile(block, (p,), tick)[0] for block in blocks]
        assert block_quantiles(values, 16, p, tick) == pytest.approx(expected)


def test_without_values_there_is_nothing_to_say() -> None:
    for call in (lambda: median([]), lambda: block_interval([]), lambda: block_medians([1.0], 2)):
        with pytest.raises(ValueError, match=r"."):
            call()
    with pytest.raises(ValueError, match="probability"):
        quantile([1.0], [1.5])
    with pytest.raises(ValueError, match="two"):
        launch_interval([1.0])


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


def correlated(rng: np.random.Generator, shape: tuple[int, int], time: float) -> FloatArray:
    """AR(1) of unit variance with a correlation time of `time` samples, stationary from the start."""
    phi = math.exp(-1 / time)
    noise = math.sqrt(1 - phi**2) * rng.standard_normal(shape)
    noise[:, 0] /= math.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise, axis=1), dtype=np.float64)


def test_blocks_cover_the_median_of_correlated_data_that_is_long_enough() -> None:
    rows = correlated(generator(13), (300, 32_768), 50)
    assert 0.92 <= covered(rows, 0.0) <= 0.98
    assert np.mean([(block_interval(row).lag1 or 0) < 0.4 for row in rows]) > 0.95


def test_lag1_says_that_correlated_data_is_too_short() -> None:
    """The rule of the engine: not settled while fine blocks that follow each other are alike."""
    rows = correlated(generator(17), (100, 256), 50)
    assert covered(rows, 0.0) < 0.8
    assert np.mean([(block_interval(row).lag1 or 0) > 0.4 for row in rows]) > 0.95


def test_block_interval_by_hand() -> None:
    """128 values are their own fine blocks; the coarse ones are 8 each, with means i."""
    values = np.repeat(np.arange(16.0), 8)
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
    [(1, "none", False), (2, "t", False), (5, "t", False), (6, "ranks", False), (31, "ranks", False),
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


# ---- intervals over launches


@pytest.mark.parametrize(
    ("count", "left_out", "level"),
    [(6, 0, 0.96875), (8, 0, 0.9921875), (9, 1, 0.9609375), (10, 1, 0.978515625), (20, 5, 0.958610534667969)],
)
def test_order_statistics_by_the_book(count: int, left_out: int, level: float) -> None:
    """Ranks and coverage as in any table of the sign test: [2nd, 9th] of 10, [6th, 15th] of 20."""
    found = launch_interval([float(value) for value in generator().permutation(count)])
    assert (found.low, found.high) == (left_out, count - 1 - left_out)
    assert found.level == pytest.approx(level)
    assert (found.kind, found.n, found.value) == ("ranks", count, (count - 1) / 2)


def test_where_no_ranks_reach_the_level_logs_do() -> None:
    found = launch_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], level=0.99)
    assert (found.kind, found.level) == ("t of logs", 0.99)


def test_student_on_logs_by_hand() -> None:
    found = launch_interval([1.0, math.e, math.e**2])
    half = 4.30265 * 1.0 / math.sqrt(3)
    assert found.value == pytest.approx(math.e)
    assert math.log(found.high) == pytest.approx(1 + half, rel=1e-4)
    assert math.log(found.low) == pytest.approx(1 - half, rel=1e-4)
    assert found.kind == "t of logs"
    assert launch_interval([-1.0, 1.0]).kind == "t"


@pytest.mark.parametrize(
    ("count", "low", "high"), [(2, 0.93, 0.97), (5, 0.93, 0.97), (10, 0.96, 0.995), (20, 0.94, 0.98)]
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
    assert 0.92 <= inside / trials <= 0.98


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
    assert 0.92 <= inside / trials <= 0.98


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
    assert (other.value, other.low, other.high) == pytest.approx((found.value, found.low, found.high))


# ---- modes and drift


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
    return drifts(found.medians, found.estimate)


def test_drift() -> None:
    noise = generator(37).normal(0, 1, 4000)
    assert drifts_of(100 + np.linspace(0, 5, 4000) + noise)
    assert drifts_of(100 + np.where(np.arange(4000) < 2000, 0, 3) + noise)
    assert not drifts_of(100 + noise)
    assert not drifts_of(noise[:20])


def test_steady_series_seldom_seem_to_drift() -> None:
    rows = generator(41).standard_normal((400, 512))
    assert np.mean([drifts_of(row) for row in rows]) < 0.02
