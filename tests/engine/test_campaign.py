from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from campaigns import Orphans, bytes_of, ended, plan_of, run_plan, setup_of, watch_orphans
from scripts import script
from steelyard.base.errors import InputError
from steelyard.campaign.events import BudgetSpent, CampaignBegins, Event, JobStarted, PointEnded
from steelyard.campaign.folder import default_folder, finished, open_folder
from steelyard.campaign.jobs import groups_of, job_name, plan_jobs
from steelyard.campaign.lock import locked
from steelyard.campaign.run import run_campaign
from steelyard.campaign.spread import Spread, Waits
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import CampaignFile, PlannedOp, PlannedPoint
from steelyard.records.read import read_folder
from steelyard.results.rows import results
from steelyard.system.machine import read_machine

_MACHINE = read_machine()


def _point(number: int, **axes: Any) -> PlannedPoint:
    usual: dict[str, Any] = {"op": "self.empty", "method": "batch", "rule": "fixed"}
    return PlannedPoint(point=number, **usual | axes)


def _campaign(*points: PlannedPoint, seed: int = 1) -> CampaignFile:
    return CampaignFile(seed=seed, points=points)


# ---- the design --------------------------------------------------------------------------------------------

_MIXED = _campaign(
    *(_point(i) for i in range(6)),
    *(_point(i, mpi="mpich-5.0.2", ranks=2) for i in range(6, 12)),
    *(_point(i, threads=2) for i in range(12, 16)),
)


def test_each_launch_measures_every_point_once() -> None:
    jobs = plan_jobs(_MIXED, 3, ())
    assert {job.name for job in jobs if job.launch == 2} == {
        "l02-solo-n1",
        "l02-mpich-5.0.2-n2",
        "l02-solo-n1-t2",
    }
    for launch in (1, 2, 3):
        mine = [job for job in jobs if job.launch == launch]
        assert sorted(point.point for job in mine for point in job.points) == list(range(16))
        assert all(point in job.group.points for job in mine for point in job.points)
    assert [job.launch for job in jobs] == sorted(job.launch for job in jobs)


def test_the_order_is_random_and_that_of_the_seed() -> None:
    jobs = plan_jobs(_MIXED, 8, ())
    assert jobs == plan_jobs(_MIXED, 8, ())
    assert jobs != plan_jobs(msgspec.structs.replace(_MIXED, seed=2), 8, ())
    orders = {tuple(point.point for point in job.points) for job in jobs if job.group.ranks == 2}
    assert len(orders) > 1
    groups = {tuple(job.name[4:] for job in jobs if job.launch == launch) for launch in range(1, 9)}
    assert len(groups) > 1


def test_what_is_done_is_left_out_and_the_rest_keeps_its_launch() -> None:
    done = {("l01-solo-n1", i) for i in range(6)} | {("l02-solo-n1", 3)}
    jobs = {job.name: [point.point for point in job.points] for job in plan_jobs(_MIXED, 2, done)}
    assert "l01-solo-n1" not in jobs
    assert sorted(jobs["l02-solo-n1"]) == [0, 1, 2, 4, 5]
    assert sorted(jobs["l02-solo-n1-t2"]) == [12, 13, 14, 15]


@pytest.mark.parametrize(
    ("launch", "axes", "name"),
    [
        (3, {"mpi": "openmpi-4.1.4", "ranks": 2, "threads": 4}, "l03-openmpi-4.1.4-n2-t4"),
        (12, {}, "l12-solo-n1"),
        (1, {"mpi": "mpich-5.0.2@/opt/mpich 5", "ranks": 64}, "l01-mpich-5.0.2_opt_mpich_5-n64"),
    ],
)
def test_job_names_are_file_names(launch: int, axes: dict[str, Any], name: str) -> None:
    assert job_name(launch, groups_of([_point(0, **axes)])[0]) == name


# ---- the folder --------------------------------------------------------------------------------------------

_PLAN = Plan(measure=(Measure(ops=("self.empty",), rule="fixed"),), launches=2, seed=5)
_POINTS = (_point(0, rule_params={"count": 2}), _point(1, op="self.clock"))


