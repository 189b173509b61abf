"""The lock of a results folder: one steelyard at a time measures into it, and none of a dead one's launches.

The lock belongs to an open file, and launches inherit its descriptor. While a process of a launch holds it,
the folder is taken, on whichever host. The first line of the file says who holds it and by which mark its
launches are found, each other line names a launcher, or a file that its launch made elsewhere. It is empty
after a steelyard that ended as it should; where one is killed, a fork of it clears up. It is believed only if
our user wrote it, in this folder and on this system, and if it is whole.
"""

from __future__ import annotations

import fcntl
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from steelyard.base.errors import InputError, MeasurementError, SteelyardError
from steelyard.base.files import open_to_append
from steelyard.base.json_text import decode_json
from steelyard.base.ownership import check_own_folder, is_own, open_to_all, owner_name
from steelyard.campaign.abandoned_folders import remembered
from steelyard.records.command_line import resumed
from steelyard.system.launch_processes import (
    GRACE_SECONDS,
    end_marked,
    is_alive,
    is_mark,
    marked_pids,
    new_mark,
    pids_that_opened,
    start_time,
    this_system,
)
from steelyard.system.leftovers import LauncherPid, LeftFile, Leftovers, remove_left
from steelyard.system.workers import inherited_by

Found = TypeVar("Found")

_SURVIVOR_SECONDS = 10.0  # for the lock, after those who hold it were ended
_LOOK_SECONDS = 0.05  # between looks at what ends by itself
_MODE = 0o600  # others could hold the lock by reading, and learn the mark
_MOST_NS = 1 << 63  # of a time, in the year 2262
_NOT_BELIEVED = "and is not believed: nothing was ended; if a launch into this folder still runs, end it"
_MOST_BYTES = 1 << 18  # of the file: a line for each file of a launch of some hundred ranks


class OlderHolder(msgspec.Struct, frozen=True):
    """The holder of a lock: a process of `host`, the mark of its launches, and its begin (Unix time).

    Earlier versions wrote no more. That does not say on which boot a pid is one, and in which folder.
    """

    host: str
    pid: int
    start: int  # as returned by `marks.start_time`
    mark: str
    began_ns: int


class Holder(OlderHolder, frozen=True):
    """What is believed: `OlderHolder`, and where that is so."""

    system: str  # where the pid is one: `marks.this_system`
    inode: int  # of the file: a copy of a folder says nothing about launches


class Lock(msgspec.Struct, frozen=True):
    """A held lock. `notes` say what one that died had left running, and what was not believed. `written` are
    the records of this steelyard by device and inode.
    """

    descriptor: int
    mark: str
    notes: tuple[str, ...] = ()
    written: dict[Path, tuple[int, int]] = msgspec.field(default_factory=dict)

    def keep(self, records: Path) -> None:
        """See at the end of the lock that this file is still there. Raises OSError."""
        stat = records.stat()
        self.written[records] = stat.st_dev, stat.st_ino

    def note(self, things: Sequence[LeftFile | LauncherPid]) -> None:
        """Keep a launcher, and the names of files of its launch, for whoever comes after a kill."""
        with suppress(OSError):  # a full disk
            os.write(self.descriptor, msgspec.json.Encoder().encode_lines(things))


