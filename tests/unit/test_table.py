"""Results as tables of polars: one row for each case, launch or sample, and units in the names of columns."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import steelyard
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.analysis import Made
from steelyard.base.errors import InputError
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.flat import flat
from steelyard.export.formats import FORMATS
from steelyard.export.table import TABLE_COLUMNS, unit_of, with_unit
from steelyard.records.command_line import installing
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


def test_a_row_for_each_test_case_and_mpi(pl: Any, folder: Path, tmp_path: Path) -> None:
    table = steelyard.load(folder)
    rows = results(folder)
    assert table["median_ns"].to_list() == [row.median for row in rows]
    assert table["op"].to_list() == ["mpi.pingpong", "mpi.pingpong", "mpi.bcast"]
    assert table["param_send"].to_list() == ["isend", "send", None]
    assert table["param_root"].to_list() == [None, None, 1.0]
    assert table.filter(pl.col("mpi") == "openmpi-4.1.4").height == 1
    assert set(table["folder"]) == {str(folder)}
    again = shutil.copytree(folder, tmp_path / "again")
    both = steelyard.load([folder, str(again)])
    assert both.height == 2 * table.height
    assert both.schema == table.schema
    with pytest.raises(InputError, match="is given twice"):
        steelyard.load([folder, str(folder)])


def test_a_time_has_its_unit_in_the_name_of_its_column(tmp_path: Path) -> None:
    """What doubles where all takes twice as long is a time."""
    once, twice = (
        flat(results(write_folder(tmp_path / str(ns), [FakePoint("mpi.bcast", steady(ns))]))[0])
        for ns in (1e3, 2e3)
    )
    numbers = {name for name, value in once.items() if isinstance(value, float) and value > 0}
    times = {name for name in numbers if twice[name] == pytest.approx(2 * once[name], rel=0.01)}
    assert times >= {"time", "median", "p99", "mean", "max"}
    assert {name for name in times if not with_unit(name).endswith("_ns")} == set()


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


@pytest.mark.parametrize("rows", TABLE_COLUMNS)
def test_a_run_without_results_has_the_same_columns(pl: Any, folder: Path, tmp_path: Path, rows: str) -> None:
    empty = shutil.copytree(folder, tmp_path / "empty")
    for path in (empty / "records").iterdir():
        path.unlink()
    table = steelyard.load(empty, rows)
    own = {name: type_ for name, type_ in table.schema.items() if not name.startswith("param_")}
    assert own == {name: getattr(pl, type_) for name, type_ in TABLE_COLUMNS[rows]().items()}
    assert own.items() <= dict(steelyard.load(folder, rows).schema).items()


def test_each_column_says_its_unit() -> None:
    """As a page of Python: the unit of a time, a size, a rate; none of a word or a share."""
    units = {name: unit_of(name) for columns in TABLE_COLUMNS.values() for name in columns()}
    known = {"time_ns": "ns", "bytes": "bytes", "bandwidth_bytes_per_s": "bytes/s", "mops": "10⁶/s"}
    known |= {"op": "", "slow_share": "", "tsc_hz": "Hz", "value_ns": "ns", "ranks": ""}
    assert {name: units[name] for name in known} == known


def test_parquet_is_the_table(pl: Any, folder: Path) -> None:
    written = FORMATS["parquet"](Export((ExportedFolder(folder, Made(results(folder))),)))
    assert pl.read_parquet(io.BytesIO(written)).equals(steelyard.load(folder))


def test_without_polars_a_sentence_says_how_to_get_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match=re.escape(f"need polars; type: {installing('table')}")):
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


def test_what_is_missing_is_installed_where_this_program_runs() -> None:
    """A `pip` of another Python may come first on PATH, as where the environment is not activated."""
    words = shlex.split(installing("table"))
    assert words[0] == sys.executable
    assert words[1:] == ["-m", "pip", "install", "steelyard[table]"]
