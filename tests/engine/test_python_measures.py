"""Measuring from Python: events, resuming, and what an interruption leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import steelyard
from campaigns import Orphans, watch_orphans
from steelyard.base.errors import InputError
from steelyard.campaign.events import CampaignBegins, PointEnded
from steelyard.campaign.started_programs import started_by
from steelyard.plan.remeasure import plan_of
from steelyard.records.campaign_file import read_campaign
from steelyard.session.events import SessionEvent
from steelyard.session.requested_plan import MeasureOptions

_FEW: MeasureOptions = {"launches": 2, "rule": "fixed", "params": {"count": 4}}


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


def test_it_is_measured_heard_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    events: list[SessionEvent] = []
    results = steelyard.measure(["self.empty", "self.spin"], "mine", on_event=events.append, **_FEW)
    kinds = Counter(type(event).__name__ for event in events)
    assert (kinds["RoundBegins"], kinds["PointEnded"], kinds["RoundEnded"]) == (1, 4, 1)
    assert [(row.op, row.status) for row in results.rows] == [("self.empty", "ok"), ("self.spin", "ok")]
    assert (tmp_path / "mine" / "results.json").is_file()
    assert read_campaign(tmp_path / "mine").command == ()

    events.clear()
    more = steelyard.measure(out="mine", launches=3, on_event=events.append)
    assert sum(isinstance(event, PointEnded) for event in events) == 2
    assert {row.launch_count for row in more.rows} == {3}
    with pytest.raises(InputError, match="holds another campaign"):
        steelyard.measure("self.empty", "mine", launches=3)
    assert capfd.readouterr() == ("", "")


def test_a_strangers_programs_are_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a folder names and this user never started is refused, unless it is trusted."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "theirs"
    steelyard.measure("self.empty", folder, wrapper="env", launches=2, rule="fixed", params={"count": 4})
    (line,) = started_by(plan_of(read_campaign(folder)))
    for kept in (tmp_path / "cache").glob("**/started/*"):
        kept.unlink()
    with pytest.raises(InputError, match="trusted=True") as refused:
        steelyard.measure(out=folder, launches=3)
    assert line in str(refused.value)
    assert steelyard.measure(out=folder, launches=3, trusted=True).rows[0].launch_count == 3


def test_a_listener_that_raises_ends_the_measurement(tmp_path: Path, orphans: Orphans) -> None:
    def hear(event: SessionEvent) -> None:
        if isinstance(event, PointEnded):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        steelyard.measure("self.empty", tmp_path / "out", on_event=hear, **_FEW)
    assert orphans() == []
    assert len(steelyard.measure("self.empty", tmp_path / "out", **_FEW).rows[0].launches) == 2


def test_two_cannot_measure_into_one_folder(tmp_path: Path) -> None:
    def hear(event: SessionEvent) -> None:
        if isinstance(event, CampaignBegins):
            with pytest.raises(InputError, match=r"in use|another steelyard|is measuring"):
                steelyard.measure("self.empty", tmp_path / "out", **_FEW)

    steelyard.measure("self.empty", tmp_path / "out", on_event=hear, **_FEW)


def test_ctrl_c_leaves_no_ranks(tmp_path: Path, orphans: Orphans) -> None:
    """KeyboardInterrupt reaches the program, and what was finished can be read."""
    code = """
import sys, steelyard
try:
    steelyard.measure("self.empty", sys.argv[1], rule="fixed", params={"count": 10**7}, launches=2)
except KeyboardInterrupt:
    print("interrupted", repr(steelyard.read(sys.argv[1])))
"""
    argv = [sys.executable, "-c", code, str(tmp_path / "out")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        _await_launch(tmp_path / "out")
        program.send_signal(signal.SIGINT)
        said, complaints = program.communicate(timeout=600)
    assert said.startswith("interrupted Results(")
    assert complaints == ""
    assert orphans() == []


def _await_launch(folder: Path) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if any(b'"launch"' in path.read_bytes() for path in folder.glob("records/*.jsonl")):
            return
        time.sleep(0.01)
    raise AssertionError("it never began to measure")
