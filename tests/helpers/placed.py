"""What the tests of placements share: a point that was placed, and the tables of a results folder as text."""

from __future__ import annotations

from pathlib import Path

from make_records import FakePoint, steady
from steelyard.analyses.analysis import Made
from steelyard.analyses.overview import ReadFolder, overview_text
from steelyard.records.campaign_file import Placement
from steelyard.render.terminal import Paper
from steelyard.results.load import load
from steelyard.results.rows import rows_of


def placed_point(
    *cpus: int, kind: str = "shared-l3", time: float = 200.0, taking: tuple[int, ...] = ()
) -> FakePoint:
    return FakePoint("mpi.pingpong", steady(time, count=200), placement=Placement(kind, cpus, taking))


def tables_text(folder: Path) -> str:
    measured = load(folder)
    return overview_text([ReadFolder("", measured, Made(rows_of(measured)))], Paper(110, is_pipe=False))
