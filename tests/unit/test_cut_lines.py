"""A line that is cut at any of its bytes: no traceback, no number that changes without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from further import further
from make_records import FakePoint, steady, write_folder
from steelyard.diagnostics.results import diagnostics
from steelyard.records.job_file import append_records
from steelyard.records.schema import Watch
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.rows import rows_of

_TOLD = {"damaged", "missing", "not-measured", "cut-line"}
_LAUNCHES = 2
_each_step = pytest.mark.parametrize("step", [5, further(1)])  # bytes from one cut to the next

Cut = Callable[[list[bytes], int], list[bytes]]  # of lines, at a byte of one of them
_FIRST: dict[str, Cut] = {
    "the file ends there": lambda lines, at: [lines[0][:at]],
    "its begin is lost": lambda lines, at: [lines[0][at + 1 :], *lines[1:]],
    "its end is lost": lambda lines, at: [lines[0][:at], b"\n", *lines[1:]],
    "its end and the line break": lambda lines, at: [lines[0][:at], *lines[1:]],
}
_LAST: dict[str, Cut] = {
    "the file ends there": lambda lines, at: [*lines[:-1], lines[-1][:at]],
    "its end is lost": lambda lines, at: [*lines[:-1], lines[-1][:at], b"\n"],
    "its begin is lost": lambda lines, at: [*lines[:-1], lines[-1][at + 1 :]],
}


def _seen(folder: Path) -> tuple[tuple[Row, ...], set[str]]:
    """The rows, and the names of what is said of damage."""
    measured = load(folder)
    rows = rows_of(measured)
    return rows, {one.name for one in diagnostics(measured, rows)} & _TOLD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The records of one test case in two launches; the last of them ends with that test case."""
    point = FakePoint("mpi.bcast", steady(1e3, count=20))
    return write_folder(tmp_path / "out", [point], launches=_LAUNCHES, plan={"launches": _LAUNCHES})


def _check_cuts(folder: Path, cut: Cut, number: int, step: int) -> None:
    """Cut a line at each byte but its line break, or at one of `step`."""
    path = sorted((folder / "records").iterdir())[-1]
    before, said = _seen(folder)
    assert not said
    lines = path.read_bytes().splitlines(keepends=True)
    for at in range(0, len(lines[number]) - 1, step):
        path.write_bytes(b"".join(cut(lines, at)))
        rows, told = _seen(folder)
        others = b"".join(lines[:number]).rstrip()
        assert told or path.read_bytes().rstrip() == others, at  # nothing is left of the line
        assert rows == before or (told and rows[0].launch_count < _LAUNCHES), at


@_each_step
@pytest.mark.parametrize("how", [*list(_FIRST)[:2], *map(further, list(_FIRST)[2:])])
def test_a_first_line_that_is_cut(folder: Path, how: str, step: int) -> None:
    _check_cuts(folder, _FIRST[how], 0, step)


@_each_step
@pytest.mark.parametrize("how", _LAST)
def test_the_end_of_a_test_case_that_is_cut(folder: Path, how: str, step: int) -> None:
    _check_cuts(folder, _LAST[how], -1, step)


@_each_step
@pytest.mark.parametrize("how", _LAST)
def test_the_end_of_a_launch_that_is_cut(folder: Path, how: str, step: int) -> None:
    """What the package writes last is no number of a row."""
    path = sorted((folder / "records").iterdir())[-1]
    append_records(path, [Watch(host="vm", seconds=1, looks=2, cost_ns=1)])
    _check_cuts(folder, _LAST[how], -1, step)
