"""Launches spread over time: those that follow each other directly are alike and know no other hour."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct

from steelyard.base.units import format_duration, parse_seconds
from steelyard.campaign.jobs import PlannedJob
from steelyard.plan.plan import Plan


class Waits(Struct, frozen=True):
    """An event: a launch begins in so many seconds, for launches are spread over time."""

    launch: int
    seconds: float


class Spread(Struct, frozen=True):
    """Launches begin so many seconds apart, the first at an instant of the monotonic clock."""

    gap: float
    began: float
    places: dict[int, int]  # of launches, in the order in which they are made

    def seconds_until(self, launch: int) -> float:
        """How long a launch has to wait; 0 where its time has come."""
        return max(0.0, self.began + self.places[launch] * self.gap - time.monotonic())


def spread_of(plan: Plan, jobs: Sequence[PlannedJob]) -> Spread:
    """The launches of `jobs`, a plan's time of `spread` over its launches apart. Raises InputError."""
    gap = 0.0 if plan.spread is None else parse_seconds(plan.spread) / plan.launches
    launches = dict.fromkeys(job.launch for job in jobs)
    return Spread(gap, time.monotonic(), {launch: place for place, launch in enumerate(launches)})


def spread_words(spread: Spread) -> tuple[str, ...]:
    """That launches wait, and about how long all of them take; nothing where they do not."""
    if spread.gap <= 0 or len(spread.places) < 2:
        return ()
    last = format_duration(spread.gap * (len(spread.places) - 1))
    return (f"launches begin {format_duration(spread.gap)} apart, the last in {last}",)
