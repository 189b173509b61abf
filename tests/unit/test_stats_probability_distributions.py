"""Distributions, which scipy knows, too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from scipy.stats import hypergeom

from steelyard.stats.gamma import digamma, gamma_below, trigamma
from steelyard.stats.probability_distributions import (
    beta_cdf,
    beta_quantile,
    chi_square_quantile,
    half_binomial_cdf,
    hypergeometric_tail,
    normal_cdf,
    normal_quantile,
    student_quantile,
    student_tail,
)

CLOSE = 1e-10  # relative
TAILS = (1e-12, 1e-7, 0.005, 0.025, 0.3, 0.4999)


@pytest.mark.parametrize("degrees", [1, 1.3, 2, 2.7, 5, 9, 57.3, 200, 10_000])
def test_students_t(degrees: float) -> None:
    found = [student_quantile(degrees, p) for tail in TAILS for p in (tail, 1 - tail)]
    known = [special.stdtrit(degrees, p) for tail in TAILS for p in (tail, 1 - tail)]
    assert found == pytest.approx(known, rel=CLOSE)
    values = (0.0, 1e-5, 0.1, 1.0, 5.0, 40.0, 1e3)
    assert [student_tail(degrees, t) for t in values] == pytest.approx(
        [special.stdtr(degrees, -t) for t in values], rel=CLOSE, abs=1e-300
    )
    assert student_quantile(degrees, 0.5) == 0
    assert student_quantile(degrees, 1.0) == np.inf


@pytest.mark.parametrize(("a", "b"), [(0.2, 3), (1, 1), (1, 10), (3.7, 8), (9, 2), (200, 1), (20, 181)])
def test_beta(a: float, b: float) -> None:
    assert [beta_quantile(a, b, p) for p in TAILS] == pytest.approx(
        [special.betaincinv(a, b, p) for p in TAILS], rel=CLOSE
    )
    places = (0.0, 1e-9, 0.2, 0.5, 0.99, 1.0)
    assert [beta_cdf(a, b, x) for x in places] == pytest.approx(
        [special.betainc(a, b, x) for x in places], rel=CLOSE
    )


@pytest.mark.parametrize("count", [1, 2, 3, 6, 10, 31, 500, 501, 1500, 10_000])
def test_half_of_a_binomial_distribution(count: int) -> None:
    known = special.bdtr(np.arange((count + 1) // 2, dtype=float), count, 0.5)
    assert half_binomial_cdf(count) == pytest.approx(known, rel=CLOSE, abs=1e-300)


def test_the_normal_distribution() -> None:
    assert [normal_quantile(p) for p in TAILS] == pytest.approx([special.ndtri(p) for p in TAILS], rel=CLOSE)


def test_the_normal_distribution_below_many_values() -> None:
    values = np.concatenate((np.linspace(-10, 10, 1001), [-40.0, 40.0, -np.inf, np.inf, np.nan]))
    assert normal_cdf(values) == pytest.approx(special.ndtr(values), abs=1e-12, nan_ok=True)
    assert normal_cdf(np.zeros((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("degrees", [0.5, 1, 2, 3, 9, 57.3, 1000, 100_000])
def test_chi_squared(degrees: float) -> None:
    chances = (0.001, 0.02, 0.3, 0.5, 0.7, 0.98, 0.999)
    known = [special.chdtri(degrees, 1 - p) for p in chances]
    assert [chi_square_quantile(degrees, p) for p in chances] == pytest.approx(known, rel=1e-8)


@pytest.mark.parametrize("a", [0.05, 0.5, 1, 2.5, 30, 5000])
def test_the_gamma_function_and_its_relatives(a: float) -> None:
    assert digamma(a) == pytest.approx(special.digamma(a), rel=CLOSE)
    assert trigamma(a) == pytest.approx(special.polygamma(1, a), rel=CLOSE)
    places = (0.0, a / 1000, a / 2, a, a + 1, 2 * a, 50 * a)
    assert [gamma_below(a, x) for x in places] == pytest.approx(special.gammainc(a, places), rel=CLOSE)


@pytest.mark.parametrize(
    ("drawn", "marked", "whole"), [(1, 1, 2), (5, 9, 17), (12, 4, 80), (40, 900, 2000), (7, 0, 9)]
)
def test_marked_ones_among_those_drawn(drawn: int, marked: int, whole: int) -> None:
    for least in range(min(drawn, marked) + 2):
        known = hypergeom.sf(least - 1, whole, marked, drawn)
        assert hypergeometric_tail(least, drawn, marked, whole) == pytest.approx(known, rel=1e-8, abs=1e-300)