class _Said(msgspec.Struct, frozen=True):
    """What the file says: who holds or held it, and what launches made. `doubt`: why it is not believed."""

    holder: Holder | None = None
    files: tuple[LeftFile, ...] = ()
    launchers: tuple[int, ...] = ()
    doubt: str | None = None


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Hold the lock of a results folder, after ending what a killed steelyard has left running.

    Raises InputError if another steelyard measures into the folder, if such processes cannot be ended, or if
    the folder is another user's or cannot be written or locked.
    """
    check_own_folder(folder)
    path = folder / ".lock"
    try:
        file = open_to_append(path, buffering=0)
    except OSError as error:
        with suppress(FileNotFoundError):  # that of another user cannot even be opened
            _check_owner(path.lstat(), folder)
        raise InputError(
            f"'{folder}' cannot be written: {error.strerror}; give --out another place"
        ) from None
    with file:
        stat = os.fstat(file.fileno())
        _check_owner(stat, folder)
        with suppress(OSError):  # a file system without modes
            os.fchmod(file.fileno(), _MODE)
        notes = _take(file, folder)
        holder = Holder(
            host=platform.node(),
            pid=os.getpid(),
            start=start_time(os.getpid()),
            mark=new_mark(),
            began_ns=time.time_ns(),
            system=this_system(),
            inode=stat.st_ino,
        )
        _write(file, msgspec.json.encode(holder) + b"\n", folder)
        lock = Lock(file.fileno(), holder.mark, notes)
        try:
            with (
                remembered(folder, holder.mark),
                inherited_by(lambda: clear_after_kill(folder, holder.mark, GRACE_SECONDS)),
            ):
                yield lock
        except (OSError, SteelyardError):
            _check_in_place(path, stat)
            _check_records(folder, lock.written)
            raise
        _check_records(folder, lock.written)
        _write(file, b"", folder)


def clear_after_kill(folder: Path, mark: str, grace: float = 0.0) -> tuple[str, ...] | None:
    """End and remove what the steelyard has left whose launches carry a mark. Returns notes on it; None if
    it still measures, or did so on another system. They have `grace` seconds to end by themselves.

    Raises InputError if it cannot be ended, and OSError.
    """
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and marked_pids(mark):
        time.sleep(_LOOK_SECONDS)
    path = folder / ".lock"
    if not path.exists():
        return ()
    with open_to_append(path, buffering=0) as file:
        said = _said(file)
        if not is_own(os.fstat(file.fileno()), folder) or said.holder is None or said.holder.mark != mark:
            return ()
        if said.holder.system != this_system() or is_alive(said.holder.pid, said.holder.start):
            return None
        notes = _take(file, folder)
        _write(file, b"", folder)
    return notes


def _check_owner(stat: os.stat_result, folder: Path) -> None:
    """Raise InputError if the lock is another user's."""
    if not is_own(stat, folder):
        raise InputError(
            f"'{folder / '.lock'}' belongs to {owner_name(stat)} and is not believed: nothing was ended; "
            f"remove it, then type: {resumed(folder)}"
        )


def _check_records(folder: Path, written: Mapping[Path, tuple[int, int]]) -> None:
    """Raise MeasurementError if records of this steelyard are gone, whether or not anybody missed them."""
    gone = [path for path, file in written.items() if not _is_there(path, file)]
    if gone:
        first, others = (gone[0], gone[1:]) if (folder / "records").is_dir() else (folder / "records", [])
        told = f"'{first}' and {len(others)} more were" if others else f"'{first}' was"
        raise MeasurementError(
            f"{told} moved or removed while it was measured; move it back, or measure it again: "
            f"{resumed(folder)}"
        ) from None


def _is_there(path: Path, file: tuple[int, int]) -> bool:
    """Is this file there still, and no other by its name?"""
    try:
        there = path.stat()
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == file


def _check_in_place(path: Path, ours: os.stat_result) -> None:
    """Raise MeasurementError if the folder is no longer where it was: whatever failed, it failed by that."""
    if not _is_there(path, (ours.st_dev, ours.st_ino)):
        raise MeasurementError(
            f"'{path.parent}' was moved or removed while it was measured; what was finished is where it is "
            "now; move it back, and go on: "
            f"{resumed(path.parent)}"
        ) from None


