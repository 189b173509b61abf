"""What is imported when: nothing heavy by the command line itself, the rest while launches start."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.campaign.run import JobStarted, LaunchMeasures
from steelyard.cli.ahead import _MODULES, ImportsAhead

_STARTS = JobStarted(1, "l01", (), ())


@pytest.mark.parametrize("module", ["steelyard", "steelyard.cli.main"])
def test_neither_package_nor_command_line_imports_what_takes_long(module: str) -> None:
    heavy = ("numpy", "scipy", "polars", "matplotlib", "rich", "jinja2")
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


def test_modules_are_imported_while_a_launch_starts(modules: list[str]) -> None:
    imports = ImportsAhead(modules)
    imports.hear(_STARTS)
    imports._thread.join()
    imports.end()
    assert sys.modules["ahead_log"].seen[-2:] == ["one", "two"]


def test_nothing_is_imported_before_a_launch_starts_nor_while_it_measures_on_all_cores(
    modules: list[str],
) -> None:
    fresh = [f"{name}_absent" for name in modules]
    imports = ImportsAhead(fresh)
    imports.hear(LaunchMeasures(all_cores=True))
    assert not imports._may.is_set()
    imports.hear(_STARTS)
    assert imports._may.is_set()
    imports.hear(LaunchMeasures(all_cores=True))
    assert not imports._may.is_set()
    imports.hear(LaunchMeasures(all_cores=False))
    assert imports._may.is_set()
    imports.end()
    assert not imports._thread.is_alive()


def test_what_is_imported_ahead_is_there() -> None:
    for name in _MODULES:
        importlib.import_module(name)
