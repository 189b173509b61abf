"""A launch with files may be silent as long as its ranks move bytes; others may not."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from described import described
from few_ops import RULES
from steelyard.campaign.slow_files import SlowFiles
from steelyard.engines.description import ops_of
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.kinds import COLLECTIVE, FILE
from steelyard.records.parts import Place
from steelyard.system.process_stat import bytes_of_files

_OPS = ops_of(
    described(
        [
            {"name": name, "role": role, "class": "collective", "sized": True, "methods": ["batch"]}
            for name, role in (("file.pwrite", FILE), ("mpi.sum", COLLECTIVE))
        ],
        [{"name": "batch"}],
        RULES,
    ),
    None,
).all
_HALF = 30  # seconds of a patience of 60


class _Launch:
    places = (
        Place(rank=0, host=platform.node(), pid=11),
        Place(rank=1, host="elsewhere", pid=12),
    )


def _ended(op: str, moved: Sequence[int]) -> int:
    """After how many seconds a launch is ended that has moved so many bytes in each half of the patience."""
    asked = list[Iterable[int]]()

    def count(pids: Iterable[int]) -> int:
        asked.append(pids)
        return sum(moved[: len(asked)])

    slow = SlowFiles([PlannedPoint(point=0, op=op, bytes=8, ranks=2)], _OPS, count)
    launch: Any = _Launch()
    for silent in range(100_000):
        if silent > slow.patience(silent, 2 * _HALF, launch):
            assert all(pids == {11} for pids in asked), "ranks of other hosts are not ours to see"
            return silent
    raise AssertionError("it is never ended")


@pytest.mark.parametrize(
    ("op", "moved", "halves"),
    [
        ("mpi.sum", [10**6] * 9, 2),
        ("file.pwrite", [0] * 9, 2),
        ("file.pwrite", [10**6] + [0] * 9, 2),  # before the first look
        ("file.pwrite", [0, 10**6, 0, 0], 3),
        ("file.pwrite", [0, 10**6, 10**6, 8, 10**6], 4),  # 8 bytes wake a thread up
        ("file.pwrite", [10**6] * 999, 120),
    ],
)
def test_a_launch_is_ended_when_its_files_move_no_more(op: str, moved: list[int], halves: int) -> None:
    assert halves * _HALF < _ended(op, moved) <= halves * _HALF + halves


def test_a_record_begins_the_patience_anew() -> None:
    counts = iter(range(0, 10**9, 10**6))
    points = [PlannedPoint(point=0, op="file.pwrite", bytes=8, ranks=2)]
    slow = SlowFiles(points, _OPS, lambda _: next(counts))
    launch: Any = _Launch()
    allowed = [slow.patience(silent, 60, launch) for silent in (31, 61, 80, 0, 31, 59)]
    assert allowed == [60, 91, 91, 60, 60, 60]


def test_bytes_of_files_are_those_of_processes_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "proc" / "7"
    folder.mkdir(parents=True)
    counts = "rchar: 1\nwchar: 20\nsyscr: 5\nread_bytes: 300\nwrite_bytes: 4000\n"
    (folder / "io").write_text(f"{counts}cancelled_write_bytes: 9\n")
    assert bytes_of_files([7, 8], tmp_path) == 4321
    with (tmp_path / "x").open("wb") as file:
        before = bytes_of_files([_own()])
        file.write(b"x" * 5000)
        file.flush()
        assert bytes_of_files([_own()]) >= before + 5000


def _own() -> int:
    return int(Path("/proc/self").readlink().name)
