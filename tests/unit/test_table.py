"""Results as tables of polars: one row for each case, launch or sample, and units in the names of columns."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import steelyard
from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.export.exported import Export, Results
from steelyard.export.formats import FORMATS
from steelyard.results.rows import results

_LAUNCHES, _SAMPLES = 3, 500
_POINTS = (
    FakePoint("mpi.pingpong", steady(1e3), params={"send": "isend"}),
    FakePoint("mpi.pingpong", steady(2e3), params={"send": "send"}),
    FakePoint("mpi.bcast", steady(5e3), mpi="openmpi-4.1.4", params={"root": 1.0}),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("table") / "mine", _POINTS, launches=_LAUNCHES)


@pytest.fixture
def pl() -> Any:
    return pytest.importorskip("polars")


def test_a_row_for_each_test_case_and_mpi(pl: Any, folder: Path) -> None:
    table = steelyard.load(folder)
    rows = results(folder)
    assert table["median_ns"].to_list() == [row.median for row in rows]
    assert table["op"].to_list() == ["mpi.pingpong", "mpi.pingpong", "mpi.bcast"]
    assert table["param_send"].to_list() == ["isend", "send", None]
    assert table["param_root"].to_list() == [None, None, 1.0]
    assert table.filter(pl.col("mpi") == "openmpi-4.1.4").height == 1
    assert set(table["folder"]) == {str(folder)}
    both = steelyard.load([folder, str(folder)])
    assert both.height == 2 * table.height
    assert both.schema == table.schema


# Numbers without a unit; all others say theirs.
_PURE = "|".join(
    (
        *("bytes", ".*point", "ranks", "threads", ".*count", "rejected", ".*level", "slow_share", "quantile"),
        *("mops.*", "typical_mode", "slowest_.*", "yields_per_op", "noise", "widened", "alike_p"),
    )
)


def test_a_number_has_its_unit_in_the_name_of_its_column(pl: Any, folder: Path) -> None:
    schema = steelyard.load(folder).schema
    numbers = [name for name, type_ in schema.items() if type_.is_numeric() and not name.startswith("param_")]
    assert len(numbers) > 30
    assert [name for name in numbers if not re.fullmatch(rf".*(_ns|_hz|_per_s)|{_PURE}", name)] == []


def test_a_row_for_each_launch_and_for_each_sample(pl: Any, folder: Path) -> None:
    launches = steelyard.load(folder, rows="launches")
    assert launches.height == _LAUNCHES * len(_POINTS)
    assert launches.filter(launch=2)["median_ns"].to_list() == [
        one.median for row in results(folder) for one in row.launches if one.launch == 2
    ]
    samples = steelyard.load(folder, rows="samples")
    counts = samples.group_by("point", "launch").len()
    assert counts["len"].sum() == sum(row.count for row in results(folder))
    medians = samples.filter(point=2).group_by("launch").agg(pl.col("value_ns").median())
    assert medians["value_ns"].to_list() == pytest.approx([5e3] * _LAUNCHES, rel=0.05)


def test_parquet_is_the_table(pl: Any, folder: Path) -> None:
    written = FORMATS["parquet"](Export((Results(folder, results(folder)),)))
    assert pl.read_parquet(io.BytesIO(written)).equals(steelyard.load(folder))


def test_without_polars_a_sentence_says_how_to_get_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match=r"need polars; type: pip install 'steelyard\[table\]'"):
        steelyard.load(folder)


@pytest.mark.parametrize(
    ("where", "rows", "words"),
    [
        ("nowhere", "cases", "no results folder"),
        (".", "rows", "'cases' or 'launches' or 'samples', not 'rows'"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path: Path, where: str, rows: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        steelyard.load(tmp_path / where, rows)
