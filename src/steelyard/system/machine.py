"""Properties of this machine that a measurement may depend on, read from /proc and /sys."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import msgspec

from steelyard.base.cpulist import told_cpus
from steelyard.base.files import read_field, read_number, read_text
from steelyard.system.control_group import cpu_quota
from steelyard.system.networks import Network, read_networks

# Evidence of a hypervisor's name: (file, text in it, name).
_HYPERVISORS = (
    ("sys/hypervisor/type", "xen", "Xen"),
    ("sys/class/dmi/id/sys_vendor", "Amazon EC2", "KVM (Amazon EC2)"),
    ("sys/class/dmi/id/sys_vendor", "Google", "KVM (Google Compute Engine)"),
    ("sys/class/dmi/id/sys_vendor", "VMware", "VMware"),
    ("sys/class/dmi/id/sys_vendor", "Microsoft", "Hyper-V"),
    ("sys/class/dmi/id/sys_vendor", "QEMU", "QEMU/KVM"),
    ("sys/class/dmi/id/product_name", "VirtualBox", "VirtualBox"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock", "KVM"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "hyperv", "Hyper-V"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "xen", "Xen"),
)


class Cache(msgspec.Struct, frozen=True):
    """A kind of cache: `bytes` of each of its `instances` among the allowed cores."""

    level: int
    type: str  # Data, Instruction, Unified
    bytes: int
    instances: int


class Machine(msgspec.Struct, frozen=True):
    """This machine, as far as this process may use it. Unknown values are "", 0 or None."""

    host: str
    kernel: str
    os: str
    cpu_model: str
    online: tuple[int, ...]  # all hardware threads (Linux's numbers)
    cpus: tuple[int, ...]  # those that this process may use
    cores: tuple[tuple[int, ...], ...]  # those, grouped by physical core; cores of a socket together
    sockets: int  # of these cores
    numa_nodes: int
    caches: tuple[Cache, ...]
    memory_bytes: int
    governor: str | None  # of CPU frequency: "performance"; "mixed" when cores differ
    smt: str | None  # on, off, notsupported, ...
    thp: str | None  # transparent huge pages: always, madvise, never
    hypervisor: str | None
    load: tuple[float, float, float]  # runnable processes, mean over 1, 5 and 15 minutes
    cpu_quota: float | None  # CPUs that the control group allows; None: no limit
    networks: tuple[Network, ...] = ()

    @property
    def restricted(self) -> bool:
        """May this process use only some of the hardware threads (taskset, cpuset)?"""
        return set(self.cpus) != set(self.online)


def read_machine(root: str | os.PathLike[str] = "/") -> Machine:
    """Describe the machine whose /proc and /sys are under `root` (a recorded tree, in tests)."""
    base = Path(root)
    online, cpus = usable_cpus(base)
    cores, sockets = _cores(base, cpus)
    load = (read_text(base / "proc/loadavg").split() + ["0"] * 3)[:3]
    governors = {
        read_text(base / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus
    }
    thp = read_text(base / "sys/kernel/mm/transparent_hugepage/enabled")
    return Machine(
        host=read_text(base / "proc/sys/kernel/hostname"),
        kernel=read_text(base / "proc/sys/kernel/osrelease"),
        os=_os_name(base),
        cpu_model=_cpu_model(base),
        online=online,
        cpus=cpus,
        cores=cores,
        sockets=sockets,
        numa_nodes=len(told_cpus(read_text(base / "sys/devices/system/node/online"))) or 1,
        caches=_caches(base, cpus),
        memory_bytes=1024 * _memory_kib(base),
        governor="mixed" if len(governors) > 1 else next(iter(governors)) or None,
        smt=read_text(base / "sys/devices/system/cpu/smt/control") or None,
        thp=thp.partition("[")[2].partition("]")[0] or None,
        hypervisor=_hypervisor(base),
        load=(float(load[0]), float(load[1]), float(load[2])),
        cpu_quota=cpu_quota(base),
        networks=read_networks(base),
    )


def usable_cpus(base: Path) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """List all CPUs that are online, and those that this process may use."""
    online = told_cpus(read_text(base / "sys/devices/system/cpu/online"))
    allowed = told_cpus(read_field(base / "proc/self/status", "Cpus_allowed_list"))
    online = online or allowed or (0,)
    return online, tuple(sorted(set(allowed) & set(online))) or online


def _memory_kib(base: Path) -> int:
    words = read_field(base / "proc/meminfo", "MemTotal").split()
    return int(words[0]) if words and words[0].isdigit() else 0


@cache  # what it reads does not change while a machine is up
def _os_name(base: Path) -> str:
    for path in ("etc/os-release", "usr/lib/os-release"):
        if name := read_field(base / path, "PRETTY_NAME"):
            return name
    return ""


@cache
def _cpu_model(base: Path) -> str:
    """Find the CPU's name: `model name` on x86, only numbers on Arm, `cpu` on POWER."""
    path = base / "proc/cpuinfo"
    model = read_field(path, "model name") or read_field(path, "cpu")
    if not model and (part := read_field(path, "CPU part")):
        model = f"implementer {read_field(path, 'CPU implementer')} part {part}"
    return model


@cache
def _cores(base: Path, cpus: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Group the CPUs by physical core, cores of one socket together; count the sockets.

    A group is known by socket and siblings, because some machines repeat core_id on each die.
    """
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for cpu in cpus:
        topology = base / f"sys/devices/system/cpu/cpu{cpu}/topology"
        siblings = read_text(topology / "core_cpus_list") or read_text(topology / "thread_siblings_list")
        socket = read_number(topology / "physical_package_id") or 0
        groups.setdefault((socket, told_cpus(siblings) or (cpu,)), []).append(cpu)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], item[1][0]))
    return tuple(tuple(group) for _, group in ordered), len({socket for (socket, _) in groups})


@cache
def _caches(base: Path, cpus: tuple[int, ...]) -> tuple[Cache, ...]:
    found: dict[tuple[int, str, int], set[str]] = {}
    for cpu in cpus:
        for index in sorted((base / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index*")):
            level, kind, size = (read_text(index / name) for name in ("level", "type", "size"))
            if level and size.endswith("K"):
                key = (int(level), kind, 1024 * int(size[:-1]))
                found.setdefault(key, set()).add(read_text(index / "shared_cpu_list") or str(cpu))
    return tuple(Cache(*key, instances=len(shared)) for key, shared in sorted(found.items()))


@cache
def _hypervisor(base: Path) -> str | None:
    if "hypervisor" not in read_field(base / "proc/cpuinfo", "flags").split():
        xen = read_text(base / "sys/hypervisor/type")
        return "Xen" if xen == "xen" else None
    for path, text, name in _HYPERVISORS:
        if text in read_text(base / path):
            return name
    return "unknown"
