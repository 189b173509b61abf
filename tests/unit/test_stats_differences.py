"""Intervals of the differences of pairs: by the tables, and how often the truth is in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from further import further
from steelyard.stats import difference_interval
from steelyard.stats.arrays import FloatArray


@pytest.mark.parametrize(
    ("count", "level"), [(6, 0.969), (7, 0.953), (8, 0.961), (9, 0.961), (10, 0.951), (20, 0.952)]
)
def test_levels_are_those_of_the_signed_rank_tables(count: int, level: float) -> None:
    """Hollander, Wolfe and Chicken 2014, table A.4."""
    found = difference_interval(list(np.random.default_rng(1).standard_normal(count)))
    assert found.kind == "signed ranks"
    assert found.level == pytest.approx(level, abs=0.001)


def test_the_centre_of_few_and_of_odd_differences() -> None:
    assert difference_interval([1.0, 3.0]).value == 2.0
    known = difference_interval([1.0, 60.0, 2.0, 5.0, 3.0, 4.0])  # Walsh averages: their median is 3.5
    assert (known.value, known.low, known.high) == (3.5, 1.0, 60.0)
    with pytest.raises(ValueError, match="at least two"):
        difference_interval([1.0])


def _normal(rng: np.random.Generator, count: int) -> FloatArray:
    return rng.standard_normal(count)


def _skewed(rng: np.random.Generator, count: int) -> FloatArray:
    """A long tail to one side, as times have."""
    return np.exp(rng.standard_normal(count))


def _wild(rng: np.random.Generator, count: int) -> FloatArray:
    return rng.standard_t(2, count)


@pytest.mark.parametrize("launches", [3, further(6), 10, further(20)])
@pytest.mark.parametrize("draw", [_normal, _skewed, _wild])
def test_differences_cover_zero(
    launches: int, draw: Callable[[np.random.Generator, int], FloatArray]
) -> None:
    """Student's t of three differences with wild tails covers more than 95 %, never less."""
    rng = np.random.default_rng(launches)
    found = [difference_interval((draw(rng, launches) - draw(rng, launches)).tolist()) for _ in range(1500)]
    share = float(np.mean([one.low <= 0 <= one.high for one in found]))
    assert 0.92 <= share <= (0.99 if launches > 3 or draw is _normal else 1.0)
