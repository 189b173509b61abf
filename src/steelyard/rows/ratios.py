"""Rivals: the same test case under several MPIs, or in several folders, and the ratios of their times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.results.key import key_of, later_params
from steelyard.results.roofs import ratio_interval
from steelyard.results.row import Row
from steelyard.stats import difference_interval


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of `row` over the time of `base`, with an interval if both have several launches.

    `name` and `base_name` are the MPIs or folders that are compared.
    """

    name: str
    base_name: str
    row: Row
    base: Row
    value: float
    low: float | None
    high: float | None

    @property
    def holds_one(self) -> bool:
        """Does the interval hold 1, so that both may take the same time? True without an interval."""
        return self.low is None or self.high is None or self.low <= 1.0 <= self.high


def mpi_ratios(rows: Sequence[Row]) -> tuple[Ratio, ...]:
    """Compare the other MPIs with the first one of each test case; launches are paired.

    Launches of several MPIs in one folder alternate, so that launch i of one is near launch i of the other.
    """
    arms: dict[str, list[Row]] = {}
    for row in rows:
        if row.mpi is not None:
            arms.setdefault(row.mpi, []).append(row)
    return _ratios(arms, ("mpi",), paired=True)


def folder_ratios(folders: Mapping[str, Sequence[Row]]) -> tuple[Ratio, ...]:
    """Compare the other folders with the first one for each test case. Their launches did not alternate.

    If each folder has one MPI, MPIs may differ between folders.
    """
    one_each = all(len({row.mpi for row in rows if row.mpi}) <= 1 for rows in folders.values())
    return _ratios(folders, ("mpi",) if one_each else (), paired=False)


def rival_ratios(folders: Sequence[tuple[str, Sequence[Row]]]) -> dict[int, Ratio]:
    """Compare folders, by name, if there are several, else the MPIs of the one; by `id(row)`."""
    found = folder_ratios(dict(folders)) if len(folders) > 1 else mpi_ratios(folders[0][1])
    return {id(ratio.row): ratio for ratio in found}


def ratio_of(row: Row, base: Row, name: str = "", base_name: str = "", paired: bool = True) -> Ratio | None:
    """Divide the times of two rows; `paired`: their launches alternated. None without positive times.

    It has no interval where a row has one launch: that says nothing of what the next would take.
    """
    if not row.time or not base.time or min(row.time, base.time) <= 0:
        return None
    ends = _paired(row, base) if paired else None
    if ends is None and min(row.launch_count, base.launch_count) > 1:
        ends = ratio_interval(row, base)
    low, high = ends or (None, None)
    return Ratio(name, base_name, row, base, row.time / base.time, low, high)


def _ratios(arms: Mapping[str, Sequence[Row]], without: Sequence[str], paired: bool) -> tuple[Ratio, ...]:
    if len(arms) < 2:
        return ()
    base_name, *others = arms
    later = later_params(arms.values())
    bases = {key_of(row, without, later): row for row in arms[base_name]}
    found = (
        ratio_of(row, base, name, base_name, paired)
        for name in others
        for row in arms[name]
        if (base := bases.get(key_of(row, without, later))) is not None
    )
    return tuple(ratio for ratio in found if ratio is not None)


def _paired(row: Row, base: Row) -> tuple[float, float] | None:
    """Compute the interval of the ratio over pairs of launches, by signed ranks on logarithms, or Student's
    t.

    The interval is widened to hold the ratio of the times, beside which it is shown. None with fewer than two
    pairs.
    """
    times = {launch.launch: launch.median for launch in base.launches if launch.median and launch.median > 0}
    logs = [
        math.log(launch.median / other)
        for launch in row.launches
        if launch.median and launch.median > 0 and (other := times.get(launch.launch))
    ]
    if len(logs) < 2 or not row.time or not base.time:
        return None
    estimate, centre = difference_interval(logs), math.log(row.time / base.time)
    return math.exp(min(estimate.low, centre)), math.exp(max(estimate.high, centre))
