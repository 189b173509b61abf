"""Folders, MPIs, parameters with hostile names: shown as names by all commands, and obeyed by nobody."""

from __future__ import annotations

import csv
import io
import json as json_module
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer

from make_records import BEGAN_NS, FakePoint, steady, write_folder
from steelyard.base.printable import visible
from steelyard.cli.check import CheckOptions, check
from steelyard.cli.compare import CompareOptions, compare
from steelyard.cli.export import ExportOptions, export
from steelyard.cli.plot import PlotOptions, plot
from steelyard.export.formats import FORMATS, PRINTS
from steelyard.records.schema import End
from steelyard.report import write_report

_DAY = 86_400 * 10**9
_TEXT = "=cmd|<script>alert(1)<img src=x onerror=alert(1)>\"'&"
_BAD = f"{_TEXT}\x1b[31m\u202e\udcff"  # no file of records may be named so: a folder may


def _made(folder: Path, mpi: str, time: float = 1000.0, night: int = 0) -> Path:
    point = FakePoint("mpi.bcast", steady(time, count=40), mpi=mpi)
    return write_folder(folder, [point], 4, night + 1, began_ns=BEGAN_NS + night * _DAY)


def _harmless(text: str) -> None:
    """The name is there, as text: neither control characters nor elements."""
    assert not {"\x1b", "\u202e", "\udcff"} & set(text)
    assert r"\x1b[31m" in text


def test_compare_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, good = _made(tmp_path / _BAD, f"mpich-{_TEXT}"), _made(tmp_path / "good", "mpich-4.0.2", 1500.0)
    for json in (False, True):
        with pytest.raises(typer.Exit) as exit_:
            compare(
                CompareOptions(
                    folders=[bad, good], junit=tmp_path / "j.xml", markdown=tmp_path / "m.md", json=json
                )
            )
        assert exit_.value.exit_code == 1
        text = capsys.readouterr().out
        assert "\x1b" not in text
    root = ET.fromstring((tmp_path / "j.xml").read_bytes())
    assert root.get("failures") == "1"
    assert visible(str(bad)) in (root.get("name") or "")
    summary = (tmp_path / "m.md").read_text()
    assert not {"\x1b", "\u202e", "\udcff"} & set(summary)
    assert not re.search(r"(?<!\\)<", summary)
    page = write_report([bad, good], tmp_path / "a.html").read_text()
    _harmless(page)
    assert "<script" not in page
    assert "<img" not in page


def test_a_report_shows_names_of_files_of_records(tmp_path: Path) -> None:
    """A sentence about a file that cannot be read names it."""
    folder = _made(tmp_path / "out", "mpich-4.0.2")
    (folder / "records" / "l99-\x1b[31m.jsonl").write_bytes(b"{}\n")
    _harmless(write_report([folder], tmp_path / "a.html").read_text())


def test_check_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / _BAD
    store.mkdir()
    monkeypatch.setattr(sys, "argv", ["steelyard", "check", "--history", str(store)])  # it is told to confirm
    for night in range(6):
        _made(store / f"{night}{_BAD}", f"mpich-{_TEXT}", 1000.0 if night < 5 else 2000.0, night)
    page, cases = tmp_path / "check.html", tmp_path / "j.xml"
    for _ in range(2):  # from records, and from what is kept of them
        with pytest.raises(typer.Exit) as exit_:
            check(CheckOptions(history=[store], report=page, junit=cases))
        assert exit_.value.exit_code == 1
        _harmless(capsys.readouterr().out)
        _harmless(page.read_text())
        assert "<script" not in page.read_text()
        assert "<img" not in page.read_text()
        assert ET.fromstring(cases.read_bytes()).get("failures") == "1"


def _exported(folders: list[Path], to: str) -> bytes:
    out = folders[-1].parent / f"out-{to}"
    if to == "parquet":
        pytest.importorskip("polars")
    export(ExportOptions(folders=folders, to=to, out=out))
    return out.read_bytes()


@pytest.fixture
def both(tmp_path: Path) -> list[Path]:
    """A folder with a hostile name that holds hostile names, and another."""
    mpi, usual = f"mpich-{_TEXT}", dict[str, int | float | str](buffer="same")
    failed = End(point=0, status="failed", why=f"{_TEXT}\x1b[31m\u202e\n8 0.01 Pass\n</pre>]]>")
    points = [
        FakePoint("mpi.pingpong", steady(1000.0, count=40), mpi=mpi, usual=usual),
        FakePoint(
            "mpi.pingpong",
            steady(1000.0, count=40),
            bytes=16,
            mpi=mpi,
            params={f"@{_TEXT}": _TEXT},
            ends=dict.fromkeys(range(1, 5), failed),
        ),
    ]
    good = FakePoint("mpi.pingpong", steady(1500.0, count=40), usual=usual)
    return [write_folder(tmp_path / _BAD, points, 4), write_folder(tmp_path / "good", [good], 4)]


@pytest.mark.parametrize("to", [name for name in FORMATS if name != "extrap"])  # which wants several sizes
def test_export_shows_them(both: list[Path], to: str) -> None:
    data = _exported(both, to)
    if to == "parquet":
        return
    text = data.decode()
    assert not {"\x1b", "\u202e"} & set(text)
    if to == "csv":
        table = list(csv.reader(io.StringIO(text, newline="")))
        assert not [cell for row in table for cell in row if cell.startswith(("=", "+", "@", "\t", "\r"))]
        assert {len(row) for row in table} == {len(table[0])}
        assert len(table) == 4
    if to == "json":
        assert [one["out"] for one in json_module.loads(text)] == [visible(str(one)) for one in both]
    if to == "junit":
        assert {one.tag for one in ET.fromstring(text).iter()} <= {
            *("testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"),
        }
    if to in PRINTS:
        assert "\n8 0.01" not in text
        numbers = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert len([line for line in numbers if line.split()[0] == "8"]) == 2


def test_plot_shows_them(both: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot(PlotOptions(folders=both, out=tmp_path / "a.svg"))
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert paths
    for path in paths:
        assert path.parent == tmp_path
        root = ET.fromstring(path.read_bytes())
        known = {"svg", "rect", "text", "title", "path", "g", "circle"}
        assert {one.tag.rpartition("}")[2] for one in root.iter()} <= known
        assert not [name for one in root.iter() for name in one.attrib if name.startswith("on")]
        assert "<script>alert(1)" in "".join(root.itertext())
