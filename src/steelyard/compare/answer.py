"""The verdicts of a comparison: slower, faster, changed a little, the same within a margin, cannot tell.

A test that finds no difference does not prove "the same". That needs an interval inside the margin (two
one-sided tests: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SLOWER, FASTER, LITTLE, SAME, CANNOT_TELL = "slower", "faster", "changed a little", "same", "cannot tell"
FALSE_ALARM = 0.01  # of a whole comparison if nothing differs
LEAST = 0.02  # the least difference that is called slower or faster
MARGIN = 0.05  # the greatest that may be ignored
PAIRS_WITH_MODES = 30  # fewer pairs may hide a slow-down about as large as the modes' ratio
ERRORS = 3  # standard errors in half of a simultaneous interval, at least
MOST_NEEDED = 10_000  # launches: more is no advice


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

    `p` is adjusted for the family. `pairs` is the number of pairs of launches, and `least` the number that a
    verdict needs; None if no number helps, as for folders. `modes` counts the modes of both arms together.
    """

    estimate: float
    low: float
    high: float
    p: float
    pairs: int
    least: int | None = 2
    modes: int = 1


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
    is_inside = -margin <= seen.low and seen.high <= margin
    if is_inside and (seen.modes < 2 or seen.pairs >= PAIRS_WITH_MODES):
        return Answer(SAME, *ends, seen.p)
    why = f"{seen.modes} modes" if seen.modes > 1 else ""
    return Answer(CANNOT_TELL, *ends, seen.p, _needed(seen, margin, is_inside), why)


def _needed(seen: Contrast, margin: float, is_inside: bool) -> int | None:
    """Estimate how many launches would decide, if the present ones do not; None if no number is known to."""
    half = max(seen.high - seen.estimate, seen.estimate - seen.low)
    if seen.least is None:
        return None
    if is_inside:  # only modes prevent the verdict
        return PAIRS_WITH_MODES
    if half == 0 or not math.isfinite(half):
        return None
    # The interval must be as narrow as the margin, or as the difference less a standard error.
    needed = math.ceil(seen.pairs * (half / max(margin, abs(seen.estimate) - half / ERRORS)) ** 2)
    needed = max(needed, seen.pairs + 1, seen.least, PAIRS_WITH_MODES if seen.modes > 1 else 0)
    return needed if needed <= MOST_NEEDED else None
