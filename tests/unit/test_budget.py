"""A time budget: what fits is said before the start, and a point is not awaited far behind the deadline."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from campaigns import run_plan
from described import described
from few_ops import RULES
from steelyard.base.units import format_duration
from steelyard.campaign.budget import LEAST_SECONDS, Budget, case_seconds, estimate, spared_jobs
from steelyard.campaign.events import BudgetSpent
from steelyard.campaign.forecast import Forecast, forecast
from steelyard.campaign.job import CampaignJob
from steelyard.campaign.jobs import CampaignSetup, LaunchGroup, PlannedJob
from steelyard.campaign.repetition import check_seconds, repetition_seconds
from steelyard.campaign.run import run_campaign
from steelyard.cli.plan import total_lines
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedPoint
from steelyard.records.fields import Params
from steelyard.system.machine import read_machine

_OPS = ops_of(
    described(
        [{"name": "self.empty", "class": "local", "sized": True, "default_bytes": "1", "methods": ["batch"]}],
        [{"name": "batch"}],
        RULES,
    ),
    None,
)


def _words(
    budget: str | None,
    points: int,
    launches: int,
    *,
    threads: int = 1,
    placement: Placement | None = None,
    params: Params | None = None,
) -> tuple[str, ...]:
    measure = Measure(ops=("self.empty",), bytes=tuple(range(points)), params=params or {})
    plan = Plan(measure=(measure,), launches=launches, time_budget=budget)
    planned = resolve(plan, _OPS, (), 1)
    group = LaunchGroup(None, 1, threads, None, (), placement, planned)
    jobs = [PlannedJob(launch, f"l{launch}", group, planned) for launch in range(1, launches + 1)]
    return estimate(plan, jobs, CampaignSetup({}, _OPS, read_machine()))


def test_what_is_to_be_done_is_said_before_it_begins() -> None:
    assert _words(None, 1, 1) == ("1 test case in 1 launch: about 1 s",)
    assert _words(None, 20, 10) == ("20 test cases in 10 launches: about 5 s",)
    assert _words("10m", 20, 10) == ("20 test cases in 10 launches: at most 10 min",)


def test_the_least_time_that_is_asked_for_counts_within_a_budget_too() -> None:
    least: Params = {"least_seconds": 3}
    assert _words(None, 20, 10, params=least) == ("20 test cases in 10 launches: about 10 min 1 s",)
    _, some = _words("2m", 20, 10, params=least)
    assert some.startswith(
        "the time budget of 2 min has room for about 1 of the 10 launches: each takes 1 min"
    )


def test_ranks_and_threads_that_wait_for_cores_take_as_long_at_least() -> None:
    many = len(read_machine().cores) + 1
    least = "20 test cases in 10 launches: 11 s or much more, for ranks and threads outnumber cores"
    assert _words(None, 20, 10, threads=many) == (least,)
    assert _words("10m", 20, 10, threads=many) == ("20 test cases in 10 launches: at most 10 min",)
    placed = Placement("list", tuple(range(many)))
    assert _words(None, 20, 10, threads=many, placement=placed) == (
        "20 test cases in 10 launches: about 11 s",
    )


@pytest.mark.parametrize(
    ("budget", "seconds", "words"),
    [
        (None, 12.0, "about 12 s;"),
        ("45s", 12.0, "about 12 s, at most 45 s;"),
        ("5s", 5.0, "at most 5 s;"),
        ("1.5m", 90.0, "at most 1 min 30 s;"),
        ("5s", 8.0, "8 s or more, for the time budget does not end the first launch;"),
    ],
)
def test_a_limit_that_is_reached_is_no_estimate(budget: str | None, seconds: float, words: str) -> None:
    counts = {"test_cases": 1, "launches": 1, "starts": 1, "node_hours": 0.0, "bytes": 0, "memory": 0}
    found = Forecast(name="x", seconds=seconds, time_budget=budget, jobs=(), **counts)  # type: ignore[arg-type]
    assert total_lines(found)[1].startswith(words)


def test_what_will_not_fit_is_said_before_it_begins() -> None:
    _, some = _words("3s", 20, 10)
    assert some == (
        "the time budget of 3 s has room for about 5 of the 10 launches: each takes 1 s or more; "
        "what is not measured by then is left out"
    )
    size, none = _words("3s", 200, 2)
    assert size == "200 test cases in 2 launches: 4 s or more"
    assert none == (
        "the time budget of 3 s is less than one launch takes: the first is finished, no other begins"
    )


def _forecast(budget: str | None, params: dict[str, float], rule: str = "median") -> float:
    plan = Plan(
        measure=(Measure(ops=("self.empty",), bytes=tuple(range(20)), rule=rule, params=params),),
        launches=10,
        time_budget=budget,
    )
    setup = CampaignSetup({}, _OPS, read_machine())
    return forecast(plan, resolve(plan, _OPS, (), 1), setup).seconds


@pytest.mark.parametrize(
    ("budget", "params", "rule", "seconds"),
    [
        (None, {}, "median", 1 + 200 * 0.02),
        ("4s", {}, "median", 4),
        ("500ms", {}, "median", 0.1 + 20 * 0.02),  # the first launch
        ("20s", {}, "median", 1 + 200 * 0.5 * 0.7 * 0.1),
        ("60s", {}, "median", 1 + 200 * 0.5 * 0.7 * 0.3),  # 0.7 of 60 s, for 200 measurements
        (None, {"most_seconds": 2.0}, "median", 1 + 200 * 0.5 * 2),
        ("10h", {"most_seconds": 2.0}, "median", 1 + 200 * 0.5 * 2),  # what the plan says is not stretched
        ("60s", {}, "fixed", 1 + 200 * 0.02),  # ends at its number of samples
    ],
)
def test_a_test_case_takes_half_of_what_it_may(
    budget: str | None, params: dict[str, float], rule: str, seconds: float
) -> None:
    assert _forecast(budget, params, rule) == pytest.approx(seconds, abs=0.01)


def test_a_campaign_that_is_finished_takes_no_time() -> None:
    plan = Plan(measure=(Measure(ops=("self.empty",)),), time_budget="1s")
    assert estimate(plan, [], CampaignSetup({}, _OPS, read_machine())) == ()


@pytest.mark.parametrize(
    ("seconds", "ago", "is_over", "patience_is_over"),
    [(None, 1e9, False, False), (100, 0, False, False), (1000, 1001, True, False), (100, 106, True, True),
     (1, 1.2, True, False), (1, 1.6, True, True)],
)  # fmt: skip
def test_a_point_in_flight_is_awaited_for_a_little_while(
    seconds: float | None, ago: float, is_over: bool, patience_is_over: bool
) -> None:
    budget = Budget(seconds, time.monotonic() - ago)
    assert (budget.is_over, budget.patience_is_over) == (is_over, patience_is_over)


@pytest.mark.parametrize(
    ("ago", "left", "most"),
    [(0, 10, 0.7), (50, 5, 0.7), (10, 9, 0.7), (80, 5, 0.28), (99, 5, LEAST_SECONDS), (10, 1, 0.7)],
)
def test_later_launches_get_no_more_than_the_first(ago: float, left: int, most: float) -> None:
    """10 measurements in 10 s, of which so many are left at some instant: time to spare is no one's."""
    budget = Budget(10.0, time.monotonic() - ago / 10, 10)
    assert budget.most_seconds(left) == pytest.approx(most, abs=0.01)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (8, "8 s"), (60, "1 min"), (80.4, "1 min 20 s"), (7200, "2 h"), (7501, "2 h 5 min")],
)
def test_durations_are_told_as_one_waits(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


_LASTING = {
    "name": "npb.bt",
    "class": "collective",
    "sized": False,
    "lasts": True,
    "max_threads": 0,
    "methods": ["batch"],
    "params": [
        {"name": "class", "default": "S", "words": ["S", "A"], "least": 0, "most": 1},
        {"name": "nx", "default": 10, "least": 1, "most": 1000},
    ],
    "work": {"usual": 8e9, "factors": {"class": [1, 20], "nx": [8]}},
}


def _repetition(params: Params, ranks: int = 1) -> float:
    (op,) = described([_LASTING], [{"name": "batch"}], RULES).ops
    point = PlannedPoint(point=0, op=op.name, ranks=ranks, params=params)
    return repetition_seconds(point, op, 2)


def test_what_lasts_takes_its_work_by_class_parameters_and_cores() -> None:
    assert _repetition({}) == pytest.approx(1.0)
    assert _repetition({"class": "A"}) == pytest.approx(20.0)
    assert _repetition({"nx": 20}) == pytest.approx(8.0)
    assert _repetition({"nx": 40}) == pytest.approx(64.0)
    assert [_repetition({}, ranks) for ranks in (2, 4)] == pytest.approx([0.5, 0.5])  # of two cores


_MANY: dict[str, list[dict[str, Any]]] = {
    "mpi.bandwidth": [{"name": "window", "default": 1, "least": 1, "most": 64}],
    "mpi.put.bandwidth": [
        {"name": "window", "default": "allocate", "words": ["allocate", "create"]},
        {"name": "calls", "default": 64, "least": 1, "most": 64},
    ],
}


@pytest.mark.parametrize(
    ("op", "size", "params", "seconds"),
    [
        ("mpi.pingpong", 8, {}, (0, 1e-6)),
        ("mpi.bandwidth", 1 << 22, {"window": 64.0}, (0.02, 0.2)),
        ("mpi.bandwidth", 1 << 22, {}, (0.001, 0.002)),
        ("mpi.put.bandwidth", 1 << 22, {"window": "create", "calls": 64.0}, (0.02, 0.2)),
        ("mpi.allreduce", 3 << 30, {}, (1, 10)),
    ],
)
def test_large_messages_take_the_time_of_their_bytes(
    op: str, size: int, params: Params, seconds: tuple[float, float]
) -> None:
    kind = "collective" if op == "mpi.allreduce" else "p2p"
    row = {"name": op, "class": kind, "sized": True, "methods": ["batch"], "params": _MANY.get(op, [])}
    (described_op,) = described([row], [{"name": "batch"}], RULES).ops
    least, most = seconds
    point = PlannedPoint(point=0, op=op, bytes=size, ranks=2, params=params)
    assert least <= repetition_seconds(point, described_op, 2) <= most


@pytest.mark.parametrize(
    ("launch", "refines", "is_spared", "words"),
    [
        (1, (None,), True, "is less than one launch takes: the first is finished"),
        (1, (None, 0), True, "is less than one launch takes: the first is finished"),
        (1, (0,), False, "has room for part of one launch"),
        (2, (None,), False, "has room for part of one launch"),
    ],
)
def test_a_budget_spares_the_first_launch_but_not_that_of_a_later_round(
    launch: int, refines: tuple[int | None, ...], is_spared: bool, words: str
) -> None:
    """A later round has only sizes that results of an earlier one ask for."""
    points = tuple(
        PlannedPoint(point=i, op="self.empty", rule="median", refines=of) for i, of in enumerate(refines)
    )
    group = LaunchGroup(None, 1, 1, None, (), None, points)
    jobs = [PlannedJob(number, f"l{number}", group, points) for number in (launch, launch + 1)]
    assert spared_jobs(jobs) == int(is_spared)
    plan = Plan(measure=(Measure(ops=("self.empty",)),), time_budget="1ms")
    _, told = estimate(plan, jobs, CampaignSetup({}, _OPS, read_machine()))
    assert words in told


def test_the_first_launch_of_a_later_round_gets_no_more_than_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = list[bool]()

    def heard(job: CampaignJob) -> int:
        granted.append(job.budget.ends)
        return 0

    monkeypatch.setattr("steelyard.campaign.run._run_job", heard)
    plan = Plan(measure=(Measure(ops=("self.empty",)),), launches=2, time_budget="1h")
    for refines in (None, 0):
        points = (PlannedPoint(point=0, op="self.empty", rule="median", refines=refines),)
        campaign = CampaignFile(points=points)
        run_campaign(tmp_path, plan, campaign, CampaignSetup({}, _OPS, read_machine()), lambda _: None)
    assert granted == [False, True, True, True]


@pytest.mark.parametrize(("launches", "told"), [(1, (1, 1)), (2, (3, 2))])
def test_a_launch_whose_first_job_leaves_something_counts_among_those_that_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launches: int, told: tuple[int, int]
) -> None:
    """Its ranks died when the time was over; the job behind it is finished all the same."""
    left = [1, 0]

    def late(job: CampaignJob) -> int:
        while job.budget.left > 0:
            time.sleep(job.budget.left)
        return left.pop(0)

    monkeypatch.setattr("steelyard.campaign.run._run_job", late)
    measure = Measure(ops=("self.empty",), env={"ONE": ("1", "2")})
    plan = Plan(measure=(measure,), launches=launches, time_budget="1ms")
    events = run_plan(tmp_path, plan, CampaignSetup({}, _OPS, read_machine()))
    (spent,) = [event for event in events if isinstance(event, BudgetSpent)]
    assert (spent.points, spent.launches) == told
    assert left == []


