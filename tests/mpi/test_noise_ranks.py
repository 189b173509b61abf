"""Noise: each rank counts for its own core."""

from __future__ import annotations

from pathlib import Path

import pytest

from points import engine_of, measure
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End, Obs

pytestmark = pytest.mark.ours


def test_each_rank_counts_for_its_core(mpi: Mpi, tmp_path: Path) -> None:
    records = measure(engine_of(mpi), 2, 1, ["op=noise.ftq rule=fixed count=20"], tmp_path / "out.jsonl")
    (end,) = (record for record in records if isinstance(record, End))
    chunks = [record for record in records if isinstance(record, Obs)]
    assert (end.status, end.verified) == ("ok", True)
    assert all(len(chunk.counts["units"]) == 2 for chunk in chunks)
