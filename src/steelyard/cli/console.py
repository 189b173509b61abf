"""Where the command line writes: answers on stdout, progress and what is wrong on stderr."""

from __future__ import annotations

import functools
import io
import os
import shutil
import sys
from typing import TYPE_CHECKING

import msgspec

from steelyard.base.errors import InputError
from steelyard.base.foreign import visible
from steelyard.show.terminal import ERRORS, MARK, Paper, paper_of, sheet_text

if TYPE_CHECKING:
    from rich.console import Console

    from steelyard.show.sheet import Sheet

_PLAIN_WIDTH = 110  # of what is drawn where stdout is no terminal: a file or a pipe has no width of its own


@functools.cache
def out() -> Console:
    """Stdout, for what a terminal draws."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PLAIN_WIDTH
    return Console(highlight=False, soft_wrap=False, width=width)


def paper() -> Paper:
    """Stdout, for tables."""
    return paper_of(sys.stdout, os.environ, shutil.get_terminal_size().columns)


def spell_all() -> None:
    """Have what a terminal has no letter for written in others, such as `+-`, on stdout and stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)


@functools.cache
def err() -> Console:
    """Stderr, for what a terminal draws: a bar."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str = "") -> None:
    """Lines on stdout, without markup; control characters are shown and not obeyed."""
    print(_visible_lines(text))  # noqa: T201


def tell(text: str) -> None:
    """Lines on stderr, as `say`."""
    print(_visible_lines(text), file=sys.stderr)  # noqa: T201


def _visible_lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def width() -> int | None:
    """Columns of a terminal, or as COLUMNS says; None in a pipe, whose lines are not folded."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size().columns
    return None


def print_sheet(sheet: Sheet) -> None:
    """A table on stdout, as wide as the terminal, or as a pipe wants it."""
    print_laid_out(sheet_text(sheet, paper()))


def print_laid_out(text: str) -> None:
    """Text for `paper()`, which may have colours: all that is foreign in it was made visible before."""
    print(text, end="")  # noqa: T201


def say_aside(text: str) -> None:
    """A line beside tables on stdout: in a pipe it begins with `#`, as all that is no line of a table."""
    say(f"{MARK}{text}".rstrip() if paper().is_pipe else text)


def say_json(document: object) -> None:
    """One JSON document on stdout."""
    say(msgspec.json.format(msgspec.json.encode(document), indent=1).decode())


def say_bytes(data: bytes) -> None:
    """A file on stdout, byte by byte. Raises InputError for a terminal and what is no text."""
    if b"\0" in data and sys.stdout.isatty():
        raise InputError("this format is binary; give --out FILE, or write into a pipe")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
