"""Any word in any place of any command: it is taken, or one sentence says what is wrong; never a bug.

`run` has a test of its own, because its plans can be shown.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from commands import Steelyard, steelyard_of
from further import further
from steelyard.cli.main import app

_RECORDED = Path(__file__).parents[1] / "data" / "records" / "v1"
# Words with which each command does its work, of folders that are there; nothing is measured.
_COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("self.empty",),
    "doctor": (),
    "show": ("mine",),
    "report": ("mine", "-o", "r.html"),
    "plot": ("mine", "--out", "p.svg"),
    "export": ("mine", "--to", "csv", "--out", "x.csv"),
    "load": ("printed.txt",),
    "compare": ("mine", "other"),
    "check": ("--history", "mine", "--history", "other", "--tonight", "third"),
    "check guidelines": ("mine",),
    "tune": ("mine",),
    "accept": ("mine",),
    "diff": ("mine", "other"),
    "rerun": ("mine", "--yes", "--out", "again"),
    "bug-report": ("mine",),
    "op-header": (),
    "mpi list": (),
    "mpi build": ("nothing",),
}
_NOT_HERE = {"run", "plan show", "validate"}  # the last one simulates what it is given
_ANY_CODE = (0, 1, 2, 3, 4)  # done, a verdict, refused, not measured, undecided
_NONSENSE = "\u00bf"
_WORDS = (
    "",
    *("fifo", "loop", "folder", "file", "missing/deep", "/dev/null", "/dev/full", "/proc/self/mem"),
    *("-5", "0", "1e999", "nan", "9" * 20, "9" * 400, "99999999999h", "5%", "2,2", "8..4"),
    *("a=b", "=", "-", "--", "*", "%s", "{x}", "\x01", "\U0001f4a5", "x" * 300, "../..", "self.empty"),
)


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("steelyard.session.measure.run_campaign", lambda *_, **__: None)
    for name in ("mine", "other", "third"):
        shutil.copytree(_RECORDED, tmp_path / name)
    os.mkfifo("fifo")
    Path("loop").symlink_to("loop")
    Path("folder").mkdir()
    Path("file").write_bytes(b"\0\xff")
    Path("printed.txt").write_text("# OSU MPI Latency Test v7.4\n# Size  Avg Lat(us)\n1  0.20\n2  0.21\n")
    return steelyard_of(capsys, monkeypatch)


def _command(name: str) -> Any:
    command: Any = typer.main.get_command(app)
    if (own := command.get_command(None, name)) is not None:
        return own
    for word in name.split():
        command = command.get_command(None, word)
    return command


def _names(group: Any, before: str = "") -> Iterator[str]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _names(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def _lines(name: str, word: str) -> Iterator[tuple[str, ...]]:
    """List the command lines that have the word as the value of an option, or as another argument."""
    for param in _command(name).params:
        if param.param_type_name != "option":
            yield (*name.split(), *_COMMANDS[name], word)
            yield (*name.split(), word, *_COMMANDS[name][1:])
        elif not param.is_flag:
            yield (*name.split(), *_COMMANDS[name], max(param.opts, key=len), word)


def test_every_command_is_here() -> None:
    assert {*_COMMANDS, *_NOT_HERE} == {*_names(typer.main.get_command(app))}


@pytest.mark.parametrize("words", [(_NONSENSE,), further(_WORDS)])
@pytest.mark.parametrize("name", _COMMANDS)
def test_any_word_is_taken_or_refused_in_a_sentence(
    steelyard: Steelyard, name: str, words: tuple[str, ...]
) -> None:
    for line in (line for word in words for line in _lines(name, word)):
        said = steelyard(*line)
        assert said.code in _ANY_CODE, (line, said)
        if said.code == 2:
            assert said.err.count("\n") >= 1, (line, said)
            *_, last = said.err.splitlines()
            assert last.startswith("steelyard: "), (line, said)
