"""The ratio of the times of two rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from steelyard.results.roofs import ratio_interval
from steelyard.results.row import Row
from steelyard.stats import difference_interval


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of `row` over the time of `base`, with an interval if there is one.

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

    @property
    def of_rates(self) -> Ratio:
        """The same as a ratio of rates."""
        low, high = (1 / end if end else None for end in (self.high, self.low))
        return replace(self, value=1 / self.value, low=low, high=high)


# The ratios of what differs by these keys of labels, such as `mpi` or `env UCX_TLS`, by `id(row)`: those that
# a comparison of all rivals gives (`judges/compare/default_comparisons.py`).
RatiosBy = Callable[[frozenset[str]], Mapping[int, Ratio]]


def no_ratios(keys: frozenset[str]) -> Mapping[int, Ratio]:
    """Know no comparison."""
    del keys
    return {}


def plain_ratio(row: Row, base: Row, name: str = "", base_name: str = "") -> Ratio | None:
    """Divide the times of two rows, without an interval. None without positive times."""
    if not row.time or not base.time or min(row.time, base.time) <= 0:
        return None
    return Ratio(name, base_name, row, base, row.time / base.time, None, None)


def ratio_of(row: Row, base: Row) -> Ratio | None:
    """Divide the times of two different test cases of a folder, with an interval of this ratio alone.

    Launches alternated, so they are paired. It has no interval where a row has one launch: that says nothing
    of what the next would take. Rivals, which are one test case, have the ratios of a comparison instead.
    None without positive times.
    """
    plain = plain_ratio(row, base)
    if plain is None:
        return None
    ends = _paired(row, base)
    if ends is None and min(row.launch_count, base.launch_count) > 1:
        ends = ratio_interval(row, base)
    low, high = ends or (None, None)
    return replace(plain, low=low, high=high)


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
