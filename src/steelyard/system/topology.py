"""The topology of the CPUs of this machine: classes of pairs of them, and those that take the interrupts.

Read from Linux's sysfs. A CPU is a hardware thread, by Linux's number.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from steelyard.base.cpulist import cpu_words, told_cpus
from steelyard.base.errors import InputError
from steelyard.base.files import read_number, read_text
from steelyard.records.campaign_file import OTHER_HOST
from steelyard.system.allocation import AllocatedHost
from steelyard.system.machine import usable_cpus

TAKES = 1.5  # times the mean of all CPUs: a CPU with so many device interrupts takes them
_KINDS = {"core": "P", "atom": "E"}  # Linux's names of the counters of each kind of core, and Intel's
# Numbered interrupts that are no devices': timers, counters, calls from other CPUs.
_NO_DEVICE = re.compile(r"timer|hpet|\bpmu\b|-pmu|\bIPI", re.IGNORECASE)


class Cpu(Struct, frozen=True):
    """A hardware thread. Two with the same number of a thing share it; None: shared with nobody,
    or unknown. `kind`: what the kernel says of a processor with several kinds of cores; else empty.
    """

    number: int
    core: int
    l2: int | None = None
    l3: int | None = None
    node: int = 0
    package: int = 0
    host: str = ""
    kind: str = ""


class Topology(Struct, frozen=True):
    """The CPUs that this process may use, by number; all that are online; those that take the interrupts.

    The latter are all threads of each core of which one counts `TAKES` times the mean or more. `hosts` are
    those of the allocation, that of this process first, if a plan places ranks on them.
    """

    cpus: tuple[Cpu, ...]
    online: tuple[int, ...]
    interrupts: tuple[int, ...] = ()
    hosts: tuple[AllocatedHost, ...] = ()


NOWHERE = Topology(cpus=(), online=())  # for plans that place nothing


class PairClass(Struct, frozen=True):
    """All pairs (a, b), a <= b, of one class, in order; `interrupts`: one takes them.

    The representative is the first pair, with the lowest numbers.
    """

    name: str
    interrupts: bool
    pairs: tuple[tuple[int, int], ...]

    @property
    def pair(self) -> tuple[int, int]:
        """The representative."""
        return self.pairs[0]


def _shared(one: int | None, other: int | None) -> bool:
    return one is not None and one == other


# The classes of two CPUs; the first that holds counts. The nearest stand first, so each pair has one class.
_RELATIONS: tuple[tuple[str, Callable[[Cpu, Cpu], bool]], ...] = (
    (OTHER_HOST, lambda a, b: a.host != b.host),
    ("same-cpu", lambda a, b: a.number == b.number),
    ("same-core", lambda a, b: a.core == b.core),
    ("shared-l2", lambda a, b: _shared(a.l2, b.l2)),
    ("shared-l3", lambda a, b: _shared(a.l3, b.l3)),
    ("other-package", lambda a, b: a.package != b.package),  # even where Linux sees one NUMA node
    ("same-node", lambda a, b: a.node == b.node),
    ("same-package", lambda a, b: a.package == b.package),
)
SAME_CPU = "same-cpu"
CLASSES = (  # from near to far
    SAME_CPU,
    "same-core",
    "shared-l2",
    "shared-l3",
    "same-node",
    "same-package",
    "other-package",
    OTHER_HOST,
)

# The classes of two hosts; the first that holds counts. With unknown switches, two hosts are just different.
_HOST_RELATIONS: tuple[tuple[str, Callable[[AllocatedHost, AllocatedHost], bool]], ...] = (
    ("same-host", lambda a, b: a.name == b.name),
    (OTHER_HOST, lambda a, b: a.switch is None or b.switch is None),
    ("same-switch", lambda a, b: a.switch == b.switch),
    ("other-switch", lambda a, b: a.switch != b.switch),
)


def class_of(a: Cpu, b: Cpu) -> str:
    """Find the class of a pair, one of `CLASSES`; symmetric."""
    return next(name for name, holds in _RELATIONS if holds(a, b))


def host_class_of(a: AllocatedHost, b: AllocatedHost) -> str:
    """Find the class of a pair of hosts: `same-host`, `same-switch`, `other-switch` or `other-host`;
    symmetric.
    """
    return next(name for name, holds in _HOST_RELATIONS if holds(a, b))


def classes_of(topology: Topology) -> tuple[PairClass, ...]:
    """List the classes that exist, from near to far, each without and with a CPU that takes interrupts."""
    found: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    taking = set(topology.interrupts)
    for a, b in itertools.combinations_with_replacement(topology.cpus, 2):
        key = class_of(a, b), bool({a.number, b.number} & taking)
        found.setdefault(key, []).append((a.number, b.number))
    return tuple(
        PairClass(name, takes, tuple(found[name, takes]))
        for name in CLASSES
        for takes in (False, True)
        if (name, takes) in found
    )


# ---- reading -----------------------------------------------------------------------------------------------


def read_topology(root: str | os.PathLike[str] = "/") -> Topology:
    """Read the topology of the machine whose /proc and /sys are under `root` (a recorded tree, in tests)."""
    base = Path(root)
    online, numbers = usable_cpus(base)
    kinds = _kinds(base, numbers)
    cpus = tuple(_from_sysfs(base, number, kinds.get(number, "")) for number in numbers)
    counts = device_interrupts(read_text(base / "proc/interrupts"))
    return Topology(cpus, online, interrupt_cpus(counts, cpus))


def _kinds(base: Path, numbers: Sequence[int]) -> dict[int, str]:
    """Read the kinds of cores of a hybrid processor: `P` and `E` (Intel), `capacity 446` (Arm); none of a
    processor whose cores are all of one kind.
    """
    found: dict[int, str] = {}
    for number in numbers:
        capacity = read_text(base / f"sys/devices/system/cpu/cpu{number}/cpu_capacity")
        if capacity:
            found[number] = f"capacity {capacity}"
    for unit in sorted(base.glob("sys/devices/cpu_*/cpus")):
        name = unit.parent.name.removeprefix("cpu_")
        found |= dict.fromkeys(told_cpus(read_text(unit)), _KINDS.get(name, name))
    return found if len({found.get(number, "") for number in numbers}) > 1 else {}


def _from_sysfs(base: Path, number: int, kind: str) -> Cpu:
    folder = base / f"sys/devices/system/cpu/cpu{number}"
    topology = folder / "topology"
    siblings = read_text(topology / "core_cpus_list") or read_text(topology / "thread_siblings_list")
    caches: dict[str, int] = {}  # by level: the lowest CPU that has it stands for it
    for index in folder.glob("cache/index*"):
        if read_text(index / "type") != "Instruction" and (
            sharing := told_cpus(read_text(index / "shared_cpu_list"))
        ):
            caches[read_text(index / "level")] = min(sharing)
    nodes = [
        int(node.name.removeprefix("node"))
        for node in base.glob("sys/devices/system/node/node[0-9]*")
        if number in told_cpus(read_text(node / "cpulist"))
    ]
    return Cpu(
        number,
        core=min(told_cpus(siblings), default=number),
        l2=caches.get("2"),
        l3=caches.get("3"),
        node=min(nodes, default=0),
        package=read_number(topology / "physical_package_id") or 0,
        kind=kind,
    )


# ---- interrupts --------------------------------------------------------------------------------------------


def device_interrupts(text: str) -> dict[int, int]:
    """Count the device interrupts of each CPU since the system started, from /proc/interrupts."""
    lines = text.splitlines()
    numbers = [int(word[3:]) for word in lines[0].split() if word[3:].isdigit()] if lines else []
    counts = dict.fromkeys(numbers, 0)
    for line in lines[1:]:
        label, _, rest = line.partition(":")
        words = rest.split()
        if label.strip().isdigit() and not _NO_DEVICE.search(" ".join(words[len(numbers) :])):
            for number, word in zip(numbers, words, strict=False):
                counts[number] += int(word) if word.isdigit() else 0
    return counts


def interrupt_cpus(counts: Mapping[int, int], cpus: Sequence[Cpu]) -> tuple[int, ...]:
    """Find those of `cpus` whose core takes the device interrupts; none if they are spread evenly."""
    mean = sum(counts.values()) / max(1, len(counts))
    taking = {number for number, count in counts.items() if count > 0 and count >= TAKES * mean}
    cores = {cpu.core for cpu in cpus if cpu.number in taking}
    return tuple(cpu.number for cpu in cpus if cpu.core in cores)


def check_cpus(
    cpus: Sequence[int],
    allowed: Sequence[int],
    online: Sequence[int],
    word: str,
    what: str = "the placement",
) -> None:
    """Raise InputError for the first CPU that does not exist, or that this process may not use.

    `word` is the user's word for it, and `what` the kind of that word.
    """
    for cpu in cpus:
        if cpu not in online:
            raise InputError(
                f"there is no CPU {cpu} here, which {what} {word} names; this machine has {cpu_words(online)}"
            )
        if cpu not in allowed:
            raise InputError(
                f"this process may not use CPU {cpu}, which {what} {word} names (taskset, cpuset or "
                f"control group); it may use {cpu_words(allowed)}"
            )
