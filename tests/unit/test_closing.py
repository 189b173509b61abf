"""The headline opens what the terminal shows, and closes it where it has left the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.cli import show as module
from steelyard.cli.show import ShowOptions, show
from steelyard.records.schema import End

_MANY = [FakePoint("mpi.pingpong", steady(300.0 + size), bytes=1 << size) for size in range(23)]
_FAILED = {launch: End(point=0, status="failed", why="wrong: rank 0", count=0) for launch in (1, 2)}


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence is a line."""
    monkeypatch.delenv("COLUMNS", raising=False)


def _shown(folder: Path, capsys: pytest.CaptureFixture[str], like: str | None = None) -> list[str]:
    show(ShowOptions([folder], [like] if like else None))
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("points", "launches", "like", "lines", "twice"),
    [
        (_MANY, 6, None, 24, True),
        (_MANY, 6, None, 200, False),  # a tall terminal
        (_MANY, 6, "osu_latency", 24, True),
        (_MANY[:1], 6, None, 24, False),
        (_MANY[:1], 6, "osu_latency", 24, False),
        (_MANY[:1], 6, None, 4, True),  # a headline, a line of what all share, and the table
        ([FakePoint("mpi.pingpong", steady(300.0), ends=_FAILED)], 2, None, 24, False),
        ([FakePoint("mpi.pingpong", steady(300.0), ends=_FAILED)], 2, None, 3, True),
    ],
)
def test_the_headline_is_first_and_where_it_left_the_screen_last(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    points: list[FakePoint],
    launches: int,
    like: str | None,
    lines: int,
    twice: bool,
) -> None:
    monkeypatch.setattr(module, "height", lambda: lines)
    shown = _shown(write_folder(tmp_path, points, launches=launches), capsys, like)
    assert shown[0].startswith("# ")
    assert (shown.count(shown[0]), shown[-1] == shown[0]) == ((2, True) if twice else (1, False))


def test_warnings_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are between the answer and the prompt, too: a rank that may run on two CPUs gives one."""
    folder = write_folder(tmp_path, _MANY[:1], launches=1, cpus=lambda rank: "0-1")
    answer = len(_shown(folder, capsys))
    monkeypatch.setattr(module, "height", lambda: answer + 1)
    assert len(_shown(folder, capsys)) > answer


def test_the_answer_of_a_run_with_no_number_is_that_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _shown(
        write_folder(tmp_path, [FakePoint("mpi.pingpong", steady(300.0), ends=_FAILED)], launches=2), capsys
    )
    assert shown[0] == "# 1 of 1 test case failed: mpi.pingpong 8 B on 2 ranks of mpich-4.0.2: wrong: rank 0."
