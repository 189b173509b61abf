"""The file system of an op of files, and whether what was read came from it."""

from __future__ import annotations

from steelyard.results.combined import Combined, middle
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet

_COUNTER = "from_storage_bytes"  # of the engine's ops that ask for a cold cache


class Files(Facet, frozen=True, kw_only=True):
    """`file_system` is the type in the kernel's words, `mount_options` those of its mount, in the first
    launch.

    `free_bytes` is the least that was free in a launch. `from_storage` is the share of bytes read that came
    from storage, as the kernel counts them for the process, the median over launches. `below` is the op that
    does the same without MPI-IO. None where it is not known.
    """

    file_system: str | None = None
    mount_options: str | None = None
    free_bytes: int | None = None
    from_storage: float | None = None
    below: str | None = None

    @classmethod
    def of(cls, combined: Combined) -> Files | None:
        """None for an op without files."""
        told = [launch.files for launch in combined.launches if launch.files is not None]
        if not told:
            return None
        shares = [share for launch in combined.launches if (share := _from_storage(launch)) is not None]
        return cls(
            file_system=told[0].type,
            mount_options=told[0].options,
            free_bytes=min((one.free_bytes for one in told if one.free_bytes is not None), default=None),
            from_storage=middle(shares),
            below=next(
                (launch.point.below for launch in combined.launches if launch.point is not None), None
            ),
        )


def _from_storage(launch: PointLaunch) -> float | None:
    """Find the share of a launch; None if its op does not count, or the kernel does not."""
    counted = launch.taken.counted.get(_COUNTER, -1)
    point, samples = launch.point, len(launch.values)
    if point is None or counted < 0 or not samples or not point.moved_bytes:
        return None
    return min(1.0, counted / (point.moved_bytes * point.reps * samples))