@pytest.mark.parametrize("name", ["new", "new/below", "empty"])
def test_a_folder_is_begun_and_taken_up_again(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    folder = tmp_path / name
    ops = {op: PlannedOp(f"what {op} is") for op in ("self.empty", "self.clock", "mpi.bcast")}
    campaign = open_folder(folder, _PLAN, _POINTS, _MACHINE, ops=ops)
    assert campaign.ops == {op: ops[op] for op in ("self.empty", "self.clock")}
    before = bytes_of(folder)
    assert (campaign.seed, campaign.points, campaign.name) == (5, _POINTS, "run")
    assert (folder / "records").is_dir()
    other_seed = msgspec.structs.replace(_PLAN, seed=6)
    again = open_folder(folder, other_seed, _POINTS, _MACHINE)
    assert (again.seed, again.points, again.plan) == (5, _POINTS, campaign.plan)
    assert bytes_of(folder) == before


def _begun(
    folder: Path, *, points: tuple[PlannedPoint, ...] = _POINTS, plan: Plan = _PLAN, **changes: int
) -> None:
    """A folder with a campaign in it, of which something may be changed afterwards."""
    open_folder(folder, plan, points, _MACHINE)
    document = json.loads((folder / "campaign.json").read_text())
    (folder / "campaign.json").write_text(json.dumps(document | changes))


# What stands in the way of out/ -> words of the refusal.
_REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file": (
        lambda out: out.write_text("precious"),
        "is a file, not a folder; give --out a name that is free",
    ),
    "foreign": (
        lambda out: script(out / "notes.txt", "precious"),
        "holds other files and no campaign; give --out",
    ),
    "other points": (lambda out: _begun(out, points=_POINTS[:1]), "holds another campaign"),
    "other plan": (
        lambda out: _begun(out, plan=msgspec.structs.replace(_PLAN, yield_="none")),
        "Results are never overwritten; give --out another name",
    ),
    "other schema": (
        lambda out: _begun(out, schema=2),
        "has format 2, not 1; use the steelyard that wrote it",
    ),
    "broken": (lambda out: script(out / "campaign.json", "{"), "is not a campaign"),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_a_folder_that_is_not_ours_is_refused_and_left_alone(tmp_path: Path, case: str) -> None:
    prepare, words = _REFUSED[case]
    folder = tmp_path / "out"
    prepare(folder)
    before = bytes_of(tmp_path)
    with pytest.raises(InputError) as raised:
        open_folder(folder, _PLAN, _POINTS, _MACHINE)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert bytes_of(tmp_path) == before


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "up").write_text("precious")
    with pytest.raises(InputError, match="cannot be written: Not a directory; give --out another place"):
        open_folder(tmp_path / "up" / "out", _PLAN, _POINTS, _MACHINE)
    assert bytes_of(tmp_path) == {"up": b"precious"}


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(
            InputError,
            match=r"steelyard \(pid \d+ on .*, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\) is measuring into",
        ),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        pass


def test_the_default_folder_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folders = []
    for _ in range(3):
        folders.append(default_folder(_PLAN))
        folders[-1].mkdir(parents=True)
    assert len(set(folders)) == 3
    assert all(folder.parent == Path("results") for folder in folders)


# ---- running, without MPI ----------------------------------------------------------------------------------


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


def test_orphans_would_be_seen(orphans: Orphans) -> None:
    with subprocess.Popen(["sleep", "60"]) as left:
        try:
            deadline = time.monotonic() + 600  # for a moment after exec, a process has no environment yet
            while not (found := orphans()) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert found == [left.pid]
        finally:
            left.kill()


def test_a_campaign_tells_what_it_does(tmp_path: Path, orphans: Orphans) -> None:
    events = run_plan(tmp_path, plan_of("self.empty", "self.clock", launches=2), setup_of())
    assert [event.name for event in events if isinstance(event, JobStarted)] == ["l01-solo-n1", "l02-solo-n1"]
    assert sorted(ended(events)) == 2 * [("self.clock", "ok")] + 2 * [("self.empty", "ok")]
    for event in events:
        if isinstance(event, PointEnded):
            (run,) = event.file.points
            assert run.end is not None
            assert (run.index, run.end.count) == (event.plan.point, 2)
    rows = results(tmp_path)
    assert [(row.op, row.status, row.launch_count, row.count, row.verified) for row in rows] == [
        ("self.empty", "ok", 2, 4, True),
        ("self.clock", "ok", 2, 4, True),
    ]
    assert len(finished(tmp_path)) == 4
    assert orphans() == []


