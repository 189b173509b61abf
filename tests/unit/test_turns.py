"""Launches of ours and of an original by turns: what their ratio says, and when they take no more of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

from loaded import load_benchmark


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
        ((80.0, 130.0), "cannot tell"),
        ((104.0, 106.0), "cannot tell"),
    ],
)
def test_a_ratio_is_told(
    turns: ModuleType, ours: Sequence[float], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = turns.Pairing(["put, 8 B"], "ns", _launches(ours), _launches([100.0]), within=0.05)
    for _ in range(12):
        one.take_turn()
    (median,) = one.tell()
    assert min(ours) / 100 <= median <= max(ours) / 100
    said = capsys.readouterr().out
    assert said.startswith("put, 8 B: ")
    assert said.endswith(f"12 pairs, {verdict}\n")


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

    narrow, wide, broken = pairing(_launches([103.0])), pairing(_launches([50.0, 200.0])), pairing(fail)
    failed = peers.take_turns([narrow, wide, broken], 15, math.inf)
    assert (narrow.pairs, wide.pairs, broken.pairs) == (peers.LEAST_PAIRS, 15, 0)
    assert failed == ["x: signal 11"]
    assert peers.take_turns([pairing(fail)], 15, -math.inf) == []  # no time is left
