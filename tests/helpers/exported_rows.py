"""Rows, and their texts in the formats that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flat_rows import flat_row, row_launch
from steelyard.analyses.analysis import Made
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS
from steelyard.export.suite_tests import Theirs
from steelyard.plan.suites import SUITES
from steelyard.results.row import Row

TESTS = tuple(Theirs(suite, row.name, row.op, row.params) for suite, rows in SUITES.items() for row in rows)
_LAUNCHES = (row_launch(1, 900.0), row_launch(2, 1000.0), row_launch(3, 1100.0))


def export_row(op: str, size: int, **more: Any) -> Row:
    usual: dict[str, Any] = {
        "point": size,
        "bytes": size,
        "sized": True,
        "ranks": 2,
        "threads": 1,
        "params": {},
        "method": "batch",
        "placement": None,
        "mpi": "openmpi-4.1.4",
        "launch_count": 3,
        "count": 30,
        "rejected": 0,
        "median": 1000.0,
        "mean": 1234.0,
        "verified": True,
        "status": "ok",
        "why": None,
        "launches": _LAUNCHES,
    }
    return flat_row(op=op, **{**usual, **more})


def export_text(to: str, *rows: Row, tests: tuple[Theirs, ...] = TESTS) -> str:
    return FORMATS[to](Export((ExportedFolder(Path("mine"), Made(rows)),), tests)).decode()
