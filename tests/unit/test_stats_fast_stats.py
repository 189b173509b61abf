"""Statistics of few values, and quantiles of one series: to the bit what the general functions say."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.results.reduced import QUANTILES, quantiles_among
from steelyard.stats.fast_stats import deviation, mean, middle, row_middles, variance
from steelyard.stats.quantile import quantile, row_quantiles

_SIZES = (1, 2, 3, 7, 8, 9, 127, 128, 999, 1000, 4096, 4097, 5001)


@pytest.mark.parametrize("size", _SIZES)
def test_few_values_as_numpy_has_them(size: int) -> None:
    data = np.random.default_rng(size).lognormal(7.0, 0.5, size)
    assert mean(data) == mean(data.tolist()) == float(np.mean(data))
    assert middle(data) == middle(data.tolist()) == float(np.median(data))
    if size > 1:
        assert variance(data) == float(np.var(data, ddof=1))
        assert deviation(data) == float(np.std(data, ddof=1))
    rows = np.random.default_rng(size).normal(size=(3, size))
    assert row_middles(rows).tolist() == np.median(rows, axis=1).tolist()


def test_no_row_has_no_middle() -> None:
    assert row_middles(np.empty((0, 1))).shape == (0,)


@pytest.mark.parametrize("ranks", [*range(1, 66), 1000])
def test_quantiles_among_ranks_are_those_of_the_inverted_distribution(ranks: int) -> None:
    medians = np.random.default_rng(ranks).normal(size=ranks)
    expected = np.quantile(medians, QUANTILES, method="inverted_cdf")
    assert quantiles_among(medians) == tuple(expected.tolist())


@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("tick", [1.0, 7.0, 1000.0])
def test_the_quantiles_of_a_series_are_those_of_a_row(size: int, tick: float) -> None:
    """Those of one series are looked for in its sorted values, those of many rows by comparing all."""
    data = np.round(np.random.default_rng(size).normal(300.0, 20.0, size) / tick) * tick
    levels = (0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 1.0)
    assert quantile(data, levels, tick) == tuple(row_quantiles(data[None], levels, tick)[:, 0].tolist())
