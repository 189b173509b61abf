"""Rivals: the same test case under several MPIs, or in several folders, and how their times compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.results.facets import Modes
from steelyard.results.key import key_of, later_params
from steelyard.results.roofs import ratio_interval
from steelyard.results.row import Row
from steelyard.stats import difference_interval


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of `row` over the time of `base`, with an interval where both have several launches.

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
        """Whether the interval allows that both take the same time; so does a ratio without an interval."""
        return self.low is None or self.high is None or self.low <= 1.0 <= self.high


def mpi_ratios(rows: Sequence[Row]) -> tuple[Ratio, ...]:
    """For each test case, the other MPIs against the first that the rows have; launches are paired.

    Launches of several MPIs in one folder take turns, so that launch i of one is near launch i of the other.
    """
    arms: dict[str, list[Row]] = {}
    for row in rows:
        if row.mpi is not None:
            arms.setdefault(row.mpi, []).append(row)
    return _ratios(arms, ("mpi",), paired=True)


def folder_ratios(folders: Mapping[str, Sequence[Row]]) -> tuple[Ratio, ...]:
    """For each test case, the other folders against the first. Their launches were not made by turns.

    Where each folder has one MPI, it may be another one in each.
    """
    one_each = all(len({row.mpi for row in rows if row.mpi}) <= 1 for rows in folders.values())
    return _ratios(folders, ("mpi",) if one_each else (), paired=False)


def rival_ratios(folders: Sequence[tuple[str, Sequence[Row]]]) -> dict[int, Ratio]:
    """Those of folders, by name, if there are several, else those of the MPIs of the one; by `id(row)`."""
    found = folder_ratios(dict(folders)) if len(folders) > 1 else mpi_ratios(folders[0][1])
    return {id(ratio.row): ratio for ratio in found}


def ratio_of(row: Row, base: Row, name: str = "", base_name: str = "", paired: bool = True) -> Ratio | None:
    """The ratio of the times of two rows; `paired`: their launches took turns. None without positive times.

    Where rows have modes it is that of the modes that they are headed by. None where that is the fast one of
    one row and the slow one of the other: their quotient would be that of modes, not of rivals.
    """
    if not row.time or not base.time or min(row.time, base.time) <= 0:
        return None
    mine, theirs = row.get(Modes), base.get(Modes)
    if len(mine.modes) == len(theirs.modes) and mine.typical_mode != theirs.typical_mode:
        return None
    ends = _paired(row, base) if paired else None
    low, high = ends or ratio_interval(row, base) or (None, None)
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
    """The interval of the ratio over pairs of launches, by signed ranks on logarithms, or Student's t.

    A pair counts where both were in the mode that their row is headed by. The interval is widened to hold the
    ratio of the times, which it is shown beside. None with fewer than two pairs.
    """
    times = {one.launch: one.time for one in base.launches if one.time}
    logs = [
        math.log(one.time / other) for one in row.launches if one.time and (other := times.get(one.launch))
    ]
    if len(logs) < 2 or not row.time or not base.time:
        return None
    estimate, centre = difference_interval(logs), math.log(row.time / base.time)
    return math.exp(min(estimate.low, centre)), math.exp(max(estimate.high, centre))
