"""The control groups that limit the CPU time of this process, versions 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from steelyard.base.files import read_text


def cpu_groups(base: Path) -> Iterator[tuple[Path, ...]]:
    """List, for each hierarchy that limits CPU time, the folders from our group up to its root."""
    for line in read_text(base / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers or "cpu" in controllers.split(","):
            mount = base / ("sys/fs/cgroup/cpu" if controllers else "sys/fs/cgroup")
            group = mount / path.lstrip("/")
            yield tuple(folder for folder in (group, *group.parents) if folder.is_relative_to(mount))


def cpu_quota(base: Path) -> float | None:
    """Find the least limit from our group to the root, in CPUs; None if there is none."""
    quotas: list[float] = []
    for folders in cpu_groups(base):
        for folder in folders:
            words = read_text(folder / "cpu.max").split() or [
                read_text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")
            ]
            quota, period = [*words, "", ""][:2]
            if quota.isdigit() and period.isdigit() and int(period) > 0:
                quotas.append(int(quota) / int(period))
    return min(quotas, default=None)
