"""The successful launches of a test case combined: the input of facets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.load import PointLaunch, PointLaunches
from steelyard.results.sittings import groups_of
from steelyard.stats import (
    Interval,
    Mode,
    block_interval,
    difference_interval,
    find_modes,
    launch_interval,
    mode_interval,
    typical_mode,
    with_tick,
)
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import NOT_ALIKE, Likeness, common_likeness
from steelyard.stats.fast_stats import middle as plain_median
from steelyard.stats.interval import Blocks, Estimate


class Combined(Struct, frozen=True):
    """The combined values of several launches, at least one.

    `samples` are those of all launches, in ns; `tick` is the timer's. `blocks` are the launches' own
    intervals, in their order. `tails` are the same for the quantile `probability` of the stop rule, empty for
    other rules. `modes` are found over all launches, `values` are theirs, with intervals, and `typical` is
    the one that is quoted first. `disturbed`: others were seen on the ranks' CPUs. `groups` are the
    ways in which launches belong together (`results.sittings`), `alike` how alike neighbours in time are in
    all test cases of the folder.
    """

    launches: tuple[PointLaunch, ...]
    level: float
    estimate: Estimate
    samples: FloatArray
    tick: float
    blocks: tuple[Blocks, ...]
    modes: tuple[Mode, ...]
    values: tuple[Estimate, ...]
    typical: int
    disturbed: bool = False
    probability: float | None = None
    tails: tuple[Blocks, ...] = ()
    groups: Mapping[str, tuple[int, ...]] = {}
    alike: Likeness = NOT_ALIKE

    def over(self, inner: Sequence[Estimate]) -> Estimate:
        """Estimate over launches from each launch's own estimate, of whatever quantile."""
        return over_launches(inner, self.level, self.groups.values(), self.alike)

    def span(
        self,
        values: Sequence[float],
        *,
        logs: bool = True,
        least: float = -math.inf,
        most: float = math.inf,
    ) -> Interval:
        """Compute the median of one value of each launch with its interval; one value has none.

        Without `logs` for what is no time or rate; no end is beyond `least` and `most`. Where a launch does
        not tell, nobody knows which group is whose, and groups are left out. Raises ValueError of nothing.
        """
        if len(values) == 1:
            return Interval(float(values[0]))
        groups = self.groups.values() if len(values) == len(self.launches) else ()
        over = launch_interval(values, self.level, logs=logs, groups=groups, alike=self.alike)
        if over.kind == "none":
            return Interval(over.value)
        return Interval(over.value, finite(max(over.low, least)), finite(min(over.high, most)))

    def difference(self, values: Sequence[float]) -> Interval:
        """Compute the centre of a difference of each launch with its interval; one has none."""
        if len(values) == 1:
            return Interval(float(values[0]))
        over = difference_interval(values, self.level, alike=self.alike.of_means)
        return Interval(over.value, over.low, over.high)


def combine(
    launches: Sequence[PointLaunch], level: float, disturbed: bool = False, alike: Likeness = NOT_ALIKE
) -> Combined:
    """Combine successful launches, at least one; `level` is the probability asked of intervals, `alike` what
    `launches_alike` says of the folder.
    """
    blocks = tuple(block_interval(launch.values, launch.taken.tick, level) for launch in launches)
    samples = np.concatenate([launch.values for launch in launches])
    tick = plain_median([launch.taken.tick for launch in launches])
    point = launches[0].point
    probability = float(point.rule_params["q"]) if point and point.rule == "quantile" else None
    tails = (
        ()
        if probability is None
        else tuple(
            block_interval(launch.values, launch.taken.tick, level, probability) for launch in launches
        )
    )
    groups = groups_of([launch.start for launch in launches])
    estimate = with_tick(
        over_launches([block.estimate for block in blocks], level, groups.values(), alike), samples, tick
    )
    modes = find_modes(
        [launch.values for launch in launches],
        [launch.taken.tick for launch in launches],
        [block.estimate.value for block in blocks],
    )
    return Combined(
        launches=tuple(launches),
        level=level,
        estimate=estimate,
        samples=samples,
        tick=tick,
        blocks=blocks,
        modes=modes,
        values=tuple(mode_interval(mode, level, groups.values(), alike) for mode in modes)
        if len(modes) > 1
        else (estimate,),
        typical=typical_mode(modes, level),
        disturbed=disturbed,
        probability=probability,
        tails=tails,
        groups=groups,
        alike=alike,
    )


def over_launches(
    inner: Sequence[Estimate], level: float, groups: Iterable[Sequence[int]] = (), alike: Likeness = NOT_ALIKE
) -> Estimate:
    """Estimate over launches from each launch's own estimate; a single launch keeps its own."""
    if len(inner) == 1:
        return inner[0]
    return launch_interval([one.value for one in inner], level, groups=groups, alike=alike)


def launches_alike(points: Iterable[PointLaunches]) -> Likeness:
    """Estimate how alike launches that follow each other are, by all test cases of a folder together."""
    return common_likeness(
        [plain_median(cell.values) for cell in point.cells if cell.status == "ok" and cell.values.size]
        for point in points
    )


def middle(values: Sequence[float]) -> float | None:
    """Compute the median; None of nothing."""
    return plain_median(values) if values else None


def finite(value: float) -> float | None:
    """Return the value, None if it is infinite or no number."""
    return value if math.isfinite(value) else None
