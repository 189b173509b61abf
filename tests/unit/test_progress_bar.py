"""What the bar says while launches run, on a made-up terminal; and amounts that are foreseen."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from steelyard.campaign.jobs import plan_jobs
from steelyard.campaign.run import CampaignBegins, JobStarted, PointEnded
from steelyard.cli.plan import roughly
from steelyard.cli.progress import listening
from steelyard.records.campaign_file import CampaignFile, PlannedPoint
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.schema import End, Job


def test_test_cases_are_counted_over_all_jobs_of_a_launch() -> None:
    """Two MPIs are two jobs of a launch, each of two test cases: four in it, and four in the next."""
    mpis = ("openmpi-4", "mpich-5")
    points = tuple(PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=mpis[i // 2]) for i in range(4))
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 2, ())
    paper = io.StringIO()
    with listening(Console(file=paper, force_terminal=True, width=120), 2, None) as tell:
        tell(CampaignBegins((), 8, tuple(jobs)))
        for job in jobs:
            tell(JobStarted(job.launch, job.name, job.points, ()))
            for point in job.points:
                end = End(point=point.point, status="ok", count=1)
                run = PointRun(point.point, None, (), end)
                record = Job(schema=1, job=job.name, launch=job.launch, ranks=2)
                tell(PointEnded(point, JobFile(Path("x"), record, None, (run,), False)))
                tell.bar.refresh()  # type: ignore[attr-defined]
    said = paper.getvalue()
    for launch in (1, 2):
        assert all(f"test case {i} of 4, launch {launch} of 2" in said for i in (2, 4))
    assert "of 2, launch" not in said


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "1 kB"),
        (950, "950 B"),
        (3_151_000, "3.2 MB"),
        (48_000_000, "48 MB"),
        (8_800_000_000_000, "8.8 TB"),
    ],
)
def test_amounts_that_are_foreseen_have_two_digits(count: int, words: str) -> None:
    assert roughly(count) == words
