"""Events of a campaign, for those who show what goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from steelyard.campaign.jobs import PlannedJob
from steelyard.campaign.spread import Waits
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.job_file import JobFile


class PointEnded(Struct, frozen=True):
    """An event: a point came to its end in a launch.

    `file` holds its end, without samples; its records are the bytes `span` of the file.
    """

    plan: PlannedPoint
    file: JobFile
    span: tuple[int, int] = (0, 0)


class CaseLasts(Struct, frozen=True):
    """An event: a test case has lasted so many seconds already, more than twice what was `foreseen`."""

    plan: PlannedPoint
    seconds: float
    foreseen: float


class JobStarted(Struct, frozen=True):
    """An event: a launch begins, with so many points to measure."""

    launch: int
    name: str
    points: tuple[PlannedPoint, ...]  # in the order of measurement
    notes: tuple[str, ...]


class CampaignBegins(Struct, frozen=True):
    """An event: so many points of all launches will be measured; `words` say about how long that takes.

    `seconds` is that time as a number, without a time budget; None with one.
    """

    words: tuple[str, ...]
    points: int
    jobs: tuple[PlannedJob, ...] = ()
    seconds: float | None = None


class BudgetSpent(Struct, frozen=True):
    """An event: the time budget is over, and so many points of so many launches of a folder are left out."""

    points: int
    launches: int
    folder: Path


class LaunchEnded(Struct, frozen=True):
    """An event: an engine ended. `file` holds its start and what else took CPU time meanwhile, no points."""

    file: JobFile


Event = CampaignBegins | Waits | JobStarted | CaseLasts | PointEnded | LaunchEnded | BudgetSpent
Listener = Callable[[Event], None]
