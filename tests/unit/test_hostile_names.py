"""Folders, MPIs and ops with hostile names: shown as names by `compare` and `check`, and obeyed by nobody."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer

from make_records import BEGAN_NS, FakePoint, steady, write_folder
from steelyard.base.foreign import visible
from steelyard.cli.check import CheckOptions, check
from steelyard.cli.compare import CompareOptions, compare
from steelyard.report import write_report

_DAY = 86_400 * 10**9
_TEXT = "=cmd|<script>alert(1)<img src=x onerror=alert(1)>\"'&"
_BAD = f"{_TEXT}\x1b[31m\u202e"  # no file of records may be named so: a folder may


def _made(folder: Path, mpi: str, time: float = 1000.0, night: int = 0) -> Path:
    point = FakePoint("mpi.bcast", steady(time, count=40), mpi=mpi)
    return write_folder(folder, [point], 4, night + 1, began_ns=BEGAN_NS + night * _DAY)


def _harmless(text: str) -> None:
    """The name is there, as text: neither control characters nor elements."""
    assert not {"\x1b", "\u202e"} & set(text)
    assert r"\x1b[31m" in text


def test_compare_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, good = _made(tmp_path / _BAD, f"mpich-{_TEXT}"), _made(tmp_path / "good", "mpich-4.0.2", 1500.0)
    for json in (False, True):
        with pytest.raises(typer.Exit) as exit_:
            compare(CompareOptions(folders=[bad, good], junit=tmp_path / "j.xml", json=json))
        assert exit_.value.exit_code == 1
        text = capsys.readouterr().out
        assert "\x1b" not in text
    root = ET.fromstring((tmp_path / "j.xml").read_bytes())
    assert root.get("failures") == "1"
    assert visible(str(bad)) in (root.get("name") or "")
    page = write_report([bad, good], tmp_path / "a.html").read_text()
    _harmless(page)
    assert "<script" not in page
    assert "<img" not in page


def test_check_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / _BAD
    store.mkdir()
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
