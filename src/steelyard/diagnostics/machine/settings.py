"""Checks of the settings of a system, and of other work on it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.diagnostic import NOTE, WARNING, check
from steelyard.base.limits import COARSE_TIMER_NS, LEAST_SHM
from steelyard.base.plural import counted
from steelyard.base.units import format_memory
from steelyard.diagnostics.machine.snapshot import MachineSnapshot
from steelyard.records.parts import Busy

_BUSY = 0.05  # of a CPU: every system uses less
_MOST_NAMED = 2  # examples
_STEAL = 0.001  # of the time
_USUAL_SLACK_NS = 50_000  # Linux's default
_LEAST_MEMLOCK = 64 << 20  # buffers of some MiB on each of several connections


# ---- who else takes time -----------------------------------------------------------------------------------


@check(
    "processes",
    WARNING,
    "Other processes take CPU time",
    why="A rank that must share its core is as slow as its share, and those that wait for it are too.",
    remedy="End them, or keep them from the CPUs that you measure on (taskset, a cpuset).",
)
def processes(snapshot: MachineSnapshot) -> str | None:
    """Name the busiest processes during the doctor's looks."""
    busy = _busy(snapshot)
    named = ", ".join(
        f"{one.name} (pid {one.pid}) {100 * one.cpu_ns / 1e9 / one.seconds:.0f} % of a CPU"
        for one in busy[:_MOST_NAMED]
    )
    more = f", and {len(busy) - _MOST_NAMED} more" if len(busy) > _MOST_NAMED else ""
    return f"Over {busy[0].seconds:.1f} s: {named}{more}." if busy else None


def _busy(snapshot: MachineSnapshot) -> Sequence[Busy]:
    return [one for one in snapshot.busy if one.seconds > 0 and one.cpu_ns / 1e9 / one.seconds > _BUSY]


@check(
    "not-isolated",
    NOTE,
    "No CPU is isolated",
    why="The scheduler may put other processes on the cores of ranks.",
    remedy="Boot with isolcpus= and nohz_full= for the CPUs to measure on, or move other processes away by a "
    "cpuset.",
)
def not_isolated(snapshot: MachineSnapshot) -> str | None:
    """Check whether other processes run and may run on all CPUs."""
    if snapshot.settings.isolated or not _busy(snapshot):
        return None
    return "Other processes run, and no CPU is kept from them (isolcpus, nohz_full)."


@check(
    "autogroup",
    NOTE,
    "Sessions compete for CPU time, not processes",
    why="MPICH starts each rank in a session of its own, Open MPI does not. Beside other work the two get "
    "unlike shares.",
    remedy="Set kernel.sched_autogroup_enabled to 0, or wait until the other work is over.",
)
def autogroup(snapshot: MachineSnapshot) -> str | None:
    """Check whether the kernel gives each session its share, while others take CPU time."""
    if not snapshot.settings.autogroup or not _busy(snapshot):
        return None
    return "sched_autogroup_enabled is 1, and other processes take CPU time."


@check(
    "steal",
    NOTE,
    "The hypervisor takes CPU time",
    why="Other guests run on the cores of this machine. Nothing inside it shows them but steal time.",
    remedy="Measure on dedicated cores. What was stolen during each launch is in its records.",
)
def steal(snapshot: MachineSnapshot) -> str | None:
    """Find the share of all CPUs' time since the machine began."""
    share = snapshot.settings.steal_share
    if share is None or share <= _STEAL:
        return None
    return f"It took {100 * share:.1f} % of the time since this machine began."


@check(
    "throttled",
    WARNING,
    "The limit on CPU time was reached",
    why="The kernel stops all of a control group for the rest of a period, some 0.1 s, wherever a rank is.",
    remedy="Ask for fewer ranks than the limit allows, or have it raised.",
)
def throttled(snapshot: MachineSnapshot) -> str | None:
    """Count the periods in which the control group was stopped."""
    periods = snapshot.settings.quota_periods
    if periods is None or periods[1] == 0:
        return None
    return f"The control group was stopped in {periods[1]} of {periods[0]} periods so far."


@check(
    "too-hot",
    WARNING,
    "Cores were too hot",
    why="A core that is slowed down is slower in all that it does.",
    remedy="Look after the cooling, and compare step_ps of the launches.",
)
def too_hot(snapshot: MachineSnapshot) -> str | None:
    """Count how often since the machine began."""
    count = snapshot.settings.throttles
    return f"They were slowed down {counted(count, 'time')} since the machine began." if count else None


# ---- frequency and memory ----------------------------------------------------------------------------------


@check(
    "turbo",
    NOTE,
    "Cores may run faster for a while",
    why="The speed of a core depends on how many are busy.",
    remedy="Switch turbo off (cpufreq/boost, intel_pstate/no_turbo).",
)
def turbo(snapshot: MachineSnapshot) -> str | None:
    """Check whether turbo is on."""
    return "Turbo is on." if snapshot.settings.turbo else None


@check(
    "frequencies",
    NOTE,
    "Cores have a range of frequencies",
    why="The same work may take longer at one time than at another.",
    remedy="Fix the frequency (cpupower frequency-set -d F -u F), or compare only what was measured close in "
    "time.",
)
def frequency_range(snapshot: MachineSnapshot) -> str | None:
    """Find the frequency limits of the first CPU."""
    span = snapshot.settings.frequencies_khz
    if span is None or span[0] == span[1] or snapshot.machine.governor == "performance":
        return None
    return f"{span[0] / 1e6:.2f} to {span[1] / 1e6:.2f} GHz are allowed."


