"""How the CPUs of this machine lie to each other: classes of pairs of them, and who takes the interrupts.

Read from hwloc where there is its `lstopo`, from Linux's sysfs otherwise. A CPU is a hardware thread, by the
number that Linux gives it.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from msgspec import Struct

from steelyard.errors import SteelyardError
from steelyard.machine import told_cpus, told_number
from steelyard.process import run

TAKES = 1.5  # times the mean of all CPUs: who counts so many device interrupts takes them
_LSTOPO_SECONDS = 20.0
# What a CPU does for itself although its interrupt has a number: timers, counters, calls from other CPUs.
_NO_DEVICE = re.compile(r"timer|hpet|\bpmu\b|-pmu|\bIPI", re.IGNORECASE)


class Cpu(Struct, frozen=True):
    """A hardware thread. Two with the same number of a thing share it; None: with nobody, or not known."""

    number: int
    core: int
    l2: int | None = None
    l3: int | None = None
    node: int = 0
    package: int = 0
    host: str = ""


class Topology(Struct, frozen=True):
    """The CPUs that this process may use, by number; all that are online; those that take the interrupts.

    The latter are all threads of each core of which one counts `TAKES` times the mean or more.
    """

    cpus: tuple[Cpu, ...]
    online: tuple[int, ...]
    interrupts: tuple[int, ...] = ()


class PairClass(Struct, frozen=True):
    """All pairs (a, b), a <= b, that lie to each other in one way, in order; `interrupts`: one takes them.

    The representative is the first: that of the lowest numbers.
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


# How two CPUs lie, the first that holds; the nearest first, so that each pair is of one class.
_RELATIONS: tuple[tuple[str, Callable[[Cpu, Cpu], bool]], ...] = (
    ("other-host", lambda a, b: a.host != b.host),
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
    "other-host",
)


def class_of(a: Cpu, b: Cpu) -> str:
    """The class of a pair, one of `CLASSES`; symmetric."""
    return next(name for name, holds in _RELATIONS if holds(a, b))


def classes_of(topology: Topology) -> tuple[PairClass, ...]:
    """The classes that there are, from near to far, each without and with a CPU that takes interrupts."""
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
    """The topology of the machine whose /proc and /sys stand under `root`; of this one, hwloc's if it can."""
    base = Path(root)
    online = told_cpus(_text(base / "sys/devices/system/cpu/online"))
    status = _text(base / "proc/self/status")
    listed = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    allowed = told_cpus(listed[1]) if listed else ()
    online = online or allowed or (0,)
    numbers = tuple(sorted(set(allowed) & set(online))) or online
    cpus = _ask_hwloc(numbers) if base == Path("/") else None
    cpus = cpus or tuple(_from_sysfs(base, number) for number in numbers)
    counts = device_interrupts(_text(base / "proc/interrupts"))
    return Topology(cpus, online, interrupt_cpus(counts, cpus))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _from_sysfs(base: Path, number: int) -> Cpu:
    folder = base / f"sys/devices/system/cpu/cpu{number}"
    topology = folder / "topology"
    siblings = _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
    caches: dict[str, int] = {}  # by level: the lowest CPU that has it stands for it
    for index in folder.glob("cache/index*"):
        if _text(index / "type") != "Instruction" and (
            sharing := told_cpus(_text(index / "shared_cpu_list"))
        ):
            caches[_text(index / "level")] = min(sharing)
    nodes = [
        int(node.name.removeprefix("node"))
        for node in base.glob("sys/devices/system/node/node[0-9]*")
        if number in told_cpus(_text(node / "cpulist"))
    ]
    return Cpu(
        number,
        core=min(told_cpus(siblings), default=number),
        l2=caches.get("2"),
        l3=caches.get("3"),
        node=min(nodes, default=0),
        package=told_number(_text(topology / "physical_package_id")),
    )


def _ask_hwloc(numbers: Sequence[int]) -> tuple[Cpu, ...] | None:
    """The CPUs as lstopo describes them; None where it is missing, fails, or knows not all of them.

    HWLOC_ variables may describe another machine, for programs that are to believe it: this one is asked for.
    """
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if program is None:
        return None
    ours = {name: value for name, value in os.environ.items() if not name.startswith("HWLOC_")}
    try:
        done = run([program, "--of", "xml"], env=ours, timeout=_LSTOPO_SECONDS)
        cpus = {cpu.number: cpu for cpu in parse_hwloc(done.out)} if done.code == 0 else {}
    except (SteelyardError, ElementTree.ParseError, ValueError):
        return None
    return tuple(cpus[number] for number in numbers) if set(numbers) <= cpus.keys() else None


def parse_hwloc(xml: str) -> tuple[Cpu, ...]:
    """The hardware threads of hwloc's XML, by number. Raises ElementTree.ParseError, ValueError.

    Things are told apart by their place in the document: format 1 has no other number that is unique.
    """
    found: list[Cpu] = []
    places = itertools.count()
    nodes: list[tuple[int, int]] = []  # number, the CPUs near it as bits

    def walk(element: ElementTree.Element, above: Mapping[str, int]) -> None:
        kind = _kind(element)
        if kind == "PU":
            number = int(element.get("os_index", ""))
            found.append(
                Cpu(
                    number,
                    core=above.get("Core", -1 - number),
                    l2=above.get("L2Cache"),
                    l3=above.get("L3Cache"),
                    package=above.get("Package", 0),
                )
            )
        if kind == "NUMANode":
            nodes.append((int(element.get("os_index", "0")), _bits(element.get("cpuset", ""))))
        below = {**above, kind: next(places)}
        for child in element.findall("object"):
            walk(child, below)

    walk(ElementTree.fromstring(xml), {})  # noqa: S314 - what hwloc wrote on this machine
    return tuple(
        Cpu(
            cpu.number,
            cpu.core,
            cpu.l2,
            cpu.l3,
            node=_node(cpu.number, nodes),
            package=cpu.package,
        )
        for cpu in sorted(found, key=lambda cpu: cpu.number)
    )


def _kind(element: ElementTree.Element) -> str:
    """The type of an object as format 2 calls it; format 1 has sockets, and a cache's level beside it."""
    kind = element.get("type", "")
    if kind == "Cache":
        instructions = element.get("cache_type") == "2"
        return f"L{element.get('depth')}{'i' if instructions else ''}Cache"
    return "Package" if kind == "Socket" else kind


def _node(number: int, nodes: Sequence[tuple[int, int]]) -> int:
    """The NUMA node of a CPU: of those near it the one of the fewest CPUs, then of the lowest number.

    Memory that has no CPUs of its own is a node near to all of a package or a machine.
    """
    near = [(cpus.bit_count(), node) for node, cpus in nodes if cpus >> number & 1]
    return min(near, default=(0, 0))[1]


def _bits(words: str) -> int:
    """hwloc's set, `0x00000003,0xffffffff`: words of 32 bits, the highest first."""
    bits = 0
    for word in words.split(","):
        bits = bits << 32 | int(word or "0", 16)
    return bits


# ---- interrupts --------------------------------------------------------------------------------------------


def device_interrupts(text: str) -> dict[int, int]:
    """From /proc/interrupts, how many interrupts of devices each CPU has taken since the system started."""
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
    """Those of `cpus` whose core takes the device interrupts; none where all take about as many."""
    mean = sum(counts.values()) / max(1, len(counts))
    taking = {number for number, count in counts.items() if count > 0 and count >= TAKES * mean}
    cores = {cpu.core for cpu in cpus if cpu.number in taking}
    return tuple(cpu.number for cpu in cpus if cpu.core in cores)
