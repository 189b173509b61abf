"""Made-up folders for the tables of the terminal, and the lines of a table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from make_records import FakePoint, steady, write_folder
from steelyard.analyses.analysis import Made
from steelyard.analyses.overview import ReadFolder
from steelyard.records.fields import Params
from steelyard.records.schema import End
from steelyard.render.terminal import Paper
from steelyard.results.load import load
from steelyard.results.rows import rows_of

# What an engine records of parameters that nobody set.
USUAL: Params = {
    "align": 0.0,
    "pages": "normal",
    "inplace": "no",
    "type": "double",
    "operator": "sum",
    "buffers": 1.0,
}


HANG = End(point=0, status="failed", why="hang: no sample for 20 s")
TERMINAL, PIPE = Paper(80, is_pipe=False), Paper()
OPS = {"mpi.pingpong": {"summary": "one way, half the round trip", "sized": True}}
A, B, C, D = "openmpi-4.1.4", "mpich-4.0.2", "mpich-5.0.2", "mvapich-3.0"


def read(folder: Path, name: str = "") -> ReadFolder:
    """Read a results folder, called `name` where there are several."""
    measured = load(folder)
    return ReadFolder(name, measured, Made(rows_of(measured)))


def made(
    folder: Path, points: Sequence[FakePoint], launches: int = 6, name: str = "", **options: Any
) -> ReadFolder:
    """Write a folder of made-up records, and read it."""
    return read(write_folder(folder / f"out{name}", points, launches=launches, **options), name)


def lines_of(text: str) -> list[list[str]]:
    """The fields of each line of a table, as awk sees them in a pipe."""
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


def first_lines(text: str) -> list[list[str]]:
    """Those of the first table alone: others may follow, of what rows make together."""
    body = itertools.dropwhile(lambda line: line.startswith("#"), text.splitlines())
    return [line.split() for line in itertools.takewhile(lambda line: not line.startswith("#"), body)]


def pingpongs(*mpis: str | None, sizes: Sequence[int] = (0, 8, 1024), **keys: Any) -> list[FakePoint]:
    """Ping-pongs of some sizes under each MPI, each MPI 200 ns slower than the one before."""
    return [
        FakePoint(
            "mpi.pingpong",
            steady(200.0 * (1 + i) + size / 8, count=300),
            bytes=size,
            mpi=mpi,
            report="root",
            usual=USUAL,
            **keys,
        )
        for size in sizes
        for i, mpi in enumerate(mpis)
    ]
