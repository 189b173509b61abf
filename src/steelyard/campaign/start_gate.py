"""Hold ranks of a launch back until this process has left their cores."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from steelyard.base.files import open_regular


class Hold:
    """A lock on a file until `is_idle`: the engine takes its own lock on it, and so waits.

    The kernel releases the lock when this process dies. A file system without locks holds nobody back.
    """

    def __init__(self, path: Path, is_idle: Callable[[], bool]) -> None:
        self._is_idle = is_idle
        self._file = open_regular(path)
        if not is_idle():
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def is_released(self) -> bool:
        """May ranks measure?"""
        return self._file.closed

    def release_if_idle(self) -> None:
        """Let ranks measure if this process has nothing to do meanwhile."""
        if self._is_idle():
            self._file.close()

    def __enter__(self) -> Hold:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