def _case(op: str, kind: str, size: int, method: str, each: float) -> float:
    """Estimate a test case on two ranks whose repetition lasts so long, in repetitions."""
    row = {"name": op, "class": kind, "sized": True, "methods": [method]}
    ops = ops_of(described([row], [{"name": method}], RULES), None)
    point = PlannedPoint(point=0, op=op, bytes=size, ranks=2, rule="median", method=method)
    group = LaunchGroup("x", 2, 1, None, (), None, (point,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("steelyard.campaign.budget.repetition_seconds", lambda *_: each)
        return case_seconds(point, group, CampaignSetup({}, ops, read_machine()), None)


def test_what_lasts_counts_starts_at_instants_warm_up_and_checks() -> None:
    """As the engine has it: 3 samples of 4 repetitions, 3 pilots, 2 to warm up, 7 checks."""
    batch, epoch = (_case("mpi.x", "collective", 0, method, 2.0) for method in ("batch", "epoch"))
    assert batch == pytest.approx(2.0 * (3 + 2 + 4 + 3))
    assert epoch == pytest.approx(2.0 * (3 * 4 + 3 + 2 + 4 + 3))
    checked = _case("mpi.x", "collective", 3 << 30, "epoch", 2.0)
    assert 1.5 * epoch < checked < 4 * epoch
    assert _case("mpi.x", "p2p", 8, "batch", 1e-7) < 0.1


def test_a_check_takes_its_bytes_and_that_of_a_reduction_its_numbers() -> None:
    """170 MB take 0.1 s of each block; 1.3e8 doubles a second, filled once and summed up over four ranks."""
    row = {"class": "collective", "sized": True, "methods": ["epoch"]}
    named = {"name": "operator", "kind": "word", "words": ["sum", "max"], "default": "sum"}
    kinds = {"name": "type", "kind": "word", "words": ["double", "char"], "word_bytes": [8, 1]}
    summed = {"params": [named, {**kinds, "default": "double"}]}
    rows = [{"name": "mpi.x", **row}, {"name": "mpi.sum", **row, **summed}]
    ops = ops_of(described(rows, [{"name": "epoch"}], RULES), None).all

    def seconds(op: str, size: int, **params: str) -> float:
        point = PlannedPoint(
            point=0, op=op, bytes=size, ranks=4, rule="median", method="epoch", params=dict(params)
        )
        return check_seconds(point, ops[op], 0.5)

    assert seconds("mpi.x", 170_000_000) == pytest.approx(0.5 + 4 * 0.1)
    assert seconds("mpi.sum", 8 * 13_000_000) == pytest.approx(0.5 + 0.1 * 5)
    assert seconds("mpi.sum", 13_000_000, type="char") == seconds("mpi.sum", 8 * 13_000_000)
