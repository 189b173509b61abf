"""Folders that were measured at several sittings each: what an hour adds is seen, where it was assumed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from steelyard.stats.unpaired import LEAST_HOUR, compare_sittings


def test_one_sitting_each_by_hand() -> None:
    """Launches that differ by 1 %: an hour is assumed to add 3 %."""
    first, second = np.array([[0.0], [0.01], [0.02]]), np.array([[0.1], [0.11], [0.12]])
    found = compare_sittings(first, second, level=0.95)
    error = math.sqrt(0.01**2 * 2 / 3 + 2 * LEAST_HOUR**2)
    assert found.estimate[0] == pytest.approx(0.1)
    assert found.error[0] == pytest.approx(error)
    assert found.high[0] - 0.1 == pytest.approx(t.ppf(0.975, 4) * error)


def test_sittings_that_differ_by_much_are_seen() -> None:
    """Two sittings of each folder, 40 % apart: two degrees of freedom, with which nothing is told."""
    first = np.array([[0.0], [0.01], [0.4], [0.41]])
    second = first + 0.2
    seen = compare_sittings(first, second, level=0.95, sittings=((0, 0, 1, 1), (0, 0, 1, 1)))
    half = t.ppf(0.975, 2) * math.sqrt(0.08)  # means 0.4 apart: a variance of 0.08, over two and two
    assert seen.high[0] - 0.2 == pytest.approx(half)
    assert seen.p[0] == pytest.approx(2 * t.sf(0.2 / math.sqrt(0.08), 2))


@pytest.mark.parametrize(("sittings", "hour", "holds"), [(4, 0.1, True), (4, 0.0, True), (1, 0.1, False)])
def test_folders_of_several_sittings_hold(sittings: int, hour: float, holds: bool) -> None:
    """Five test cases, twelve launches: what an hour adds is 10 %, where 3 % was assumed."""
    labels, held, rounds = np.arange(12) * sittings // 12, 0, 100
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        both = [
            0.03 * rng.standard_normal((12, 5)) + (hour * rng.standard_normal((sittings, 5)))[labels]
            for _ in range(2)
        ]
        found = compare_sittings(*both, sittings=(labels.tolist(), labels.tolist()))
        held += bool(((found.low <= 0) & (found.high >= 0)).all())
    assert (held >= 0.95 * rounds) is holds
