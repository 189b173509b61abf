"""Classes of pairs of CPUs, on made-up and recorded machines, against numbers that were found by hand."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.system.topology import (
    CLASSES,
    Cpu,
    Topology,
    class_of,
    classes_of,
    device_interrupts,
    interrupt_cpus,
    read_topology,
)

# Packages, NUMA nodes in each, L3 caches in each of those, L2 caches in each, cores in each, threads in each.
Shape = tuple[int, int, int, int, int, int]
Classes = dict[str, tuple[int, tuple[int, int]]]  # name -> how many pairs, the lowest

_SHAPES: dict[str, tuple[Shape, Classes]] = {
    "1 core": ((1, 1, 1, 1, 1, 1), {"same-cpu": (1, (0, 0))}),
    "1 core, SMT": ((1, 1, 1, 1, 1, 2), {"same-cpu": (2, (0, 0)), "same-core": (1, (0, 1))}),
    "2 cores": ((1, 1, 1, 2, 1, 1), {"same-cpu": (2, (0, 0)), "shared-l3": (1, (0, 1))}),
    "2 cores of one L2": ((1, 1, 1, 1, 2, 1), {"same-cpu": (2, (0, 0)), "shared-l2": (1, (0, 1))}),
    # An L2 has 2 cores of 2 threads: 6 pairs, 2 of siblings. An L3 has 2 of these: 28 pairs, 12 in an L2.
    # All are 16 threads: 120 pairs, 56 in an L3.
    "8 cores, SMT": (
        (1, 1, 2, 2, 2, 2),
        {
            "same-cpu": (16, (0, 0)),
            "same-core": (8, (0, 8)),
            "shared-l2": (16, (0, 1)),
            "shared-l3": (32, (0, 2)),
            "same-node": (64, (0, 4)),
        },
    ),
    # 8 cores an L3: 28 pairs. 2 of these a node: 120 - 56. 4 nodes a package: 2016 - 480. 64 x 64 between.
    "128 cores, 8 nodes": (
        (2, 4, 2, 8, 1, 1),
        {
            "same-cpu": (128, (0, 0)),
            "shared-l3": (448, (0, 1)),
            "same-node": (512, (0, 8)),
            "same-package": (3072, (0, 16)),
            "other-package": (4096, (0, 64)),
        },
    ),
    # The same with siblings, 128 apart: an L3 has 120 - 8 pairs, a node 496 - 240, a package 8128 - 1984.
    "128 cores, 8 nodes, SMT": (
        (2, 4, 2, 8, 1, 2),
        {
            "same-cpu": (256, (0, 0)),
            "same-core": (128, (0, 128)),
            "shared-l3": (1792, (0, 1)),
            "same-node": (2048, (0, 8)),
            "same-package": (12288, (0, 16)),
            "other-package": (16384, (0, 64)),
        },
    ),
}


def _list(cpus: list[int]) -> str:
    return ",".join(map(str, cpus))


def _tree(root: Path, shape: Shape, allowed: str | None = None) -> Path:
    """The sysfs of a machine of that shape, numbered as Linux does: first all cores, then their siblings."""
    cores = math.prod(shape[:5])
    per = [math.prod(shape[level:5]) for level in range(1, 6)]  # cores of a package, node, L3, L2, core

    def near(core: int, count: int) -> list[int]:
        first = core // count * count
        return [one + cores * thread for thread in range(shape[5]) for one in range(first, first + count)]

    files: dict[str, str] = {}
    for cpu in range(cores * shape[5]):
        core = cpu % cores
        folder = f"sys/devices/system/cpu/cpu{cpu}"
        files[f"{folder}/topology/physical_package_id"] = str(core // per[0])
        files[f"{folder}/topology/core_cpus_list"] = _list(near(core, 1))
        for index, (level, kind, count) in enumerate(
            (("1", "Data", 1), ("1", "Instruction", 1), ("2", "Unified", per[3]), ("3", "Unified", per[2]))
        ):
            cache = f"{folder}/cache/index{index}"
            files |= {f"{cache}/level": level, f"{cache}/type": kind}
            files[f"{cache}/shared_cpu_list"] = _list(near(core, count))
    for node in range(cores // per[1]):
        files[f"sys/devices/system/node/node{node}/cpulist"] = _list(near(node * per[1], per[1]))
    last = cores * shape[5] - 1
    files["sys/devices/system/cpu/online"] = f"0-{last}" if last else "0"
    files["proc/self/status"] = f"Name:\tpython\nCpus_allowed_list:\t{allowed or f'0-{last}'}"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def _summary(topology: Topology) -> Classes:
    return {one.name: (len(one.pairs), one.pair) for one in classes_of(topology)}


@pytest.mark.parametrize(("shape", "classes"), _SHAPES.values(), ids=_SHAPES.keys())
def test_classes_from_sysfs(tmp_path: Path, shape: Shape, classes: Classes) -> None:
    topology = read_topology(_tree(tmp_path, shape))
    assert topology.interrupts == ()
    assert _summary(topology) == classes
    assert [name for name in CLASSES if name in classes] == list(_summary(topology))


def test_memory_without_cpus_is_nobodys_node(tmp_path: Path) -> None:
    root = _tree(tmp_path, (1, 2, 1, 1, 2, 1))
    nodes = root / "sys/devices/system/node"
    (nodes / "node0").rename(nodes / "node2")
    (nodes / "node0").mkdir()
    (nodes / "node0/cpulist").write_text("\n")
    assert [cpu.node for cpu in read_topology(root).cpus] == [2, 2, 1, 1]


def test_only_allowed_cpus_are_paired(tmp_path: Path) -> None:
    topology = read_topology(_tree(tmp_path, (1, 1, 2, 2, 2, 2), allowed="2-3,10"))
    assert topology.online == tuple(range(16))
    assert _summary(topology) == {
        "same-cpu": (3, (2, 2)),
        "same-core": (1, (2, 10)),
        "shared-l2": (2, (2, 3)),
    }


def test_packages_of_one_numa_node_are_other_packages(tmp_path: Path) -> None:
    root = _tree(tmp_path, (2, 1, 1, 1, 1, 1))
    shutil.rmtree(root / "sys/devices/system/node")
    assert "other-package" in _summary(read_topology(root))


def test_what_is_not_told_is_not_shared(tmp_path: Path) -> None:
    root = _tree(tmp_path, (1, 1, 1, 1, 4, 1))
    for cpu in range(4):
        shutil.rmtree(root / f"sys/devices/system/cpu/cpu{cpu}/cache")
        shutil.rmtree(root / f"sys/devices/system/cpu/cpu{cpu}/topology")
    assert _summary(read_topology(root)) == {"same-cpu": (4, (0, 0)), "same-node": (6, (0, 1))}


def test_what_is_garbled_is_not_told(tmp_path: Path) -> None:
    """Two nodes, of which one cannot be read and one is no list; so are an L3, siblings and a package."""
    root = _tree(tmp_path, (1, 2, 1, 1, 2, 1))
    (root / "sys/devices/system/node/node0/cpulist").unlink()
    (root / "sys/devices/system/node/node0/cpulist").mkdir()
    (root / "sys/devices/system/node/node1/cpulist").write_text("2-\n")
    for cpu in range(4):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}"
        for name in ("cache/index2/shared_cpu_list", "cache/index3/shared_cpu_list"):
            (folder / name).write_text("zero,one\n")
        for name in ("core_cpus_list", "physical_package_id"):
            (folder / "topology" / name).write_text("?\n")
    assert _summary(read_topology(root)) == {"same-cpu": (4, (0, 0)), "same-node": (6, (0, 1))}


def test_an_empty_tree_has_one_cpu(tmp_path: Path) -> None:
    assert _summary(read_topology(tmp_path)) == {"same-cpu": (1, (0, 0))}


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        ({}, ["", "", "", ""]),
        ({"cpu_core/cpus": "0-1", "cpu_atom/cpus": "2-3"}, ["P", "P", "E", "E"]),
        ({"cpu_core/cpus": "0-3"}, ["", "", "", ""]),  # one kind only
        ({"cpu_core/cpus": "0-2", "cpu_lowpower/cpus": "3"}, ["P", "P", "P", "lowpower"]),
        ({"cpu_core/cpus": "x", "cpu_atom/cpus": ""}, ["", "", "", ""]),
        (
            {f"system/cpu/cpu{i}/cpu_capacity": "446" if i else "1024" for i in range(4)},
            ["capacity 1024", "capacity 446", "capacity 446", "capacity 446"],
        ),
        ({f"system/cpu/cpu{i}/cpu_capacity": "1024" for i in range(4)}, ["", "", "", ""]),
    ],
)
def test_kinds_of_cores(tmp_path: Path, files: dict[str, str], kinds: list[str]) -> None:
    root = _tree(tmp_path, (1, 1, 1, 4, 1, 1))
    for name, text in files.items():
        path = root / "sys/devices" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert [cpu.kind for cpu in read_topology(root).cpus] == kinds


def test_this_machine_is_read() -> None:
    topology = read_topology()
    assert {"same-cpu"} <= {one.name for one in classes_of(topology)}
    count = len(topology.cpus)
    assert sum(len(one.pairs) for one in classes_of(topology)) == count * (count + 1) // 2


# ---- interrupts --------------------------------------------------------------------------------------------

_X86 = """\
           CPU0       CPU1       CPU2       CPU3
  0:   99999999          0          0          0  IO-APIC   2-edge      timer
  8:          1          0          0          0  IO-APIC   8-edge      rtc0
 24:          0          0          0      40000  PCI-MSI 512-edge      nvme0q1
 25:        100          0        200       5000  PCI-MSI 513-edge      eth0
