"""Launches that stay in modes, as all test cases of a folder show them."""

from __future__ import annotations

import numpy as np
import pytest

from samples import generator
from steelyard.stats.autocorrelation import Likeness, common_likeness


@pytest.mark.parametrize(
    ("stay", "count", "least", "most"),
    [(0.8, 5, 0, 0), (0.8, 6, 0.7, 1), (0.8, 10, 0.9, 1), (0.0, 6, 0, 0.1)],
)
def test_few_launches_that_stay_in_modes_do_not_show_the_others(
    stay: float, count: int, least: float, most: float
) -> None:
    """Of forty test cases of two modes, 70/30: a launch stays in that of the launch before. 30 folders."""
    rng, hidden = generator(68), []
    for _ in range(30):
        is_slow = rng.random((40, count)) < 0.3
        for k in range(1, count):
            is_slow[:, k] = np.where(rng.random(40) < stay, is_slow[:, k - 1], is_slow[:, k])
        folder = np.exp(0.03 * rng.standard_normal(is_slow.shape)) * (1.0 + is_slow)
        hidden.append(common_likeness(folder).hides(count))
    assert least <= np.mean(hidden) <= most
    assert not Likeness(rho=0.8).hides(6)  # without modes
    assert not Likeness(rho=0.4, stays=True).hides(10)  # worth enough


@pytest.mark.parametrize(
    ("launches", "assumes", "hides"), [(1, False, False), (3, True, False), (6, False, True)]
)
def test_too_few_launches_to_show_modes_assume_that_they_are_independent(
    launches: int, assumes: bool, hides: bool
) -> None:
    alike = Likeness(rho=0.9, series=40.0, stays=True)
    assert (alike.assumes(launches), alike.hides(launches)) == (assumes, hides)


def test_a_test_case_without_a_time_hides_no_modes_of_the_others() -> None:
    """One whose median is 0 in a launch has no logarithm."""
    rng = generator(69)
    order, begins, way = np.arange(6), rng.integers(1, 6, 40)[:, None], np.arange(40)[:, None] % 3
    is_slow = ((way == 0) & (order >= begins)) | ((way == 1) & (order < begins))
    folder = 1000.0 * np.exp(0.01 * rng.standard_normal((40, 6))) * (1 + is_slow)
    assert common_likeness(folder).hides(6)
    assert common_likeness([*folder, [0.0, 900.0, 300.0, 4000.0, 20.0, 700.0]]).hides(6)
