"""A machine and its settings in words with units; unknown ones are shown as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.base.units import format_memory, format_share, format_time

Words = Callable[[Any], str]

_HIDDEN = ("online", "cpus")  # of a machine: its cores show them


def machine_words(machine: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Describe a machine by names and texts; unknown keys are shown as they are, empty ones left out."""
    keys = [*_MACHINE, *(key for key in machine if key not in _MACHINE and key not in _HIDDEN)]
    pairs = (_told(_MACHINE, key, machine.get(key)) for key in keys)
    return tuple((name, text) for name, text in pairs if text)


def setting_words(key: str, value: Any) -> tuple[str, str]:
    """Name a setting of the system and its value; the text is empty if the system does not show it."""
    return _told(_SETTINGS, key, value)


def _told(table: dict[str, tuple[str, Words]], key: str, value: Any) -> tuple[str, str]:
    name, words = table.get(key, (key.replace("_", " "), plain))
    if value is None or value in ("", []):
        return name, _EMPTY.get(key, "") if value is not None else ""
    try:
        return name, words(value)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):  # records of others: as it is
        return name, plain(value)


def plain(value: Any) -> str:
    """Show a value as it is; lists with commas, `true` as `on`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(map(plain, value)) if isinstance(value, list | tuple) else str(value)


def _cores(groups: list[list[int]]) -> str:
    threads = sum(len(core) for core in groups)
    return f"{len(groups)}" + (f" with {threads} hardware threads" if threads > len(groups) else "")


def _caches(caches: list[dict[str, Any]]) -> str:
    return ", ".join(
        f"L{cach['level']} {cach['type'].lower()} {cach['instances']} × {format_memory(cach['bytes'])}"
        for cach in caches
    )


def _networks(devices: list[dict[str, Any]]) -> str:
    """List the hardware devices; the others are software and carry nothing between hosts."""
    return "; ".join(
        ", ".join(device[key] for key in ("name", "driver", "state", "rate") if device[key])
        for device in devices
        if device["driver"]
    )


def _load(load: list[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in load) + " over 1, 5 and 15 minutes"


def _frequencies(ends: list[int]) -> str:
    low, high = (f"{khz / 1e6:.2f} GHz" for khz in ends)
    return low if low == high else f"{low} to {high}"


def _of(pair: list[int]) -> str:
    return f"{pair[1]} of {pair[0]} periods"


_ASLR = {0: "off", 1: "stacks and libraries", 2: "stacks, libraries and heaps"}
_PTRACE = {
    0: "a user's processes may read each other's memory",
    1: "only a parent may read its children's memory",
}
_EMPTY = {"isolated": "none", "nohz_full": "none"}  # the words for an empty text of the kernel

# Key -> its name, and the function for its value.
_MACHINE: dict[str, tuple[str, Words]] = {
    "host": ("host", plain),
    "cpu_model": ("processor", plain),
    "cores": ("cores", _cores),
    "memory_bytes": ("memory", lambda count: format_memory(int(count)) if count else ""),
    "caches": ("caches", _caches),
    "hypervisor": ("hypervisor", plain),
    "os": ("system", plain),
    "kernel": ("kernel", plain),
    "governor": ("frequency governor", plain),
    "smt": ("SMT", plain),
    "thp": ("transparent huge pages", plain),
    "load": ("load", _load),
    "numa_nodes": ("NUMA nodes", plain),
    "networks": ("networks", _networks),
    "sockets": ("sockets", plain),
    "cpu_quota": ("CPU quota", lambda cpus: f"{cpus:g} CPUs"),
}
_SETTINGS: dict[str, tuple[str, Words]] = {
    "LD_PRELOAD": ("LD_PRELOAD", plain),
    "LD_LIBRARY_PATH": ("LD_LIBRARY_PATH", plain),
    "turbo": ("turbo frequencies", plain),
    "frequencies_khz": ("frequency of CPU 0", _frequencies),
    "throttles": ("slowed down by heat", lambda count: f"{count} times since the machine began"),
    "thp_defrag": ("huge page on a page fault", plain),
    "hugepages": ("reserved huge pages", lambda pair: f"{pair[0]}, {pair[1]} free"),
    "numa_balancing": ("NUMA balancing by the kernel", plain),
    "aslr": ("random addresses", lambda level: _ASLR[level]),
    "autogroup": ("CPU time shared by sessions", plain),
    "isolated": ("CPUs without a scheduler", plain),
    "nohz_full": ("CPUs without a timer tick", plain),
    "mitigations": ("mitigations of processor flaws", plain),
    "timer_resolution_ns": ("timer resolution", lambda ns: format_time(float(ns))),
    "timer_slack_ns": ("timer slack", lambda ns: format_time(float(ns))),
    "steal_share": (
        "stolen by the hypervisor",
        lambda share: f"{format_share(share)} of the time since the start",
    ),
    "quota_periods": ("stopped by the CPU quota", lambda pair: f"in {_of(pair)}"),
    "ptrace_scope": ("ptrace", lambda level: _PTRACE[level]),
    "shm_bytes": (
        "shared memory files",
        lambda pair: f"{format_memory(pair[0])}, {format_memory(pair[1])} free",
    ),
    "memlock_bytes": ("memory that may be locked", lambda count: format_memory(int(count))),
    "swap_used_bytes": ("swap in use", lambda count: format_memory(int(count))),
}
