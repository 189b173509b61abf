"""Ratios of rivals whose times are known: one answer, whoever prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from macro_rows import row
from make_records import FakePoint, steady, write_folder
from overviews import PIPE, A, B, C, lines_of, pingpongs
from steelyard.analyses.overview import ReadFolder, as_shown, overview_text, read_rows
from steelyard.base.factors import FACTORS
from steelyard.judges.compare.arms import value_of
from steelyard.judges.compare.conditions import consequences
from steelyard.judges.compare.default_comparisons import Comparisons
from steelyard.judges.compare.scale import Question
from steelyard.report.page import folder_of, render_report
from steelyard.rows.ratios import Ratio, ratio_of
from steelyard.rows.rivals import ratio_cells, ratio_words
from steelyard.session.compare import compare_folders


def shown(*folders: Path) -> list[ReadFolder]:
    return as_shown([read_rows(folder, str(folder)) for folder in folders])


def test_show_report_and_compare_give_one_ratio_with_one_interval(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "two", pingpongs(A, B), launches=10)
    said = {one.bytes: one for one in compare_folders([folder], Question()).points}
    assert len(said) == 3
    read = shown(folder)
    ratios = Comparisons(read).ratios
    rows = [one for one in read[0].rows if one.mpi == B]
    by_size = {one.bytes: ratios[id(one)] for one in rows}
    assert {size: (one.value, one.low, one.high) for size, one in by_size.items()} == {
        size: (one.ratio, one.low, one.high) for size, one in said.items()
    }
    cells = [ratio_cells(ratios[id(one)]) for one in rows]
    text = overview_text(read, PIPE, Comparisons(read).ratios_by)
    assert [(one[5], one[6]) for one in lines_of(text)] == [
        (value, interval.replace(" ", "")) for value, interval in cells
    ]
    page = render_report([folder_of(one) for one in read])
    assert all(f"<td>{interval}</td>" in page or f">{interval}<" in page for _, interval in cells)
    assert ratio_words(max(one.ratio or 0 for one in said.values())) in Comparisons(read).headline[1]


def test_folders_side_by_side_have_the_ratios_of_compare(tmp_path: Path) -> None:
    folders = [
        write_folder(tmp_path / name, pingpongs(A), launches=8, seed=seed)
        for name, seed in (("x", 1), ("y", 2))
    ]
    said = {one.bytes: one for one in compare_folders(folders, Question()).points}
    read = shown(*folders)
    ratios = Comparisons(read).ratios
    assert {one.bytes: (ratios[id(one)].low, ratios[id(one)].high) for one in read[1].rows} == {
        size: (one.low, one.high) for size, one in said.items()
    }


@pytest.mark.parametrize(
    ("key", "by", "points"),
    [
        ("param send", "param.send", [{"params": {"send": word}} for word in ("send", "ssend")]),
        ("omp places", "omp.places", [{"omp": {"places": word}} for word in ("cores", "threads")]),
    ],
)
def test_settings_side_by_side_have_them_too(
    tmp_path: Path, key: str, by: str, points: list[dict[str, dict[str, str]]]
) -> None:
    fakes = [
        FakePoint("mpi.pingpong", steady(200.0 + 50 * i), bytes=n, mpi=A, **values)  # type: ignore[arg-type]
        for n in (8, 64)
        for i, values in enumerate(points)
    ]
    folder = write_folder(tmp_path / "mine", fakes, launches=10)
    points_said = compare_folders([folder], Question(), by=by).points
    said = {one.point_b: (one.ratio, one.low, one.high) for one in points_said}
    (read,) = shown(folder)
    found = Comparisons([read]).ratios_by(frozenset({key}))
    assert {one.row.point: (one.value, one.low, one.high) for one in found.values()} == said
    assert len(said) == 2


def test_what_is_not_compared_has_no_interval(tmp_path: Path) -> None:
    """One launch of each, a factor that `compare` does not know, and nothing that differs."""
    (read,) = shown(write_folder(tmp_path / "one", pingpongs(A, B), launches=1))
    found = Comparisons([read])
    assert found.asked is None
    assert not found.ratios
    text = overview_text([read], PIPE, found.ratios_by)
    assert "interval" not in next(line for line in text.splitlines() if line.startswith("# bytes"))
    assert "simultaneous" not in text
    for keys in ({"thread level"}, {"param nothing"}):
        assert not found.ratios_by(frozenset(keys))


def test_three_mpis_are_compared_with_the_first(tmp_path: Path) -> None:
    (read,) = shown(write_folder(tmp_path / "three", pingpongs(A, B, C), launches=10))
    found = Comparisons([read]).ratios.values()
    assert {(one.name, one.base_name) for one in found} == {(B, A), (C, A)}
    assert all(one.base.bytes == one.row.bytes for one in found)


def test_rivals_inside_one_of_several_folders_have_the_ratios_of_that_folder(tmp_path: Path) -> None:
    """Two MPIs of an op that the other folder does not have."""
    two = write_folder(tmp_path / "two", pingpongs(A, B), launches=8)
    other = FakePoint("mem.stream.triad", steady(4e5, count=300), bytes=1 << 20, mpi=None)
    read = shown(two, write_folder(tmp_path / "other", [other], launches=8))
    said = {one.bytes: (one.ratio, one.low, one.high) for one in compare_folders([two], Question()).points}
    compared = Comparisons(read)
    ratios = compared.ratios_by(frozenset({"mpi"})).values()
    assert {one.row.bytes: (one.value, one.low, one.high) for one in ratios} == said
    assert f"# ratio: {B} / {A}, of launches" in overview_text(read, PIPE, compared.ratios_by)


@pytest.mark.parametrize("factor", FACTORS.replace(" or ", ", ").split(", "))
def test_every_factor_of_arms_can_be_compared(factor: str) -> None:
    """Also those that no row has a value of: none is unknown."""
    value_of(row("mpi.bcast", "a-1", [1.0]), factor)
    consequences(factor)


def test_two_test_cases_of_a_folder_have_an_interval_of_their_own_ratio() -> None:
    base = row("mpi.bcast", "a-1", [10.0, 10.0, 10.0, 10.0, 10.0, 10.0])
    other = row("mpi.reduce", "a-1", [10.0, 10.0, 10.0, 10.0, 90.0, 95.0])
    found = ratio_of(other, base)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


def test_one_launch_has_no_interval_and_no_number_no_ratio() -> None:
    one, other = row("mpi.bcast", "a-1", [10.0]), row("mpi.reduce", "a-1", [30.0])
    found = ratio_of(other, one)
    assert found is not None
    assert (found.value, found.low, found.high, found.holds_one) == (3.0, None, None, True)
    assert ratio_of(row("mpi.reduce", "a-1", [1.0], median=None), one) is None


def test_a_ratio_of_rates_is_the_other_way_round() -> None:
    one = row("mpi.bcast", "a-1", [10.0])
    found = Ratio("b", "a", one, one, 4.0, 2.0, 5.0).of_rates
    assert (found.value, found.low, found.high) == (0.25, 0.2, 0.5)


@pytest.mark.parametrize(
    ("ends", "cells"),
    [
        ((1.023, 0.984, 1.101), ("1.02", "0.98 – 1.10")),
        ((9520, 2940, 20200), ("9520", "2940 – 20200")),
        ((0.0042, 0.0012, 0.0071), ("1/238", "1/833 – 1/141")),
        ((0.042, 0.012, 0.071), ("0.042", "0.012 – 0.071")),
    ],
)
def test_ratios_are_printed_without_exponents(
    ends: tuple[float, float, float], cells: tuple[str, str]
) -> None:
    one = row("mpi.bcast", "a-1", [10.0])
    assert ratio_cells(Ratio("b", "a", one, one, *ends)) == cells
