"""Engines in the cache that are damaged, or left by a build that was killed, are built again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from further import further
from scripts import script
from steelyard.engines.build import (
    describe,
    solo_engine,
)


def _cut(engine: Path) -> None:
    engine.write_bytes(engine.read_bytes()[:1000])


def _replace_by_a_folder(engine: Path) -> None:
    engine.unlink()
    engine.mkdir()


def _say_nothing(engine: Path) -> None:
    script(engine, "echo '{}'")


@pytest.mark.parametrize("damage", [_cut, _replace_by_a_folder, _say_nothing, Path.unlink])
@pytest.mark.parametrize("of_common", [False, further(True)])
def test_a_damaged_engine_is_built_again(
    toy: Path, own_cache: Path, compiler: str, damage: Callable[[Path], object], of_common: bool
) -> None:
    path = Path(solo_engine().path)
    whole = path.read_bytes()
    damage(path)
    if of_common:
        (common,) = own_cache.glob("engines/*/common.o")
        damage(common)
    assert solo_engine().path == str(path)
    assert path.read_bytes() == whole
    assert describe(solo_engine()).engine == "solo"


def test_what_a_killed_build_left_is_removed(toy: Path, compiler: str) -> None:
    path = Path(solo_engine().path)
    (path.parent / ".new-killed").mkdir()
    (path.parent / ".new-killed" / "half.o").write_bytes(b"half")
    path.unlink()
    solo_engine()
    assert {file.name for file in path.parent.iterdir()} == {"steelyard-solo", "build.log", "sha256", ".lock"}


# A compiler that says when it works, and still writes while its engine is given up.
_SLOW = """
case "$*" in *--version*) echo slow 1; exit;; esac
for output; do :; done
touch {up}
for part in 1 2 3 4 5 6 7 8; do touch "${{output%/*}}/$$-$part"; sleep 0.05; done
touch "$output"
"""


_BUILD = "import os, sys; from steelyard.engines.build import _built; _built('common', sys.argv[1:], "
_BUILD += "dict(os.environ), 'an engine', lambda _: None)"


@pytest.mark.parametrize("second", [signal.SIGTERM, further(signal.SIGHUP), further(signal.SIGINT)])
def test_a_build_that_is_ended_twice_leaves_nothing(
    tmp_path: Path, own_cache: Path, second: signal.Signals
) -> None:
    """`timeout` and some batch systems send a signal to the program, and then to its group."""
    compiler, up = script(tmp_path / "slow", _SLOW.format(up=tmp_path / "up")), tmp_path / "up"
    argv = [sys.executable, "-c", _BUILD, str(compiler)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as tool:
        deadline = time.monotonic() + 600
        while tool.poll() is None and not up.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        tool.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        tool.send_signal(second)
        _, err = tool.communicate(timeout=600)
    assert (tool.returncode, err) == (128 + signal.SIGTERM, "")
    assert up.exists()  # so it was in the middle
    assert {path.name for path in own_cache.glob("engines/*/*")} <= {".lock", "build.log"}
