"""Looks at a comparison that grows share one rate of false alarms."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from make_records import FakePoint, steady, write_job
from steelyard.campaign.folder import open_folder
from steelyard.plan.plan import Measure, Plan
from steelyard.records.campaign_file import PlannedPoint
from steelyard.stats.interim_looks import FIRST_SHARE, compare_looks, looks_until, share_of, that_count
from steelyard.stats.paired_permutation import compare_arms
from steelyard.system.machine import read_machine

_PLAN = Plan(measure=(Measure(ops=("mpi.pingpong",)),), launches=8)
_POINTS = (PlannedPoint(point=0, op="mpi.pingpong", ranks=2),)
_SPACINGS = [(8,), (8, 10, 12, 14, 40), (8, 16, 32, 64), tuple(range(8, 200)), (50, 51), (9, 10_000)]


@pytest.mark.parametrize("looks", _SPACINGS)
def test_all_looks_together_spend_no_more_than_there_is(looks: tuple[int, ...]) -> None:
    shares = [share_of(looks[:k], look) for k, look in enumerate(looks)]
    assert all(share > 0 for share in shares)
    assert sum(shares) <= 1
    assert shares[0] == FIRST_SHARE


@pytest.mark.parametrize(
    ("most", "looks"),
    [(8, [8]), (5, [5]), (9, [8, 9]), (20, [8, 10, 13, 17, 20]), (22, [8, 10, 13, 17, 22])],
)
def test_looks_are_spaced_by_a_factor(most: int, looks: list[int]) -> None:
    assert list(looks_until(most)) == looks


def test_looks_at_which_nothing_could_be_told_spend_nothing() -> None:
    """The least p of seven pairs is 1 / 64."""
    assert that_count((4, 7, 8, 12), 0.01) == (8, 12)
    first, second = _arms(1, 10, 3, 0.02, 0.2)
    early, once = compare_looks(first, second, (3, 5)), compare_looks(first, second)
    assert np.array_equal(early.p, once.p)
    assert np.array_equal(early.low, once.low)


def test_one_look_is_the_comparison_itself_at_its_share() -> None:
    first, second = _arms(2, 12, 5, 0.03, 0.04)
    once, found = compare_looks(first, second), compare_arms(first, second, level=1 - FIRST_SHARE * 0.01)
    assert np.array_equal(once.low, found.low)
    assert np.allclose(once.p, np.minimum(found.p / FIRST_SHARE, 1))


def test_each_look_pays_its_share_whatever_the_others_told() -> None:
    """The p is the least of all looks, each over its share: so it is at most 1 % in 1 % of equals."""
    first, second = _arms(5, 14, 4, 0.03, 0.03)
    looks, paid = (8, 10, 14), list[np.ndarray]()
    for k, look in enumerate(looks):
        share = share_of(looks[:k], look)
        paid.append(compare_arms(first[:look], second[:look], level=1 - share * 0.01).p / share)
    assert np.allclose(compare_looks(first, second, looks[:2]).p, np.minimum(np.min(paid, axis=0), 1))


def test_what_one_look_told_stays_told() -> None:
    """What is seen at once is still there when the next pairs are noise."""
    rng = np.random.default_rng(3)
    first, second = _arms(3, 10, 1, 0.01, 0.05)
    noise = rng.normal(0, 0.2, (2, 2, 1))
    grown = np.concatenate((first, noise[0])), np.concatenate((second, noise[1]))
    assert compare_arms(*grown).p[0] > 0.01
    said = compare_looks(*grown, (10,))
    assert said.p[0] <= 0.01
    assert said.pairs[0] == 12
    assert said.low[0] >= 0


def test_what_few_pairs_told_falls_if_more_pairs_show_that_they_are_alike() -> None:
    """Arms of which one was in another state during the first ten of thirty pairs."""
    first, second = _arms(5, 30, 1, 0.01, 0.0)
    second[:10] += 0.3
    assert compare_looks(first[:10], second[:10]).p[0] <= 0.01
    said = compare_looks(first, second, (10,))
    assert said.alike
    assert said.p[0] > 0.01
    assert said.low[0] <= 0 <= said.high[0]


def test_a_column_that_has_ended_falls_too_if_later_pairs_of_others_are_alike() -> None:
    """It keeps no interval without 0 beside a p that tells nothing."""
    first, second = _arms(5, 30, 2, 0.01, 0.0)
    second[:10] += 0.3
    first[10:, 0] = np.nan
    assert compare_looks(first[:10], second[:10]).p[0] <= 0.01
    said = compare_looks(first, second, (10,))
    assert said.alike
    assert (said.p[0] <= 0.01) == (not said.low[0] <= 0 <= said.high[0])


def test_a_column_that_is_no_longer_measured_keeps_its_interval() -> None:
    first, second = _arms(4, 60, 2, 0.03, 0.0)
    first[10:, 0] = np.nan
    before, after = compare_looks(first[:10], second[:10]), compare_looks(first, second, (10,))
    for name in ("estimate", "low", "high", "pairs"):
        assert getattr(before, name)[0] == getattr(after, name)[0]
    assert after.pairs[1] == 60
    assert after.high[1] - after.low[1] < before.high[1] - before.low[1]


def _arms(seed: int, pairs: int, cases: int, scatter: float, effect: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 34])
    first, second = rng.normal(0, scatter, (2, pairs, cases))
    return first, second + math.log1p(effect)


def test_a_folder_that_grows_keeps_the_looks_that_it_had(tmp_path: Path) -> None:
    machine = read_machine()
    looks = []
    for launches in (8, 8, 10, 9, 20):
        plan = msgspec.structs.replace(_PLAN, launches=launches)
        looks.append(open_folder(tmp_path / "x", plan, _POINTS, machine).looks)
    assert looks == [(), (), (8,), (8,), (8, 10)]


def test_a_time_budget_looks_at_what_it_reached(tmp_path: Path) -> None:
    """The number of launches of such a run is not planned: each run shows what it has."""
    machine, rng = read_machine(), np.random.default_rng(1)
    plan = msgspec.structs.replace(_PLAN, launches=40, time_budget="60s")
    open_folder(tmp_path, plan, _POINTS, machine)
    for launch in range(1, 10):
        write_job(
            tmp_path / "records" / f"l{launch:02d}-x.jsonl",
            rng,
            launch,
            [(0, FakePoint("mpi.pingpong", steady(500.0)))],
        )
    assert open_folder(tmp_path, plan, _POINTS, machine).looks == (9,)
