"""Phases of kernels: what is made of them over chunks and ranks."""

from __future__ import annotations

import pytest

from steelyard.records.schema import Phase, Phases
from steelyard.results.phases import summarise


def test_phases_are_summed_up() -> None:
    """Two ranks of which one computes three times as long, in two chunks of one and three observations."""

    def chunk(count: int) -> Phases:
        return Phases(
            point=0,
            first=0,
            count=count,
            phases=(
                Phase(name="work", communicates=False, ns=(100 * count, 300 * count), calls=(count, count)),
                Phase(name="wait", communicates=True, ns=(200 * count, 0), calls=(2 * count, 2 * count)),
            ),
            messages=(5 * count, 3 * count),
            bytes=(80 * count, 80 * count),
            memory=(1000, 2000),
        )

    found = summarise([chunk(1), chunk(3)], 1)
    assert found is not None
    assert found.communication == pytest.approx(1 / 3)
    assert found.rank_communication == pytest.approx((2 / 3, 0))
    assert found.imbalance == pytest.approx(0.5)
    assert (found.messages, found.bytes, found.memory) == (4, 80, 2000)
    work, wait = found.phases
    assert (work.median, work.slowest, work.calls, wait.calls) == (200, 300, 1, 2)
    assert work.share == pytest.approx(2 / 3)
    assert summarise([], 1) is None
