"""The words of a comparison, and how many launches would decide."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from steelyard.compare.answer import (
    CANNOT_TELL,
    FASTER,
    LITTLE,
    SAME,
    SLOWER,
    Answer,
    Contrast,
    Question,
    answer,
)
from steelyard.compare.verdicts import answers_of
from steelyard.stats.swaps import compare_arms

_ASKED = Question()


@pytest.mark.parametrize(
    ("estimate", "half", "p", "pairs", "modes", "verdict"),
    [
        (0.10, 0.03, 0.002, 10, 1, SLOWER),
        (-0.10, 0.03, 0.002, 10, 1, FASTER),
        (0.01, 0.005, 0.002, 10, 1, LITTLE),
        (0.00, 0.03, 0.9, 10, 1, SAME),
        (0.00, 0.03, 0.9, 10, 2, SAME),
        (0.00, 0.20, 0.9, 10, 1, CANNOT_TELL),
        (0.04, 0.02, 0.02, 10, 1, CANNOT_TELL),
    ],
)
def test_the_words(estimate: float, half: float, p: float, pairs: int, modes: int, verdict: str) -> None:
    assert answer(_seen(estimate, half, p, pairs, modes=modes), _ASKED).verdict == verdict


def test_a_share_of_modes_that_may_have_moved_is_not_the_same() -> None:
    """With modes taken off the ratio is narrow; the plain one is not, as a mode may come more often."""
    seen = _seen(0.0, 0.03, 0.9, 30, modes=2)
    said = answer(replace(seen, plain_low=-0.08, plain_high=0.08), _ASKED)
    assert said.verdict == CANNOT_TELL
    assert said.why == "2 modes"
    assert said.launches_needed is not None
    assert said.launches_needed > 100


@pytest.mark.parametrize("moves", [0.0, 0.15])
def test_mode_shares_are_never_called_the_same_by_few_pairs(moves: float) -> None:
    """The slow mode, twice as slow, comes in 45 % of the launches of one arm, and as often or more of the
    other.
    """
    for seed in range(10):
        rng = np.random.default_rng(seed)
        first, second = (
            rng.normal(0, 0.01, (30, 5)) + math.log(2) * (rng.random((30, 5)) < share)
            for share in (0.45, 0.45 + moves)
        )
        said = answers_of(compare_arms(first, second, seed=seed), first, second, _ASKED)
        assert SAME not in {one.verdict for one in said}


def _seen(
    estimate: float, half: float, p: float, pairs: int, least: int | None = 2, modes: int = 1
) -> Contrast:
    ends = estimate - half, estimate + half
    return Contrast(estimate, *ends, p, pairs, *ends, half / 4, least, modes)


@pytest.mark.parametrize(
    ("estimate", "half", "pairs", "least", "between"),
    [
        (0.0, 4 * math.log(1.05), 10, 8, (180, 450)),  # four times as wide: sixteen times as many, and more
        (0.69, 0.69, 8, 9, (9, 16)),  # twice as long is seen long before 5 % would be
        (0.69, 0.10, 4, 8, (8, 8)),  # four pairs cannot have a p of 1 %, whatever they show
        (0.03, 0.08, 8, 8, (60, 130)),  # neither far from 0 nor from the margin
    ],
)
def test_how_many_launches_would_tell(
    estimate: float, half: float, pairs: int, least: int, between: tuple[int, int]
) -> None:
    said = answer(_seen(estimate, half, 0.02, pairs, least), _ASKED)
    assert said.verdict == CANNOT_TELL
    assert said.launches_needed is not None
    assert between[0] <= said.launches_needed <= between[1]


def test_no_number_of_launches_is_named_where_none_helps() -> None:
    """Folders: an hour is one hour, however many launches it has. Pairs that are alike are no replicates."""
    assert answer(_seen(0.69, 0.80, 0.02, 8, None), _ASKED).launches_needed is None
    alike = replace(_seen(0.03, 0.2, 0.5, 12), alike=True)
    assert answer(alike, _ASKED).launches_needed is None
    assert answer(alike, _ASKED).why == "pairs next to each other are alike"


def test_the_launches_that_are_named_decide_in_most_comparisons() -> None:
    """A true difference of 3 % is the hardest: between nothing and the margin. 80 % are asked for."""
    decided = asked = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        needed = _first_answer(rng, 8, seed).launches_needed
        if needed is not None:
            asked += 1
            decided += _first_answer(rng, needed, seed).verdict != CANNOT_TELL
    assert asked >= 15
    assert decided >= 0.65 * asked  # 80 % less three standard errors of some 25


def _first_answer(rng: np.random.Generator, pairs: int, seed: int) -> Answer:
    """Answer for the first of three test cases, all 3 % slower; launches scatter by 3 %."""
    first, second = (rng.normal(shift, 0.03, (pairs, 3)) for shift in (0.0, math.log(1.03)))
    return answers_of(compare_arms(first, second, seed=seed), first, second, _ASKED)[0]
