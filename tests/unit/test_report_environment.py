"""What the report says of the machine: its words, pictures of CPUs, settings of the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.report.environment import settings_of
from steelyard.report.setting_words import machine_words, setting_words
from steelyard.results.load import load
from steelyard.system.kernel_settings import SystemSettings


def test_machine_in_words() -> None:
    words = dict(
        machine_words(
            {
                "host": "vm",
                "cores": [[0, 2], [1, 3]],
                "memory_bytes": 2**33,
                "governor": None,
                "load": [0.5, 0.25, 0.0],
                "caches": [{"level": 1, "type": "Data", "bytes": 32768, "instances": 2}],
                "networks": [
                    {"name": "eth0", "driver": "virtio_net", "state": "up", "rate": None},
                    {"name": "ib0", "driver": "mlx5", "state": None, "rate": "HDR"},
                    {"name": "ifb0", "driver": "", "state": "down", "rate": None},
                ],
                "cpus": [0, 1],
                "colour": "blue",
            }
        )
    )
    assert words == {
        "host": "vm",
        "cores": "2 with 4 hardware threads",
        "memory": "8 GiB",
        "load": "0.50, 0.25, 0.00 over 1, 5 and 15 minutes",
        "caches": "L1 data 2 × 32 KiB",
        "networks": "eth0, virtio_net, up; ib0, mlx5, HDR",
        "colour": "blue",
    }


def test_a_machine_nobody_described_has_no_picture(tmp_path: Path) -> None:
    made = [FakePoint("mpi.barrier", steady(5e2, count=50), bytes=0)]
    folder = write_folder(tmp_path / "out", made, launches=1, machine={})
    assert settings_of(load(folder)).bindings[0].cores == ()
    (folder / "campaign.json").unlink()
    assert settings_of(load(folder)).machine.lines == ()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "steal_share",
            0.0002332055561223746,
            ("stolen by the hypervisor", "0.023 % of the time since the start"),
        ),
        ("frequencies_khz", [1200000, 3400000], ("frequency of CPU 0", "1.20 GHz to 3.40 GHz")),
        ("turbo", False, ("turbo frequencies", "off")),
        ("timer_slack_ns", 50000, ("timer slack", "50.0 us")),
        ("memlock_bytes", 8388608, ("memory that may be locked", "8 MiB")),
        ("isolated", "", ("CPUs without a scheduler", "none")),
        ("quota_periods", [100, 3], ("stopped by the CPU quota", "in 3 of 100 periods")),
        ("throttles", None, ("slowed down by heat", "")),
        ("aslr", "odd", ("random addresses", "odd")),  # as others wrote it
        ("new_key", [1, 2], ("new key", "1, 2")),
    ],
)
def test_settings_in_words_with_units(key: str, value: object, words: tuple[str, str]) -> None:
    assert setting_words(key, value) == words


def test_every_setting_of_the_system_has_words() -> None:
    """A new field of SystemSettings needs a line in the table, or it is shown raw."""
    raw = [
        name
        for name in SystemSettings.__struct_fields__
        if setting_words(name, None)[0] == name.replace("_", " ")
    ]
    assert raw == []
