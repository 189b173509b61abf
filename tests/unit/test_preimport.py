"""What is imported when: nothing heavy by the command line itself, the rest beside what starts a launch."""

from __future__ import annotations

import fcntl
import importlib
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from steelyard.campaign.start_gate import Hold
from steelyard.session.preimport import _MODULES, ImportsAhead


@pytest.mark.parametrize("module", ["steelyard", "steelyard.cli.main", "steelyard.cli.list"])
def test_neither_package_nor_command_line_imports_what_takes_long(module: str) -> None:
    heavy = ("numpy", "polars", "matplotlib", "rich", "jinja2")
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Modules that nobody has imported yet; each says when it is, in a list of the first."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "ahead_log.py").write_text("import threading\nseen = []\ncame = threading.Event()\n")
    for name in ("one", "two"):
        (tmp_path / f"ahead_{name}.py").write_text(
            f"import ahead_log\nahead_log.seen.append('{name}')\nahead_log.came.set()\n"
        )
    return ["ahead_none", "ahead_one", "ahead_two"]


def test_modules_are_imported_one_after_the_other(modules: list[str]) -> None:
    imports = ImportsAhead(modules)
    imports.begin()
    imports.begin()  # of each launch; the first counts
    imports._thread.join()
    assert sys.modules["ahead_log"].seen[-2:] == ["one", "two"]


def test_it_is_idle_when_it_has_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "ahead_gate.py").write_text("import threading\nmay_end = threading.Event()\n")
    (tmp_path / "ahead_slow.py").write_text("import ahead_gate\nahead_gate.may_end.wait()\n")
    gate = importlib.import_module("ahead_gate")
    imports = ImportsAhead(["ahead_slow"])
    assert not imports.is_idle()
    assert not imports._thread.is_alive()
    imports.begin()
    assert not imports.is_idle()
    gate.may_end.set()
    imports._thread.join()
    assert imports.is_idle()


def test_ranks_are_held_back_until_this_process_is_idle(tmp_path: Path) -> None:
    path = tmp_path / "points"
    path.write_text("op=self.empty\n")
    aside = Mock(is_idle=Mock(return_value=False))
    with Hold(path, aside) as hold, path.open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        hold.release_if_idle()
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        aside.is_idle.return_value = True
        hold.release_if_idle()
        assert hold.is_released
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def test_what_is_imported_ahead_is_there() -> None:
    for name in _MODULES:
        importlib.import_module(name)
