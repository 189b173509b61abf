"""Estimate the rest of a campaign, from the times of its launches and test cases so far.

A launch costs its start and its end, which depend on the MPI and the ranks, and its test cases. A test case
is expected to take its time of earlier launches; a new one, the time of others of its op, or else of all.
Test cases are in random order, so the first ones are representative.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.campaign.jobs import LaunchGroup, PlannedJob
from steelyard.records.campaign_file import PlannedPoint

_Key = tuple[object, ...]


@dataclass(slots=True)
class _Seen:
    """Times that were seen."""

    seconds: float = 0.0
    count: int = 0


class Eta:
    """The estimate; it hears of each event at an instant, in seconds of any clock that only goes forward."""

    def __init__(self, jobs: Sequence[PlannedJob]) -> None:
        self._groups = {job.name: job.group for job in jobs}
        self._points = {point.point: point for job in jobs for point in job.points}
        self._cases = Counter(point.point for job in jobs for point in job.points)  # that are left
        self._starts = Counter(_start_keys(job.group) for job in jobs)
        self._seen: defaultdict[_Key, _Seen] = defaultdict(_Seen)
        self._job: str | None = None
        self._is_first = True  # test case of its launch
        self._at, self._start_s = 0.0, 0.0

    def launch_began(self, job: str, now: float) -> None:
        """Note that a launch begins, and that the one before is over."""
        self.launch_ended(now)
        if job not in self._groups:  # another one, of which nothing was asked
            return
        self._starts[_start_keys(self._groups[job])] -= 1
        self._job, self._is_first, self._at, self._start_s = job, True, now, 0.0

    def launch_ended(self, now: float) -> None:
        """Count the time before the first test case and after the last as the cost of a start."""
        if self._job is not None and not self._is_first:
            self._learn(_start_keys(self._groups[self._job]), self._start_s + now - self._at)
        self._job = None

    def case_ended(self, point: PlannedPoint, launch_s: float, now: float) -> None:
        """Note that a test case ended, so many seconds after the launch had begun to measure."""
        if self._job is None:
            return
        took = now - self._at
        if self._is_first:
            self._start_s = max(0.0, took - launch_s)
            took -= self._start_s
        self._learn(_case_keys(point), took)
        self._is_first, self._at = False, now
        self._cases[point.point] -= 1

    def seconds_left(self, now: float) -> float | None:
        """Estimate the seconds until the end; None before any test case has ended."""
        seconds = sum(
            count * (self._expected(keys) or self._start_s)
            for keys, count in self._starts.items()
            if count > 0
        )
        for index, count in self._cases.items():
            each = self._expected(_case_keys(self._points[index])) if count > 0 else 0.0
            if each is None:
                return None
            seconds += count * each
        return max(0.0, seconds - (now - self._at if self._job is not None else 0.0))

    def _learn(self, keys: Sequence[_Key], seconds: float) -> None:
        for key in keys:
            self._seen[key].seconds += seconds
            self._seen[key].count += 1

    def _expected(self, keys: Sequence[_Key]) -> float | None:
        """Find the mean under the first key that has any time."""
        known = (seen for key in keys if (seen := self._seen.get(key)) is not None)
        return next((seen.seconds / seen.count for seen in known), None)


def _start_keys(group: LaunchGroup) -> tuple[_Key, ...]:
    return ("start", group.mpi, group.ranks), ("start", group.mpi), ("start",)


def _case_keys(point: PlannedPoint) -> tuple[_Key, ...]:
    return ("case", point.point), ("op", point.op), ("any",)
