"""Rivals in the tables of the terminal: MPIs and folders side by side, and ratios to the first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from make_records import FakePoint, steady
from overviews import HANG, OPS, PIPE, TERMINAL, A, B, C, lines_of, made, pingpongs
from steelyard.analyses import overview
from steelyard.analyses.overview import ReadFolder, folder_names
from steelyard.judges.compare.default_comparisons import Comparisons
from steelyard.render.terminal import Paper
from steelyard.rows.row_words import value_words


def overview_text(folders: Sequence[ReadFolder], paper: Paper) -> str:
    folders = overview.as_shown(folders)
    return overview.overview_text(folders, paper, Comparisons(folders).ratios_by)


@pytest.fixture(autouse=True)
def tables_of_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave those of analyses out, so that a further one changes nothing here."""
    monkeypatch.setattr(overview, "analysis_tables", lambda *_: iter(()))


def test_two_mpis_stand_side_by_side(tmp_path: Path) -> None:
    folder = made(tmp_path, pingpongs(A, B), ops=OPS)
    text = overview_text([folder], TERMINAL)
    assert (
        f"{A} and {B}, 2 ranks on CPUs 0,1 of vm (AMD EPYC 7B13), 6 launches each, interleaved"
        in " ".join(text.split("\n\n")[0].split())
    )
    heading = next(line for line in text.splitlines() if line.startswith("bytes"))
    assert heading.split() == ["bytes", A, "±", B, "±", "ratio", "interval"]
    assert f"ratio: {B} / {A}" in text
    for fields, row, other in zip(
        lines_of(overview_text([folder], PIPE)), folder.rows[::2], folder.rows[1::2], strict=True
    ):
        assert fields[1] == value_words(row).replace(" ", "")
        assert fields[3] == value_words(other).replace(" ", "")
        assert float(fields[5]) == pytest.approx((other.median or 0) / (row.median or 1), abs=0.01)
        low, high = map(float, fields[6].split("–"))
        assert low <= float(fields[5]) <= high


def test_a_rival_that_failed_says_so_in_its_place(tmp_path: Path) -> None:
    points = pingpongs(A, B, sizes=(8, 64))
    points[1] = FakePoint("mpi.pingpong", steady(9.0), bytes=8, mpi=B, ends=dict.fromkeys(range(9), HANG))
    first, second = lines_of(overview_text([made(tmp_path, points)], PIPE))
    assert first[3:7] == ["-", "-", "-", "-"]
    assert " ".join(first[7:]).startswith(f"{B}: failed: hang")
    assert "-" not in second[:7]


def test_more_than_two_mpis_are_adjacent_with_a_ratio_to_the_first(tmp_path: Path) -> None:
    text = overview_text([made(tmp_path, pingpongs(A, B, C), ops=OPS)], PIPE)
    assert f"# ratio: each / {A}, of launches; simultaneous 99 % intervals\n" in text
    lines = lines_of(text)
    assert [fields[:2] for fields in lines] == [
        [size, mpi] for size in ("0B", "8B", "1KiB") for mpi in (A, B, C)
    ]
    assert [fields[-2:] == ["-", "-"] for fields in lines] == [True, False, False] * 3
    assert float(lines[1][-2]) == pytest.approx(2.0, rel=0.1)


def test_ratios_of_bandwidths_are_of_bandwidths(tmp_path: Path) -> None:
    points = [
        FakePoint("mpi.bandwidth", steady(ns), bytes=1000, mpi=mpi, role="bandwidth")
        for mpi, ns in ((A, 1e4), (B, 2e4))
    ]
    (fields,) = lines_of(overview_text([made(tmp_path, points)], PIPE))
    assert float(fields[5]) == pytest.approx(0.5, rel=0.1)


def test_folders_stand_side_by_side_and_are_not_said_to_be_interleaved(tmp_path: Path) -> None:
    folders = [
        made(tmp_path, pingpongs(A), name=name, seed=seed, ops=OPS) for name, seed in (("x", 1), ("y", 2))
    ]
    text = overview_text(folders, PIPE)
    assert "# bytes" in text
    heading = next(line for line in text.splitlines() if line.startswith("# bytes"))
    assert heading.split()[2:] == ["x", "±", "y", "±", "ratio", "interval"]
    assert "interleaved" not in text
    assert "measured at different times" in text
    assert folder_names([Path("a/one"), Path("b/two")]) == ["one", "two"]
    assert folder_names([Path("a/one"), Path("b/one")]) == ["a", "b"]


def test_folders_of_an_mpi_each_are_called_by_it(tmp_path: Path) -> None:
    folders = [made(tmp_path, pingpongs(mpi), name=name, ops=OPS) for name, mpi in (("x", A), ("y", B))]
    heading = next(line for line in overview_text(folders, PIPE).splitlines() if line.startswith("# bytes"))
    assert heading.split()[2:6] == [A, "±", B, "±"]


def test_two_words_to_choose_between_are_rivals_and_two_numbers_are_not(tmp_path: Path) -> None:
    def text(**values: Any) -> str:
        ((name, both),) = values.items()
        points = [
            FakePoint("mpi.pingpong", steady(200.0), bytes=n, mpi=A, params={name: value})
            for n in (8, 64)
            for value in both
        ]
        return overview_text([made(tmp_path / name, points)], PIPE)

    assert "# ratio: ssend / send" in text(send=("send", "ssend"))
    assert "ratio" not in text(window=(1.0, 64.0))


def test_forms_of_a_collective_are_no_rivals(tmp_path: Path) -> None:
    points = [
        FakePoint(op, steady(500.0), bytes=n, mpi=A) for op in ("mpi.bcast", "mpi.ibcast") for n in (8, 64)
    ]
    lines = lines_of(overview_text([made(tmp_path, points)], PIPE))
    assert [fields[:2] for fields in lines] == [
        [op, n] for op in ("mpi.bcast", "mpi.ibcast") for n in ("8B", "64B")
    ]
