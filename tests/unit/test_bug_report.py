"""What a bug report has, and what it leaves out; nothing is written that was not shown and agreed to."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli import bug_report as command
from steelyard.cli.bug_report import BugReportOptions
from steelyard.records.parts import Busy
from steelyard.records.schema import Watch
from steelyard.session import bug_report
from steelyard.session.bug_report import BUG_FILES, bug_report_text, last_bug


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The machine is looked at in tests of the doctor; the cache is an empty folder."""
    monkeypatch.setattr(bug_report, "_machine_lines", lambda tell: ["host: vm"])
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "o", [FakePoint("mpi.pingpong", steady(500.0), bytes=8)], launches=2)


def _bug(place: Path, name: str, text: str, at: int = 0) -> Path:
    begin, end = BUG_FILES
    place.mkdir(exist_ok=True)
    file = place / f"{begin}{name}{end}"
    file.write_text(text)
    os.utime(file, (at, at))
    return file


def _text(command: str | None = None, folder: Path | None = None) -> str:
    return bug_report_text(command, folder, lambda _: None)


def _titles(text: str) -> list[str]:
    return [line[3:].split(",")[0].split(" of ")[0] for line in text.splitlines() if line.startswith("== ")]


def test_it_has_what_there_is(folder: Path) -> None:
    assert _titles(_text()) == ["program", "machine"]
    assert _titles(_text("steelyard list")) == ["program", "command", "machine"]
    _bug(folder, "a", "Traceback")
    assert _titles(_text(None, folder)) == ["program", "bug", "machine", "diagnostics", "last records"]


def test_of_a_folder_it_has_the_diagnostics_and_the_last_records(folder: Path) -> None:
    text = _text(None, folder)
    assert "1 of 1 test case measured" in text
    records = text.partition("== last records of ")[2]
    assert "l02-mpich-4.0.2-n2.jsonl:" in records  # of the last launch
    assert '"record":"end"' in records
    assert max(map(len, records.splitlines())) <= 400


def test_secrets_and_others_processes_are_left_out(folder: Path) -> None:
    newest = max(folder.glob("records/*.jsonl"), key=lambda file: file.lstat().st_mtime_ns)
    busy = Busy(pid=7, command="intruder", cpu_ns=9, seconds=1.0)
    watch = Watch(host="vm", seconds=1.0, looks=2, cost_ns=1, processes=(busy,), ending="token=hunter2")
    with newest.open("ab") as file:
        file.write(msgspec.json.encode(watch) + b"\n")
    _bug(folder, "a", "connect --password hunter2")
    text = _text("x", folder)
    assert '"record":"watch"' in text
    assert "token=***" in text
    assert "--password ***" in text
    assert not [word for word in ("hunter2", "intruder") if word in text]


def test_a_part_that_cannot_be_made_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bug that is to be reported may be in what gathers it."""

    def bad(*_: object) -> NoReturn:
        raise ValueError("\x1b[31m token=hunter2")

    monkeypatch.setattr(bug_report, "_machine_lines", bad)
    for file in folder.glob("records/*"):
        file.write_text("no record\x1b[31m\n")
    (folder / "campaign.json").unlink()
    text = _text(None, folder)
    assert _titles(text) == ["program", "machine", "diagnostics", "last records"]
    assert r"ValueError: \x1b[31m token=***" in text
    assert "not to be had: " in text
    assert "a line of 14 bytes that is no record" in text
    assert "\x1b" not in text


def test_the_newest_bug_is_that_of_the_folder_or_of_the_cache(folder: Path, tmp_path: Path) -> None:
    assert last_bug(folder) is None
    old = _bug(tmp_path / "cache", "a", "x", at=1)
    new = _bug(tmp_path / "temporary", "b", "x", at=2)
    assert last_bug(None) == new
    new.unlink()
    assert last_bug(None) == last_bug(folder) == old
    (tmp_path / "temporary" / "steelyard-bug-link.txt").symlink_to("/etc/hostname")
    assert last_bug(None) == old
    assert last_bug(folder) == old
    of_folder = _bug(folder, "c", "x", at=0)
    assert last_bug(folder) == of_folder


def test_nothing_is_written_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "bug.txt"
    command.bug_report(BugReportOptions())
    assert "nothing was written; add --out FILE" in capsys.readouterr().err
    with pytest.raises(InputError, match="was not written; read the above, and add --yes"):
        command.bug_report(BugReportOptions(out=out))
    assert "host: vm" in capsys.readouterr().out  # is shown first
    monkeypatch.setattr(command, "can_be_asked", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("no\n"))
    with pytest.raises(InputError, match="was not written"):
        command.bug_report(BugReportOptions(out=out))
    assert not out.exists()
    capsys.readouterr()
    command.bug_report(BugReportOptions(out=out, yes=True))
    assert out.read_text() == capsys.readouterr().out


def test_a_command_is_masked(capsys: pytest.CaptureFixture[str]) -> None:
    command.bug_report(BugReportOptions(command="steelyard run x --env 'API_TOKEN=hunter2'"))
    said = capsys.readouterr().out
    assert "steelyard run x --env 'API_TOKEN=***'" in said
    with pytest.raises(InputError, match="--command: No closing quotation; close its quotes"):
        command.bug_report(BugReportOptions(command="steelyard run 'x"))
