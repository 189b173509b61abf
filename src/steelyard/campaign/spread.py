"""Launches spread over time: consecutive launches are alike, and do not see other hours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.units import format_duration, parse_seconds
from steelyard.campaign.budget import Budget
from steelyard.campaign.jobs import PlannedJob
from steelyard.plan.plan import Plan

_WAIT_SECONDS = 0.2  # between checks whether a wait is still wanted


class Waits(Struct, frozen=True):
    """An event, told again and again: a spread launch begins in so many seconds."""

    launch: int
    seconds: float


class Spread(Struct, frozen=True):
    """Launches begin so many seconds apart, the first at an instant of the monotonic clock."""

    gap: float
    began: float
    places: dict[int, int]  # of launches, in their order

    def seconds_until(self, launch: int) -> float:
        """Compute how long a launch has to wait; 0 if it may begin."""
        return max(0.0, self.began + self.places[launch] * self.gap - time.monotonic())


def spread_of(plan: Plan, jobs: Sequence[PlannedJob]) -> Spread:
    """Spread the launches of `jobs` over a plan's time of `spread`. Raises InputError."""
    gap = 0.0 if plan.spread is None else parse_seconds(plan.spread) / plan.most_launches
    launches = dict.fromkeys(job.launch for job in jobs)
    return Spread(gap, time.monotonic(), {launch: place for place, launch in enumerate(launches)})


def await_launch(
    spread: Spread,
    launch: int,
    budget: Budget,
    listener: Callable[[Waits], None],
    is_stopping: Callable[[], bool],
) -> Budget:
    """Wait until a launch may begin, and return the budget, in which no wait counts."""
    seconds = spread.seconds_until(launch)
    if seconds <= 0 or budget.is_over:
        return budget
    while (left := spread.seconds_until(launch)) > 0 and not is_stopping():
        listener(Waits(launch, left))
        time.sleep(min(_WAIT_SECONDS, left))
    return replace(budget, began=budget.began + seconds)


def spread_words(spread: Spread) -> tuple[str, ...]:
    """Say that launches wait, and about how long all of them take; nothing if they do not."""
    if spread.gap <= 0 or len(spread.places) < 2:
        return ()
    last = format_duration(spread.gap * (len(spread.places) - 1))
    return (f"launches begin {format_duration(spread.gap)} apart, the last in {last}",)
