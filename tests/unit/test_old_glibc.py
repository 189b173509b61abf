"""The compiler of wheels is laid into a folder of its own, and removes nothing that others put there."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_LAYS = Path(__file__).parents[2] / "packaging" / "wheels" / "old_glibc.py"


@pytest.mark.parametrize(("name", "stays"), [("mine.txt", True), ("toolchain.cmake", False)])
def test_a_folder_with_other_files_stays(tmp_path: Path, name: str, stays: bool) -> None:
    """Where zig's wheel is empty it ends behind that, in any case."""
    (tmp_path / "ziglang.py").touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_text("what was there")
    (folder / "include").mkdir()
    words = [sys.executable, str(_LAYS), platform.machine(), str(folder)]
    alone = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert ((folder / name).read_text() == "what was there") is stays
    assert ("holds no compiler that was laid before" in done.stderr) is stays