def _take(file: IO[bytes], folder: Path) -> tuple[str, ...]:
    """Take the lock, and end what the last holder left. Returns notes on it."""
    is_free = _is_free(file, folder)
    said = _said(file)
    holder = said.holder
    is_here = holder is not None and holder.system == this_system()
    runs = is_here and holder is not None and is_alive(holder.pid, holder.start)
    was_ours = is_free and holder is not None and holder.pid == os.getpid()
    if not (is_free or is_here) or (runs and not was_ours):  # some file systems lock nothing
        raise InputError(_taken(folder, holder))
    notes: tuple[str, ...] = ()
    if said.doubt is not None:
        notes += (f"'{folder / '.lock'}' {said.doubt} {_NOT_BELIEVED}",)
    if (place := open_to_all(folder)) is not None:
        notes += (f"every user may change what is in '{place}'; chmod o-w ends that",)
    if is_here and holder is not None:
        notes += _clear(holder, said, folder)
    deadline = time.monotonic() + _SURVIVOR_SECONDS
    while not (is_free or _is_free(file, folder)):
        if time.monotonic() > deadline:
            raise InputError(
                f"a launch of an earlier steelyard still holds '{folder}'; end its processes, or give --out "
                "another place"
            )
        time.sleep(0.05)
    return notes


def _taken(folder: Path, holder: Holder | None) -> str:
    """Say who measures; where the lock cannot be believed, which processes have it open."""
    if holder is not None:
        who = f"pid {holder.pid} on {holder.host}, since {_local(holder.began_ns)}"
        return f"another steelyard ({who}) is measuring into '{folder}'; wait for it to end"
    pids = ", ".join(map(str, pids_that_opened(folder / ".lock")))
    whose = f"pid {pids}" if pids else "them"
    return (
        f"processes of another steelyard hold '{folder}', and its lock does not say whose they are; wait for "
        f"their end, or end {whose}"
    )


def _local(unix_ns: int) -> str:
    """Write an instant in local time: `2026-11-24 00:10:05`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_ns / 1e9))


def _clear(holder: Holder, said: _Said, folder: Path) -> tuple[str, ...]:
    """End what a killed steelyard has left running, and remove the files of its launches."""
    left_files = Leftovers(others=(), since_ns=holder.began_ns)
    for launcher in said.launchers:
        left_files.began(launcher)
    left_files.look(marked_pids(holder.mark))
    ended, left = end_marked(holder.mark)
    if left:
        pids = ", ".join(map(str, left))
        raise InputError(
            f"processes of an earlier steelyard still measure into '{folder}' and cannot be ended (pid "
            f"{pids}); end them first"
        )
    left_files.look(())  # ranks may have made more before they ended
    remove_left((*said.files, *left_files.own, *left_files.forgotten()))
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


def _said(file: IO[bytes]) -> _Said:
    """Read who holds the lock, or held it when it was killed; nothing that is not whole is believed."""
    file.seek(0)
    text = file.read(_MOST_BYTES + 1)
    if not text:
        return _Said()
    if len(text) > _MOST_BYTES:
        return _Said(doubt="is too large for a lock")
    first, *others = text.split(b"\n")
    holder = _decoded(first, Holder)
    if holder is None and _decoded(first, OlderHolder) is not None:
        return _Said(doubt="is of an older version")
    if holder is None or not is_mark(holder.mark) or not 0 < holder.began_ns < _MOST_NS:
        return _Said(doubt="is damaged")
    if holder.inode != os.fstat(file.fileno()).st_ino:
        return _Said(doubt="is a copy of another folder's")
    files, launchers = list[LeftFile](), list[int]()
    for line in others:  # the last one may be torn
        if (left := _decoded(line, LeftFile)) is not None:
            files.append(left)
        elif (one := _decoded(line, LauncherPid)) is not None:
            launchers = [one.launcher]  # those before have ended and were cleared up after
    return _Said(holder, tuple(files), tuple(launchers))


def _decoded(line: bytes, kind: type[Found]) -> Found | None:
    with suppress(msgspec.DecodeError):
        return decode_json(line, msgspec.json.Decoder(kind))
    return None


def _write(file: IO[bytes], text: bytes, folder: Path) -> None:
    try:
        file.truncate(0)
        file.write(text)
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be written: {error.strerror}; make room, then type: {resumed(folder)}"
        ) from None
