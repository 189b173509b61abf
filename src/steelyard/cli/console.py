"""Outputs of the command line: answers on stdout, progress and errors on stderr."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from typing import TYPE_CHECKING

import msgspec

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.render.terminal import ERRORS, MARK, Paper, folded, paper_of, table_text

if TYPE_CHECKING:
    from steelyard.render.table import Table

_USUAL_SIZE = (80, 24)  # of a terminal that does not say it


def paper() -> Paper:
    """Return stdout for tables."""
    return paper_of(sys.stdout, os.environ, shutil.get_terminal_size().columns)


def spell_all() -> None:
    """Replace letters that a terminal lacks on stdout and stderr, such as `±` by `+-`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)


def say(text: str = "") -> int:
    """Write lines on stdout, without markup; control characters are made visible. Return their number."""
    shown = _visible_lines(text)
    print(shown)  # noqa: T201
    return shown.count("\n") + 1


def tell(text: str) -> None:
    """Write lines on stderr, as `say` does; on a terminal each is folded at its words."""
    tell_counted(text)


def tell_counted(text: str) -> int:
    """Do the same, and return the number of lines."""
    columns = shutil.get_terminal_size(_size_of_stderr()).columns if sys.stderr.isatty() else None
    shown = "\n".join(folded(line, columns) for line in _visible_lines(text).split("\n"))
    print(shown, file=sys.stderr)  # noqa: T201
    return shown.count("\n") + 1


def _size_of_stderr() -> tuple[int, int]:
    """Return the size of the terminal at stderr, which is there where stdout is a pipe; the usual one if it
    says none, as where a container or a script makes it.
    """
    with contextlib.suppress(OSError, ValueError):
        columns, lines = os.get_terminal_size(sys.stderr.fileno())
        return columns or _USUAL_SIZE[0], lines or _USUAL_SIZE[1]
    return _USUAL_SIZE


def _visible_lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def width() -> int | None:
    """Return the columns of a terminal, or COLUMNS; None in a pipe, whose lines are not folded."""
    said = os.environ.get("COLUMNS", "")
    if sys.stdout.isatty() or (said.isdecimal() and int(said) > 0):
        return shutil.get_terminal_size().columns
    return None


def height() -> int:
    """Return the lines of the terminal; of one that does not say it, and in a pipe, the usual number."""
    return shutil.get_terminal_size(_USUAL_SIZE).lines


def print_table(table: Table) -> int:
    """Print a table on stdout, for the width of the terminal, or for a pipe. Return the number of lines."""
    return print_laid_out(table_text(table, paper()))


def print_laid_out(text: str) -> int:
    """Print text for `paper()`, which may have colours; foreign parts were made visible before. Return the
    number of lines.
    """
    print(text, end="")  # noqa: T201
    return text.count("\n")


def say_aside(text: str) -> int:
    """Write a line beside tables on stdout; in a pipe it begins with `#`, because it is no line
    of a table. Return the number of lines.
    """
    return say(f"{MARK}{text}".rstrip() if paper().is_pipe else text)


def say_json(document: object) -> None:
    """Write one JSON document on stdout."""
    say(msgspec.json.format(msgspec.json.encode(document), indent=1).decode())


def say_bytes(data: bytes) -> None:
    """Write a file on stdout, byte by byte. Raises InputError if stdout is a terminal and the data are no
    text.
    """
    if b"\0" in data and sys.stdout.isatty():
        raise InputError("this format is binary; give --out FILE, or write into a pipe")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
