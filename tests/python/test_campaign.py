from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conftest import script
from steelyard.campaign import (
    Event,
    JobStarted,
    PointEnded,
    Setup,
    default_folder,
    finished,
    groups_of,
    job_name,
    locked,
    open_folder,
    plan_jobs,
    run_campaign,
)
from steelyard.engine import Engine, describe, mpi_engine, solo_engine
from steelyard.errors import InputError, MeasurementError, SteelyardError
from steelyard.machine import read_machine
from steelyard.mpi import Mpi, choose_mpi, find_mpis
from steelyard.observations import CampaignFile, PlannedPoint
from steelyard.plan import Measure, Plan, ops_of, resolve
from steelyard.records import JobFile, read_folder
from steelyard.results import results

Orphans = Callable[[], list[int]]

_MACHINE = read_machine()


def _point(number: int, **axes: Any) -> PlannedPoint:
    usual: dict[str, Any] = {"op": "self.empty", "method": "batch", "rule": "fixed"}
    return PlannedPoint(point=number, **usual | axes)


def _campaign(*points: PlannedPoint, seed: int = 1) -> CampaignFile:
    return CampaignFile(seed=seed, points=points)


def _bytes(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
    campaign = open_folder(folder, _PLAN, _POINTS, _MACHINE)
    before = _bytes(folder)
    assert (campaign.seed, campaign.points, campaign.name) == (5, _POINTS, "run")
    assert (folder / "records").is_dir()
    other_seed = msgspec.structs.replace(_PLAN, seed=6)
    again = open_folder(folder, other_seed, _POINTS, _MACHINE)
    assert (again.seed, again.points, again.plan) == (5, _POINTS, campaign.plan)
    assert _bytes(folder) == before


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
    "other points": (lambda out: _begun(out, points=_POINTS[:1]), "holds another campaign ('run', 1 points)"),
    "other plan": (
        lambda out: _begun(out, plan=msgspec.structs.replace(_PLAN, yield_="none")),
        "results are never overwritten; give --out another name",
    ),
    "other schema": (
        lambda out: _begun(out, schema=2),
        "is of format 2, not 1; use the steelyard that wrote it",
    ),
    "broken": (lambda out: script(out / "campaign.json", "{"), "is not a campaign"),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_a_folder_that_is_not_ours_is_refused_and_left_alone(tmp_path: Path, case: str) -> None:
    prepare, words = _REFUSED[case]
    folder = tmp_path / "out"
    prepare(folder)
    before = _bytes(tmp_path)
    with pytest.raises(InputError) as raised:
        open_folder(folder, _PLAN, _POINTS, _MACHINE)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert _bytes(tmp_path) == before


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "up").write_text("precious")
    with pytest.raises(InputError, match="cannot be written: Not a directory; give --out another place"):
        open_folder(tmp_path / "up" / "out", _PLAN, _POINTS, _MACHINE)
    assert _bytes(tmp_path) == {"up": b"precious"}


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(InputError, match="another steelyard is measuring into"),
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


def _setup(*mpis: Mpi) -> Setup:
    """The engines; skips where there is none."""
    try:
        engines: dict[str | None, Engine] = {None: solo_engine()} | {
            mpi.name: mpi_engine(mpi) for mpi in mpis
        }
    except InputError as error:
        pytest.skip(str(error))
    solo, *others = (describe(engine) for engine in engines.values())
    return Setup(engines, ops_of(solo, others[0] if others else None), _MACHINE)


def _plan(*ops: str, **more: Any) -> Plan:
    """Two observations of each op, on two cores or none."""
    ranks, params = more.pop("ranks", 1), {"count": 2.0, **more.pop("params", {})}
    measure = Measure(ops=ops, rule="fixed", ranks=ranks, params=params)
    usual: dict[str, Any] = {"launches": 1, "oversubscribe": True, "seed": 1}
    return Plan(measure=(measure,), **usual | more)


def _run(folder: Path, plan: Plan, setup: Setup) -> list[Event]:
    events: list[Event] = []
    mpis = [name for name in setup.engines if name is not None]
    points = resolve(plan, setup.ops, mpis, 2)
    campaign = open_folder(folder, plan, points, setup.machine)
    run_campaign(folder, plan, campaign, setup, events.append)
    return events


def _ended(events: list[Event]) -> list[tuple[str, str]]:
    return [(e.plan.op, _status(e.file)) for e in events if isinstance(e, PointEnded)]


