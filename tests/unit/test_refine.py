"""Sizes that are added where a line breaks or a curve bends, until the change is known to the byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from further import further
from macro_rows import row
from steelyard.analyses.loggp.refine import sizes_to_add
from steelyard.campaign.folder import open_folder
from steelyard.plan.plan import Measure, Plan
from steelyard.records.campaign_file import CampaignFile, PlannedPoint, read_campaign
from steelyard.records.kinds import COLLECTIVE, LATENCY
from steelyard.results.row import Row
from steelyard.session import refine
from steelyard.stats import find_breaks
from steelyard.system.machine import read_machine

DOUBLING = tuple(1 << k for k in range(17))


def series(sizes: tuple[int, ...], time: Callable[[int], float], seed: int = 0, **more: object) -> list[Row]:
    """Five launches with 1 % of noise."""
    found = []
    for size in sizes:
        rng = np.random.default_rng((seed, size))
        times = [time(size) * float(np.exp(0.01 * rng.standard_normal())) for _ in range(5)]
        found.append(row("mpi.pingpong", "a", times, bytes=size, sized=True, **{"role": LATENCY, **more}))
    return found


def eager(limit: int) -> Callable[[int], float]:
    """A message longer than the limit has another line."""
    return lambda size: 300 + 0.1 * size if size <= limit else 900 + 0.08 * size


@pytest.mark.parametrize("limit", [4032, further(4096), further(8191), further(1234)])
def test_a_change_of_protocol_is_found_to_the_byte(limit: int) -> None:
    """In few rounds, and with some tens of sizes."""
    sizes = DOUBLING
    for _ in range(6):
        added = {size for _, size in sizes_to_add(series(sizes, eager(limit)))}
        sizes = tuple(sorted({*sizes, *added}))
        if not added:
            break
    assert {limit, limit + 1} <= set(sizes)
    assert len(sizes) < 90
    rows = series(sizes, eager(limit))
    times = np.array([[one.median or 0.0 for one in each.launches] for each in rows]).T
    assert limit + 1 in find_breaks(sizes, times.tolist())


def test_a_straight_line_is_left_alone() -> None:
    for seed in range(10):
        assert sizes_to_add(series(DOUBLING, lambda size: 300 + 0.1 * size, seed)) == ()


def test_a_bend_is_looked_at_more_closely() -> None:
    """From 300 ns on to slow growth: the sizes around the turn are divided, up to a tenth."""
    added = [size for _, size in sizes_to_add(series(DOUBLING, lambda size: 300 + 2 * size**0.8))]
    assert added
    assert all(size not in DOUBLING for size in added)


def test_sizes_of_numbers_stay_whole_numbers() -> None:
    added = [size for _, size in sizes_to_add(series(DOUBLING[3:], eager(4096), role=COLLECTIVE))]
    assert added
    assert all(size % 8 == 0 for size in added)


def test_few_sizes_are_left_alone_and_why_is_said() -> None:
    few = series(DOUBLING[:5], eager(4))
    assert sizes_to_add(few) == ()
    assert "6 sizes or more; the longest series here has 5: give more --bytes" in refine.why_none(few)
    assert "none was measured here" in refine.why_none([])
    assert "no series changes its line" in refine.why_none(series(DOUBLING, eager(1 << 30)))


PLAN = Plan(measure=(Measure(ops=("mpi.pingpong",)),), refine=True)
POINTS = tuple(PlannedPoint(point=i, op="mpi.pingpong", bytes=size) for i, size in enumerate(DOUBLING))


def test_rounds_add_points_until_the_byte_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured is made; the folder is then the same campaign still."""

    def wanted(folder: Path) -> Sequence[tuple[int, int]]:
        points = read_campaign(folder).points
        rows = [row for point in points for row in series((point.bytes,), eager(4032), point=point.point)]
        return sizes_to_add(rows)

    measured: list[CampaignFile] = []
    monkeypatch.setattr(refine, "_wanted", wanted)
    folder, machine = tmp_path / "x", read_machine()
    campaign = open_folder(folder, PLAN, POINTS, machine)
    shares: list[int] = []

    def measure(_: Plan, grown: CampaignFile, rounds: int, _seconds: None) -> None:
        measured.append(grown)
        shares.append(rounds)

    refine.measure_rounds(folder, PLAN, campaign, measure, lambda _: None)
    assert 3 <= len(measured) <= 7
    assert shares == [5, 4, 3, 2, 1, 1, 1][: len(shares)]
    kept = open_folder(folder, PLAN, POINTS, machine)
    assert kept.points == measured[-1].points
    assert {4032, 4033} <= {point.bytes for point in kept.points}
    assert len({point.point for point in kept.points}) == len(kept.points)
    assert {point.refines for point in kept.points[len(POINTS) :]} == {0}


def test_a_round_may_begin_in_the_last_moment_of_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 90 s, 20 ms are left."""
    now = iter((0.0, 89.98, 90.01))
    monkeypatch.setattr(refine, "time", SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setattr(refine, "_wanted", lambda _: ((0, 3),))
    plan = msgspec.structs.replace(PLAN, time_budget="90s")
    folder = tmp_path / "x"
    campaign = open_folder(folder, plan, POINTS, read_machine())
    measured: list[str | None] = []
    refine.measure_rounds(
        folder, plan, campaign, lambda one, *_: measured.append(one.time_budget), lambda _: None
    )
    assert measured == ["90s", "0.1s"]


def test_without_refine_or_time_there_is_one_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(refine, "_wanted", asked.append)
    plain = msgspec.structs.replace(PLAN, refine=False)
    spent = msgspec.structs.replace(PLAN, time_budget="1ns")
    measured: list[Plan] = []
    for plan in (plain, spent):
        refine.measure_rounds(
            tmp_path, plan, CampaignFile(), lambda one, *_: measured.append(one), lambda _: None
        )
    assert measured == [plain, spent]
    assert asked == []
