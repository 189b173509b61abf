"""Words for ops out of shared libraries of the user: `./libmine.so:mine.sum`.

The part behind the colon is the name of an op, of the family, or a pattern; without it all ops are meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import home_path, real_path
from steelyard.base.printable import visible

_WORD = re.compile(r"(?P<path>.*\.so(?:\.[0-9]+)*)(?::(?P<pattern>[^:/]*))?", re.DOTALL)


def parts_of(word: str) -> tuple[str, str] | None:
    """Split a word into the path of a library and what is meant of it; None for a name or pattern of ours."""
    match = _WORD.fullmatch(word)
    return (match["path"], match["pattern"] or "*") if match else None


def absolute(word: str, folder: Path) -> str:
    """Name the library of a word by its absolute path, seen from a folder; other words stay.

    Raises InputError if there is no such file, or an engine cannot be told its name.
    """
    parts = parts_of(word)
    if parts is None:
        return word
    path = real_path(folder / home_path(parts[0]))
    if not os.path.isfile(path):  # noqa: PTH113 -- a name may be too long for a file
        raise InputError(f"there is no library of ops '{visible(parts[0])}'; compile it, or correct its path")
    if ":" in str(path) or "," in str(path):
        raise InputError(f"the path '{visible(str(path))}' has a ':' or ','; move the library elsewhere")
    return f"{path}:{parts[1]}"


def own_words(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Make the libraries of words absolute. Raises InputError."""
    return tuple(absolute(word, folder) for word in words)


def libraries_in(words: Iterable[str]) -> tuple[str, ...]:
    """List the libraries that words name, each once."""
    return tuple(dict.fromkeys(parts[0] for word in words if (parts := parts_of(word)) is not None))
