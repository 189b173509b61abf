"""The cost and the tick of the timer, and the error of synchronised clocks."""

from __future__ import annotations

import math

from steelyard.results.combined import Combined, middle
from steelyard.results.row import Facet
from steelyard.stats.fast_stats import mean


class Timer(Facet, frozen=True, kw_only=True):
    """`overhead` ns per operation were subtracted as the cost of the clock; `clock_tick` is its tick in ns.

    `tsc_hz` is the rate of the counter that gives timestamps (None: another clock), `core_hz` that of the
    core when launches began, measured as `core_by` says.
    """

    overhead: float | None = None
    clock_tick: float | None = None
    tsc_hz: float | None = None
    core_hz: float | None = None
    core_by: str | None = None

    @classmethod
    def of(cls, combined: Combined) -> Timer:
        """Each row has one."""
        starts = [launch.start for launch in combined.launches if launch.start is not None]
        cores = [start.core for start in starts if start.core is not None and start.core.hz]
        ways = {core.by for core in cores}
        return cls(
            overhead=mean([launch.taken.overhead for launch in combined.launches]),
            clock_tick=combined.tick,
            tsc_hz=middle([start.clock.hz for start in starts if start.clock.hz is not None]),
            core_hz=middle([core.hz for core in cores if core.hz is not None]),
            core_by=ways.pop() if len(ways) == 1 else None,
        )


class ClockError(Facet, frozen=True, kw_only=True):
    """The error of the clocks of a synchronised method, in ns.

    `clock_error_ns` is the stated error of two ranks together, `clock_bound_ns` the certain bound. `error_ns`
    is the largest error of the latency: the larger side of its interval plus the clocks' error, which is the
    same in all samples.
    """

    clock_error_ns: float | None = None
    clock_bound_ns: float | None = None
    error_ns: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> ClockError | None:
        """None if no clocks were synchronised."""
        errors = [launch.clock_error for launch in combined.launches if launch.clock_error is not None]
        bounds = [launch.clock_bound for launch in combined.launches if launch.clock_bound is not None]
        if not errors and not bounds:
            return None
        estimate = combined.estimate
        side = max(estimate.high - estimate.value, estimate.value - estimate.low)
        return cls(
            clock_error_ns=max(errors, default=None),
            clock_bound_ns=max(bounds, default=None),
            error_ns=side + max(errors) if errors and math.isfinite(side) else None,
        )
