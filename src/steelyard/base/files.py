"""The only module that opens, creates and replaces files; others ask it.

Results folders may be shared, and names in /tmp guessed. So a file that is read is a regular one of bounded
size, a file that is created is a new one, and no link is followed when something is written: not one that
stands where a file of ours shall be, and never to empty what it leads to.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import signal
import stat
from itertools import takewhile
from pathlib import Path
from typing import IO

from steelyard.base.errors import InputError
from steelyard.base.printable import visible

_MOST_SMALL = 1 << 20  # bytes; the kernel does not let more than 4 MiB of /proc/sys be read at once
MOST_BYTES = (
    1 << 28
)  # of a file that is read as a whole: plans, campaigns, delays; the largest known has 2^26
_OURS = os.O_CLOEXEC | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW  # fails on whatever stands there, links too
_STREAMS = ("/dev", "/dev/fd", "/proc/self/fd")  # where names are those of open files and devices
_RANDOM_BYTES = 8  # in the name of a file that is about to replace another
# Less what umask takes: nobody but user and group writes what is ours.
_FOLDER_MODE, _FILE_MODE = 0o775, 0o664


def real_path(path: Path) -> Path:
    """Find where a path leads; links that lead to themselves lead nowhere else (Path.resolve raises)."""
    return Path(os.path.realpath(path))


def home_path(text: str) -> Path:
    """Put a home folder in the place of `~` or `~user`; one of nobody stays (Path.expanduser raises)."""
    return Path(os.path.expanduser(text))  # noqa: PTH111


def check_regular(path: Path) -> None:
    """Raise InputError if a file is a folder, a device, or a pipe, on which reading would block."""
    try:
        mode = path.stat().st_mode  # once: a process that ends takes its files in /proc with it
    except (OSError, ValueError):
        return  # whoever opens it learns why
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is not a regular file; move it away, or give another one")


def open_regular(path: Path, buffering: int = -1) -> IO[bytes]:
    """Open a file to read it. Raises InputError if it is not a regular one, and OSError."""
    check_regular(path)  # to open a device may already have an effect
    return os.fdopen(_opened(path, os.O_RDONLY), "rb", buffering)


def is_open_nowhere(path: Path) -> bool:
    """Does no process of this kernel have a file of ours open or mapped, in whatever container? It then
    leases the file to us. False, too, where it cannot be told.
    """
    try:
        with open_regular(path) as file:
            fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # whoever opens it meanwhile waits, and we hear
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except (OSError, InputError):
        return False
    return True


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a whole file of at most so many bytes. Raises InputError if it cannot be read."""
    try:
        with open_regular(path) as file:
            is_too_large = os.fstat(file.fileno()).st_size > most  # a file of holes takes no room on a disk
            data = b"" if is_too_large else file.read(most + 1) or b""  # None: the kernel has none yet
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give another one") from None
    if is_too_large or len(data) > most:
        raise InputError(f"{path} has more than {most} bytes; give another one")
    return data


def open_to_append(path: Path, buffering: int = -1, *, new: bool = True) -> IO[bytes]:
    """Open a file to read it and to append to it; create it if there is none, if it may be `new`.

    Raises InputError if it is a link, a file of several names or no regular file, and OSError.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | (os.O_CREAT if new else 0)
    return os.fdopen(_opened(path, flags), "a+b", buffering)


def create(path: Path) -> None:
    """Create an empty file. Raises FileExistsError if there is anything of that name, and OSError."""
    os.close(os.open(path, _NEW | _OURS, _FILE_MODE))


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where they are missing. Raises OSError."""
    missing = takewhile(lambda folder: not folder.exists(), (path, *path.parents))
    for folder in reversed(list(missing)):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(_FOLDER_MODE)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def write_given(path: Path, data: bytes) -> None:
    """Write a file whose place the user gave: as `write_whole`, but into a device or a pipe.

    Raises OSError, which names the file, and InputError if nobody reads the pipe, or it is another user's.
    """
    is_stream = str(path.absolute().parent) in _STREAMS
    if is_stream or not (path.is_symlink() or path.is_file() or not path.exists()):
        _write_through(path, data, of_anybody=is_stream)
    else:
        write_whole(path, data)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by another one at once. A link or a pipe is replaced, too: whoever has left it in a
    folder of ours may not read it. What a link leads to stays. Raises OSError, which names the file.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(_RANDOM_BYTES)}")
    try:
        with os.fdopen(os.open(partial, _NEW | _OURS, _FILE_MODE), "wb") as file:
            file.write(data)
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write_through(path: Path, data: bytes, *, of_anybody: bool) -> None:
    """Write to what is open elsewhere. Opening a pipe without a reader would wait for one for ever."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_TRUNC | _OURS)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise InputError(f"nobody reads {path}; start its reader first, or give another place") from None
    if not of_anybody and os.fstat(descriptor).st_uid not in (0, os.geteuid()):
        os.close(descriptor)
        raise InputError(
            f"{path} belongs to another user, who would read what is written; give another place"
        )
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _opened(path: Path, flags: int) -> int:
    """Open a regular file; nothing of another kind is waited for."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | _OURS, _FILE_MODE)
    except OSError as error:
        if error.errno == errno.ELOOP and flags & os.O_NOFOLLOW and path.is_symlink():
            raise InputError(f"{path} is a link, and nothing is written through it; remove it") from None
        raise
    except ValueError:
        raise InputError(f"{visible(str(path))} is no name that a file can have; give another one") from None
    opened = os.fstat(descriptor)
    if not stat.S_ISREG(opened.st_mode):
        os.close(descriptor)
        raise InputError(f"{path} is not a regular file; move it away, or give another one")
    if flags & os.O_APPEND and opened.st_nlink > 1:  # where the kernel lets a stranger link to our files
        os.close(descriptor)
        raise InputError(f"{path} has another name, too, and nothing is written through it; remove it")
    return descriptor


def read_text(path: Path) -> str:
    """Read the stripped text of a small file, as those of /proc, "" if there is none or it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(_MOST_SMALL).decode(errors="replace").strip()
    except (OSError, InputError):
        return ""


def read_number(path: Path) -> int | None:
    """Read the whole number in such a file, None if there is none."""
    text = read_text(path)
    return int(text) if re.fullmatch(r"-?\d+", text, re.ASCII) else None


def read_field(path: Path, key: str) -> str:
    """Read the value of the first line `key: value` or `key=value`, "" if there is none."""
    for line in read_text(path).splitlines():
        for separator in (":", "="):
            name, sign, value = line.partition(separator)
            if sign and name.strip() == key:
                return value.strip().strip('"')
    return ""
