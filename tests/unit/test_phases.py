"""Phases of kernels: what is made of them over chunks and ranks."""

from __future__ import annotations

import msgspec
import pytest

from flat_rows import made_row
from macro_rows import counts
from steelyard.analyses.phases.tables import phase_tables
from steelyard.records.parts import Phase
from steelyard.records.schema import Phases
from steelyard.results.phases import RowPhase, summarise


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


def test_phases_of_chosen_ranks() -> None:
    """Those of eight that were kept stand for four each; a launch of which others were kept is left out."""

    def chunk(kept: tuple[int, ...], ns: tuple[int, ...]) -> Phases:
        each = len(kept)
        phase = Phase(name="work", communicates=False, ns=ns, calls=(1,) * each, moved=(100,) * each)
        return Phases(point=0, first=0, count=1, phases=(phase,), ranks=8, kept=kept, messages=(6,) * each)

    found = summarise([chunk((0, 4), (100, 300)), chunk((0, 4), (100, 300)), chunk((0,), (999,))], 1)
    assert found is not None
    (work,) = found.phases
    assert (work.median, work.slowest, work.moved, found.messages) == (200, 300, 800, 6)
    assert found.imbalance == pytest.approx(0.5)


def test_a_phase_whose_work_is_counted_has_a_rate() -> None:
    """4 ms at 1000 Mop/s are 4 million; three quarters of them in 2 ms are 1500 Mop/s."""
    spmv = RowPhase("spmv", False, 2e6, 2e6, 2e6, 2e6, 1.0, 1.0, work_share=0.75)
    sums = msgspec.structs.replace(spmv, name="sums", work_share=0.0)
    counted, uncounted = (
        msgspec.structs.replace(counts(), phases=phases)
        for phases in ((spmv, sums), (msgspec.structs.replace(spmv, work_share=None),))
    )
    rates = {"op": "npb.cg", "median": 4e6, "time": 4e6, "mops": 1000.0}
    (first, *_), (other, *_) = (
        tuple(phase_tables([made_row(**rates, phases=inside)])) for inside in (counted, uncounted)
    )
    at = [column.name for column in first.columns].index("rate")
    assert [line.cells[at] for line in first.lines] == ["1500 Mop/s", ""]
    assert "rate" not in [column.name for column in other.columns]
