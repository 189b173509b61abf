"""Launches spread over time: when each begins, by a clock that the test holds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from steelyard.campaign.jobs import LaunchGroup, PlannedJob
from steelyard.campaign.spread import spread_of, spread_words
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
