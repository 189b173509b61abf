"""Launches are added until the printed numbers are as precise as asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

from make_records import FakePoint, steady, write_job
from steelyard.base.errors import InputError
from steelyard.base.units import parse_percent
from steelyard.campaign.folder import finished, open_folder
from steelyard.campaign.jobs import plan_jobs
from steelyard.plan.plan import Measure, Plan
from steelyard.records.campaign_file import CampaignFile, PlannedPoint, read_campaign
from steelyard.results.facets import PrecisionGoal
from steelyard.results.load import load
from steelyard.results.precision import best_seconds, with_partners
from steelyard.results.row import half_of
from steelyard.results.rows import results
from steelyard.rows.row_words import remarks
from steelyard.session.precision_rounds import measure_precisely
from steelyard.stats import launch_interval
from steelyard.stats.interim_looks import launches_for, looks_until
from steelyard.system.machine import read_machine

_PLAN = Plan(measure=(Measure(ops=("mpi.pingpong",)),), precision="5%", launches=22, seed=34)
_SCATTERS = {0: 0.005, 1: 0.02, 2: 0.15}  # between launches, of each point


def _point(number: int, **more: object) -> PlannedPoint:
    return PlannedPoint(point=number, op="mpi.pingpong", bytes=8 << number, ranks=2, **more)  # type: ignore[arg-type]


class _Engine:
    """Stands for engines: writes records of what is left, and keeps what it was asked."""

    def __init__(self, folder: Path, plan: Plan = _PLAN, arms: bool = False) -> None:
        self.folder, self.plan, self.arms = folder, plan, arms
        self.asked: list[tuple[int, list[int]]] = []
        self.seconds: list[Mapping[int, float]] = []

    def campaign(self) -> CampaignFile:
        points = tuple(_point(number) for number in _SCATTERS)
        if self.arms:
            points = tuple(
                _point(2 * number + k, arm=arm, env={"X": arm})
                for number in _SCATTERS
                for k, arm in enumerate("ab")
            )
            points = tuple(msgspec.structs.replace(one, bytes=8 << one.point // 2) for one in points)
        return open_folder(self.folder, self.plan, points, read_machine())

    def __call__(self, plan: Plan, campaign: CampaignFile, rounds: int, seconds: Mapping[int, float]) -> None:
        assert rounds == 1
        self.asked.append((plan.most_launches, [point.point for point in campaign.points]))
        self.seconds.append(seconds)
        for job in plan_jobs(campaign, plan.most_launches, finished(self.folder)):
            rng = np.random.default_rng([34, job.launch])
            members = [(point.point, self._made(point)) for point in job.points]
            path = self.folder / "records" / f"{job.name}.jsonl"
            began = 1_700_000_000_000_000_000 + (job.group.arm == "b") * 10**9
            write_job(path, rng, job.launch, members, began_ns=began)

    def _made(self, point: PlannedPoint) -> FakePoint:
        scatter = _SCATTERS[point.point // 2 if self.arms else point.point]
        return FakePoint("mpi.pingpong", steady(500.0, between=scatter, count=64), bytes=point.bytes)


def _measured(folder: Path, plan: Plan = _PLAN, arms: bool = False) -> _Engine:
    engine = _Engine(folder, plan, arms)
    measure_precisely(folder, plan, engine.campaign(), engine, lambda _: None)
    return engine


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> _Engine:
    """A campaign that was measured until its launches were over."""
    return _measured(tmp_path_factory.mktemp("plain"))


def test_what_is_precise_enough_drops_out(plain: _Engine) -> None:
    engine = plain
    assert engine.asked[0] == (8, [0, 1, 2])
    assert [look for look, _ in engine.asked] == list(looks_until(22))
    assert all(0 not in points for _, points in engine.asked[1:])
    assert engine.asked[-1][1] == [2]
    assert read_campaign(plain.folder).looks == tuple(looks_until(22))[:-1]
    for row in results(plain.folder):
        found = row.get(PrecisionGoal)
        half = half_of(row.time, row.time_low, row.time_high)
        assert half is not None
        assert found.precision == 0.05
        assert found.precision_reached is (half <= 0.05) is (row.point != 2)
        assert row.launch_count >= 8


def test_each_row_says_how_it_ends(plain: _Engine) -> None:
    told = {row.point: [one.text for one in remarks(row, 22)] for row in results(plain.folder)}
    assert "5 % reached" in told[0]
    (needs,) = [text for text in told[2] if "needs" in text]
    assert needs.startswith("5 % needs about ")
    assert needs.endswith(")")
    assert all("measured in" not in text for texts in told.values() for text in texts)


def test_a_folder_that_is_resumed_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    _measured(tmp_path)
    engine = _measured(tmp_path, msgspec.structs.replace(_PLAN, launches=24))
    assert engine.asked == [(24, [2])]
    done = msgspec.structs.replace(_PLAN, precision="90%")
    assert _measured(tmp_path, done).asked == []


def test_a_time_budget_ends_it(tmp_path: Path) -> None:
    engine = _measured(tmp_path, msgspec.structs.replace(_PLAN, time_budget="1ns"))
    assert engine.asked == []


def test_ratios_are_asked_where_arms_are_compared(tmp_path: Path) -> None:
    """Both arms of a ratio are measured until its interval is as narrow; its family is all ratios."""
    plan = msgspec.structs.replace(_PLAN, arms={"env.X": ("a", "b")})
    engine = _measured(tmp_path, plan, arms=True)
    assert engine.asked[0] == (8, [0, 1, 2, 3, 4, 5])
    assert all({point ^ 1 for point in points} == set(points) for _, points in engine.asked)
    assert engine.asked[-1] == (22, [4, 5])
    assert all(row.get(PrecisionGoal).precision is None for row in results(tmp_path))


def test_how_long_a_launch_measures_follows_from_the_first_ones(plain: _Engine) -> None:
    """Launches that differ much need few samples each; a second of one is the most."""
    engine = plain
    assert engine.seconds[0] == {}
    assert all(engine.seconds[1] == seconds for seconds in engine.seconds[2:])
    assert engine.seconds[1][2] < engine.seconds[1][0] <= 1
    assert min(best_seconds(load(plain.folder), results(plain.folder)).values()) >= 0.005


def test_partners_stay() -> None:
    points = (_point(0), _point(1, reference=0), _point(2, beside=1), _point(3, beside=1), _point(4))
    points = (*points[:3], msgspec.structs.replace(points[3], bytes=points[2].bytes), points[4])
    assert [one.point for one in with_partners(points, frozenset({1, 3}))] == [0, 1, 2, 3]
    assert with_partners(points, frozenset()) == ()


@pytest.mark.parametrize(
    ("text", "fraction"), [("2%", 0.02), ("0.5 %", 0.005), ("99%", 0.99), (" 12.5% ", 0.125)]
)
def test_a_percentage(text: str, fraction: float) -> None:
    assert parse_percent(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["2", "", "0%", "-1%", "100%", "nan%", "1e1%", "٢%", "2%%", "2 percent"])
def test_what_is_no_percentage(text: str) -> None:
    with pytest.raises(InputError, match=r"write 2% or 0\.5%"):
        parse_percent(text)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"precision": "two"}, "precision: 'two' is no percentage"),
        ({"precision": "2%", "refine": True}, "leave one of them out"),
        ({"precision": None, "detect": "3%"}, "--arms mpi=A,B"),
        ({"detect": "3%", "arms": {"env.X": ("a", "b")}}, "precision and detect both decide"),
    ],
)
def test_what_cannot_be_asked(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        msgspec.structs.replace(_PLAN, **changes)


@pytest.mark.parametrize("scatter", [0.02, 0.04])
def test_stopping_does_not_break_the_interval_and_what_is_named_suffices(scatter: float) -> None:
    """Normal launches until ± is 2 %: 95 % are stated, and 92 of 100 is within three errors of it."""
    held, enough, named, rounds = 0, 0, 0, 100
    for seed in range(rounds):
        medians = np.exp(scatter * np.random.default_rng([34, seed]).standard_normal(400))
        for look in looks_until(400):
            found = launch_interval(medians[:look].tolist())
            half = half_of(found.value, found.low, found.high) or math.inf
            if half <= 0.02:
                break
            if look == 8:
                needed = launches_for(0.02, half, look)
                assert needed is not None
                later = launch_interval(medians[:needed].tolist())
                named += 1
                enough += (half_of(later.value, later.low, later.high) or 1) <= 0.02
        held += found.low <= 1 <= found.high
    assert held >= 0.89 * rounds
    assert named >= 0.9 * rounds
    assert enough >= 0.7 * named  # 80 % are promised
