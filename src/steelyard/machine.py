"""What this machine is, as far as a measurement may depend on it; read from /proc and /sys."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

_MOST_CPUS = 2**16  # no machine has more: a list that goes on is a slip of the pen, and would fill the memory
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
    """This machine as this process may use it. What the system does not tell is "", 0 or None."""

    host: str
    kernel: str
    os: str
    cpu_model: str
    online: tuple[int, ...]  # all hardware threads (Linux's numbers)
    cpus: tuple[int, ...]  # those that this process may use
    cores: tuple[tuple[int, ...], ...]  # those, grouped by physical core; cores of a socket together
    sockets: int  # that these cores are on
    numa_nodes: int
    caches: tuple[Cache, ...]
    memory_bytes: int
    governor: str | None  # of CPU frequency: "performance"; "mixed" when cores differ
    smt: str | None  # on, off, notsupported, ...
    thp: str | None  # transparent huge pages: always, madvise, never
    hypervisor: str | None
    load: tuple[float, float, float]  # runnable processes, mean over 1, 5 and 15 minutes
    cpu_quota: float | None  # CPUs' worth of time that the control group allows; None: no limit

    @property
    def restricted(self) -> bool:
        """May this process use only some of the hardware threads (taskset, cpuset)?"""
        return set(self.cpus) != set(self.online)


def read_machine(root: str | os.PathLike[str] = "/") -> Machine:
    """Describe the machine whose /proc and /sys stand under `root` (a recorded tree, in tests)."""
    base = Path(root)
    online = told_cpus(_text(base / "sys/devices/system/cpu/online"))
    allowed = told_cpus(_field(base / "proc/self/status", "Cpus_allowed_list"))
    online = online or allowed or (0,)
    cpus = tuple(sorted(set(allowed) & set(online))) or online
    cores, sockets = _cores(base, cpus)
    load = (_text(base / "proc/loadavg").split() + ["0"] * 3)[:3]
    governors = {_text(base / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus}
    thp = _text(base / "sys/kernel/mm/transparent_hugepage/enabled")
    return Machine(
        host=_text(base / "proc/sys/kernel/hostname"),
        kernel=_text(base / "proc/sys/kernel/osrelease"),
        os=_os_name(base),
        cpu_model=_cpu_model(base),
        online=online,
        cpus=cpus,
        cores=cores,
        sockets=sockets,
        numa_nodes=len(told_cpus(_text(base / "sys/devices/system/node/online"))) or 1,
        caches=_caches(base, cpus),
        memory_bytes=1024 * told_number(_field(base / "proc/meminfo", "MemTotal").removesuffix("kB").strip()),
        governor="mixed" if len(governors) > 1 else next(iter(governors)) or None,
        smt=_text(base / "sys/devices/system/cpu/smt/control") or None,
        thp=thp.partition("[")[2].partition("]")[0] or None,
        hypervisor=_hypervisor(base),
        load=(float(load[0]), float(load[1]), float(load[2])),
        cpu_quota=_cpu_quota(base),
    )


def parse_cpus(text: str) -> tuple[int, ...]:
    """Linux's list of numbers, `0-3,8`, as a tuple; () for an empty text. Raises ValueError for no list."""
    numbers: list[int] = []
    for part in filter(None, map(str.strip, text.split(","))):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not first <= last < _MOST_CPUS:
            raise ValueError(f"'{part}' is no list of CPUs")
        numbers.extend(range(first, last + 1))
    return tuple(numbers)


def told_cpus(text: str) -> tuple[int, ...]:
    """The list that a file of the system holds; empty, as where nothing is told, when it is garbled."""
    try:
        return parse_cpus(text)
    except ValueError:
        return ()


def told_number(text: str) -> int:
    """The number that a file of the system holds; 0 where it holds none."""
    return int(text) if re.fullmatch(r"-?\d+", text, re.ASCII) else 0


def _text(path: Path) -> str:
    """The stripped text of a file, "" where there is none or it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _field(path: Path, key: str) -> str:
    """The value of the first line `key: value` or `key=value`, "" where there is none."""
    for line in _text(path).splitlines():
        for separator in (":", "="):
            name, found, value = line.partition(separator)
            if found and name.strip() == key:
                return value.strip().strip('"')
    return ""


def _os_name(base: Path) -> str:
    for path in ("etc/os-release", "usr/lib/os-release"):
        if name := _field(base / path, "PRETTY_NAME"):
            return name
    return ""


def _cpu_model(base: Path) -> str:
    """x86 says `model name`; Arm only numbers, and POWER `cpu`."""
    path = base / "proc/cpuinfo"
    model = _field(path, "model name") or _field(path, "cpu")
    if not model and (part := _field(path, "CPU part")):
        model = f"implementer {_field(path, 'CPU implementer')} part {part}"
    return model


def _cores(base: Path, cpus: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The CPUs grouped by physical core, cores of one socket together; the number of sockets.

    A group is known by socket and siblings: core_id alone repeats on each die of some machines.
    """
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for cpu in cpus:
        topology = base / f"sys/devices/system/cpu/cpu{cpu}/topology"
        siblings = _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
        socket = told_number(_text(topology / "physical_package_id"))
        groups.setdefault((socket, told_cpus(siblings) or (cpu,)), []).append(cpu)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], item[1][0]))
    return tuple(tuple(group) for _, group in ordered), len({socket for (socket, _) in groups})


def _caches(base: Path, cpus: tuple[int, ...]) -> tuple[Cache, ...]:
    found: dict[tuple[int, str, int], set[str]] = {}
    for cpu in cpus:
        for index in sorted((base / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index*")):
            level, kind, size = (_text(index / name) for name in ("level", "type", "size"))
            if level and size.endswith("K"):
                key = (int(level), kind, 1024 * int(size[:-1]))
                found.setdefault(key, set()).add(_text(index / "shared_cpu_list") or str(cpu))
    return tuple(Cache(*key, instances=len(shared)) for key, shared in sorted(found.items()))


def _hypervisor(base: Path) -> str | None:
    if "hypervisor" not in _field(base / "proc/cpuinfo", "flags").split():
        xen = _text(base / "sys/hypervisor/type")
        return "Xen" if xen == "xen" else None
    for path, text, name in _HYPERVISORS:
        if text in _text(base / path):
            return name
    return "unknown"


def _cpu_quota(base: Path) -> float | None:
    """The least limit on the way from our control group to the root, versions 1 and 2; in CPUs."""
    quotas: list[float] = []
    for line in _text(base / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = "sys/fs/cgroup/cpu" if controllers else "sys/fs/cgroup"
        group = base / mount / path.lstrip("/")
        for folder in (group, *group.parents):
            if controllers:
                quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
            else:
                quota, period = [*_text(folder / "cpu.max").split(), "", ""][:2]
            if quota.isdigit() and period.isdigit() and int(period) > 0:
                quotas.append(int(quota) / int(period))
            if folder == base / mount:
                break
    return min(quotas, default=None)
