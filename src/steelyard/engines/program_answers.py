"""Programs that are asked once while they and the variables stay the same."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Mapping

from steelyard.base.errors import InputError
from steelyard.system.process import run

Stamp = tuple[int, int, int] | None  # of a file: inode, size, time of its last change; None for no file
Variables = frozenset[tuple[str, str]]
_ASK_SECONDS = 60.0


def ask(program: str, option: str, environment: Mapping[str, str]) -> str:
    """Return what `program option` prints; ask once while the program and the variables stay the same.

    Raises InputError if there is no such program.
    """
    located = shutil.which(program)
    if located is None:
        raise InputError(f"'{program}' does not exist or cannot be run")
    return _asked(located, option, stamp_of(located), variables_of(environment))


@functools.lru_cache(maxsize=64)
def _asked(program: str, option: str, stamp: Stamp, environment: Variables) -> str:
    del stamp  # it is in the key, for a program that is replaced
    return run([program, option], env=dict(environment), timeout=_ASK_SECONDS).out


def stamp_of(path: str) -> Stamp:
    """Make what changes when a file is replaced."""
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def variables_of(environment: Mapping[str, str]) -> Variables:
    """Make variables a part of a key."""
    return frozenset(environment.items())
