"""Files that are read, or replaced, as a whole, and the small files of /proc and /sys."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from steelyard.base.errors import InputError


def check_regular(path: Path) -> None:
    """Raise InputError if a file is a folder, a device, or a pipe, on which reading would block."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file; move it away, or give another one")


def read_regular(path: Path) -> bytes:
    """Read a whole file. Raises InputError if it cannot be read."""
    check_regular(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give another one") from None


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by another one at once. A device or a pipe is written to; /dev/stdout may be a file.

    Raises OSError, which names the file.
    """
    if path.absolute().parent == Path("/dev") or (path.exists() and not path.is_file()):
        path.write_bytes(data)
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def read_text(path: Path) -> str:
    """Read the stripped text of a file of /proc or /sys, "" if there is none or it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def read_number(path: Path) -> int | None:
    """Read the whole number in such a file, None if there is none."""
    text = read_text(path)
    return int(text) if re.fullmatch(r"-?\d+", text, re.ASCII) else None


def read_field(path: Path, key: str) -> str:
    """Read the value of the first line `key: value` or `key=value`, "" if there is none."""
    for line in read_text(path).splitlines():
        for separator in (":", "="):
            name, found, value = line.partition(separator)
            if found and name.strip() == key:
                return value.strip().strip('"')
    return ""
