"""The verdicts of a comparison: slower, faster, changed a little, the same within a margin, cannot tell.

A test that finds no difference does not prove "the same". That needs an interval inside the margin (two
one-sided tests: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from steelyard.judges.compare.launches_needed import Estimated, Prospect, launches_needed, launches_precise
from steelyard.judges.verdict import CANNOT_TELL, Scale
from steelyard.results.row import half_of

SLOWER, FASTER, LITTLE, SAME = "slower", "faster", "changed a little", "same"
COMPARED = Scale((SLOWER, FASTER, CANNOT_TELL, LITTLE, SAME))  # all are the same only if each is
FALSE_ALARM = 0.01  # of a whole comparison if nothing differs
LEAST = 0.02  # the least difference that is called slower or faster
MARGIN = 0.05  # the greatest that may be ignored


@dataclass(frozen=True, slots=True)
class Question:
    """Parameters of a comparison: its false alarms, the least difference that matters, the largest to ignore,
    the quantile of launches that is compared (None: their medians), and the half-width of ratios that the
    plan asks for, if it does.
    """

    false_alarm: float = FALSE_ALARM
    least: float = LEAST
    margin: float = MARGIN
    quantile: float | None = None
    precision: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one test case.

    `ratio` is the time of B over that of A, `low`..`high` its interval, which holds for all test cases
    together. `p` is adjusted for the family, None without a test. `launches_needed` is the number for each
    arm that would decide, None if no number is known to help. `precise`: is the interval as narrow as the
    plan asks? `launches_precise` is the number for each arm that would make it so.
    """

    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    launches_needed: int | None = None
    why: str = ""
    precise: bool | None = None
    launches_precise: int | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """The data on one test case: the logarithm of B over A, with its simultaneous interval.

    `plain_low`..`plain_high` is the interval from which no modes were taken off, and `error` the standard
    error of the estimate. `p` is adjusted for the family, which has so many columns. `pairs` is the number of
    pairs of launches; `looks` are the numbers at which they were looked at before. `by_turns`: more launches
    help, as they do not for folders. `modes` counts the modes of both arms together, and `shares` says how
    often the slow one of two comes in either; `is_mixed`: some, be it one, are in another mode
    than the rest. `alike`: pairs next to each other in time are alike.
    """

    estimate: float
    low: float
    high: float
    p: float
    pairs: int
    plain_low: float
    plain_high: float
    error: float
    by_turns: bool = True
    modes: int = 1
    is_mixed: bool = False
    alike: bool = False
    family: int = 1
    looks: tuple[int, ...] = ()
    shares: str = ""


def answer(contrast: Contrast, asked: Question) -> Answer:
    """Answer for one test case."""
    said = _verdict(contrast, asked)
    half = half_of(said.ratio, said.low, said.high)
    if asked.precision is None or half is None:
        return replace(said, precise=None if asked.precision is None else False)
    if half <= asked.precision:
        return replace(said, precise=True)
    known = _prospect(contrast, asked)
    needed = None if known is None else launches_precise(known, math.log1p(asked.precision))
    return replace(said, precise=False, launches_precise=needed)


def _verdict(contrast: Contrast, asked: Question) -> Answer:
    if not math.isfinite(contrast.estimate):
        return Answer(CANNOT_TELL, None, None, None, None, why="fewer than two pairs of launches")
    ends = (math.exp(contrast.estimate), math.exp(contrast.low), math.exp(contrast.high))
    margin = math.log1p(asked.margin)
    if contrast.p <= asked.false_alarm:
        if abs(contrast.estimate) < math.log1p(asked.least):
            return Answer(LITTLE, *ends, contrast.p)
        return Answer(SLOWER if contrast.estimate > 0 else FASTER, *ends, contrast.p)
    if -margin <= min(contrast.low, contrast.plain_low) and max(contrast.high, contrast.plain_high) <= margin:
        return Answer(SAME, *ends, contrast.p)
    return Answer(CANNOT_TELL, *ends, contrast.p, _needed(contrast, asked), _why(contrast))


def _why(contrast: Contrast) -> str:
    reasons = {
        contrast.shares or f"{contrast.modes} modes": contrast.modes > 1,
        "pairs next to each other are alike": contrast.alike,
    }
    return ", ".join(words for words, holds in reasons.items() if holds)


def _needed(contrast: Contrast, asked: Question) -> int | None:
    """Estimate how many launches would decide, if the present ones do not; None if no number is known to."""
    known = _prospect(contrast, asked)
    return None if known is None else launches_needed(known, math.log1p(asked.margin))


def _prospect(contrast: Contrast, asked: Question) -> Prospect | None:
    """Make what is known of launches to come; None where more of them do not help."""
    half = max(contrast.high - contrast.estimate, contrast.estimate - contrast.low)
    middle, plain_half = (
        (contrast.plain_low + contrast.plain_high) / 2,
        (contrast.plain_high - contrast.plain_low) / 2,
    )
    if not contrast.by_turns or not 0 < half < math.inf or not plain_half < math.inf or contrast.alike:
        return None
    return Prospect(
        told=Estimated(contrast.estimate, contrast.error, half),
        same=None if contrast.is_mixed else Estimated(middle, contrast.error * plain_half / half, plain_half),
        pairs=contrast.pairs,
        looks=contrast.looks,
        family=contrast.family,
        false_alarm=asked.false_alarm,
    )
