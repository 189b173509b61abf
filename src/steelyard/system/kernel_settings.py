"""Settings of this system that a measurement may depend on, read from /proc and /sys."""

from __future__ import annotations

import os
import time
from pathlib import Path

from msgspec import Struct

from steelyard.base.files import read_number, read_text
from steelyard.system.control_group import cpu_groups

_CPUS = "sys/devices/system/cpu"


class SystemSettings(Struct, frozen=True):
    """Settings of the kernel, and limits of this process. None: not shown, or not there."""

    turbo: bool | None = None  # cores may exceed their nominal frequency for a while
    frequencies_khz: tuple[int, int] | None = None  # limits for the first CPU
    throttles: int | None = None  # of all cores since the machine began, because they were too hot
    thp_defrag: str | None = None  # the search for a huge page on a page fault
    hugepages: tuple[int, int] | None = None  # reserved, and free of those
    numa_balancing: bool | None = None  # the kernel sometimes unmaps pages, to move them to their users
    aslr: int | None = None  # 2: addresses differ in each process
    autogroup: bool | None = None  # each session gets its share of CPU time, whatever runs in it
    isolated: str | None = None  # CPUs without scheduling of other tasks
    nohz_full: str | None = None  # CPUs without a timer tick while one thread runs
    mitigations: str | None = None  # of processor flaws, as on the kernel's command line
    timer_resolution_ns: int | None = None  # of the kernel's timers
    timer_slack_ns: int | None = None  # by which our sleeps may end too late
    steal_share: float | None = None  # of all CPUs' time since the machine began
    quota_periods: tuple[int, int] | None = (
        None  # of the control group: all, and those in which it was stopped
    )
    ptrace_scope: int | None = None  # of Yama: 0 lets processes of one user read each other's memory
    shm_bytes: tuple[int, int] | None = None  # /dev/shm: its size, and what is free
    memlock_bytes: int | None = None  # that this process may lock; None: any amount
    swap_used_bytes: int | None = None


def oom_kills(root: str | os.PathLike[str] = "/") -> int:
    """Count the processes of this host that the kernel ended for lack of memory; 0 if it does not
    show them.
    """
    for line in read_text(Path(root) / "proc/vmstat").splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill" and count.isdigit():
            return int(count)
    return 0


def read_settings(root: str | os.PathLike[str] = "/") -> SystemSettings:
    """Describe the system whose /proc, /sys and /dev are under `root` (a recorded tree, in tests)."""
    base = Path(root)
    memory = _fields(base / "proc/meminfo")
    command_line = read_text(base / "proc/cmdline").split()
    lowest, highest = (
        read_number(base / f"{_CPUS}/cpu0/cpufreq/scaling_{end}_freq") for end in ("min", "max")
    )
    pages, free = memory.get("HugePages_Total"), memory.get("HugePages_Free")
    return SystemSettings(
        turbo=_turbo(base),
        frequencies_khz=None if lowest is None or highest is None else (lowest, highest),
        throttles=_throttles(base),
        thp_defrag=_chosen(base / "sys/kernel/mm/transparent_hugepage/defrag"),
        hugepages=None if pages is None or free is None else (pages, free),
        numa_balancing=_flag(base / "proc/sys/kernel/numa_balancing"),
        aslr=read_number(base / "proc/sys/kernel/randomize_va_space"),
        autogroup=_flag(base / "proc/sys/kernel/sched_autogroup_enabled"),
        isolated=_list(base / f"{_CPUS}/isolated"),
        nohz_full=_list(base / f"{_CPUS}/nohz_full"),
        mitigations=next(
            (word.partition("=")[2] for word in command_line if word.startswith("mitigations=")), None
        ),
        timer_resolution_ns=round(1e9 * time.clock_getres(time.CLOCK_MONOTONIC))
        if base == Path("/")
        else None,
        timer_slack_ns=read_number(base / "proc/self/timerslack_ns"),
        steal_share=_steal_share(base),
        quota_periods=_quota_periods(base),
        ptrace_scope=read_number(base / "proc/sys/kernel/yama/ptrace_scope"),
        shm_bytes=_shm(base / "dev/shm"),
        memlock_bytes=_memlock(base),
        swap_used_bytes=1024 * (memory["SwapTotal"] - memory["SwapFree"])
        if {"SwapTotal", "SwapFree"} <= memory.keys()
        else None,
    )


def _flag(path: Path) -> bool | None:
    number = read_number(path)
    return None if number is None else number != 0


def _chosen(path: Path) -> str | None:
    """Find the word in brackets."""
    return read_text(path).partition("[")[2].partition("]")[0] or None


def _list(path: Path) -> str | None:
    """Read a list of CPUs unchanged; "" if the file is empty, or says (null)."""
    return read_text(path).replace("(null)", "") if path.exists() else None


def _fields(path: Path) -> dict[str, int]:
    """Read the first number of each line `key: number` or `key number`."""
    found = {}
    for line in read_text(path).splitlines():
        words = line.replace(":", " ").split()
        if len(words) >= 2 and words[1].isdigit():
            found[words[0]] = int(words[1])
    return found


def _turbo(base: Path) -> bool | None:
    """Read turbo: intel_pstate has a file for its absence, other drivers one for its presence."""
    off = _flag(base / f"{_CPUS}/intel_pstate/no_turbo")
    return not off if off is not None else _flag(base / f"{_CPUS}/cpufreq/boost")


def _throttles(base: Path) -> int | None:
    counts = [
        read_number(path) for path in (base / _CPUS).glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    ]
    told = [count for count in counts if count is not None]
    if not told:
        return None
    return sum(told)


def _steal_share(base: Path) -> float | None:
    """Read the line of all CPUs in /proc/stat: user nice system idle iowait irq softirq steal."""
    words = read_text(base / "proc/stat").partition("\n")[0].split()
    ticks = [int(word) for word in words[1:9]]
    total = sum(ticks)
    return ticks[7] / total if len(ticks) == 8 and total else None


def _quota_periods(base: Path) -> tuple[int, int] | None:
    """Read the periods of our control group."""
    for group, *_ in cpu_groups(base):
        counts = _fields(group / "cpu.stat")
        if {"nr_periods", "nr_throttled"} <= counts.keys():
            return counts["nr_periods"], counts["nr_throttled"]
    return None


def _shm(path: Path) -> tuple[int, int] | None:
    try:
        room = os.statvfs(path)
    except OSError:
        return None
    return room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize


def _memlock(base: Path) -> int | None:
    """Read the soft limit from /proc/self/limits."""
    for line in read_text(base / "proc/self/limits").splitlines():
        if line.startswith("Max locked memory"):
            word = line.removeprefix("Max locked memory").split()[0]
            return int(word) if word.isdigit() else None
    return None
