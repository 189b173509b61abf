"""Builds of the engine for tests that need more than the installed engines."""

from __future__ import annotations

import fcntl
import functools
import shutil
from pathlib import Path

import pytest

from steelyard.engines.build import engine_folder
from steelyard.system.process import run

_SECONDS = 600.0


@functools.lru_cache
def built(preset: str) -> Path:
    """The folder of a preset, configured and built up to date; skips where the means are missing."""
    root = engine_folder().parent
    if not (root / "CMakePresets.json").is_file():
        pytest.skip("this is not a checkout")
    for program in ("cmake", "cc", "make"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")
    folder = root / "build" / preset
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two processes that test, one builds
        for argv in (
            ["cmake", "--preset", preset],
            ["cmake", "--build", "--preset", preset, "--parallel", "2"],
        ):
            done = run(argv, cwd=root, timeout=_SECONDS)
            assert done.code == 0, done.out + done.err
    return folder


def library_of_tests() -> Path:
    """The library of the engine that was compiled with the tests in C when the project was installed."""
    path = engine_folder().parent / "build" / "tests-in-c" / "libsteelyard-test.so"
    if not path.is_file():
        pytest.skip("the tests in C are not built; make .venv/installed-dev builds them")
    return path
