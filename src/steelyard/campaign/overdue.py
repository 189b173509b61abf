"""Notice a test case that lasts longer than was foreseen, while it lasts."""

from __future__ import annotations

import time
from collections.abc import Iterable

from steelyard.campaign.budget import case_seconds
from steelyard.campaign.events import CaseLasts
from steelyard.campaign.job import CampaignJob
from steelyard.records.campaign_file import PlannedPoint

_LEAST_SECONDS = 15.0  # nobody waits impatiently for less
_FAR_OFF = 2.0  # a factor: what was foreseen is right within it


class Overdue:
    """Tell the listener of a job when its test case has lasted too long, and again whenever that has doubled.

    Test cases are measured in the order in which they are planned.
    """

    def __init__(self, job: CampaignJob) -> None:
        """Begin before the launch has."""
        self.job = job
        self._point: PlannedPoint | None = None
        self._since = self._next = 0.0  # when it began; how many seconds later it is told

    def look(self, points: Iterable[PlannedPoint]) -> None:
        """Look at the points that are left of a launch that has begun to measure."""
        now, point = time.monotonic(), next(iter(points), None)
        if point is None or point is not self._point:
            self._point, self._since = point, now
            self._next = 0.0 if point is None else max(_LEAST_SECONDS, _FAR_OFF * self._foreseen(point))
        elif now - self._since >= self._next:
            self.job.listener(CaseLasts(point, now - self._since, self._foreseen(point)))
            self._next *= _FAR_OFF

    def _foreseen(self, point: PlannedPoint) -> float:
        return case_seconds(point, self.job.planned.group, self.job.setup, self.job.most_seconds(point))
