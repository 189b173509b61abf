"""Distributions, which scipy knows, too."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import special

from steelyard.stats.distributions import (
    beta_cdf,
    beta_quantile,
    half_binomial_cdf,
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


def test_results_are_read_and_shown_without_scipy() -> None:
    """Its import takes longer than the reading."""
    words = "import sys, steelyard.session.results, steelyard.cli.show; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
