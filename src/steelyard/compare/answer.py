"""The verdicts of a comparison: slower, faster, changed a little, the same within a margin, cannot tell.

A test that finds no difference does not prove "the same". That needs an interval inside the margin (two
one-sided tests: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

SLOWER, FASTER, LITTLE, SAME, CANNOT_TELL = "slower", "faster", "changed a little", "same", "cannot tell"
FALSE_ALARM = 0.01  # of a whole comparison if nothing differs
LEAST = 0.02  # the least difference that is called slower or faster
MARGIN = 0.05  # the greatest that may be ignored
DECIDES = 0.8  # probability with which so many launches as are named decide
MODE_DOUBT = 0.9  # probability with which the scatter of modes is no larger than is reckoned with
MOST_NEEDED = 10_000  # launches: more is no advice
_FACTORS = tuple(1.05**step for step in range(200))  # times the launches: up to 16,000 times


@dataclass(frozen=True, slots=True)
class Question:
    """Parameters of a comparison: its false alarms, the least difference that matters, the
    largest to ignore.
    """

    false_alarm: float = FALSE_ALARM
    least: float = LEAST
    margin: float = MARGIN


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one test case.

    `ratio` is the time of B over that of A, `low`..`high` its interval, which holds for all test cases
    together. `p` is adjusted for the family, None without a test. `launches_needed` is the number for each
    arm that would decide, None if no number is known to help.
    """

    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    launches_needed: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The data on one test case: the logarithm of B over A, with its simultaneous interval.

    `plain_low`..`plain_high` is the interval from which no modes were taken off, and `error` the standard
    error of the estimate. `p` is adjusted for the family. `pairs` is the number of pairs of launches, and
    `least` the number that a verdict needs; None if no number helps, as for folders. `modes` counts the modes
    of both arms together. `alike`: pairs next to each other in time are alike.
    """

    estimate: float
    low: float
    high: float
    p: float
    pairs: int
    plain_low: float
    plain_high: float
    error: float
    least: int | None = 2
    modes: int = 1
    alike: bool = False


def answer(seen: Contrast, asked: Question) -> Answer:
    """Answer for one test case."""
    if not math.isfinite(seen.estimate):
        return Answer(CANNOT_TELL, None, None, None, None, why="fewer than two pairs of launches")
    ends = (math.exp(seen.estimate), math.exp(seen.low), math.exp(seen.high))
    margin = math.log1p(asked.margin)
    if seen.p <= asked.false_alarm:
        if abs(seen.estimate) < math.log1p(asked.least):
            return Answer(LITTLE, *ends, seen.p)
        return Answer(SLOWER if seen.estimate > 0 else FASTER, *ends, seen.p)
    if -margin <= min(seen.low, seen.plain_low) and max(seen.high, seen.plain_high) <= margin:
        return Answer(SAME, *ends, seen.p)
    return Answer(CANNOT_TELL, *ends, seen.p, _needed(seen, asked), _why(seen))


def _why(seen: Contrast) -> str:
    reasons = {
        f"{seen.modes} modes": seen.modes > 1,
        "pairs next to each other are alike": seen.alike,
    }
    return ", ".join(words for words, holds in reasons.items() if holds)


def _needed(seen: Contrast, asked: Question) -> int | None:
    """Estimate how many launches would decide, if the present ones do not; None if no number is known to."""
    half = max(seen.high - seen.estimate, seen.estimate - seen.low)
    plain_half = _doubt(seen) * (seen.plain_high - seen.plain_low) / 2
    if seen.least is None or not 0 < half < math.inf or not plain_half < math.inf or seen.alike:
        return None
    told = _Side(seen.estimate, half, seen.error)
    same = _Side((seen.plain_low + seen.plain_high) / 2, plain_half, seen.error * plain_half / half)
    for times in _FACTORS:
        needed = math.ceil(seen.pairs * times)
        if needed > MOST_NEEDED:
            return None
        if needed >= max(seen.least, seen.pairs + 1) and _decide(told, same, asked, times) >= DECIDES:
            return needed
    return None


def _doubt(seen: Contrast) -> float:
    """Compute how many times wider the interval of a case with modes may be than few pairs show.

    The root of the upper bound of a variance (chi-squared): few pairs of a rare mode look alike by chance.
    """
    if seen.modes < 2 or seen.pairs < 2:
        return 1.0
    from scipy.special import chdtri

    return math.sqrt((seen.pairs - 1) / float(chdtri(seen.pairs - 1, MODE_DOUBT)))


@dataclass(frozen=True, slots=True)
class _Side:
    """An estimate with the half-width of its interval and its standard error."""

    estimate: float
    half: float
    error: float

    def later(self, times: float) -> tuple[NormalDist, float]:
        """Predict the estimate and the half-width of so many times the launches.

        The truth scatters about the present estimate, and the next estimate about the truth.
        """
        root = math.sqrt(times)
        return NormalDist(self.estimate, math.hypot(self.error, self.error / root)), self.half / root


def _decide(told: _Side, same: _Side, asked: Question, times: float) -> float:
    """Compute the probability that so many times the launches decide.

    A difference is told if its interval excludes 0, "the same" if the interval from which no modes were taken
    off lies within the margin.
    """
    estimate, half = same.later(times)
    room = max(math.log1p(asked.margin) - half, 0.0)
    is_same = estimate.cdf(room) - estimate.cdf(-room)
    estimate, half = told.later(times)
    return is_same + estimate.cdf(-max(half, room)) + 1 - estimate.cdf(max(half, room))
