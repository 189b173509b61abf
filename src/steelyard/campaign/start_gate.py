"""Hold ranks of a launch back until this process has left their cores."""

from __future__ import annotations

import contextlib
import fcntl
from pathlib import Path
from types import TracebackType
from typing import Protocol

from steelyard.base.files import open_regular


class Aside(Protocol):
    """Work that this process does while the first launch starts."""

    def begin(self) -> None:
        """Begin it, if it has not begun."""

    def is_idle(self) -> bool:
        """Is it done?"""


class NothingAside:
    """No such work."""

    def begin(self) -> None:
        """Begin nothing."""

    def is_idle(self) -> bool:
        """Say that nothing is left."""
        return True


class Hold:
    """A lock on a file until the work aside is done: the engine takes its own lock on it, and so waits.

    The kernel releases the lock when this process dies. A file system without locks holds nobody back.
    """

    def __init__(self, path: Path, aside: Aside) -> None:
        self._aside = aside
        self._file = open_regular(path)
        if not aside.is_idle():
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def is_released(self) -> bool:
        """May ranks measure?"""
        return self._file.closed

    def release_if_idle(self) -> None:
        """Let ranks measure if this process has nothing to do meanwhile."""
        if self._aside.is_idle():
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
