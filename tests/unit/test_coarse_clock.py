"""A coarse clock gives each launch the same number: what is compared has no scatter at all."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.judges.compare.contrasts import answers_of
from steelyard.judges.compare.launches_needed import Estimated, Prospect, launches_needed
from steelyard.judges.compare.scale import Question
from steelyard.stats.interim_looks import compare_looks


@pytest.mark.parametrize("pairs", [2, 3, 8])
@pytest.mark.parametrize("difference", [0.0, 0.04, 0.2])
def test_launches_without_scatter_are_compared(pairs: int, difference: float) -> None:
    first = np.full((pairs, 1), np.log(1000.0))
    second = first + difference
    found = compare_looks(first, second, [], level=0.99, seed=1)
    (said,) = answers_of(found, first, second, Question())
    assert said.ratio == pytest.approx(np.exp(difference))


@pytest.mark.parametrize("error", [0.0, 0.1])
def test_launches_to_come_are_foreseen_without_a_scatter(error: float) -> None:
    known = Prospect(Estimated(0.0, error, 0.1), Estimated(0.0, 0.0, 0.0), 8, (), 1, 0.01)
    assert launches_needed(known, 0.05) is not None
