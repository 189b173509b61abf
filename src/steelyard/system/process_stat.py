"""Processes in /proc at an instant: parent, start, CPU time, CPU."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_BYTES = (b"rchar", b"wchar", b"read_bytes", b"write_bytes")  # of /proc/PID/io
_WORDS = 37  # of the line after the name, up to the last CPU of the process


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """A process at an instant: CPU time so far in ticks, and the CPU that it was last on."""

    name: str
    state: str  # R, S, D, T, t, Z, X
    parent: int
    started: int  # ticks since boot: distinguishes it from a later process of the same pid
    ticks: int
    cpu: int
    session: int


def process_stat(pid: int, root: Path = Path("/")) -> ProcessStat | None:
    """Read /proc/PID/stat, see proc(5), or return None; the name, in parentheses, may hold any character."""
    try:
        with open(f"{root}/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 (half the time)
            head, _, tail = file.read().rpartition(b")")
    except OSError:
        return None
    words = tail.split()
    if len(words) < _WORDS:
        return None
    name = head.partition(b"(")[2].decode(errors="replace")
    ticks = int(words[11]) + int(words[12])
    return ProcessStat(
        name, words[0].decode(), int(words[1]), int(words[19]), ticks, int(words[36]), int(words[3])
    )


def bytes_of_files(pids: Iterable[int], root: Path = Path("/")) -> int:
    """Count bytes that processes have asked to read and to write, and that storage has moved for them.

    By /proc/PID/io; a process that is gone, or whose count is not ours to see, has none.
    """
    return sum(_counted_bytes(root / "proc" / str(pid) / "io") for pid in pids)


def _counted_bytes(path: Path) -> int:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (half the time)
            lines = [line.partition(b":") for line in file.read().splitlines()]
    except OSError:
        return 0
    return sum(int(value) for key, _, value in lines if key in _BYTES)


def process_stats(root: Path = Path("/")) -> dict[int, ProcessStat]:
    """Read all processes in /proc, by pid; those that end meanwhile are left out."""
    pids = [int(name) for name in os.listdir(root / "proc") if name.isdigit()]  # noqa: PTH208 (likewise)
    return {pid: stat for pid in pids if (stat := process_stat(pid, root)) is not None}


def family(stats: dict[int, ProcessStat], *roots: int) -> set[int]:
    """Find processes and all below them. A process whose parent has died is below whoever took it in."""
    below: dict[int, list[int]] = {}
    for pid, process in stats.items():
        below.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    open_pids = [root for root in roots if root in stats]
    while open_pids:
        pid = open_pids.pop()
        if pid not in found:
            found.add(pid)
            open_pids += below.get(pid, [])
    return found