NMI:          0          0          0          0  Non-maskable interrupts
LOC:  900000000  900000000  900000000  900000000  Local timer interrupts
RES:    1000000    1000000    1000000    1000000  Rescheduling interrupts
ERR:          0
"""
_ARM = """\
           CPU0       CPU2
 11:   70000000   60000000     GICv3  30 Level     arch_timer
 14:         12          9     GICv3  23 Level     arm-pmu
 42:        300          1     GICv3  79 Level     virtio0
IPI0:   1000000    2000000       Rescheduling interrupts
"""


@pytest.mark.parametrize(
    ("text", "counts"),
    [(_X86, {0: 101, 1: 0, 2: 200, 3: 45000}), (_ARM, {0: 300, 2: 1}), ("", {}), ("CPU0\n 9: 5", {0: 5})],
)
def test_only_interrupts_of_devices_count(text: str, counts: dict[int, int]) -> None:
    assert device_interrupts(text) == counts


@pytest.mark.parametrize(
    ("counts", "taking"),
    [
        ({}, ()),
        ({0: 0, 1: 0, 2: 0, 3: 0}, ()),
        ({0: 100, 1: 110, 2: 90, 3: 95}, ()),  # all about as many: nobody takes them
        ({0: 5, 1: 5, 2: 5, 3: 45000}, (1, 3)),  # 1 and 3 are threads of one core
        ({0: 500, 1: 5, 2: 600, 3: 7}, (0, 2)),
        ({0: 500, 1: 600, 2: 5, 3: 7}, (0, 1, 2, 3)),
        ({0: 900, 1: 0, 2: 0, 3: 0, 9: 0}, (0, 2)),  # 9 is not ours
        ({0: 1, 1: 1, 2: 1, 3: 1, 9: 900}, ()),
    ],
)
def test_who_takes_the_interrupts(counts: dict[int, int], taking: tuple[int, ...]) -> None:
    cpus = [Cpu(number, core=number % 2) for number in range(4)]
    assert interrupt_cpus(counts, cpus) == taking


def test_classes_are_told_apart_by_interrupts(tmp_path: Path) -> None:
    root = _tree(tmp_path, (1, 1, 2, 2, 1, 1))
    (root / "proc/interrupts").write_text(_X86)
    topology = read_topology(root)
    assert topology.interrupts == (3,)
    found = {(one.name, one.interrupts): one.pairs for one in classes_of(topology)}
    assert found == {
        ("same-cpu", False): ((0, 0), (1, 1), (2, 2)),
        ("same-cpu", True): ((3, 3),),
        ("shared-l3", False): ((0, 1),),
        ("shared-l3", True): ((2, 3),),
        ("same-node", False): ((0, 2), (1, 2)),
        ("same-node", True): ((0, 3), (1, 3)),
    }


# ---- properties --------------------------------------------------------------------------------------------

_few = st.integers(0, 2)
_cpus = st.lists(
    st.builds(
        Cpu,
        number=st.integers(0, 40),
        core=st.integers(0, 8),
        l2=st.none() | _few,
        l3=st.none() | _few,
        node=_few,
        package=_few,
        host=st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda cpu: cpu.number,
)


@given(_cpus, st.data())
def test_every_pair_is_in_exactly_one_class(cpus: list[Cpu], data: st.DataObject) -> None:
    cpus = sorted(cpus, key=lambda cpu: cpu.number)
    taking = data.draw(st.sets(st.sampled_from([cpu.number for cpu in cpus])))
    topology = Topology(tuple(cpus), tuple(cpu.number for cpu in cpus), tuple(sorted(taking)))
    found = classes_of(topology)
    pairs = [pair for one in found for pair in one.pairs]
    numbers = [cpu.number for cpu in cpus]
    assert sorted(pairs) == list(itertools.combinations_with_replacement(numbers, 2))
    for one in found:
        assert one.pair == min(one.pairs)
        assert all(bool(taking & set(pair)) == one.interrupts for pair in one.pairs)
    assert len({(one.name, one.interrupts) for one in found}) == len(found)


@given(_cpus)
def test_classes_are_symmetric(cpus: list[Cpu]) -> None:
    for a, b in itertools.product(cpus, repeat=2):
        assert class_of(a, b) == class_of(b, a)
        assert class_of(a, b) in CLASSES
        assert (class_of(a, b) == "other-host") == (a.host != b.host)
        assert (class_of(a, b) == "same-cpu") == (a == b)