def _status(file: JobFile) -> str:
    (run,) = file.points
    return run.end.status if run.end else "unfinished"


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    """Processes that a test has started and that still run, found by a mark in their environment."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(
        "STEELYARD_TEST_MARK", mark
    )  # /proc shows it of what is started from now on, not of us

    def find() -> list[int]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark.encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
        return found

    return find


def test_orphans_would_be_seen(orphans: Orphans) -> None:
    with subprocess.Popen(["sleep", "60"]) as left:
        assert orphans() == [left.pid]
        left.kill()


def test_a_campaign_tells_what_it_does(tmp_path: Path, orphans: Orphans) -> None:
    events = _run(tmp_path, _plan("self.empty", "self.clock", launches=2), _setup())
    assert [event.name for event in events if isinstance(event, JobStarted)] == ["l01-solo-n1", "l02-solo-n1"]
    assert sorted(_ended(events)) == 2 * [("self.clock", "ok")] + 2 * [("self.empty", "ok")]
    for event in events:
        if isinstance(event, PointEnded):
            (run,) = event.file.points
            assert run.point is not None
            assert (run.index, run.point.op) == (event.plan.point, event.plan.op)
            assert sum(chunk.count for chunk in run.obs) == 2
    rows = results(tmp_path)
    assert [(row.op, row.status, row.launch_count, row.count, row.verified) for row in rows] == [
        ("self.empty", "ok", 2, 4, True),
        ("self.clock", "ok", 2, 4, True),
    ]
    assert len(finished(tmp_path)) == 4
    assert orphans() == []


def test_a_record_that_was_cut_is_measured_again_and_nothing_else(tmp_path: Path) -> None:
    plan, setup = _plan("self.empty", "self.clock", "self.spin", launches=2), _setup()
    _run(tmp_path, plan, setup)
    path = tmp_path / "records" / "l01-solo-n1.jsonl"
    *lines, last = path.read_bytes().splitlines(keepends=True)
    lost = json.loads(last)["point"]
    path.write_bytes(b"".join(lines) + last[: len(last) // 2])
    before = _bytes(tmp_path)
    events = _run(tmp_path, plan, setup)
    assert [(e.launch, e.points) for e in events if isinstance(e, JobStarted)] == [(1, 1)]
    assert [e.plan.point for e in events if isinstance(e, PointEnded)] == [lost]
    after = _bytes(tmp_path)
    assert after.keys() - before.keys() == {"records/l01-solo-n1.2.jsonl"}
    assert {name: after[name] for name in before} == before
    assert [(row.status, row.launch_count, row.count) for row in results(tmp_path)] == 3 * [("ok", 2, 4)]
    assert _run(tmp_path, plan, setup) == []
    assert _bytes(tmp_path) == after


def test_a_campaign_that_was_stopped_goes_on_where_it_was(tmp_path: Path, orphans: Orphans) -> None:
    plan, setup = _plan("self.empty", "self.clock", "self.spin", launches=2), _setup()
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
    before = _bytes(tmp_path)
    _run(tmp_path, plan, setup)
    after = _bytes(tmp_path)
    assert {name: after[name] for name in before} == before
    assert [(row.status, row.launch_count) for row in results(tmp_path)] == 3 * [("ok", 2)]


def test_more_launches_can_be_added(tmp_path: Path) -> None:
    setup = _setup()
    _run(tmp_path, _plan("self.empty", launches=1), setup)
    before = _bytes(tmp_path)
    events = _run(tmp_path, _plan("self.empty", launches=3), setup)
    assert [event.launch for event in events if isinstance(event, JobStarted)] == [2, 3]
    after = _bytes(tmp_path)
    assert {name: after[name] for name in before if name.startswith("records/")} == {
        name: data for name, data in before.items() if name.startswith("records/")
    }
    assert [(row.status, row.launch_count) for row in results(tmp_path)] == [("ok", 3)]


def test_records_of_another_version_are_refused_and_left_alone(tmp_path: Path) -> None:
    plan, setup = _plan("self.empty", launches=2), _setup()
    _run(tmp_path, plan, setup)
    path = tmp_path / "records" / "l02-solo-n1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":7'))
    before = _bytes(tmp_path)
    with pytest.raises(InputError, match=r"l02-solo-n1\.jsonl, line 1 is of records format 7"):
        _run(tmp_path, plan, setup)
    assert _bytes(tmp_path) == before


def test_a_time_budget_is_shared_by_the_points_that_are_left(tmp_path: Path) -> None:
    measure = Measure(ops=("self.empty", "self.clock"), params={"tolerance": 1e-6})
    plan = Plan(measure=(measure,), launches=2, time_budget="1s", seed=1)
    _run(tmp_path, plan, _setup())
    first, *_ = (run.point for file in read_folder(tmp_path) for run in file.points if run.point)
    assert 0.05 <= first.rule_params["most_seconds"] <= 0.7 / 4
    assert first.rule_params["tolerance"] == 1e-6


# ---- what goes wrong in a launch ---------------------------------------------------------------------------

_HANG, _CRASH, _WRONG, _EXIT, _UNSUPPORTED = 1, 2, 3, 4, 5


def _failing_first(kind: int, setup: Setup, *, rank: int = 0, **more: Any) -> Plan:
    """self.fail and then self.empty: with the seed that puts them into this order."""
    plan = _plan("self.fail", "self.empty", params={"kind": kind, "rank": rank}, **more)
    points = resolve(plan, setup.ops, [name for name in setup.engines if name], 2)
    for seed in range(100):
        (job,) = plan_jobs(_campaign(*points, seed=seed), 1, ())
        if job.points[0].op == "self.fail":
            return msgspec.structs.replace(plan, seed=seed)
    raise AssertionError("no seed of a hundred puts self.fail first")


@pytest.mark.parametrize(
    ("kind", "status", "why"),
    [
        (_HANG, "failed", "hang: no record for 2s, ended by the watchdog"),
        (_CRASH, "failed", "signal 11 (SIGSEGV) on rank 0"),
        (_WRONG, "failed", "wrong: rank 0: self.fail was asked for a wrong answer"),
        (_EXIT, "failed", "abort: the launch ended with code 1 in the middle of the point"),
        (_UNSUPPORTED, "skipped", "unsupported: rank 0: self.fail was asked to be unsupported"),
    ],
)
def test_a_point_that_fails_is_a_result_and_the_next_is_measured(
    tmp_path: Path, kind: int, status: str, why: str, orphans: Orphans
) -> None:
    setup = _setup()
    plan = _failing_first(kind, setup, hang_after="2s")
    events = _run(tmp_path, plan, setup)
    assert _ended(events) == [("self.fail", status), ("self.empty", "ok")]
    failed, good = results(tmp_path)
    assert (failed.op, failed.status, failed.why) == ("self.fail", status, why)
    assert (good.op, good.status, good.count) == ("self.empty", "ok", 2)
    assert orphans() == []
    assert _run(tmp_path, plan, setup) == []  # a failure is a result: it is not tried again


def test_what_hung_once_is_spared_in_later_launches(tmp_path: Path) -> None:
    setup = _setup()
    plan = _failing_first(_HANG, setup, hang_after="2s", launches=3)
    events = _run(tmp_path, plan, setup)
    assert [status for op, status in _ended(events) if op == "self.fail"] == ["failed", "skipped", "skipped"]
    assert [status for op, status in _ended(events) if op == "self.empty"] == ["ok", "ok", "ok"]
    why = results(tmp_path)[0].why
    assert why == "hang: no record for 2s, ended by the watchdog (launch 1 of 3)"


_LAUNCH = {
    "record": "launch", "schema": 1, "engine": "solo", "version": "0", "ranks": 1, "places": [],
    "clock": {"name": "c", "cost_ns": 1, "tick_ns": 1},
}  # fmt: skip
# An engine that hangs, and ends the point when it is told to end.
_LATE_ENGINE = f"""
while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
echo '{json.dumps(_LAUNCH)}' >> "$out"
trap 'echo "{{\\"record\\":\\"end\\",\\"point\\":0,\\"status\\":\\"ok\\"}}" >> "$out"; exit 0' TERM
sleep 60 & wait
"""


def test_what_ends_while_it_is_being_stopped_has_not_hung(tmp_path: Path) -> None:
    setup = _setup()
    late = Engine(str(script(tmp_path / "engine", _LATE_ENGINE)), "solo", None)
    setup = msgspec.structs.replace(setup, engines={None: late})
    events = _run(tmp_path / "out", _plan("self.empty", hang_after="2s"), setup)
    assert _ended(events) == [("self.empty", "ok")]
    assert len(list((tmp_path / "out" / "records").iterdir())) == 1


def _lone(folder: Path, text: str) -> tuple[Setup, Plan]:
    """An MPI whose mpiexec is a script."""
    mpi = Mpi("fake-1", "mpich", "5.0", None, str(script(folder / "mpiexec", text)), None, True, "given")
    setup = _setup()
    engine = Engine(setup.engines[None].path, "mpi", mpi)
    return msgspec.structs.replace(setup, engines={"fake-1": engine}), _plan(
        "self.empty", ranks=2, hang_after="2s"
    )


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (
            "echo 'no such host: mars' >&2; exit 1",
            MeasurementError,
            r"mpiexec' ended with code 1 .*: no such host: mars",
        ),
        (
            "echo one; echo; echo two; exit 7",
            MeasurementError,
            "ended with code 7 before anything .*: one / two",
        ),
        ("exit 0", MeasurementError, "ended with code 0 before anything was measured: it said nothing"),
        ("kill -KILL $$", MeasurementError, "ended with code -9 before anything was measured"),
        (
            "echo waiting; sleep 60",
            MeasurementError,
            "was silent for 2s and ended before .* measured: waiting",
        ),
        (
            "echo 'steelyard: rank 1: no clock X; see Y' >&2; exit 2",
            InputError,
            r"no clock X; see Y \(from: mpiexec\)",
        ),
    ],
)
def test_a_launch_that_cannot_start(
    tmp_path: Path, text: str, kind: type[SteelyardError], words: str
) -> None:
    setup, plan = _lone(tmp_path, text)
    with pytest.raises(kind, match=words) as raised:
        _run(tmp_path / "out", plan, setup)
    assert "\n" not in str(raised.value)
    assert finished(tmp_path / "out") == {}


# ---- with MPI ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "hang_after", "why"),
    [
        (_HANG, "4s", "hang: no record for 4s, ended by the watchdog"),
        (_CRASH, "30s", "signal 11 (SIGSEGV) on rank 1"),
        (_WRONG, "30s", "wrong: rank 1: self.fail was asked for a wrong answer"),
        (_EXIT, "30s", "abort: the launch ended with code 1 in the middle of the point"),
    ],
)
def test_a_rank_that_fails_is_a_result_and_the_next_point_is_measured(
    tmp_path: Path, mpi: Mpi, kind: int, hang_after: str, why: str, orphans: Orphans
) -> None:
    setup = _setup(mpi)
    plan = _failing_first(kind, setup, rank=1, ranks=2, hang_after=hang_after)
    events = _run(tmp_path, plan, setup)
    assert _ended(events) == [("self.fail", "failed"), ("self.empty", "ok")]
    failed, good = results(tmp_path)
    assert (failed.status, failed.why) == ("failed", why)
    assert (good.status, good.count, good.ranks, good.mpi) == ("ok", 2, 2, mpi.name)
    assert orphans() == []


def test_the_mpiexec_of_another_mpi_is_one_clear_sentence(tmp_path: Path, mpi: Mpi) -> None:
    other = next((found for found in find_mpis() if found.family != mpi.family), None)
    if other is None:
        pytest.skip("there is only one family of MPI")
    setup = _setup(mpi)
    mixed = Engine(setup.engines[mpi.name].path, "mpi", other)
    setup = msgspec.structs.replace(setup, engines={other.name: mixed})
    with pytest.raises(
        InputError, match=r"belongs to another MPI than the library .*; use the mpiexec of that"
    ) as raised:
        _run(tmp_path, _plan("self.empty", ranks=2), setup)
    assert "\n" not in str(raised.value)


_STEELYARD = (sys.executable, "-c", "from steelyard.cli import main; main()")


def _await_observation(records: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(b'"record":"obs"' in path.read_bytes() for path in records.glob("*.jsonl")):
            return
        time.sleep(0.02)
    raise AssertionError("nothing was ever measured")


def test_interrupted_it_leaves_readable_results_and_no_rank(tmp_path: Path, orphans: Orphans) -> None:
    try:
        choose_mpi(None)
    except InputError as error:
        pytest.skip(str(error))
    folder = tmp_path / "out"
    words = ["run", "self.empty", "-n", "2", "--rule", "fixed", "--param", "count=1e7", "--oversubscribe"]
    argv = [*_STEELYARD, *words, "--out", str(folder), "--launches", "2"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
        _await_observation(folder / "records")
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=60)
    assert tool.returncode == 3
    assert out == ""
    assert err.splitlines()[-1].startswith("steelyard: stopped; what was finished is kept")
    assert "Traceback" not in err
    assert orphans() == []
    (row,) = results(folder)
    assert (row.op, row.status) == ("self.empty", "skipped")
    assert json.loads((folder / "results.json").read_text())["points"][0]["status"] == "skipped"