@check(
    "huge-pages",
    NOTE,
    "The kernel makes huge pages unasked",
    why="Large buffers are faster than with madvise, and now and then there is a pause to make a huge page.",
    remedy="Say so beside the numbers, or set transparent_hugepage to madvise.",
)
def huge_pages(snapshot: MachineSnapshot) -> str | None:
    """Check whether transparent huge pages are always made."""
    return "transparent_hugepage is always." if snapshot.machine.thp == "always" else None


@check(
    "no-huge-pages",
    NOTE,
    "There are no huge pages",
    why="Test cases with pages=huge are skipped.",
    remedy="Reserve some (vm.nr_hugepages), or set transparent_hugepage to madvise.",
)
def no_huge_pages(snapshot: MachineSnapshot) -> str | None:
    """Check whether huge pages are reserved or made on request."""
    pages = snapshot.settings.hugepages
    if pages is None or pages[0] > 0 or snapshot.machine.thp != "never":
        return None
    return "transparent_hugepage is never, and none are reserved."


@check(
    "numa-balancing",
    WARNING,
    "The kernel moves pages between nodes",
    why="It unmaps pages now and then, to find who uses them. Ranks are bound, and their pages should stay.",
    remedy="Set kernel.numa_balancing to 0 while measuring.",
)
def numa_balancing(snapshot: MachineSnapshot) -> str | None:
    """Check whether it is on with several nodes."""
    if not snapshot.settings.numa_balancing or snapshot.machine.numa_nodes < 2:
        return None
    return f"numa_balancing is on, with {snapshot.machine.numa_nodes} nodes."


@check(
    "shared-memory",
    WARNING,
    "There is little shared memory",
    why="An MPI library that finds too little fails, or sends by sockets.",
    remedy="Enlarge it (mount -o remount,size=1G /dev/shm; docker run --shm-size).",
)
def shared_memory(snapshot: MachineSnapshot) -> str | None:
    """Find the free space for each core."""
    room = snapshot.settings.shm_bytes
    cores = len(snapshot.machine.cores)
    if room is None or room[1] >= LEAST_SHM * cores:
        return None
    return (
        f"/dev/shm has {format_memory(room[1])} free of {format_memory(room[0])}, "  # noqa: S108 - said, not used
        f"for {counted(cores, 'core')}."
    )


@check(
    "locked-memory",
    NOTE,
    "Little memory may be locked",
    why="An MPI that sends by RDMA locks its buffers.",
    remedy="Raise the limit where there is RDMA (ulimit -l unlimited).",
)
def locked_memory(snapshot: MachineSnapshot) -> str | None:
    """Find the limit, if it is low."""
    most = snapshot.settings.memlock_bytes
    return f"{format_memory(most)} may be locked." if most is not None and most < _LEAST_MEMLOCK else None


@check(
    "swap",
    WARNING,
    "Memory is swapped out",
    why="A page that is read back from disk takes milliseconds.",
    remedy="Free memory, then swapoff -a && swapon -a.",
)
def swap(snapshot: MachineSnapshot) -> str | None:
    """Find how much is swapped out."""
    used = snapshot.settings.swap_used_bytes
    return f"{format_memory(used)} are swapped out." if used else None


# ---- the kernel --------------------------------------------------------------------------------------------


@check(
    "coarse-timers",
    WARNING,
    "Timers are coarse",
    why="What sleeps wakes up late, and so do MPIs that wait by sleeping.",
    remedy="Boot with highres=on.",
)
def coarse_timers(snapshot: MachineSnapshot) -> str | None:
    """Find a kernel without high-resolution timers."""
    step = snapshot.settings.timer_resolution_ns
    return f"Timers have steps of {step / 1e6:g} ms." if step and step > COARSE_TIMER_NS else None


@check(
    "timer-slack",
    NOTE,
    "The timer slack is long",
    why="A process that sleeps may wake up so much later.",
    remedy="Start from a shell with the usual slack of 50 us.",
)
def timer_slack(snapshot: MachineSnapshot) -> str | None:
    """Find the slack of this process, if it is above the default."""
    slack = snapshot.settings.timer_slack_ns
    return f"A sleep may end {slack / 1e3:g} us late." if slack and slack > _USUAL_SLACK_NS else None


@check(
    "mitigations",
    NOTE,
    "The kernel runs without mitigations",
    why="System calls are cheaper than on most machines.",
    remedy="Say so beside the numbers.",
)
def no_mitigations(snapshot: MachineSnapshot) -> str | None:
    """Check whether the kernel's command line switches them off."""
    off = snapshot.settings.mitigations == "off"
    return "The command line of the kernel has mitigations=off." if off else None


@check(
    "ptrace",
    NOTE,
    "Processes may not read each other's memory",
    why="MPI then copies large messages twice (no CMA).",
    remedy="Set kernel.yama.ptrace_scope to 0.",
)
def ptrace(snapshot: MachineSnapshot) -> str | None:
    """Check whether Yama forbids it."""
    scope = snapshot.settings.ptrace_scope
    return f"ptrace_scope of Yama is {scope}." if scope else None
