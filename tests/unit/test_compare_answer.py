"""The words of a comparison, and how many launches would decide."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from further import further
from steelyard.judges.compare.contrasts import answers_of
from steelyard.judges.compare.mode_shares import shares_words
from steelyard.judges.compare.scale import (
    FASTER,
    LITTLE,
    SAME,
    SLOWER,
    Answer,
    Contrast,
    Question,
    answer,
)
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.stats.interim_looks import compare_looks
from steelyard.stats.paired_permutation import compare_arms

_ASKED = Question()
Floats = NDArray[np.float64]


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
    estimate: float, half: float, p: float, pairs: int, by_turns: bool = True, modes: int = 1
) -> Contrast:
    ends = estimate - half, estimate + half
    return Contrast(estimate, *ends, p, pairs, *ends, half / 4, by_turns, modes)


@pytest.mark.parametrize(
    ("estimate", "half", "pairs", "between"),
    [
        (0.0, 4 * math.log(1.05), 10, (180, 700)),  # four times as wide: sixteen times as many, and more
        (0.69, 0.69, 8, (9, 40)),  # twice as long is seen long before 5 % would be
        (0.69, 0.10, 4, (8, 8)),  # four pairs cannot have a p of 1 %, whatever they show, and spend nothing
        (0.03, 0.08, 8, (60, 250)),  # neither far from 0 nor from the margin
    ],
)
def test_how_many_launches_would_tell(
    estimate: float, half: float, pairs: int, between: tuple[int, int]
) -> None:
    said = answer(_seen(estimate, half, 0.02, pairs), _ASKED)
    assert said.verdict == CANNOT_TELL
    assert said.launches_needed is not None
    assert between[0] <= said.launches_needed <= between[1]


def test_no_number_of_launches_is_named_where_none_helps() -> None:
    """Folders: an hour is one hour, however many launches it has. Pairs that are alike are no replicates."""
    assert answer(_seen(0.69, 0.80, 0.02, 8, by_turns=False), _ASKED).launches_needed is None
    alike = replace(_seen(0.03, 0.2, 0.5, 12), alike=True)
    assert answer(alike, _ASKED).launches_needed is None
    assert answer(alike, _ASKED).why == "pairs next to each other are alike"


@pytest.mark.parametrize(("truth", "cases"), [(0.0, 1), further(0.03, 3), (0.05, 1)])
def test_the_launches_that_are_named_decide_in_most_comparisons(truth: float, cases: int) -> None:
    """3 % is the hardest: between nothing and the margin. 80 % are promised, for a campaign that grows by the
    named launches and for a new one of as many.
    """
    grown = fresh = asked = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        arms = _arms(rng, 400, truth, cases)
        needed = _first_answer(arms, 8, seed).launches_needed
        if needed is not None and needed <= 400:
            asked += 1
            grown += _first_answer(arms, needed, seed, looks=(8,)).verdict != CANNOT_TELL
            fresh += _first_answer(_arms(rng, needed, truth, cases), needed, seed).verdict != CANNOT_TELL
    assert asked >= 15
    assert min(grown, fresh) >= 0.8 * asked


@pytest.mark.parametrize(("truth", "most"), [(0.0, 1), (0.05, 8)])
def test_no_number_is_named_that_modes_could_belie(truth: float, most: int) -> None:
    """Modes that fell together in eight pairs need a thousand to be called the same. Where arms are apart
    for sure, the number that tells it is named, and it is true.
    """
    named = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        first, second = _moded(rng, 400, 0.3, 2.0), _moded(rng, 400, 0.3, 2.0) + math.log1p(truth)
        needed = _first_answer((first, second), 8, seed).launches_needed
        if needed is not None:
            named.append(_first_answer((first, second), needed, seed, looks=(8,)).verdict)
    assert len(named) <= most
    assert named.count(CANNOT_TELL) <= 0.2 * len(named)


def test_one_launch_in_a_mode_of_its_own_leaves_open_how_often_it_comes() -> None:
    """It moves the mean of eight pairs by 9 %, which looks like a difference that a thousand would tell."""
    rng = np.random.default_rng(3)
    first, second = rng.normal(0, 0.03, (2, 2000, 1))
    assert _first_answer((first, second), 8, 0).launches_needed is not None
    second[4] += math.log(2)
    assert _first_answer((first, second), 8, 0).launches_needed is None


def _arms(rng: np.random.Generator, pairs: int, truth: float, cases: int) -> tuple[Floats, Floats]:
    """Make arms of test cases that all differ by the truth; launches scatter by 3 %."""
    first, second = (rng.normal(shift, 0.03, (pairs, cases)) for shift in (0.0, math.log1p(truth)))
    return first, second


def _first_answer(arms: tuple[Floats, Floats], pairs: int, seed: int, looks: tuple[int, ...] = ()) -> Answer:
    """Answer for the first test case after so many pairs."""
    first, second = (arm[:pairs] for arm in arms)
    found = compare_looks(first, second, looks, seed=seed)
    return answers_of(found, first, second, _ASKED, looks=looks)[0]


def _moded(rng: np.random.Generator, pairs: int, share: float, ratio: float) -> NDArray[np.float64]:
    """Launches that scatter by 3 %, of which so many take `ratio` times as long."""
    return np.asarray(
        0.03 * rng.standard_normal((pairs, 1)) + math.log(ratio) * (rng.random((pairs, 1)) < share)
    )


@pytest.mark.parametrize("ratio", [1.5, 2.0, 5.0])
def test_a_mode_that_comes_more_often_is_never_the_same(ratio: float) -> None:
    """45 against 60 % of launches: means differ by 6 % and more, although either mode is where it was."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, second = _moded(rng, 30, 0.45, ratio), _moded(rng, 30, 0.6, ratio)
        (said,) = answers_of(compare_arms(first, second, seed=seed), first, second, _ASKED)
        assert said.verdict != SAME
        assert said.verdict == SLOWER or "the slow one in " in said.why or "more often" in said.why


def test_shares_of_modes_are_compared_exactly() -> None:
    """Ten pairs in which the second arm alone is slow, and none the other way: p is 2 / 1024."""
    rng = np.random.default_rng(1)
    first, second = (0.01 * rng.standard_normal(20) for _ in range(2))
    second[:10] += 1.0
    assert shares_words(first, second, 0.01) == "the slow mode comes more often: in 0 and 50 % of launches"
    assert shares_words(second, first, 0.01) == "the slow mode comes less often: in 50 and 0 % of launches"
    assert shares_words(first, second, 0.001) == "2 modes, the slow one in 0 and 50 % of launches"
    assert shares_words(first, first, 0.01) == ""


def test_equal_shares_seldom_differ_by_chance() -> None:
    told = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        first, second = (_moded(rng, 20, 0.3, 2.0)[:, 0] for _ in range(2))
        told += "often" in shares_words(first, second, 0.05)
    assert told <= 20  # of 15 by chance, were the test not of whole numbers
