"""Tables of coverage: how often intervals held the truth, beside what they state, and how wide they were.

An entry is `93.9 ±2.4`: 93.9 % of the intervals hold the truth, and half of the interval, the larger side, is
2.4 % of the truth in the median. What is off by more than 2 % is bold, and named in the last column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.stats import Interval
from steelyard.stats.interval import Estimate

OFF = 2.0  # %: an entry that is further from what is stated is named in words
NARROW, WIDE = "too narrow", "wider than stated"
LAST = "off by more than 2 %"  # the heading of the last column


@dataclass(frozen=True, slots=True)
class Held:
    """The fraction of intervals that hold the truth, of those that are `given`; what they state, and width.

    `states` is the mean of the levels, `half` the median of the larger sides over the truth.
    """

    held: float
    states: float
    half: float
    given: float


def held_by(found: Iterable[tuple[Estimate | Interval | None, float]], level: float = 0.95) -> Held:
    """Count intervals, each with its truth; `level` is what those state that do not say so themselves."""
    held, levels, halves, count = [], [], [], 0
    for estimate, truth in found:
        count += 1
        if estimate is None or estimate.low is None or estimate.high is None:
            continue
        if not math.isfinite(estimate.high - estimate.low):
            continue
        held.append(estimate.low <= truth <= estimate.high)
        levels.append(estimate.level if isinstance(estimate, Estimate) else level)
        halves.append(
            max(estimate.high - estimate.value, estimate.value - estimate.low) / (abs(truth) or 1.0)
        )
    if not held:
        return Held(math.nan, level, math.nan, 0.0)
    return Held(float(np.mean(held)), float(np.mean(levels)), float(np.median(halves)), len(held) / count)


def row_of(name: str, heads: Sequence[str], entries: Sequence[Held]) -> list[str]:
    """A line of a table: its entries, and last in which columns they are off."""
    cells, off = [], list[tuple[str, float]]()
    for head, one in zip(heads, entries, strict=True):
        text = "-" if math.isnan(one.held) else f"{100 * one.held:.1f} ±{figures(100 * one.half)}"
        by = off_by(100 * one.held, 100 * one.states)
        cells.append(f"**{text}**" if by else text)
        off.append((head, by))
    return [name, *cells, off_words(off)]


def states_row(entries: Sequence[Held]) -> list[str]:
    """The first line of a table: what the intervals of each column state."""
    return ["states", *(f"{100 * one.states:.1f}" for one in entries), ""]


def off_by(held: float, states: float) -> float:
    """By how many per cent an entry is off, 0 within 2 %; both in per cent, as the table shows them."""
    by = round(held, 1) - round(states, 1)
    return by if abs(by) > OFF + 1e-9 else 0.0


def off_words(off: Sequence[tuple[str, float]]) -> str:
    """`too narrow: 2, 3; wider than stated: 20` of columns and by how much each is off."""
    told = [(words, [head for head, by in off if sign * by > 0]) for words, sign in ((NARROW, -1), (WIDE, 1))]
    return "; ".join(f"{words}: {', '.join(heads)}" for words, heads in told if heads)


def figures(value: float) -> str:
    """Two figures, and no exponent: `0.49`, `12`, `130`."""
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
