"""Network devices of this machine, with their drivers, read from /sys."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from steelyard.base.files import read_number, read_text, real_path

_LOOPBACK = "lo"
_CLASSES = ("net", "infiniband")  # folders of /sys/class


class Network(Struct, frozen=True):
    """A device. Unknown values are None; the driver of a device made by software is "".

    `state` is as the kernel has it: up, down, unknown; for InfiniBand that of the first port. `rate` is in
    the kernel's words, `25000 Mb/s`, `200 Gb/sec (4X HDR)`.
    """

    name: str
    kind: str  # net, infiniband
    driver: str
    state: str | None = None
    rate: str | None = None


def read_networks(base: Path) -> tuple[Network, ...]:
    """Read all devices except the loopback; `base` is the place of /sys."""
    return tuple(
        _read(kind, folder)
        for kind in _CLASSES
        for folder in _listed(base / "sys/class" / kind)
        if folder.name != _LOOPBACK
    )


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _read(kind: str, folder: Path) -> Network:
    driver = folder / "device/driver"
    name = real_path(driver).name if driver.exists() else ""
    if kind == "infiniband":
        port = folder / "ports/1"
        state = read_text(port / "state").partition(":")[2].strip().lower()  # "4: ACTIVE"
        return Network(folder.name, kind, name, state or None, read_text(port / "rate") or None)
    speed = read_number(folder / "speed")
    rate = f"{speed} Mb/s" if speed is not None and speed > 0 else None
    return Network(folder.name, kind, name, read_text(folder / "operstate") or None, rate)
