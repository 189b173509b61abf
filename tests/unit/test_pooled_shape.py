from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats import binned, cumulated, exceeded

numbers = st.lists(st.floats(min_value=1.0, max_value=1e6), min_size=1, max_size=200).map(np.array)


@given(numbers)
def test_a_tail_says_what_share_is_at_or_above(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    times, shares = exceeded([values], 80)
    assert shares == pytest.approx([np.mean(values >= time) for time in times])
    assert (times[0], times[-1]) == (values.min(), values.max())
    assert bool(np.all(np.diff(times) > 0))


def test_a_tail_of_many_values_is_thin_and_keeps_the_rarest() -> None:
    values = np.concatenate([np.full(99_990, 100.0), np.arange(10) + 1000.0])
    times, shares = exceeded([values], 80)
    assert times.size <= 80
    assert times[-1] == 1009.0
    assert shares[-1] == pytest.approx(1e-5)
    assert {1006.0, 1007.0, 1008.0} <= set(times)


def test_series_weigh_alike() -> None:
    series = [np.full(1000, 100.0), np.full(10, 300.0)]
    assert exceeded(series, 10)[1] == pytest.approx([1.0, 0.5])
    assert binned(series, (0.0, 0.0), np.array([50.0, 200.0, 400.0])) == pytest.approx([0.5, 0.5])
    assert cumulated(series, 5).tolist() == [100.0, 100.0, 100.0, 300.0, 300.0]


@given(numbers, st.floats(min_value=0.0, max_value=50.0))
def test_all_of_a_histogram_is_in_its_bins(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], tick: float
) -> None:
    edges = np.linspace(values.min() - 100, values.max() + 100, 17)
    shares = binned([values], (tick,), edges)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= -1e-6


def test_what_a_clock_rounded_is_no_comb() -> None:
    """Uniform times, seen by a clock of 10 ns and binned by 3 ns, are uniform again."""
    true = np.random.default_rng(1).uniform(100.0, 200.0, 200_000)
    edges = np.arange(113.0, 185.0, 3.0)
    shares = binned([np.floor(true / 10) * 10 + 5], (10.0,), edges)
    assert shares == pytest.approx(np.full(edges.size - 1, 0.03), rel=0.03)
    comb = binned([np.floor(true / 10) * 10 + 5], (0.0,), edges)
    assert comb.min() == 0.0
