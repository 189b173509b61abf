"""Checks of launches: their number, how they differ, what their intervals are worth."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.base.diagnostic import NOTE, check
from steelyard.base.plural import counted
from steelyard.diagnostics.results.evidence import Evidence, going_on, listed, valued
from steelyard.diagnostics.results.interference import CAUSES
from steelyard.results.row import Row
from steelyard.rows.row_words import ALIKE
from steelyard.rows.words import relative_words
from steelyard.stats import holm

WIDE = 0.05  # half-width of an interval, relative to the median
LAUNCHES_DIFFER = 3.0  # spread between launches over the interval inside one
LAUNCHES_RATIO = 1.1  # slowest launch over fastest: less is not mentioned


@check(
    "one-launch",
    NOTE,
    "One launch",
    why="Launches differ by more than what is seen inside one. The interval is that of this launch alone.",
    remedy=going_on("Add launches, into the same folder", launches=10),
)
def one_launch(evidence: Evidence) -> str | None:
    """Count the test cases that rest on a single launch."""
    return _few(evidence.rows, 1, 1)


@check(
    "few-launches",
    NOTE,
    "Few launches",
    why="The interval assumes that logarithms of launch medians are normal, and is wide.",
    remedy=going_on(
        "Use six launches or more: their interval assumes nothing of the kind. Ten are a good default",
        launches=10,
    ),
)
def few_launches(evidence: Evidence) -> str | None:
    """Count the test cases with too few launches for order statistics."""
    return _few(evidence.rows, 2, 5)


def _few(rows: tuple[Row, ...], least: int, most: int) -> str | None:
    few = sum(1 for row in rows if least <= row.launch_count <= most)
    if not few:
        return None
    launches = "one launch" if most == 1 else f"{least} to {most} launches"
    return f"{few} of {counted(len(rows), 'test case')} rest{'s' if few == 1 else ''} on {launches}."


@check(
    "wide",
    NOTE,
    "Wide intervals",
    why="Differences smaller than the interval cannot be seen.",
    remedy="Add launches: four times as many halve the interval where launches are independent. Where they "
    "have modes or other work disturbs them, mend that first.",
    caused_by=("one-launch", "few-launches", *CAUSES),
)
def wide(evidence: Evidence) -> str | None:
    """Find test cases with wide intervals, the widest first."""
    halves = {row.point: half for row, half in _half_widths(evidence.rows) if half > WIDE}
    rows = sorted((row for row in evidence.rows if row.point in halves), key=lambda row: -halves[row.point])
    return listed(rows, relative_words)


def _half_widths(rows: tuple[Row, ...]) -> Iterator[tuple[Row, float]]:
    for row, value in valued(rows):
        if row.time_low is not None and row.time_high is not None:
            yield row, (row.time_high - row.time_low) / 2 / value


@check(
    "launches-alike",
    NOTE,
    "Consecutive launches are alike",
    why="The machine was in one state and then in another, each longer than a launch. So many launches "
    "count as fewer, and the interval is wider. One run cannot know the effect of another hour.",
    remedy="Spread launches over time: --spread 2h. To compare, measure rivals as neighbours: --arms, or "
    "several --mpi.",
    caused_by=CAUSES,
)
def launches_alike(evidence: Evidence) -> str | None:
    """Find test cases whose launches are not in random order, by Holm's method over all of them."""
    rows = [row for row in evidence.rows if row.alike_p is not None]
    adjusted = holm([row.alike_p or 0.0 for row in rows])
    p = {row.point: value for row, value in zip(rows, adjusted, strict=True)}
    found = sorted((row for row in rows if p[row.point] < ALIKE), key=lambda row: p[row.point])
    return listed(found, lambda row: f"p {p[row.point]:.2g}, interval {row.widened or 1:.1f} times as wide")


@check(
    "launches-differ",
    NOTE,
    "Launches differ",
    why="Measuring longer inside a launch makes such a number no better.",
    remedy="Add launches rather than time. The picture of launches in the report shows clusters.",
    caused_by=CAUSES,
)
def launches_differ(evidence: Evidence) -> str | None:
    """Find test cases whose launch medians differ by more than the intervals inside the launches explain."""
    ratio: dict[int, float] = {}
    for row, _ in valued(evidence.rows):
        medians = [launch.median for launch in row.launches if launch.median is not None]
        pairs = [(launch.ci_low, launch.ci_high) for launch in row.launches]
        inner = sorted(high - low for low, high in pairs if low is not None and high is not None)
        if len(medians) < 2 or not inner or min(medians) <= 0:
            continue
        far = max(medians) - min(medians) > LAUNCHES_DIFFER * inner[len(inner) // 2]
        if far and max(medians) / min(medians) > LAUNCHES_RATIO:
            ratio[row.point] = max(medians) / min(medians)
    rows = sorted((row for row in evidence.rows if row.point in ratio), key=lambda row: -ratio[row.point])
    return listed(rows, lambda row: f"slowest launch {ratio[row.point]:.3g} times the fastest")