def test_a_record_that_was_cut_is_measured_again_and_nothing_else(tmp_path: Path) -> None:
    plan, setup = plan_of("self.empty", "self.clock", "self.spin", launches=2), setup_of()
    run_plan(tmp_path, plan, setup)
    path = tmp_path / "records" / "l01-solo-n1.jsonl"
    *lines, last = path.read_bytes().rpartition(b'{"record":"state"')[0].splitlines(keepends=True)
    lost = json.loads(last)["point"]
    path.write_bytes(b"".join(lines) + last[: len(last) // 2])
    before = bytes_of(tmp_path)
    events = run_plan(tmp_path, plan, setup)
    assert [(e.launch, len(e.points)) for e in events if isinstance(e, JobStarted)] == [(1, 1)]
    assert [e.plan.point for e in events if isinstance(e, PointEnded)] == [lost]
    after = bytes_of(tmp_path)
    assert after.keys() - before.keys() == {"records/l01-solo-n1.2.jsonl"}
    assert {name: after[name] for name in before} == before
    assert [(row.status, row.launch_count, row.count) for row in results(tmp_path)] == 3 * [("ok", 2, 4)]
    (again,) = run_plan(tmp_path, plan, setup)
    assert isinstance(again, CampaignBegins)
    assert bytes_of(tmp_path) == after


def test_a_campaign_that_was_stopped_goes_on_where_it_was(tmp_path: Path, orphans: Orphans) -> None:
    plan, setup = plan_of("self.empty", "self.clock", "self.spin", launches=2), setup_of()
    points = resolve(plan, setup.ops, [], 2)
    seen = []

    def stop(event: Event) -> None:
        if isinstance(event, PointEnded):
            seen.append(event.plan.point)
            if len(seen) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_campaign(tmp_path, plan, open_folder(tmp_path, plan, points, _MACHINE), setup, stop)
    assert orphans() == []
    before = bytes_of(tmp_path)
    run_plan(tmp_path, plan, setup)
    after = bytes_of(tmp_path)
    assert {name: after[name] for name in before} == before
    assert [(row.status, row.launch_count) for row in results(tmp_path)] == 3 * [("ok", 2)]


def test_a_campaign_that_is_asked_to_stop_ends_with_the_test_case_under_way(
    tmp_path: Path, orphans: Orphans
) -> None:
    """Those that follow it in its launch are not begun, and are measured when it goes on."""
    plan, setup = plan_of("self.empty", "self.clock", "self.spin", launches=2), setup_of()
    points = resolve(plan, setup.ops, [], 2)
    ended_: list[int] = []

    def hear(event: Event) -> None:
        if isinstance(event, PointEnded):
            ended_.append(event.plan.point)

    campaign = open_folder(tmp_path, plan, points, _MACHINE)
    run_campaign(tmp_path, plan, campaign, setup, hear, is_stopping=lambda: True)
    assert ended_ == []
    run_campaign(tmp_path, plan, campaign, setup, hear, is_stopping=lambda: len(ended_) > 3)
    assert 4 <= len(ended_) <= 6  # those that ended between two looks
    assert orphans() == []
    run_plan(tmp_path, plan, setup)
    assert [(row.status, row.launch_count) for row in results(tmp_path)] == 3 * [("ok", 2)]


@pytest.mark.parametrize("budget", [None, "1ms"], ids=["asked to stop", "budget over"])
def test_a_launch_that_has_measured_all_ends_by_itself(
    tmp_path: Path, budget: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks write their last records when they end: a launch that is stopped before would lack them."""
    monkeypatch.setattr("steelyard.campaign.budget._LEAST_GRACE", 60)  # a busy machine starts it late
    after = tmp_path / "after"
    engine = script(tmp_path / "slow-end", f'"$@"; code=$?; sleep 1; touch {after}; exit $code')
    plan = plan_of("self.empty", launches=2, wrapper=str(engine), time_budget=budget)
    setup, heard = setup_of(), list[Event]()
    points = resolve(plan, setup.ops, [], 2)
    campaign = open_folder(tmp_path / "x", plan, points, _MACHINE)
    run_campaign(
        tmp_path / "x",
        plan,
        campaign,
        setup,
        heard.append,
        is_stopping=lambda: budget is None and bool(ended(heard)),
    )
    assert ended(heard) == [("self.empty", "ok")]
    assert after.exists()


def test_more_launches_can_be_added(tmp_path: Path) -> None:
    setup = setup_of()
    run_plan(tmp_path, plan_of("self.empty", launches=1), setup)
    before = bytes_of(tmp_path)
    events = run_plan(tmp_path, plan_of("self.empty", launches=3), setup)
    assert [event.launch for event in events if isinstance(event, JobStarted)] == [2, 3]
    after = bytes_of(tmp_path)
    assert {name: after[name] for name in before if name.startswith("records/")} == {
        name: data for name, data in before.items() if name.startswith("records/")
    }
    assert [(row.status, row.launch_count) for row in results(tmp_path)] == [("ok", 3)]
    (nothing,) = run_plan(tmp_path, plan_of("self.empty", launches=3), setup)  # the same again says so
    assert isinstance(nothing, CampaignBegins)
    assert nothing.words == ("all was measured before (3 measurements): nothing is measured again",)


def test_records_of_another_version_are_refused_and_left_alone(tmp_path: Path) -> None:
    plan, setup = plan_of("self.empty", launches=2), setup_of()
    run_plan(tmp_path, plan, setup)
    path = tmp_path / "records" / "l02-solo-n1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":7'))
    before = bytes_of(tmp_path)
    with pytest.raises(InputError, match=r"l02-solo-n1\.jsonl, line 1 has records format 7"):
        run_plan(tmp_path, plan, setup)
    assert bytes_of(tmp_path) == before


def test_a_time_budget_is_shared_by_the_points_that_are_left(tmp_path: Path) -> None:
    measure = Measure(ops=("self.empty", "self.clock"), params={"tolerance": 1e-6})
    plan = Plan(measure=(measure,), launches=2, time_budget="4s", seed=1)
    run_plan(tmp_path, plan, setup_of())
    first, *_ = (run.point for file in read_folder(tmp_path) for run in file.points if run.point)
    assert 0.05 <= float(first.rule_params["most_seconds"]) <= 0.7 * 4 / 4
    assert first.rule_params["tolerance"] == 1e-6


def test_launches_that_are_spread_wait_for_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the first one takes: what is left until the second is said here."""
    left = [0.3, 0.2, 0.1]
    monkeypatch.setattr(
        Spread, "seconds_until", lambda _, launch: left.pop(0) if launch == 2 and left else 0.0
    )
    events = run_plan(tmp_path, plan_of("self.empty", launches=2, spread="1s"), setup_of())
    seen = [event for event in events if isinstance(event, JobStarted | Waits)]
    kinds = [(type(event), event.launch) for event in seen]
    assert kinds == [(JobStarted, 1), (Waits, 2), (Waits, 2), (JobStarted, 2)]
    assert [event.seconds for event in seen if isinstance(event, Waits)] == [0.2, 0.1]
    assert left == []
    assert ended(events) == 2 * [("self.empty", "ok")]


def test_at_the_end_of_a_time_budget_what_is_left_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch that would take for ever is not awaited; more time takes up what was left out."""
    orphans = watch_orphans(monkeypatch)
    begun = tmp_path / "begun"
    engine = script(tmp_path / "once", f'[ -e {begun} ] && exec sleep 3600; touch {begun}; exec "$@"')
    plan = plan_of("self.empty", "self.clock", launches=3, time_budget="1s", wrapper=str(engine))
    folder = tmp_path / "x"
    events = run_plan(folder, replace(plan, hang_after="1h"), setup_of())
    assert orphans() == []
    (begins,) = [event for event in events if isinstance(event, CampaignBegins)]
    (spent,) = [event for event in events if isinstance(event, BudgetSpent)]
    assert (begins.points, spent.points, spent.launches) == (6, 4, 2)
    assert sorted(ended(events)) == [("self.clock", "ok"), ("self.empty", "ok")]  # the first is finished
    begun.unlink()
    engine.write_text('#!/bin/sh\nexec "$@"\n')
    more = run_plan(folder, replace(plan, time_budget="10m"), setup_of())
    assert len(ended(more)) == 4
    assert not [event for event in more if isinstance(event, BudgetSpent)]


def test_a_hang_of_the_first_launch_ends_a_budget_that_is_over(tmp_path: Path) -> None:
    """What hangs is found by its silence; what it kept from being measured is not begun again."""
    plan = plan_of("self.fail", params={"kind": 1.0}, launches=2, time_budget="1ms", hang_after="200ms")
    events = run_plan(tmp_path, plan, setup_of())
    assert ended(events) == [("self.fail", "failed")]
    (spent,) = [event for event in events if isinstance(event, BudgetSpent)]
    assert (spent.points, spent.launches) == (1, 1)
