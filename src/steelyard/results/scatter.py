"""How launches scattered in earlier results, to plan with."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from msgspec import Struct

from steelyard.records.campaign_file import PlannedPoint
from steelyard.results.row import Row, has_time

_LEAST = 3  # launches of a row that say how launches scatter


class Scatter(Struct, frozen=True):
    """The standard deviation of logarithms of launch medians, known with so many degrees of freedom."""

    deviation: float
    degrees: int


class Scatters:
    """The scatter of each test case of a folder; for others, that of their op."""

    def __init__(self, rows: Sequence[Row]) -> None:
        sums: defaultdict[Hashable, list[tuple[float, int]]] = defaultdict(list)
        for row in rows:
            logs = [math.log(launch.median or 1.0) for launch in row.launches if has_time(launch)]
            if len(logs) < _LEAST:
                continue
            part = (float(np.var(logs, ddof=1)) * (len(logs) - 1), len(logs) - 1)
            for key in ((row.op, row.bytes, row.ranks), (row.op, row.bytes), row.op):
                sums[key].append(part)
        self._known = {
            key: Scatter(
                math.sqrt(sum(square for square, _ in parts) / sum(count for _, count in parts)),
                sum(count for _, count in parts),
            )
            for key, parts in sums.items()
        }

    def of(self, point: PlannedPoint) -> Scatter | None:
        """Find what is nearest to a test case; None if its op was not measured."""
        keys: tuple[Hashable, ...] = (
            (point.op, point.bytes, point.ranks),
            (point.op, point.bytes),
            point.op,
        )
        return next((self._known[key] for key in keys if key in self._known), None)
