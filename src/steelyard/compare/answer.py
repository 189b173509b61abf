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


@dataclass(frozen=True, slots=True)
class Contrast:
    """What launches show of one test case: the logarithm of B over A, with its simultaneous interval.

    `p` is adjusted for the family. `pairs` is the number of pairs of launches, and `least` that from which
    anything can be told; None where no number would tell, as of folders. `modes` is how many modes both arms
    together have.
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
    """How many launches would decide, where they do not; None where no number is known to."""
    half = max(seen.high - seen.estimate, seen.estimate - seen.low)
    if seen.least is None:
        return None
    if is_inside:  # only modes keep it from being the same
        return PAIRS_WITH_MODES
    if half == 0 or not math.isfinite(half):
        return None
    # what is left of a difference that is a standard error less, or what may be ignored, is to be seen
    needed = math.ceil(seen.pairs * (half / max(margin, abs(seen.estimate) - half / ERRORS)) ** 2)
    needed = max(needed, seen.pairs + 1, seen.least, PAIRS_WITH_MODES if seen.modes > 1 else 0)
    return needed if needed <= MOST_NEEDED else None
