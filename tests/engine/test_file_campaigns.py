"""Campaigns with files: a file system that does not answer, and what a killed campaign has left."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from campaigns import ended, plan_of, run_plan, setup_of
from hung_files import hung_mount
from steelyard.campaign import job as job_module
from steelyard.campaign.events import Event, PointEnded
from steelyard.campaign.folder import finished
from steelyard.campaign.scratch_folders import AGAIN_SECONDS, TIDY_SECONDS, tidy, unanswered
from steelyard.engines.build import Engine
from steelyard.engines.installed import scripts_folder
from steelyard.plan.plan import Plan
from steelyard.system.process import Child, run

pytestmark = [
    pytest.mark.xdist_group("waits"),
    # Python warns of a child that still runs: no signal ends what waits for such a file system.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_SEED = int(os.environ.get("STEELYARD_KILLS_SEED", "37"))
_SOON = 0.3  # seconds, in place of 20


def _plan(files: Path, hang_after: str = "60s") -> Plan:
    """Two test cases with files, and one without."""
    plan = plan_of("file.create", "file.stat", hang_after=hang_after)
    measures = tuple(msgspec.structs.replace(one, files=str(files)) for one in plan.measure)
    return msgspec.structs.replace(plan, measure=(*measures, *plan_of("self.empty").measure))


def _reasons(events: list[Event]) -> dict[str, str]:
    runs = {one.plan.op: one.file.points[0].end for one in events if isinstance(one, PointEnded)}
    return {op: end.why or "" for op, end in runs.items() if end is not None}


@pytest.fixture
def silent(tmp_path: Path) -> Path:
    folder = tmp_path / "mount"
    folder.mkdir()
    return folder


def test_a_file_system_that_does_not_answer_fails_its_test_cases(
    tmp_path: Path, silent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = setup_of()
    monkeypatch.setattr(job_module, "TIDY_SECONDS", _SOON)
    with hung_mount(silent):
        events = run_plan(tmp_path / "out", _plan(silent), setup)
    said = f"the file system of {silent} did not answer within 0.3 s; see whether its server runs"
    assert dict(ended(events)) == {"file.create": "failed", "file.stat": "failed", "self.empty": "ok"}
    assert _reasons(events) == {"file.create": said, "file.stat": said, "self.empty": ""}


def test_one_that_did_not_answer_is_asked_for_a_shorter_time(
    tmp_path: Path, silent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each launch anew, for its server may have come back."""
    setup, given = setup_of(), list[float]()
    answers = iter(("it is silent", "it is silent", None, None))

    def told(_engine: Engine, _folder: str, seconds: float) -> str | None:
        given.append(seconds)
        return next(answers)

    monkeypatch.setattr(job_module, "unanswered", told)
    plan = msgspec.structs.replace(_plan(silent), launches=4)
    events = run_plan(tmp_path / "out", plan, setup)
    assert given == [TIDY_SECONDS, AGAIN_SECONDS, AGAIN_SECONDS, TIDY_SECONDS]
    assert Counter(ended(events))[("file.create", "failed")] == 2


