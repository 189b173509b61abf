"""What is doubtful about how a system is set up and what else runs on it: rows for the doctor's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from steelyard.machine import Machine
from steelyard.records import Busy
from steelyard.settings import Settings
from steelyard.units import format_bytes

_BUSY = 0.05  # of a CPU: less is what every system does
_MOST_NAMED = 4
_LOADED = 0.5  # runnable processes besides us, on average over the last minute
_STEAL = 0.001  # of the time
_COARSE_TIMER_NS = 1000  # a kernel without high-resolution timers says 1 to 10 ms
_USUAL_SLACK_NS = 50_000  # Linux's default
_LEAST_SHM_PER_CORE = 16 << 20  # what MPI libraries map there for a rank, at most
_LEAST_MEMLOCK = 64 << 20  # buffers of some MiB on each of several connections


class Found(Struct, frozen=True):
    """What rows look at."""

    machine: Machine
    settings: Settings
    busy: Sequence[Busy]  # processes that ran while the doctor looked on


class SettingRow(Struct, frozen=True):
    """`find` gives the evidence, None where there is nothing to say."""

    what: str
    severity: str
    find: Callable[[Found], str | None]
    remedy: str


def _busiest(found: Found) -> str | None:
    busy = [one for one in found.busy if one.seconds > 0 and one.cpu_ns / 1e9 / one.seconds > _BUSY]
    if not busy:
        return None
    named = ", ".join(
        f"{one.command} (pid {one.pid}) {100 * one.cpu_ns / 1e9 / one.seconds:.0f} % of a CPU"
        for one in busy[:_MOST_NAMED]
    )
    return f"over {busy[0].seconds:.1f} s: {named}"


def _not_isolated(found: Found) -> str | None:
    if found.settings.isolated or not _busiest(found):
        return None
    return "other processes run, and no CPU is kept from them (isolcpus, nohz_full)"


def _autogroup(found: Found) -> str | None:
    load = found.machine.load[0]
    if not found.settings.autogroup or load <= _LOADED:
        return None
    return f"sched_autogroup_enabled is 1 beside a load of {load:.2f}"


def _steal(found: Found) -> str | None:
    share = found.settings.steal_share
    return f"{100 * share:.1f} % of the time since it began" if share is not None and share > _STEAL else None


def _throttled(found: Found) -> str | None:
    periods = found.settings.quota_periods
    if periods is None or periods[1] == 0:
        return None
    return f"it was stopped in {periods[1]} of {periods[0]} periods so far"


def _hot(found: Found) -> str | None:
    count = found.settings.throttles
    return f"they were slowed down {count} times since the machine began" if count else None


def _turbo(found: Found) -> str | None:
    return "turbo is on" if found.settings.turbo else None


def _frequency_range(found: Found) -> str | None:
    span = found.settings.frequencies_khz
    if span is None or span[0] == span[1] or found.machine.governor == "performance":
        return None
    return f"{span[0] / 1e6:.2f} to {span[1] / 1e6:.2f} GHz are allowed"


def _thp(found: Found) -> str | None:
    return "transparent_hugepage is always" if found.machine.thp == "always" else None


def _no_huge_pages(found: Found) -> str | None:
    pages = found.settings.hugepages
    if pages is None or pages[0] > 0 or found.machine.thp != "never":
        return None
    return "transparent_hugepage is never and none are reserved"


def _numa_balancing(found: Found) -> str | None:
    if not found.settings.numa_balancing or found.machine.numa_nodes < 2:
        return None
    return f"numa_balancing is on, with {found.machine.numa_nodes} nodes"


def _coarse_timer(found: Found) -> str | None:
    step = found.settings.timer_resolution_ns
    return f"its timers have steps of {step / 1e6:g} ms" if step and step > _COARSE_TIMER_NS else None


def _slack(found: Found) -> str | None:
    slack = found.settings.timer_slack_ns
    return f"a sleep may end {slack / 1e3:g} us late" if slack and slack > _USUAL_SLACK_NS else None


def _no_mitigations(found: Found) -> str | None:
    return "mitigations=off on the kernel's command line" if found.settings.mitigations == "off" else None


def _ptrace(found: Found) -> str | None:
    scope = found.settings.ptrace_scope
    return f"yama's ptrace_scope is {scope}" if scope else None


def _shm(found: Found) -> str | None:
    room = found.settings.shm_bytes
    if room is None or room[1] >= _LEAST_SHM_PER_CORE * len(found.machine.cores):
        return None
    return (
        f"/dev/shm has {format_bytes(room[1])} free of {format_bytes(room[0])}, "  # noqa: S108 - said, not used
        f"for {len(found.machine.cores)} cores"
    )


def _memlock(found: Found) -> str | None:
    most = found.settings.memlock_bytes
    return f"{format_bytes(most)} may be locked" if most is not None and most < _LEAST_MEMLOCK else None


def _swap(found: Found) -> str | None:
    used = found.settings.swap_used_bytes
    return f"{format_bytes(used)} are swapped out" if used else None


ROWS = (
    SettingRow(
        "processes that take CPU time", "warning", _busiest,
        "end them, or measure on CPUs that they are kept from (taskset, a cpuset)",
    ),
    SettingRow(
        "no CPU is isolated", "note", _not_isolated,
        "boot with isolcpus= and nohz_full= for the CPUs to measure on, or move the others away by a cpuset",
    ),
    SettingRow(
        "sessions compete, not processes", "note", _autogroup,
        "set kernel.sched_autogroup_enabled to 0, or wait: MPICH starts each rank in a session of its own, "
        "Open MPI does not, so beside other load the two get unlike shares",
    ),
    SettingRow(
        "the hypervisor takes time", "warning", _steal,
        "measure on dedicated cores; steal during each run is in its records",
    ),
    SettingRow(
        "the limit on CPU time is used up", "warning", _throttled,
        "ask for fewer ranks than the limit allows, or have it raised",
    ),
    SettingRow(
        "cores that were too hot", "warning", _hot, "look after the cooling; compare the launches' step_ps"
    ),
    SettingRow(
        "cores that run faster for a while", "note", _turbo,
        "switch turbo off for numbers that do not depend on how many cores are busy (cpufreq/boost, "
        "intel_pstate/no_turbo)",
    ),
    SettingRow(
        "a range of frequencies", "note", _frequency_range,
        "fix the frequency (cpupower frequency-set -d F -u F), or compare what was measured close in time",
    ),
    SettingRow(
        "huge pages on every occasion", "note", _thp,
        "expect large buffers to be faster than with madvise, and now and then a pause to make a huge page",
    ),
    SettingRow(
        "no huge pages", "note", _no_huge_pages,
        "reserve some (vm.nr_hugepages), or set transparent_hugepage to madvise, where ops are to use them",
    ),
    SettingRow(
        "pages move between nodes", "warning", _numa_balancing,
        "set kernel.numa_balancing to 0 while measuring: ranks are bound, and their pages should stay",
    ),
    SettingRow(
        "coarse timers", "warning", _coarse_timer,
        "boot with highres=on: what sleeps wakes up late, and so do MPIs that wait by sleeping",
    ),
    SettingRow("long timer slack", "note", _slack, "start from a shell with the usual slack of 50 us"),
    SettingRow(
        "a kernel without mitigations", "note", _no_mitigations,
        "say so beside the numbers: system calls are cheaper than on most machines",
    ),
    SettingRow(
        "processes may not read each other's memory", "note", _ptrace,
        "set kernel.yama.ptrace_scope to 0, or expect MPI to copy large messages twice (no CMA)",
    ),
    SettingRow(
        "little shared memory", "warning", _shm,
        "enlarge it (mount -o remount,size=1G /dev/shm; docker run --shm-size): MPI fails or goes by sockets",
    ),
    SettingRow(
        "little memory may be locked", "note", _memlock,
        "raise the limit (ulimit -l unlimited) where MPI goes by RDMA",
    ),
    SettingRow("memory is swapped out", "warning", _swap, "free memory, then swapoff -a && swapon -a"),
)  # fmt: skip
