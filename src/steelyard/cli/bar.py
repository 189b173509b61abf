"""Where progress is shown: a line that is rewritten on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import shutil
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TextIO

from steelyard.base.printable import visible
from steelyard.render.terminal import folded

if TYPE_CHECKING:
    from rich.console import Console

BAR = 8  # letters of the bar itself
_REFRESHES = 2  # of the bar per second: each takes some 2 ms of a core, perhaps from ranks


class Lines(AbstractContextManager[None]):
    """Lines in a pipe or a file, which have no bar."""

    is_terminal = False
    width = 0

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, text: str) -> None:
        """Write a line."""
        print(visible(text), file=self._stream)

    def show(self, words: str, done: int, total: int, left: str) -> None:
        """Show nothing: what comes next is told by lines."""

    def __exit__(self, *_: object) -> None:
        """Nothing is left open."""


class Bar(Lines):
    """A bar in the last line of a terminal, below the lines that are said."""

    is_terminal = True

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn  # 0.1 s, for terminals alone

        left = TextColumn("{task.fields[left]}", markup=False)
        self._bar = Progress(
            *(TextColumn("{task.description}", markup=False), BarColumn(BAR), left),
            console=console,
            transient=True,
            refresh_per_second=_REFRESHES,
        )
        self._task = self._bar.add_task("starting", total=None, left="")
        self.width = console.width
        self.refresh = self._bar.refresh

    def say(self, text: str) -> None:
        """Write a line above the bar; it is folded at its words, and all of it keeps its indent."""
        indent = text[: len(text) - len(text.lstrip())]
        lines = folded(text.lstrip(), self.width - len(indent)).split("\n")
        whole = "\n".join(f"{indent}{visible(line)}" for line in lines)
        self._bar.console.print(whole, markup=False, soft_wrap=True)

    def show(self, words: str, done: int, total: int, left: str) -> None:
        """Rewrite the bar."""
        self._bar.update(self._task, description=words, total=total, completed=done, left=left)

    def __enter__(self) -> None:
        """Draw the bar from now on."""
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._bar.stop()


def bar_on(stream: TextIO) -> Lines:
    """Make what a stream can show."""
    if not stream.isatty():
        return Lines(stream)
    from rich.console import Console

    return Bar(Console(file=stream, highlight=False, soft_wrap=True, width=_width_unless_said()))


def _width_unless_said() -> int | None:
    """Return the width of the terminal where COLUMNS is 0, which is no width; None: as COLUMNS says."""
    said = os.environ.get("COLUMNS", "")
    return shutil.get_terminal_size().columns if said.isdecimal() and int(said) == 0 else None
