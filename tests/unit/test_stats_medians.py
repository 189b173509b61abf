"""Medians and quantiles of rounded data and of blocks; statistics import nothing of ours but statistics."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard.stats
from samples import generator
from steelyard.stats import (
    block_interval,
    block_medians,
    block_quantiles,
    launch_interval,
    median,
    pooled_quantile,
    quantile,
)

numbers = st.lists(st.floats(min_value=1.0, max_value=1e6), min_size=1, max_size=300)


def test_stats_import_nothing_of_ours_but_stats() -> None:
    for path in Path(steelyard.stats.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            assert all(
                not name.startswith("steelyard") or name.startswith("steelyard.stats") for name in names
            )


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


def test_series_weigh_alike_however_long_they_are() -> None:
    """One slow launch of ten with thirty times the samples is a tenth, not three quarters."""
    series = [np.full(100, 1.0)] * 9 + [np.full(3000, 2.0)]
    assert pooled_quantile(series, (0.5, 0.89, 0.95)) == (1.0, 1.0, 2.0)
    assert quantile(np.concatenate(series), (0.5,)) == (2.0,)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.25]))
def test_series_of_one_length_are_pooled_as_they_are(seed: int, tick: float) -> None:
    series = [np.round(4 * generator(seed + i).lognormal(1, 0.5, 50)) / 4 for i in range(4)]
    at = (0.05, 0.5, 0.99)
    assert pooled_quantile(series, at, tick) == quantile(np.concatenate(series), at, tick)


def test_weighted_quantiles_undo_the_rounding_too() -> None:
    """A true value of 40.3 on a clock of 1: 30 % read 41, whatever series they are in."""
    series = [np.repeat([40.0, 41.0], [7, 3]), np.repeat([40.0, 41.0], [700, 300])]
    assert pooled_quantile(series, (0.5,), 1.0)[0] == pytest.approx(quantile(series[0], (0.5,), 1.0)[0])


def test_a_weighted_quantile_lies_inside_its_tick_by_hand() -> None:
    """Half of the weight reads 10, half 20: five eighths are a quarter into the tick from 15 to 25."""
    assert pooled_quantile([[10, 10, 20, 20], [10, 20]], (0.625,), 10.0)[0] == pytest.approx(17.5)


def test_pooled_quantiles_of_nothing() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        pooled_quantile([[], []], (0.5,))
    with pytest.raises(ValueError, match="between 0 and 1"):
        pooled_quantile([[1.0], [1.0, 2.0]], (1.5,))
