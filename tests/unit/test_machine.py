from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from steelyard.base.cpulist import parse_cpus
from steelyard.system.machine import Cache, Machine, read_machine
from steelyard.system.networks import Network


def _tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def _topology(cpu: int, socket: int, siblings: str) -> dict[str, str]:
    folder = f"sys/devices/system/cpu/cpu{cpu}"
    return {
        f"{folder}/topology/physical_package_id": str(socket),
        f"{folder}/topology/core_cpus_list": siblings,
        f"{folder}/cache/index0/level": "1",
        f"{folder}/cache/index0/type": "Data",
        f"{folder}/cache/index0/size": "32K",
        f"{folder}/cache/index0/shared_cpu_list": siblings,
        f"{folder}/cpufreq/scaling_governor": "performance",
    }


def _two_sockets(root: Path, allowed: str) -> Path:
    """Two sockets of two cores of two threads; sockets alternate with the numbers, siblings are 4 apart."""
    files = {
        "proc/sys/kernel/hostname": "node7",
        "proc/sys/kernel/osrelease": "6.1.0",
        "proc/cpuinfo": "processor : 0\nmodel name : Fast CPU\nflags : fpu sse2",
        "proc/meminfo": "MemTotal:       1024 kB\nMemFree: 5 kB",
        "proc/loadavg": "0.50 1.25 2.00 1/100 4242",
        "proc/self/status": f"Name: python\nCpus_allowed_list:\t{allowed}",
        "etc/os-release": 'NAME="X"\nPRETTY_NAME="Some Linux 9"',
        "sys/devices/system/cpu/online": "0-7",
        "sys/devices/system/cpu/smt/control": "on",
        "sys/devices/system/node/online": "0-1",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    }
    for cpu in range(8):
        files |= _topology(cpu, cpu % 2, f"{cpu % 4},{cpu % 4 + 4}")
    return _tree(root, files)


def test_threads_of_a_core_are_one_core_and_sockets_stay_together(tmp_path: Path) -> None:
    machine = read_machine(_two_sockets(tmp_path, "0-7"))
    assert machine.cores == ((0, 4), (2, 6), (1, 5), (3, 7))
    assert machine.sockets == 2
    assert machine.numa_nodes == 2
    assert not machine.restricted
    assert machine.caches == (Cache(1, "Data", 32768, 4),)


def test_only_allowed_cpus_count(tmp_path: Path) -> None:
    machine = read_machine(_two_sockets(tmp_path, "1,3,5"))
    assert machine.cores == ((1, 5), (3,))
    assert machine.cpus == (1, 3, 5)
    assert machine.sockets == 1
    assert machine.restricted


def test_the_rest_is_read(tmp_path: Path) -> None:
    machine = read_machine(_two_sockets(tmp_path, "0-7"))
    assert (machine.host, machine.kernel, machine.os) == ("node7", "6.1.0", "Some Linux 9")
    assert (machine.cpu_model, machine.memory_bytes) == ("Fast CPU", 1048576)
    assert (machine.governor, machine.smt, machine.thp) == ("performance", "on", "madvise")
    assert machine.hypervisor is None
    assert machine.load == (0.5, 1.25, 2.0)
    assert machine.cpu_quota is None


def test_governors_may_differ(tmp_path: Path) -> None:
    root = _two_sockets(tmp_path, "0-7")
    _tree(root, {"sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "powersave"})
    assert read_machine(root).governor == "mixed"


def test_an_empty_tree_is_a_machine_too(tmp_path: Path) -> None:
    machine = read_machine(tmp_path)
    assert machine.cores == ((0,),)
    assert machine.memory_bytes == 0
    assert machine.governor is None


def test_arm_has_no_model_name(tmp_path: Path) -> None:
    _tree(tmp_path, {"proc/cpuinfo": "CPU implementer\t: 0x41\nCPU part\t: 0xd0c"})
    assert read_machine(tmp_path).cpu_model == "implementer 0x41 part 0xd0c"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2"}, "KVM (Amazon EC2)"),
        ({"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock"}, "KVM"),
        ({}, "unknown"),
    ],
)
def test_hypervisor(tmp_path: Path, files: dict[str, str], name: str) -> None:
    assert (
        read_machine(_tree(tmp_path, {"proc/cpuinfo": "flags\t: fpu hypervisor", **files})).hypervisor == name
    )


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, None),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "150000 100000"}, 1.5),
        (
            {
                "proc/self/cgroup": "0::/a/b",
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000",
                "sys/fs/cgroup/a/cpu.max": "50000 100000",
            },
            0.5,
        ),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2.0),
        (
            {
                "proc/self/cgroup": "3:memory:/x\n1:cpu,cpuacct:/x",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "300000",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            3.0,
        ),
    ],
)
def test_cpu_quota(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    assert read_machine(_tree(tmp_path, files)).cpu_quota == quota


@pytest.mark.parametrize(
    ("text", "cpus"), [("", ()), ("0", (0,)), ("0-2,7", (0, 1, 2, 7)), ("1,3\n", (1, 3))]
)
def test_parse_cpus(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize(
    "text",
    ["x", "0-", "-1", "3-1", "0,1x", "1_0", "+1", "٠,١", "0-65536", "0-99999999999", "99999999999999999999"],
)
def test_what_is_no_list_of_cpus(text: str) -> None:
    with pytest.raises(ValueError, match="is not a list of CPUs"):
        parse_cpus(text)


def test_garbled_files_tell_nothing(tmp_path: Path) -> None:
    files = {
        "sys/devices/system/cpu/online": "0-1",
        "sys/devices/system/cpu/cpu0/topology/core_cpus_list": "?",
        "sys/devices/system/cpu/cpu0/topology/physical_package_id": "?",
        "sys/devices/system/node/online": "0-",
        "proc/meminfo": "MemTotal: much kB",
    }
    machine = read_machine(_tree(tmp_path, files))
    assert (machine.cpus, machine.cores, machine.sockets) == ((0, 1), ((0,), (1,)), 1)
    assert (machine.numa_nodes, machine.memory_bytes) == (1, 0)


def test_this_machine() -> None:
    machine = read_machine()
    assert set(machine.cpus) == os.sched_getaffinity(os.getpid())
    assert sorted(cpu for core in machine.cores for cpu in core) == sorted(machine.cpus)
    assert machine.memory_bytes > 0
    assert msgspec.json.decode(msgspec.json.encode(machine), type=Machine) == machine


def test_networks_with_their_drivers(tmp_path: Path) -> None:
    files = {
        "sys/class/net/lo/operstate": "unknown",
        "sys/class/net/eth0/operstate": "up",
        "sys/class/net/eth0/speed": "25000",
        "sys/class/net/veth1/operstate": "down",
        "sys/class/net/veth1/speed": "-1",
        "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE",
        "sys/class/infiniband/mlx5_0/ports/1/rate": "200 Gb/sec (4X HDR)",
    }
    root = _tree(tmp_path, files)
    for device, driver in (("net/eth0", "ena"), ("infiniband/mlx5_0", "mlx5_core")):
        (root / "drivers" / driver).mkdir(parents=True)
        (root / f"sys/class/{device}/device").mkdir()
        (root / f"sys/class/{device}/device/driver").symlink_to(root / "drivers" / driver)
    assert read_machine(root).networks == (
        Network("eth0", "net", "ena", "up", "25000 Mb/s"),
        Network("veth1", "net", "", "down"),
        Network("mlx5_0", "infiniband", "mlx5_core", "active", "200 Gb/sec (4X HDR)"),
    )
