"""Slopes and fits, which scipy knows, too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.stats import theilslopes

from steelyard.stats.line_fits import nonnegative_fits, slope_interval


@pytest.mark.parametrize("count", [2, 3, 5, 12, 40])
@pytest.mark.parametrize("ties", [False, True])
def test_a_slope_is_the_median_of_all_pairs_with_kendalls_interval(count: int, ties: bool) -> None:
    random = np.random.default_rng(count)
    x = np.round(random.uniform(0, 9, count), 0 if ties else 9)
    x[0] = 10.0
    y = np.round(2 * x + random.standard_normal(count), 0 if ties else 9)
    known = theilslopes(y, x, alpha=0.9)
    slope = slope_interval(x, y, 0.9)
    assert slope is not None
    assert (slope.value, slope.low, slope.high) == pytest.approx(
        (known.slope, known.low_slope, known.high_slope), rel=1e-12
    )


@pytest.mark.parametrize("terms", [1, 2, 3, 4])
def test_fits_without_negative_factors_are_those_of_lawson_and_hanson(terms: int) -> None:
    random = np.random.default_rng(terms)
    designs = random.uniform(0, 1, (300, 7, terms)) ** 3 * 10.0 ** random.uniform(-4, 4, (300, 1, terms))
    values = random.standard_normal((300, 7)) + 0.3
    known = np.array([nnls(design, row)[0] for design, row in zip(designs, values, strict=True)])
    assert np.count_nonzero(known == 0) > 60  # where a plain fit has a factor below 0
    scales = np.linalg.norm(designs, axis=1)
    assert nonnegative_fits(designs, values) * scales == pytest.approx(known * scales, abs=1e-9)


def test_columns_of_one_direction_and_columns_of_zeros_share_no_factor() -> None:
    column = np.array([1.0, 2.0, 3.0])
    design = np.stack((np.zeros(3), column, 2 * column), axis=1)
    assert nonnegative_fits(design, 4 * column) == pytest.approx([0.0, 4.0, 0.0])
    assert nonnegative_fits(design, -column) == pytest.approx([0.0, 0.0, 0.0])


def test_equal_values_over_repeated_places_have_a_slope_of_nothing() -> None:
    slope = slope_interval(np.array([2.0, 2.0, 4.0, 8.0]), np.full(4, 128.0))
    assert slope is not None
    assert (slope.value, slope.low, slope.high) == (0.0, 0.0, 0.0)
