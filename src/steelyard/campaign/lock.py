"""The lock of a results folder: one steelyard at a time measures into it, and none of a dead one's launches.

The lock belongs to an open file, and launches inherit its descriptor. While a process of a launch holds it,
the folder is taken, on whichever host. The file says who holds it and by which mark its launches are found.
It is empty after a steelyard that ended as it should.
"""

from __future__ import annotations

import fcntl
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from steelyard.base.errors import InputError
from steelyard.system.leftovers import remove_leftovers
from steelyard.system.process import end_marked, is_alive, new_mark, start_time

_SURVIVOR_SECONDS = 10.0  # for the lock, after those who hold it were ended


class Holder(msgspec.Struct, frozen=True):
    """The holder of a lock: a process of `host`, the mark of its launches, and its begin (Unix time)."""

    host: str
    pid: int
    start: int  # as returned by `process.start_time`
    mark: str
    began_ns: int


class Lock(msgspec.Struct, frozen=True):
    """A held lock. `notes` name what one that died had left running, which was ended."""

    descriptor: int
    mark: str
    notes: tuple[str, ...] = ()


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Hold the lock of a results folder, after ending what a killed steelyard has left running.

    Raises InputError if another steelyard measures into the folder, if such processes cannot be ended, or if
    the folder cannot be written or locked.
    """
    path = folder / ".lock"
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be written: {error.strerror}; give --out another place"
        ) from None
    with file:
        notes = _take(file, folder)
        holder = Holder(platform.node(), os.getpid(), start_time(os.getpid()), new_mark(), time.time_ns())
        _write(file, msgspec.json.encode(holder), folder)
        yield Lock(file.fileno(), holder.mark, notes)
        _write(file, b"", folder)


def _take(file: IO[bytes], folder: Path) -> tuple[str, ...]:
    """Take the lock, and end what the last holder left. Returns notes on it."""
    if _is_free(file, folder):
        holder = _holder(file)
        return _clear(holder, folder) if holder is not None else ()
    holder = _holder(file)
    if holder is None or holder.host != platform.node() or is_alive(holder.pid, holder.start):
        who = (
            "" if holder is None else f" (pid {holder.pid} on {holder.host}, since {_local(holder.began_ns)})"
        )
        raise InputError(f"another steelyard{who} is measuring into '{folder}'; wait for it to end")
    notes = _clear(holder, folder)
    deadline = time.monotonic() + _SURVIVOR_SECONDS
    while not _is_free(file, folder):
        if time.monotonic() > deadline:
            raise InputError(
                f"a launch of an earlier steelyard still holds '{folder}'; end its processes, or give --out "
                "another place"
            )
        time.sleep(0.05)
    return notes


def _local(unix_ns: int) -> str:
    """Write an instant in local time: `2026-11-24 00:10:05`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_ns / 1e9))


def _clear(holder: Holder, folder: Path) -> tuple[str, ...]:
    """End what a killed steelyard has left running, and remove the files of its launches."""
    if holder.host != platform.node():
        return ()
    ended, left = end_marked(holder.mark)
    if left:
        pids = ", ".join(map(str, left))
        raise InputError(
            f"processes of an earlier steelyard still measure into '{folder}' and cannot be ended (pid "
            f"{pids}); end them first"
        )
    remove_leftovers(holder.began_ns)
    if not ended:
        return ()
    pids = ", ".join(map(str, ended))
    return (f"an earlier steelyard was killed here; what it had left running was ended (pid {pids})",)


def _is_free(file: IO[bytes], folder: Path) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be locked ({error.strerror}), as on some network file systems, and two could "
            "measure into it at once; give --out another place"
        ) from None
    return True


def _holder(file: IO[bytes]) -> Holder | None:
    """Read who holds the lock, or held it when it was killed; None if the file does not say."""
    file.seek(0)
    try:
        return msgspec.json.decode(file.read(), type=Holder)
    except msgspec.DecodeError:
        return None


def _write(file: IO[bytes], text: bytes, folder: Path) -> None:
    try:
        file.truncate(0)
        file.write(text)
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be written: {error.strerror}; make room, then give the same command again"
        ) from None
