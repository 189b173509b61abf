"""Kernels without MPI, in one process with threads: their answers are the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from further import further
from kernels import check_kernels, kernel_lines
from points import measure
from steelyard.engines.build import solo_engine
from steelyard.records.schema import Point

_SOLO = (
    "npb.is class=S threads=3",
    "npb.cg class=W threads=2",
    "npb.cg class=S phases=off",
    "npb.mg class=S threads=2",
    "npb.mg class=S phases=off",
    "npb.ft class=W threads=3",
    "npb.bt class=S threads=3",
    "npb.sp class=S threads=2",
    "npb.sp class=S phases=off",
    "npb.lu class=S phases=off",
    "npb.lu class=S threads=3",
    "app.hpccg nx=20 ny=30 nz=10 threads=3",
    "app.hpccg nx=1 ny=1 nz=1",
    "app.hpccg nx=32 ny=32 nz=32 iterations=5",
    "app.minife nx=20 ny=30 nz=10 threads=3",
    "app.minife nx=2 threads=3 timed=solver",
    "app.minife nx=30 iterations=100",
    "app.minife nx=40 ny=5 nz=9 iterations=3",
    "app.minimd nx=16 ny=16 nz=16 threads=3",
    "app.minimd nx=2 ny=3 nz=4 lists=full phases=off",
    "app.minimd potential=eam nx=8 ny=8 nz=8 threads=3",
    "app.minimd potential=eam nx=8 ny=8 nz=8 lists=full threads=2",
)
_LARGER = (
    "npb.is class=A",
    "npb.mg class=A threads=2",
    "npb.bt class=W threads=2",
    "npb.sp class=W phases=off",
    "npb.lu class=W",
)


@pytest.mark.parametrize("cases", [_SOLO, further(_LARGER)], ids=["small", "larger"])
def test_kernels_give_the_published_answers_without_mpi(tmp_path: Path, cases: Sequence[str]) -> None:
    check_kernels(measure(solo_engine(), 1, 3, kernel_lines(cases), tmp_path / "out.jsonl"), cases)


def test_work_is_counted_as_the_original_counts_it(tmp_path: Path) -> None:
    """What miniFE 2 prints of nx=30: flops of its 101 products with the matrix, sums and dot products."""
    records = measure(
        solo_engine(), 1, 1, kernel_lines(["app.minife nx=30 iterations=100"]), tmp_path / "o.jsonl"
    )
    (point,) = (one for one in records if isinstance(one, Point))
    assert point.work == 101 * 2 * 753571 + 2.4462e7 + 1.08e7
