"""The launches of a test case that went well, and what they make together: what facets are made from."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.durations import FloatArray
from steelyard.results.load import PointLaunch
from steelyard.stats import (
    Mode,
    block_interval,
    find_modes,
    launch_interval,
    mode_interval,
    typical_mode,
    with_tick,
)
from steelyard.stats.few import middle as plain_median
from steelyard.stats.interval import Blocks, Estimate


class Combined(Struct, frozen=True):
    """What several launches make together; at least one.

    `samples` are those of all launches, in ns; `tick` is the timer's; `blocks` are the launches' own
    intervals, in their order; `tails` the same of the quantile `probability` that the stop rule was about,
    empty where it was about none; `modes` are found over all launches, `values` are theirs, with intervals,
    and `typical` is the one to quote. `disturbed`: others were seen where the ranks ran.
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

    @property
    def time(self) -> Estimate:
        """What a row is headed by: the value of its typical mode; the median where there is one mode."""
        return self.values[self.typical]


def combine(launches: Sequence[PointLaunch], level: float, disturbed: bool = False) -> Combined:
    """Combine launches that went well, at least one; `level` is what intervals are asked to have."""
    blocks = tuple(block_interval(one.values, one.taken.tick, level) for one in launches)
    samples = np.concatenate([one.values for one in launches])
    tick = plain_median([one.taken.tick for one in launches])
    point = launches[0].point
    probability = float(point.rule_params["q"]) if point and point.rule == "quantile" else None
    tails = (
        ()
        if probability is None
        else tuple(block_interval(one.values, one.taken.tick, level, probability) for one in launches)
    )
    estimate = with_tick(over_launches([one.estimate for one in blocks], level), samples, tick)
    modes = find_modes(
        [one.values for one in launches],
        [one.taken.tick for one in launches],
        [one.estimate.value for one in blocks],
    )
    return Combined(
        launches=tuple(launches),
        level=level,
        estimate=estimate,
        samples=samples,
        tick=tick,
        blocks=blocks,
        modes=modes,
        values=tuple(mode_interval(mode, level) for mode in modes) if len(modes) > 1 else (estimate,),
        typical=typical_mode(modes, level),
        disturbed=disturbed,
        probability=probability,
        tails=tails,
    )


def over_launches(inner: Sequence[Estimate], level: float) -> Estimate:
    """The estimate over launches from each launch's own; that of the one launch where there is one."""
    return inner[0] if len(inner) == 1 else launch_interval([one.value for one in inner], level)


def middle(values: Sequence[float]) -> float | None:
    """The median, None of nothing."""
    return plain_median(values) if values else None


def finite(value: float) -> float | None:
    """The value, None where it is infinite or no number."""
    return value if math.isfinite(value) else None
