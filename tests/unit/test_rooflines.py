"""Rooflines from phases whose operations, bytes and times are known."""

from __future__ import annotations

import pytest

from flat_rows import made_row
from steelyard.analyses.phases.pictures import roofline_charts
from steelyard.analyses.phases.rooflines import rooflines_of
from steelyard.records.kinds import KERNEL
from steelyard.render.svg import svg
from steelyard.results.phases import RowPhase, RowPhases
from steelyard.results.roofs import TRIAD
from steelyard.results.row import Row


def phase(name: str, ns: float, share: float | None, moved: float | None) -> RowPhase:
    return RowPhase(name, moved is None, ns, ns, ns, ns, 0.5, 1.0, share, moved)


def kernel(*phases: RowPhase) -> Row:
    nothing = dict.fromkeys(("messages", "bytes", "collectives", "collective_bytes"), 0.0)
    inside = RowPhases(
        phases=phases,
        communication=0.1,
        rank_communication=(0.1,),
        imbalance=0.0,
        memory=1 << 26,
        resident=0,
        **nothing,
    )
    return made_row(op="npb.cg", role=KERNEL, ranks=1, threads=1, median=1e6, mops=1e3, phases=inside)


def stream(bandwidth: float) -> Row:
    return made_row(op=TRIAD, bytes=1 << 26, ranks=1, threads=1, mpi=None, median=1e6, bandwidth=bandwidth)


def test_a_phase_has_an_intensity_a_rate_and_a_share() -> None:
    """1e9 operations a second for 1 ms are 1e6; half of them on 1 MB in 0.5 ms."""
    row = kernel(phase("spmv", 0.5e6, 0.5, 1e6), phase("halo", 0.1e6, None, None))
    (found,) = rooflines_of([row, stream(4e9)])
    (point,) = found.phases
    assert (point.name, found.bandwidth) == ("spmv", 4e9)
    assert point.intensity == pytest.approx(0.5)
    assert point.rate == pytest.approx(1e9)
    assert point.share == pytest.approx(0.5)
    (chart,) = roofline_charts([found])
    assert chart.x.low <= 0.5 <= chart.x.high
    assert "50 % of the roof" in str(svg(chart))


def test_without_a_stream_or_counts_there_is_none() -> None:
    counted = phase("spmv", 0.5e6, 0.5, 1e6)
    assert rooflines_of([kernel(counted)]) == ()
    assert rooflines_of([kernel(phase("spmv", 0.5e6, None, 1e6)), stream(4e9)]) == ()
    assert roofline_charts(()) == []
