"""The words for a comparison: slower, faster, changed a little, the same within a margin, cannot tell.

Nothing is called the same because a test did not find a difference: "the same" needs an interval inside the
margin (two one-sided tests: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SLOWER, FASTER, LITTLE, SAME, CANNOT_TELL = "slower", "faster", "changed a little", "same", "cannot tell"
FALSE_ALARM = 0.01  # of a whole comparison where nothing differs
LEAST = 0.02  # the least difference that is called slower or faster
MARGIN = 0.05  # the greatest that may be ignored
PAIRS_WITH_MODES = 30  # pairs below which a slow-down about as large as the modes' ratio hides among them
ERRORS = 3  # standard errors in half of a simultaneous interval, at least
MOST_NEEDED = 10_000  # launches: more is no advice


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a comparison: its false alarms, the least that matters, what may be ignored."""

    false_alarm: float = FALSE_ALARM
    least: float = LEAST
    margin: float = MARGIN


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one test case.

    `ratio` is the time of B over that of A, `low`..`high` its interval, which holds for all test cases
    together; `p` is adjusted for the family, None where there was no test; `launches_needed` is what each arm
    would want where nobody can tell, None where no number of launches is known to help.
    """

    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    launches_needed: int | None = None
    why: str = ""


def answer(
    estimate: float,
    low: float,
    high: float,
    p: float,
    pairs: int,
    modes: int,
    asked: Question,
    least: int | None = 2,
) -> Answer:
    """Answer for one test case from logarithms: the estimate of B over A and its simultaneous interval.

    `pairs` is the number of pairs of launches, `modes` how many modes both arms together have. `least` is the
    number of pairs that anything can be told from; None where no number would tell, as of folders.
    """
    if not math.isfinite(estimate):
        return Answer(CANNOT_TELL, None, None, None, None, why="fewer than two pairs of launches")
    ends = (math.exp(estimate), math.exp(low), math.exp(high))
    margin, half = math.log1p(asked.margin), max(high - estimate, estimate - low)
    if p <= asked.false_alarm:
        if abs(estimate) < math.log1p(asked.least):
            return Answer(LITTLE, *ends, p)
        return Answer(SLOWER if estimate > 0 else FASTER, *ends, p)
    if -margin <= low and high <= margin:
        if modes < 2 or pairs >= PAIRS_WITH_MODES:
            return Answer(SAME, *ends, p)
        needed = None if least is None else PAIRS_WITH_MODES
        return Answer(CANNOT_TELL, *ends, p, needed, f"{modes} modes")
    why = f"{modes} modes" if modes > 1 else ""
    if half == 0 or least is None or not math.isfinite(half):
        return Answer(CANNOT_TELL, *ends, p, why=why)
    # what is left of a difference that is a standard error less, or what may be ignored, is to be seen
    needed = math.ceil(pairs * (half / max(margin, abs(estimate) - half / ERRORS)) ** 2)
    needed = max(needed, pairs + 1, least, PAIRS_WITH_MODES if modes > 1 else 0)
    return Answer(CANNOT_TELL, *ends, p, needed if needed <= MOST_NEEDED else None, why)
