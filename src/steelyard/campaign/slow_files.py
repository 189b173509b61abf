"""Slow files: ranks that record nothing, but still move bytes, as a repetition may last minutes there."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping

from steelyard.engines.description import Op
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.kinds import FILE
from steelyard.records.schema import Launch
from steelyard.system.process_stat import bytes_of_files

_MOST = 60  # times the patience of other launches, as for ops whose repetitions may last minutes
# Bytes that all ranks together move in half of the patience at least: what a library reads to wake itself up
# is less, and files that move no more are as good as hung.
_LEAST_BYTES = 4096


class SlowFiles:
    """How long a launch with files may be silent: while its ranks move bytes in each half of the patience.

    By the kernel's count of ranks on this host, `moved(pids)`. Names that are made or removed are no bytes.
    """

    def __init__(
        self,
        points: Iterable[PlannedPoint],
        ops: Mapping[str, Op],
        moved: Callable[[Iterable[int]], int] = bytes_of_files,
    ) -> None:
        """Watch a launch that measures these points."""
        self._has_files = any(ops[point.op].role == FILE for point in points)
        self._moved = moved
        self._before: int | None = None  # bytes at the last look
        self._allowed = 0.0

    def patience(self, silent: float, patience: float, launch: Launch | None) -> float:
        """Give the seconds that it may be silent, others for `patience`; it has been for `silent`."""
        half = patience / 2
        if silent < half:
            self._before, self._allowed = None, 0.0
        elif (
            self._has_files
            and launch is not None
            and (self._before is None or silent > max(patience, self._allowed))
        ):
            self._look(silent, half, patience, _ranks_here(launch))
        return max(patience, self._allowed)

    def _look(self, silent: float, half: float, patience: float, pids: Iterable[int]) -> None:
        before, self._before = self._before, self._moved(pids)
        if before is not None and self._before - before >= _LEAST_BYTES and silent < _MOST * patience:
            self._allowed = silent + half


def _ranks_here(launch: Launch) -> set[int]:
    here = platform.node()
    return {place.pid for place in launch.places if place.host == here and place.pid > 0}
