"""Launches of ours and of an original by turns: what their ratio says, and when they take no more of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from further import further
from loaded import load_benchmark
from steelyard.stats.arrays import FloatArray


@pytest.fixture(scope="module")
def turns() -> ModuleType:
    """It stands in `sys.modules` for the benchmarks that import it."""
    return load_benchmark("turns")


def _launches(values: Sequence[float]) -> Callable[[], list[float]]:
    """What one launch after the other says of one size."""
    following = itertools.cycle(values)
    return lambda: [next(following)]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ((100.0, 101.0, 99.0), "the same within 5 %"),
        ((120.0, 121.0, 119.0), "not the same"),
        ((80.0, 130.0, 130.0, 130.0, 130.0, 130.0), "cannot tell"),
        ((104.0, 106.0), "cannot tell"),
        ((100.0, 101.0, 250.0), "the same within 5 %"),  # a third of the launches is in a slow mode
    ],
)
def test_a_ratio_is_told(
    turns: ModuleType, ours: Sequence[float], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = turns.Pairing(["put, 8 B"], "ns", _launches(ours), _launches([100.0]), 0.05, less_is_fast=True)
    for _ in range(12):
        one.take_turn()
    (median,) = one.tell()
    assert min(ours) / 100 <= median <= max(ours) / 100
    said = capsys.readouterr().out
    assert said.startswith("put, 8 B: ")
    assert ", 12 pairs, fast launches " in said
    assert said.endswith(f"], {verdict}\n")


@pytest.mark.parametrize("truth", [1.0, further(1.1)])
def test_intervals_of_fast_launches_hold_what_is_true(turns: ModuleType, truth: float) -> None:
    """20 launches of each suite on machines with a slow mode, in which 30 % of the launches are."""
    rng = np.random.default_rng(1)

    def launches(scale: float) -> FloatArray:
        slow = np.where(rng.random(20) < 0.3, 1.8, 1.0)
        return np.asarray(scale * slow * rng.lognormal(0.0, 0.02, 20))

    found = [turns.quartile_ratio(launches(truth), launches(1.0), 0.25) for _ in range(200)]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.9
    assert np.median([one.high / one.low for one in found]) < 1.06


def test_pairs_are_of_launches_that_were_neighbours(turns: ModuleType) -> None:
    """A machine that gets slower for both changes no ratio."""
    slower = [100.0 * 1.5**i for i in range(8)]
    one = turns.Pairing(["x"], "ns", _launches([1.1 * v for v in slower]), _launches(slower))
    for _ in range(8):
        one.take_turn()
    (ratio,) = one.ratios()
    assert ratio.low == pytest.approx(1.1)
    assert ratio.high == pytest.approx(1.1)


def test_who_is_narrow_takes_no_more_turns(turns: ModuleType) -> None:
    peers = load_benchmark("onesided_peers")

    def fail() -> list[float]:
        raise SystemExit("signal 11")

    def pairing(ours: Callable[[], list[float]]) -> Any:
        return turns.Pairing(["x"], "ns", ours, _launches([100.0]), within=0.05)

    narrow, wide, broken = (
        pairing(_launches([103.0])),
        pairing(_launches([50.0, 150.0, 250.0])),
        pairing(fail),
    )
    failed = peers.take_turns([narrow, wide, broken], 15, math.inf)
    assert (narrow.pairs, wide.pairs, broken.pairs) == (turns.LEAST_FAST, 15, 0)
    assert failed == ["x: signal 11"]
    assert peers.take_turns([pairing(fail)], 15, -math.inf) == []  # no time is left
