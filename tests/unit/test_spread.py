"""Launches spread over time: when each begins, by a clock that the test holds."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from steelyard.campaign.budget import Budget
from steelyard.campaign.events import Event
from steelyard.campaign.jobs import LaunchGroup, PlannedJob
from steelyard.campaign.spread import Waits, await_launch, spread_of, spread_words
from steelyard.cli import progress
from steelyard.cli.bar import Bar, Lines
from steelyard.cli.progress import listening
from steelyard.plan.plan import Measure, Plan


def _job(launch: int) -> PlannedJob:
    return PlannedJob(launch, f"l{launch}", LaunchGroup(None, 1, 1, None, (), None, ()), ())


def _plan(spread: str | None) -> Plan:
    return Plan(measure=(Measure(ops=("self.empty",)),), launches=4, spread=spread)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("steelyard.campaign.spread.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_launches_begin_evenly_whatever_they_take(now: list[float]) -> None:
    jobs = [_job(launch) for launch in (1, 1, 2, 3, 3, 4)]  # of two arms or MPIs: one wait for both
    spread = spread_of(_plan("2h"), jobs)
    now[0] += 2000
    assert [spread.seconds_until(launch) for launch in (1, 2, 4)] == [0, 0, 3400]
    assert spread_words(spread) == ("launches begin 30 min apart, the last in 1 h 30 min",)


def test_a_campaign_that_is_resumed_keeps_the_distance(now: list[float]) -> None:
    spread = spread_of(_plan("2h"), [_job(3), _job(4)])
    assert [spread.seconds_until(launch) for launch in (3, 4)] == [0, 1800]


def test_without_a_spread_no_launch_waits(now: list[float]) -> None:
    spread = spread_of(_plan(None), [_job(1), _job(2)])
    assert (spread.seconds_until(2), spread_words(spread)) == (0, ())
    assert spread_words(spread_of(_plan("2h"), [_job(4)])) == ()


def _waited(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> str:
    """What is shown while launch 2 of 3 is waited for, an hour, at 14:00:00; then launch 3, a second."""
    now = [0.0]
    clock = SimpleNamespace(
        monotonic=lambda: now[0],
        time=lambda: now[0],
        localtime=lambda at: at,
        strftime=lambda _, at: f"15:00:{at - 3600:02.0f}",
    )
    monkeypatch.setattr(progress, "time", clock)
    paper = io.StringIO()
    bar = Bar(Console(file=paper, width=100, force_terminal=True)) if is_terminal else Lines(paper)
    with listening(bar, 3, None) as tell:
        for launch, until in ((2, 3600.0), (3, 3601.0)):
            while now[0] < until:
                tell(Waits(launch, until - now[0]))
                if is_terminal:
                    tell.bar.refresh()  # type: ignore[attr-defined]
                now[0] = min(until, now[0] + 60)
    return paper.getvalue()


def test_a_pipe_hears_of_a_wait_at_its_begin_and_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    said = _waited(monkeypatch, is_terminal=False).splitlines()
    assert said[:2] == [
        "launch 2 of 3 begins at 15:00:00, in 1 h",
        "launch 2 of 3 begins at 15:00:00, in 50 min",
    ]
    assert said[-1] == "launch 3 of 3 begins at 15:00:01, in 1 s"
    assert len(said) == 7


def test_a_terminal_counts_down(monkeypatch: pytest.MonkeyPatch) -> None:
    said = _waited(monkeypatch, is_terminal=True)
    left = re.findall(r"launch 2 of 3 begins at 15:00:00 .*?(\d\S* \w+) to wait", said)
    assert list(dict.fromkeys(left))[:2] == ["1 h", "59 min"]
    assert "launch 3 of 3 begins at 15:00:01" in said


def test_a_wait_is_told_again_until_its_end(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr("steelyard.campaign.spread.time", clock)
    spread = spread_of(_plan("4s"), [_job(1), _job(2)])
    heard: list[Event] = []
    budget = await_launch(spread, 2, Budget(None, 1000.0), heard.append, lambda: False)
    lefts = [event.seconds for event in heard if isinstance(event, Waits)]
    assert len(lefts) == len(heard) >= 4
    assert lefts == sorted(lefts, reverse=True)
    assert lefts[0] == 1.0
    assert budget.began == 1001.0  # of a budget no wait counts
