"""What the tests of placements share: a point that was placed, and the tables of a results folder as text."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from make_records import FakePoint, steady
from steelyard.observations import Placement
from steelyard.results import results
from steelyard.tables import results_tables


def placed_point(
    *cpus: int, kind: str = "shared-l3", time: float = 200.0, taking: tuple[int, ...] = ()
) -> FakePoint:
    return FakePoint("mpi.pingpong", steady(time, count=200), placement=Placement(kind, cpus, taking))


def tables_text(folder: Path) -> str:
    out = io.StringIO()
    for table in results_tables(results(folder)):
        Console(file=out, width=110).print(table)
    return out.getvalue()
