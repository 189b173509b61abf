"""What the bar says while launches run, on a made-up terminal; and amounts that are foreseen."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from make_records import FakePoint, steady, write_folder
from steelyard.campaign.events import CampaignBegins, CaseLasts, JobStarted, LaunchEnded, PointEnded
from steelyard.campaign.jobs import PlannedJob, plan_jobs
from steelyard.cli.bar import Bar, Lines
from steelyard.cli.plan import roughly
from steelyard.cli.progress import ended_words, job_words, listening
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedPoint
from steelyard.records.fields import Params
from steelyard.records.follow import Tail
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.parts import Busy, Clock, JobMpi, Place
from steelyard.records.schema import End, Job, Launch, Watch
from steelyard.results.load import load
from steelyard.results.rows import results
from steelyard.rows.row_words import time_half_words, value_words

_MPI = JobMpi(name="openmpi-4", family="openmpi", version="4", mpiexec="mpiexec")


def test_test_cases_are_counted_over_all_jobs_of_a_launch() -> None:
    """Two MPIs are two jobs of a launch, each of two test cases: four in it, and four in the next."""
    mpis = ("openmpi-4", "mpich-5")
    points = tuple(PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=mpis[i // 2]) for i in range(4))
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 2, ())
    paper = io.StringIO()
    with listening(Bar(Console(file=paper, force_terminal=True, width=120)), 2, None) as tell:
        tell(CampaignBegins((), 8, tuple(jobs)))
        for job in jobs:
            tell(JobStarted(job.launch, job.name, job.points, ()))
            for point in job.points:
                end = End(point=point.point, status="ok", flag="SETTLED" if point.point else "TIME", count=1)
                run = PointRun(point.point, None, (), end)
                record = Job(schema=1, job=job.name, launch=job.launch, ranks=2)
                tell(PointEnded(point, JobFile(Path("x"), record, None, (run,), False)))
                tell.bar.refresh()  # type: ignore[attr-defined]
    said = paper.getvalue()
    for launch in (1, 2):
        assert all(f"mpi.bcast ({i}/4 in launch {launch}/2)" in said for i in (2, 4))
    assert "/2 in launch" not in said


def _ended(job: PlannedJob, point: PlannedPoint, why: str | None) -> PointEnded:
    end = End(
        point=point.point, status="failed" if why else "ok", why=why, count=1, flag=None if why else "TIME"
    )
    record = Job(schema=1, job=job.name, launch=job.launch, ranks=2, mpi=_MPI)
    return PointEnded(point, JobFile(Path("x"), record, None, (PointRun(point.point, None, (), end),), False))


def test_a_long_name_leaves_room_for_what_is_left() -> None:
    params: Params = {"send": "ssend", "recv": "irecv", "match": "any_source", "buffer": "apart", "align": 64}
    points = tuple(PlannedPoint(point=i, op="mpi.pingpong", bytes=1 << 20, params=params) for i in range(3))
    (job,) = plan_jobs(CampaignFile(points=points, seed=1), 1, ())
    paper = io.StringIO()
    with listening(Bar(Console(file=paper, force_terminal=True, width=80)), 1, 60.0) as tell:
        tell(CampaignBegins((), 3, (job,)))
        tell(JobStarted(1, job.name, job.points, ()))
        tell(_ended(job, job.points[0], None))
        tell.bar.refresh()  # type: ignore[attr-defined]
    assert re.search(r"mpi.pingpong 1 MiB .*\.\.\. \(2/3 in launch 1/1\) .* min left", paper.getvalue())


def test_what_fails_whole_launches_is_said_once() -> None:
    points = tuple(PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=_MPI.name) for i in range(4))
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 2, ())
    paper = io.StringIO()
    with listening(Lines(paper), 2, None) as tell:
        tell(CampaignBegins((), 8, tuple(jobs)))
        for job in jobs:
            tell(JobStarted(job.launch, job.name, job.points, ()))
            for point in job.points:
                tell(_ended(job, point, "start-up: mpiexec ended with code 1"))
    said = paper.getvalue()
    assert said.count("all test cases of openmpi-4 failed in launch 1: start-up: mpiexec ended") == 1
    assert said.count("failed in") == 1


@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_breaks_no_word_of_a_line(width: int) -> None:
    why = "wrong: rank 0: element 0 of the sum is 30, should be 19, and a sentence that goes on and on"
    points = (PlannedPoint(point=0, op="mpi.bcast", ranks=2, mpi=_MPI.name),)
    (job,) = plan_jobs(CampaignFile(points=points, seed=1), 1, ())
    paper = io.StringIO()
    with listening(Bar(Console(file=paper, force_terminal=True, width=width)), 1, None) as tell:
        tell(CampaignBegins((), 1, (job,)))
        tell(JobStarted(1, job.name, job.points, ()))
        tell(_ended(job, points[0], why))
    plain = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", paper.getvalue())
    lines = [line for line in re.split(r"[\r\n]+", plain) if line.startswith("  ")]
    assert " ".join(" ".join(lines).split()) == f"mpi.bcast of openmpi-4 failed in launch 1: {why}"
    assert all(len(line.rstrip()) <= width for line in lines)


@pytest.mark.parametrize("left", [None, 10.0, 3600.0])
def test_who_uses_the_cpus_of_ranks_is_said_after_the_launch_and_once_if_much_is_left(
    left: float | None,
) -> None:
    """The diagnostics say it at the end; before, only where ending the process is worth it."""
    record = Job(schema=1, job="l01", launch=1, ranks=1)
    place = Place(rank=0, host="vm", cpus="0", cpu=0, clock_cost_ns=1, clock_tick_ns=1)
    clock = Clock(name="tsc", cost_ns=1, tick_ns=1)
    start = Launch(schema=1, engine="solo", version="0", ranks=1, places=(place,), clock=clock)
    busy = Busy(pid=7, command="burn", cpu_ns=10**9, seconds=2.0, peak_share=0.5, cpus=(0,))
    watch = Watch(host="vm", seconds=2.0, looks=2, cost_ns=0, processes=(busy,))
    paper = io.StringIO()
    with listening(Lines(paper), 1, None) as tell:
        vars(tell)["rest"] = left
        for watches in ((), (watch,), (watch,)):
            tell(LaunchEnded(JobFile(Path("x"), record, start, (), False, watches=watches)))
    words = "'burn' (pid 7) took 50 % of a CPU in launch 1, on CPU 0, where rank 0 ran"
    assert paper.getvalue() == (f"  warning: {words}\n" if left == 3600.0 else "")


def test_launches_are_told_apart_by_what_only_they_set() -> None:
    points = tuple(
        PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=_MPI.name, env={"LONG": "1" * 60, "TREE": tree})
        for i, tree in enumerate(("chain", "flat"))
    )
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 1, ())
    paper = io.StringIO()
    with listening(Lines(paper), 1, None) as tell:
        tell(CampaignBegins((), 2, tuple(jobs)))
        for job in jobs:
            tell(JobStarted(job.launch, job.name, job.points, ()))
    assert sorted(paper.getvalue().splitlines()) == [
        f"launch 1 of 1: openmpi-4, 2 ranks, TREE={tree}, 1 test case" for tree in ("chain", "flat")
    ]


def test_each_launch_is_a_line_in_a_pipe_with_what_is_left() -> None:
    points = tuple(PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=_MPI.name) for i in range(4))
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 2, ())
    paper = io.StringIO()
    with listening(Lines(paper), 2, None) as tell:
        tell(CampaignBegins((), 8, tuple(jobs)))
        for job in jobs:
            tell(JobStarted(job.launch, job.name, job.points, ()))
            for point in job.points:
                tell(_ended(job, point, None))
    first, second = paper.getvalue().splitlines()
    assert first == "launch 1 of 2: openmpi-4, 2 ranks, 4 test cases"  # and no name of a file
    assert re.search(r"^launch 2 of 2: .*, 4 test cases, .* s left$", second)


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


def test_a_test_case_that_ended_shows_its_time(tmp_path: Path) -> None:
    """The number is that of its records so far, and a second one has to wait until the first is paid for."""
    points = [FakePoint("mpi.bcast", steady(1000.0, between=0.0)), FakePoint("mpi.scan", steady(5000.0))]
    folder = write_folder(tmp_path / "out", points, launches=1)
    (path,) = (folder / "records").glob("*.jsonl")
    ended, _ = Tail(path).advance()
    planned = load(folder).campaign.points
    paper = io.StringIO()
    jobs = plan_jobs(CampaignFile(points=planned, seed=1), 1, ())
    with listening(Bar(Console(file=paper, force_terminal=True, width=100)), 1, None) as tell:
        tell(CampaignBegins((), 2, tuple(jobs)))
        tell(JobStarted(1, jobs[0].name, planned, ()))
        tell(PointEnded(planned[0], *ended[0]))
        tell.bar.refresh()  # type: ignore[attr-defined]
        tell(PointEnded(planned[1], *ended[1]))
    said = paper.getvalue()
    (row, _) = results(folder)
    assert f"mpi.bcast 8 B: {value_words(row)} ± {time_half_words(row)} (2/2 in launch 1/1)" in said
    assert "mpi.scan 8 B: " not in said


def test_a_file_that_is_gone_has_no_number(tmp_path: Path) -> None:
    point = PlannedPoint(point=0, op="mpi.bcast", ranks=2)
    (job,) = plan_jobs(CampaignFile(points=(point,), seed=1), 1, ())
    assert ended_words(_ended(job, point, None)) == ""


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        (10.0, ["about 20 s in all, not 10 s: the first launch took 10 s"]),
        (
            2.0,
            [
                "about 10 s in all, not 2 s: 1 of 2 test cases of the first launch took 5 s",
                "about 20 s in all, not 10 s: the first launch took 10 s",
            ],
        ),
        (60.0, ["about 20 s in all, not 1 min: the first launch took 10 s"]),
        (16.0, []),
        (None, []),
    ],
)
def test_an_estimate_that_is_far_off_is_corrected_as_soon_as_that_is_known(
    expected: float | None, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launches take 10 s each, by a clock of ours."""
    clock = [0.0]
    monkeypatch.setattr("steelyard.cli.progress.time.monotonic", lambda: clock[0])
    points = tuple(PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=_MPI.name) for i in range(2))
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 2, ())
    paper = io.StringIO()
    with listening(Lines(paper), 2, None) as tell:
        tell(CampaignBegins((), 4, tuple(jobs), expected))
        for job in jobs:
            tell(JobStarted(job.launch, job.name, job.points, ()))
            for point in job.points:
                clock[0] += 5
                tell(_ended(job, point, None))
    told = [line for line in paper.getvalue().splitlines() if not line.startswith("launch ")]
    assert told == said


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (100.0, None),
        (16.0, None),  # it is over when the launch has ended
        (8.0, "8 s"),
        (4.0, "4 s"),
    ],
)
def test_a_first_launch_that_takes_longer_than_the_budget_says_so(
    budget: float, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow machine: each test case takes 5 s by a clock of ours, and only the first launch is measured."""
    clock = [0.0]
    monkeypatch.setattr("steelyard.cli.progress.time.monotonic", lambda: clock[0])
    points = tuple(PlannedPoint(point=i, op="mpi.bcast", ranks=2, mpi=_MPI.name) for i in range(4))
    jobs = plan_jobs(CampaignFile(points=points, seed=1), 3, ())
    paper = io.StringIO()
    with listening(Lines(paper), 3, budget) as tell:
        tell(CampaignBegins((), 12, tuple(jobs)))
        tell(JobStarted(1, jobs[0].name, jobs[0].points, ()))
        for point in jobs[0].points:
            clock[0] += 5
            tell(_ended(jobs[0], point, None))
    told = [line for line in paper.getvalue().splitlines() if not line.startswith("launch ")]
    part = "2 of 4 test cases of the first launch, which is finished, took 10 s"
    assert told == ([] if said is None else [f"about 15 s in all, not {said}: {part}"])


def test_a_test_case_that_goes_on_and_on_says_so() -> None:
    point = PlannedPoint(point=0, op="mpi.allreduce", bytes=3 << 30, ranks=2)
    paper = io.StringIO()
    with listening(Lines(paper), 1, None) as tell:
        for seconds in (45.0, 45.2, 90.0):  # the second is of a later launch, and nothing new
            tell(CaseLasts(point, seconds, 20.0))
    line = "  mpi.allreduce 3 GiB has run for {}, not 20 s as foreseen; it goes on\n"
    assert paper.getvalue() == line.format("45 s") + line.format("1 min 30 s")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "1 rank, 2 test cases"),
        (
            {"mpi": "mpich-5", "ranks": 4, "hosts": 2, "threads": 3},
            "mpich-5, 2 hosts, 4 ranks, 3 threads, 2 test cases",
        ),
        ({"placement": Placement("unbound")}, "1 rank, placement unbound, 2 test cases"),
        ({"env": {"API_TOKEN": "hush", "UCX_TLS": "tcp"}}, "1 rank, API_TOKEN=*** UCX_TLS=tcp, 2 test cases"),
        ({"env": {"A": "x" * 100}}, f"1 rank, A={'x' * 55}..., 2 test cases"),
    ],
)
def test_a_launch_is_named_by_what_it_measures_without_secrets(keys: dict[str, Any], words: str) -> None:
    points = [PlannedPoint(point=i, op="mpi.bcast", **keys) for i in range(2)]
    assert job_words(points) == words
