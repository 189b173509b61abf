"""What the doctor finds in settings and other load, from recorded trees of /proc and /sys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.base.diagnostic import checks_of
from steelyard.diagnostics.machine import MachineSnapshot, examine, settings
from steelyard.records.parts import Busy
from steelyard.system.kernel_settings import SystemSettings, read_settings
from steelyard.system.machine import read_machine

_CPU = "sys/devices/system/cpu"
QUIET = {
    "proc/self/status": "Cpus_allowed_list:\t0-3",
    "proc/self/timerslack_ns": "50000",
    "proc/self/limits": "Max open files  9  9  files\nMax locked memory  unlimited  unlimited  bytes",
    "proc/self/cgroup": "0::/a",
    "proc/loadavg": "0.00 0.00 0.00 1/80 99",
    "proc/meminfo": "SwapTotal: 64 kB\nSwapFree: 64 kB\nHugePages_Total: 8\nHugePages_Free: 6",
    "proc/stat": "cpu  100 0 100 9800 0 0 0 0 0 0\ncpu0 100 0 100 9800 0 0 0 0 0 0",
    "proc/cmdline": "ro quiet isolcpus=2,3",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/randomize_va_space": "2",
    "proc/sys/kernel/sched_autogroup_enabled": "0",
    "proc/sys/kernel/yama/ptrace_scope": "0",
    f"{_CPU}/online": "0-3",
    f"{_CPU}/isolated": "2-3",
    f"{_CPU}/nohz_full": "(null)",
    f"{_CPU}/cpufreq/boost": "0",
    f"{_CPU}/cpu0/cpufreq/scaling_min_freq": "2000000",
    f"{_CPU}/cpu0/cpufreq/scaling_max_freq": "2000000",
    f"{_CPU}/cpu0/thermal_throttle/core_throttle_count": "0",
    f"{_CPU}/cpu1/thermal_throttle/core_throttle_count": "0",
    "sys/devices/system/node/online": "0-1",
    "sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 0\nnr_throttled 0",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/kernel/mm/transparent_hugepage/defrag": "always defer [madvise] never",
} | {f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor": "performance" for cpu in range(4)}


def _tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in (QUIET | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def _found(root: Path, *busy: Busy, **changes: Any) -> dict[str, str]:
    """What the checks of settings find: evidence by name."""
    read = replace(read_settings(root), **{"shm_bytes": (2**30, 2**30), **changes})
    ours = {row.name for row in checks_of(settings)}
    found = examine(MachineSnapshot(read_machine(root), (), (), None, read, busy))
    return {one.name: one.evidence for one in found if one.name in ours}


def test_the_settings_are_read(tmp_path: Path) -> None:
    settings = read_settings(_tree(tmp_path, {}))
    assert replace(settings, shm_bytes=None) == SystemSettings(
        turbo=False,
        frequencies_khz=(2_000_000, 2_000_000),
        throttles=0,
        thp_defrag="madvise",
        hugepages=(8, 6),
        numa_balancing=False,
        aslr=2,
        autogroup=False,
        isolated="2-3",
        nohz_full="",
        timer_slack_ns=50_000,
        steal_share=0.0,
        quota_periods=(0, 0),
        ptrace_scope=0,
        swap_used_bytes=0,
    )


def test_a_quiet_system_has_no_diagnostics(tmp_path: Path) -> None:
    assert _found(_tree(tmp_path, {})) == {}


def test_an_empty_tree_raises_none_either(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == SystemSettings()
    assert _found(tmp_path, shm_bytes=None) == {}


@pytest.mark.parametrize(
    ("what", "files", "evidence"),
    [
        (
            "steal",
            {"proc/stat": "cpu  100 0 100 9600 0 0 0 200 0 0"},
            "2.0 % of the time",
        ),
        (
            "throttled",
            {"sys/fs/cgroup/a/cpu.stat": "nr_periods 40\nnr_throttled 7"},
            "in 7 of 40 periods",
        ),
        (
            "throttled",
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/b\n0::/a",
                "sys/fs/cgroup/cpu/b/cpu.stat": "nr_periods 9\nnr_throttled 3",
            },
            "in 3 of 9 periods",
        ),
        ("too-hot", {f"{_CPU}/cpu1/thermal_throttle/core_throttle_count": "12"}, "12 times"),
        ("turbo", {f"{_CPU}/cpufreq/boost": "1"}, "Turbo is on"),
        ("turbo", {f"{_CPU}/intel_pstate/no_turbo": "0"}, "Turbo is on"),
        (
            "frequencies",
            {f"{_CPU}/cpu0/cpufreq/scaling_min_freq": "800000"}
            | {f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor": "powersave" for cpu in range(4)},
            "0.80 to 2.00 GHz",
        ),
        (
            "huge-pages",
            {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
            "is always",
        ),
        (
            "no-huge-pages",
            {
                "sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]",
                "proc/meminfo": "HugePages_Total: 0\nHugePages_Free: 0",
            },
            "none are reserved",
        ),
        ("numa-balancing", {"proc/sys/kernel/numa_balancing": "1"}, "with 2 nodes"),
        ("timer-slack", {"proc/self/timerslack_ns": "4000000"}, "4000 us late"),
        ("mitigations", {"proc/cmdline": "ro mitigations=off"}, "mitigations=off"),
        ("ptrace", {"proc/sys/kernel/yama/ptrace_scope": "1"}, "is 1"),
        (
            "locked-memory",
            {"proc/self/limits": "Max locked memory         8388608    8388608    bytes"},
            "8 MiB may be locked",
        ),
        ("swap", {"proc/meminfo": "SwapTotal: 64 kB\nSwapFree: 4 kB"}, "60 KiB"),
    ],
)
def test_each_check_has_its_evidence(tmp_path: Path, what: str, files: dict[str, str], evidence: str) -> None:
    found = _found(_tree(tmp_path, files))
    assert set(found) == {what}
    assert evidence in found[what]


@pytest.mark.parametrize(
    ("what", "settings", "evidence"),
    [
        ("coarse-timers", {"timer_resolution_ns": 4_000_000}, "steps of 4 ms"),
        ("shared-memory", {"shm_bytes": (64 << 20, 10 << 20)}, "10 MiB free of 64 MiB, for 4 cores"),
    ],
)
def test_what_no_file_tells(tmp_path: Path, what: str, settings: dict[str, Any], evidence: str) -> None:
    found = _found(_tree(tmp_path, {}), **settings)
    assert set(found) == {what}
    assert evidence in found[what]


def test_busy_processes_are_named_and_idle_ones_are_not(tmp_path: Path) -> None:
    busy = Busy(pid=7, command="burn -x", cpu_ns=600_000_000, seconds=1.0)
    idle = Busy(pid=8, command="daemon", cpu_ns=10_000_000, seconds=1.0)
    found = _found(_tree(tmp_path, {}), busy, idle)
    assert found == {"processes": "Over 1.0 s: burn (pid 7) 60 % of a CPU."}


def test_sessions_compete_only_beside_other_load(tmp_path: Path) -> None:
    root = _tree(tmp_path, {"proc/sys/kernel/sched_autogroup_enabled": "1"})
    assert _found(root) == {}
    busy = Busy(pid=7, command="burn", cpu_ns=600_000_000, seconds=1.0)
    assert set(_found(root, busy)) == {"autogroup", "processes"}


@pytest.mark.parametrize("load", ["0.00", "64.00"])
def test_the_load_average_is_no_evidence(tmp_path: Path, load: str) -> None:
    """It holds what we ran ourselves a minute ago."""
    assert _found(_tree(tmp_path, {"proc/loadavg": f"{load} {load} {load} 1/80 99"})) == {}


def test_isolated_cpus_are_missed_only_beside_other_load(tmp_path: Path) -> None:
    root = _tree(tmp_path, {f"{_CPU}/isolated": ""})
    assert _found(root) == {}
    busy = Busy(pid=7, command="burn", cpu_ns=600_000_000, seconds=1.0)
    assert "not-isolated" in _found(root, busy)


def test_one_node_has_nowhere_to_move_pages_to(tmp_path: Path) -> None:
    files = {"proc/sys/kernel/numa_balancing": "1", "sys/devices/system/node/online": "0"}
    assert _found(_tree(tmp_path, files)) == {}


def test_every_row_is_seen_to_find_something() -> None:
    """A row that no test above makes speak would be a check that nobody has ever seen work."""
    text = Path(__file__).read_text()
    assert [row.name for row in checks_of(settings) if f'"{row.name}"' not in text] == []
