"""Processes of launches, found by the mark in their environment, and ended; of our user alone."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import open_regular, read_text
from steelyard.system.process_stat import ProcessStat, process_stat, process_stats

# Every process of a launch carries this variable, which survives what parenthood does not: a rank whose
# launcher died has another parent, but still our mark in its environment.
MARK = "STEELYARD_CHILD"
GRACE_SECONDS = 2.0  # between TERM and KILL: time for a launcher to end its ranks
KILL_SECONDS = 2.0  # for the kernel to end what got a KILL
_WHOLE_MARK = re.compile("[0-9a-f]{32}")


def new_mark() -> str:
    """Make a word that no other launch has."""
    return uuid.uuid4().hex


def end_marked(mark: str) -> tuple[list[int], list[int]]:
    """End what a launch of a dead program has left: TERM, then KILL. What is no whole mark ends nothing.

    Returns the pids of those that were ended, and of those that could not be.
    """
    family = marked(process_stats(), mark)
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        deadline = time.monotonic() + seconds
        signal_all(alive(family), number)
        while alive(family) and time.monotonic() < deadline:
            time.sleep(0.01)
    left = alive(family | marked(process_stats(), mark))
    return sorted(family.keys() - left.keys()), sorted(left)


def is_alive(pid: int, start: int) -> bool:
    """Does the process that began at `start` (see `start_time`) still run?"""
    return bool(alive({pid: start}))


def start_time(pid: int) -> int:
    """Find when a process began, in ticks since boot; 0 if there is none."""
    stat = process_stat(pid)
    return stat.started if stat else 0


def marked_pids(mark: str) -> list[int]:
    """List the processes of our user that carry a mark."""
    return list(marked(process_stats(), mark))


def is_mark(text: str) -> bool:
    """Is it what `new_mark` makes? Less than that may be in anybody's environment."""
    return _WHOLE_MARK.fullmatch(text) is not None


def this_system() -> str:
    """Name where pids mean what they mean here: the boot of this host, and the namespace of pids."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = "unknown"
    return f"{read_text(Path('/proc/sys/kernel/random/boot_id'))} {namespace}"


def signal_all(family: Mapping[int, int], number: signal.Signals) -> None:
    """Send a signal to processes (pid: start time), and to none that has got the pid of one meanwhile."""
    for pid, start in family.items():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            try:
                process = os.pidfd_open(pid)
            except OSError as error:
                if error.errno == errno.ESRCH:
                    continue
                os.kill(pid, number)  # before Linux 5.3, or forbidden
                continue
            try:
                if start_time(pid) == start:
                    signal.pidfd_send_signal(process, number)
            finally:
                os.close(process)


def reap(pids: Iterable[int]) -> None:
    """Take the end of those that have become children of this program."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def process_state(pid: int) -> str | None:
    """Read the state of a process as in proc(5): R, S, D, T, t, Z; None if there is none."""
    stat = process_stat(pid)
    return stat.state if stat else None


def alive(family: dict[int, int]) -> dict[int, int]:
    """Select those of `family` (pid: start time) that still run; zombies do not."""
    return {
        pid: start
        for pid, start in family.items()
        if (stat := process_stat(pid)) is not None and stat.started == start and stat.state not in "ZX"
    }


def marked(stats: Mapping[int, ProcessStat], mark: str) -> dict[int, int]:
    """Find the processes of our user, except this one, that carry the whole mark: pid -> start time."""
    if not is_mark(mark):
        return {}
    return {pid: stat.started for pid, stat in stats.items() if pid != os.getpid() and mark in marks_of(pid)}


def marks_of(pid: int) -> set[str]:
    """Read the marks in the environment of a process; none of another user's."""
    path = Path(f"/proc/{pid}/environ")
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid():
                return set()
            words = file.read().split(b"\0")
    except (OSError, InputError):
        return set()
    head = f"{MARK}=".encode()
    return {word.removeprefix(head).decode(errors="replace") for word in words if word.startswith(head)}


def pids_that_opened(path: Path) -> list[int]:
    """List the other processes that have a file open, as far as this user may see that."""
    wanted = path.stat()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            opened = any(os.path.samestat(one.stat(), wanted) for one in (process / "fd").iterdir())
            found += [int(process.name)] if opened and int(process.name) != os.getpid() else []
    return sorted(found)
