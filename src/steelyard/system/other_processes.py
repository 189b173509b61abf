"""Other work on this host during a measurement: processes and their CPU time.

It is read from /proc, now and then: a look costs some ms of a core that may be a measured one. So looks are
rare, and the rarer the more they cost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from steelyard.base.files import open_regular, read_text
from steelyard.base.printable import visible
from steelyard.records.parts import Busy
from steelyard.records.schema import Watch
from steelyard.system.process_stat import ProcessStat, family, process_stats

LEAST_SECONDS = 2.0  # between two looks
COST_SHARE = 0.005  # of the time for looks: with many processes looks become rarer
MOST_NAMED = 16  # processes in a record


@dataclass(slots=True)
class _Tracked:
    """A process over several looks. Its CPU time before the first look does not count."""

    started: int
    first: int
    last: int
    name: str
    command: str = ""
    peak_share: float = 0.0
    cpus: set[int] = field(default_factory=set)


def load_average(root: Path = Path("/")) -> tuple[float, ...]:
    """Read the mean of the last minute as a tuple of one; () if the system does not show it."""
    try:
        return (float(read_text(root / "proc/loadavg").split()[0]),)
    except (ValueError, IndexError):
        return ()


@dataclass(slots=True)
class Watcher:
    """Looks at the processes of this host, except this one, and `parent` and all below it.

    Time is wall-clock time in seconds since the first look. A process counts from when it was first seen, or
    from its begin if that was later.
    """

    root: Path = Path("/")
    parent: int | None = None  # known after the launch has begun
    looks: int = 0
    cost_ns: int = 0
    _own: tuple[int, ...] = ()  # CPU time of this process, at the first and at the last of some instants
    _began: float = 0.0
    _last: float = 0.0
    _next: float = 0.0
    _load: tuple[float, ...] = ()
    _tracked: dict[tuple[int, int], _Tracked] = field(default_factory=dict)
    _family: set[tuple[int, int]] = field(default_factory=set)

    def look(self) -> None:
        """Look once, whether or not it is due."""
        cost = time.thread_time_ns()
        now = time.monotonic()
        if self.looks == 0:
            self._began, self._load = now, load_average(self.root)
        seen = process_stats(self.root)
        self._family |= {(pid, seen[pid].started) for pid in self._ours(seen)}
        for pid, process in seen.items():
            key = pid, process.started
            if key in self._family:
                self._tracked.pop(key, None)
                continue
            known = self._tracked.get(key)
            if known is None:  # it began since the last look, so all of its ticks count
                first = process.ticks if self.looks == 0 else 0
                known = _Tracked(process.started, first, first, process.name)
                self._tracked[key] = known
            if process.ticks > known.last:
                passed = (now - self._last) * _ticks_per_second()
                known.peak_share = max(known.peak_share, (process.ticks - known.last) / passed)
                known.cpus.add(process.cpu)
                known.command = known.command or _command(self.root / "proc" / str(pid), process.name)
            known.last = process.ticks
        self._last = now
        self.looks += 1
        cost = time.thread_time_ns() - cost
        self.cost_ns += cost
        self._next = time.monotonic() + max(LEAST_SECONDS, cost / 1e9 / COST_SHARE)

    def note_own_time(self) -> None:
        """Note the CPU time that this process has taken; what it takes from the first to the last note is no
        other's.
        """
        self._own = (*self._own[:1], time.process_time_ns())

    def look_if_due(self) -> None:
        """Look, unless the last look was a moment ago."""
        if time.monotonic() >= self._next:
            self.look()

    def look_after(self, seconds: float) -> None:
        """Look, not before so long after the first look: CPU time is counted in steps of 10 ms."""
        time.sleep(max(0.0, self._began + seconds - time.monotonic()))
        self.look()

    def _ours(self, seen: dict[int, ProcessStat]) -> set[int]:
        launch = family(seen, self.parent) if self.parent is not None else set()
        return launch | ({os.getpid()} & seen.keys())

    def busiest(self, ours: Collection[int] = (), most: int = MOST_NAMED) -> tuple[Busy, ...]:
        """List those that took CPU time since the first look, the busiest first; without the pids `ours`."""
        tick_ns = 1_000_000_000 // _ticks_per_second()
        seconds = time.monotonic() - self._began
        took = sorted(self._tracked.items(), key=lambda item: item[1].first - item[1].last)
        return tuple(
            Busy(
                pid=pid,
                command=one.command or visible(one.name),
                cpu_ns=(one.last - one.first) * tick_ns,
                seconds=seconds,
                peak_share=one.peak_share,
                cpus=tuple(sorted(one.cpus)),
            )
            for (pid, _), one in [item for item in took if item[0][0] not in ours][:most]
            if one.last > one.first
        )

    def record(self, host: str, ours: Collection[int] = ()) -> Watch:
        """Make a record of what was seen so far; `ours`: pids of ranks, in case one has lost its parents."""
        return Watch(
            host=host,
            seconds=time.monotonic() - self._began,
            looks=self.looks,
            cost_ns=self.cost_ns,
            own_cpu_ns=self._own[-1] - self._own[0] if self._own else 0,
            load=(*self._load, *load_average(self.root)),
            processes=self.busiest(ours),
        )


def _ticks_per_second() -> int:
    return os.sysconf("SC_CLK_TCK")


def _command(entry: Path, name: str) -> str:
    """Name the executable, in brackets for a kernel thread, as ps does.

    The rest of the command line is not kept, because arguments may be secrets.
    """
    try:
        with open_regular(entry / "cmdline") as file:
            if not file.read(1):
                return visible(f"[{name}]")
        return visible(PurePath((entry / "exe").readlink()).name.removesuffix(" (deleted)"))
    except OSError:  # another user's
        return visible(name)
