"""Pictures that several points make together, from rows whose answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flat_rows import flat_row
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.overlap.model import curves
from steelyard.analyses.overlap.pictures import overlap_charts
from steelyard.analyses.rank_matrices.model import matrices
from steelyard.analyses.rank_matrices.pictures import matrix_charts
from steelyard.render.axes import shade
from steelyard.render.chart import Bars, Boxes, Dots
from steelyard.report import write_report
from steelyard.results.row import Row


def row(op: str, median: float, *, ranks: int = 4, medians: tuple[float, ...] = (), **params: Any) -> Row:
    return flat_row(
        point=0,
        op=op,
        method="barrier",
        bytes=0 if op == "self.work" else 65536,
        ranks=ranks,
        threads=1,
        params=params,
        placement=None,
        mpi="x",
        launch_count=3,
        count=10,
        rejected=0,
        median=median,
        ci_low=median - 1,
        ci_high=median + 1,
        ci_level=0.95,
        status="ok",
        rank_medians=medians,
    )


def test_shifts_make_a_matrix() -> None:
    """Rank a's own time in the shift by d is the cell (a, a + d modulo ranks)."""
    rows = [
        row("mpi.pattern.shift", 1, medians=tuple(100.0 * d + a for a in range(4)), d=d, kind="send")
        for d in (1, 3, 6)
    ]
    (matrix,) = matrices(rows)
    for d in (1, 3, 6):
        for a in range(4):
            assert matrix.ns[a, (a + d) % 4] == 100 * d + a
    assert np.isnan(np.diag(matrix.ns)).all()
    (chart,) = matrix_charts(matrices(rows))
    (cells,) = chart.marks_of(Boxes)
    assert len(cells.x0) == 12
    (first,) = [k for k in range(12) if (cells.y0[k], cells.x0[k]) == (-0.5, 0.5)]
    assert cells.tips[first] == "0 calls 1: 100 ns"
    assert cells.colours[first] == shade(0.0, is_even=False)  # the fastest, by more than a factor of two


def test_pairs_make_a_matrix_and_too_few_make_none() -> None:
    rows = [row("mpi.pattern.pair", 10.0 * a + b, a=a, b=b) for a in range(3) for b in range(3) if a != b]
    (matrix,) = matrices(rows)
    assert (matrix.ns[0, 2], matrix.ns[2, 0]) == (2, 20)
    assert np.isnan(matrix.ns[3]).all()
    assert matrices(rows[:2]) == ()
    assert matrices([row("mpi.pattern.shift", 1.0, d=1, kind="send")]) == ()  # own times are not known


def test_overlap_is_a_curve_over_work_in_pure_times() -> None:
    op = "mpi.overlap.ibcast"
    rows = [row(op, 1000, work_us=0, tests=0), row(op, 1500, work_us=1, tests=0)]
    rows += [row(op, 2000, work_us=2, tests=0), row("self.work", 1000, work_us=1)]
    assert overlap_charts(curves(rows)) == []  # one point is no curve
    rows.append(row("self.work", 1900, work_us=2))
    (chart,) = overlap_charts(curves(rows))
    (dots,) = chart.marks_of(Dots)
    assert dots.x == pytest.approx([1.0, 1.9])
    assert dots.y == pytest.approx([0.5, 0.9])
    intervals = chart.marks_of(Bars)[-1]
    assert all(low <= y <= high for low, y, high in zip(intervals.y0, dots.y, intervals.y1, strict=True))


def test_a_report_shows_them_where_there_are_any(tmp_path: Path) -> None:
    plain = write_folder(tmp_path / "plain", [FakePoint("mpi.bcast", steady(1e3))])
    page = write_report([plain], tmp_path / "plain.html").read_text()
    assert "Rank by rank" not in page
    assert ">Overlap</h2>" not in page
    shifts = [FakePoint("mpi.pattern.shift", steady(1e3 * d), ranks=4, params={"d": d}) for d in (1, 2, 3)]
    page = write_report([write_folder(tmp_path / "shifts", shifts)], tmp_path / "s.html").read_text()
    assert ">Rank by rank</h2>" in page
    assert "rank that is called" in page
