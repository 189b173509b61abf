from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

import pytest

import steelyard.system.leftovers as module
from steelyard.system.leftovers import leftovers_removed

_NOBODY = 2**22 + 1  # a pid beyond the highest that Linux gives


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for /dev/shm and for that of temporary files."""
    monkeypatch.setattr(module, "_NAMES", [(tmp_path, pattern) for _, pattern in module._NAMES])
    return tmp_path


def _let_time_pass() -> None:
    """Until the clock of the file system has gone on."""
    time.sleep(2 * module._CLOCK_STEP_NS / 1e9)


def test_what_a_launch_left_is_removed_and_nothing_else(shared: Path) -> None:
    (shared / "vader_segment.vm.0.1.0").write_text("of before")
    (shared / "notes.txt").write_text("precious")
    _let_time_pass()
    with leftovers_removed():
        (shared / "mpich_shm_1").write_text("x")
        (shared / "vader_segment.vm.0.2.0").write_text("x")
        (shared / "18394:0:0").write_text("x")
        (shared / "others.txt").write_text("precious")
        (shared / f"prterun.vm.{_NOBODY}.0").mkdir()
        (shared / f"prterun.vm.{os.getpid()}.0").mkdir()  # of a launcher that runs
        (shared / f"ompi.vm.0/pid.{_NOBODY}/0").mkdir(parents=True)
        (shared / f"ompi.vm.0/pid.{os.getpid()}/0").mkdir(parents=True)  # of a process that runs
    left = {str(path.relative_to(shared)) for path in shared.rglob("*") if not path.is_dir()}
    assert left == {"vader_segment.vm.0.1.0", "notes.txt", "others.txt"}
    assert [path.name for path in shared.glob("prterun.*")] == [f"prterun.vm.{os.getpid()}.0"]
    assert [path.name for path in (shared / "ompi.vm.0").iterdir()] == [f"pid.{os.getpid()}"]


def test_what_is_in_use_stays(shared: Path) -> None:
    """Another program's launch may run at the same time."""
    with leftovers_removed():
        for name in ("mpich_shm_mapped", "mpich_shm_open"):
            (shared / name).write_bytes(b"x" * mmap.PAGESIZE)
        with (shared / "mpich_shm_mapped").open("r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        held = (shared / "mpich_shm_open").open("rb")
    assert {path.name for path in shared.iterdir()} == {"mpich_shm_mapped", "mpich_shm_open"}
    mapped.close()
    held.close()