@pytest.mark.further
def test_one_that_stops_to_answer_in_a_launch_is_a_hang(
    tmp_path: Path, silent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes cannot even be killed; all else goes on."""
    setup = setup_of()
    asked = list[str]()

    def first_well(engine: Engine, folder: str, _seconds: float) -> str | None:
        asked.append(folder)
        return None if len(asked) == 1 else unanswered(engine, folder, seconds=_SOON)

    monkeypatch.setattr(job_module, "unanswered", first_well)
    with hung_mount(silent):
        events = run_plan(tmp_path / "out", _plan(silent, hang_after="1s"), setup)
    assert dict(ended(events)) == {"file.create": "failed", "file.stat": "failed", "self.empty": "ok"}
    reasons = sorted(_reasons(events).values())
    assert reasons[0] == ""
    assert reasons[1].startswith("hang: ")
    assert "did not answer" in reasons[2]


def _ended_under(monkeypatch: pytest.MonkeyPatch, path: Path, compiler: str, **more: Any) -> list[Event]:
    """Two ranks write 24 pieces of 4 KiB in each repetition, below a preloaded fault."""
    setup, files, library = setup_of(), path / "files", path / "faults.so"
    files.mkdir()
    source = Path(__file__).parents[1] / "data" / "pwrite_faults.c"
    run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], timeout=600)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    plan = plan_of("file.pwrite", bytes="4Ki", ranks=2, hang_after="6s", **more)
    measures = tuple(msgspec.structs.replace(one, files=str(files)) for one in plan.measure)
    return run_plan(path / "out", msgspec.structs.replace(plan, measure=measures), setup)


@pytest.mark.further
@pytest.mark.parametrize("method", ["barrier", "epoch", "window"])
def test_one_that_is_slow_is_waited_for(
    tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A repetition is silent for longer than the patience, and moves a piece every 0.3 s."""
    monkeypatch.setenv("FAULT", "slow")
    params = {"calls": 24.0, "count": 1.0}
    events = _ended_under(monkeypatch, tmp_path, compiler, method=method, params=params)
    assert ended(events) == [("file.pwrite", "ok")], _reasons(events)


@pytest.mark.further
@pytest.mark.parametrize("method", ["barrier", "epoch"])
def test_one_whose_writes_stop_is_a_hang(
    tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """After a thousand writes of each rank, which is in the samples, no more bytes move."""
    monkeypatch.setenv("FAULT", "hang")
    monkeypatch.setenv("FAULT_AFTER", "1000")
    params = {"calls": 1.0, "count": 100000.0}
    events = _ended_under(monkeypatch, tmp_path, compiler, method=method, params=params)
    (why,) = _reasons(events).values()
    assert why.startswith("hang: no record for 6s")


@pytest.mark.further
def test_what_cannot_be_removed_is_told(tmp_path: Path, silent: Path) -> None:
    solo = setup_of().engines[None]
    with hung_mount(silent):
        (note,) = tidy(solo, [str(silent / "steelyard-files-0-1")], seconds=_SOON)
    assert f"the file system of {silent} did not answer" in note
    (note,) = tidy(solo, [str(silent)])
    assert "is not named steelyard-files-" in note


@pytest.mark.further
def test_campaigns_that_are_killed_leave_nothing_after_the_next_run(tmp_path: Path) -> None:
    """Driver and ranks at random instants; `STEELYARD_KILLS=30` does it as often, others with a
    `STEELYARD_KILLS_SEED`.
    """
    setup_of()
    kills, rng = int(os.environ.get("STEELYARD_KILLS", "4")), random.Random(_SEED)
    place = tmp_path / "place"
    others = {place / "precious": b"data", place / "steelyard-files-0-other" / "shared": b"theirs"}
    for path, data in others.items():
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    left = 0
    for number in range(kills):
        out = tmp_path / str(number)
        argv = [
            str(scripts_folder() / "steelyard"),
            "run",
            "file.create,file.pwrite",
            "-n",
            "2",
            "--bytes",
            "4Ki",
        ]
        argv += ["--files", str(place), "--launches", "4", "--rule", "fixed", "--param", "count=5"]
        argv += ["--oversubscribe", "--out", str(out)]
        with Child(argv) as child:
            child.pause(rng.uniform(0.6, 2.0))
            child.signal(child.pids(), signal.SIGKILL)
        left += len(list(place.iterdir())) > len(others)
        done = run([*argv], timeout=600)
        assert done.code == 0, done.err
        assert {path.name for path in place.iterdir()} == {"precious", "steelyard-files-0-other"}
        assert {path: path.read_bytes() for path in others} == others
        ends = finished(out).values()
        assert [end.status for end in ends] == ["ok"] * 8, "nothing is lost, nothing is measured twice"
    assert left or kills < 10, "some were killed while there were files"
