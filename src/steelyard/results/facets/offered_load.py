"""Messages that are offered at a rate, whatever becomes of those before: how many came, the slowest."""

from __future__ import annotations

from steelyard.results.combined import Combined
from steelyard.results.facets.samples import least_samples, tail_ends
from steelyard.results.row import Facet
from steelyard.stats import quantile
from steelyard.stats.fast_stats import middle as median

_FAR = 0.999


class OfferedLoad(Facet, frozen=True, kw_only=True):
    """Messages/s that were due at a sender (`offered_rate`; None where a message waits for an answer) and
    that came at its receiver (`came_rate`), the median over blocks and launches, with its interval; None
    where each block has one message.

    `p999` is the median over launches of each launch's own 99.9 % quantile, in ns, with its interval: None
    unless messages are timed one by one and each launch has `least_samples` of it.
    """

    offered_rate: float | None = None
    came_rate: float | None = None
    came_low: float | None = None
    came_high: float | None = None
    p999: float | None = None
    p999_low: float | None = None
    p999_high: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> OfferedLoad | None:
        """None unless messages are timed one by one."""
        point = combined.launches[0].point
        came = [launch.taken.came_rate for launch in combined.launches if launch.taken.came_rate]
        if point is None or point.report != "message":
            return None
        offered = point.method_params.get("rate")
        over = combined.span(came) if came else None
        enough = all(launch.values.size >= least_samples(_FAR) for launch in combined.launches)
        quantiles = [quantile(launch.values, (_FAR,), launch.taken.tick)[0] for launch in combined.launches]
        low, high = tail_ends(combined, _FAR)
        return cls(
            offered_rate=float(offered) if offered is not None else None,
            came_rate=over.value if over else None,
            came_low=over.low if over else None,
            came_high=over.high if over else None,
            p999=median(quantiles) if enough else None,
            p999_low=low,
            p999_high=high,
        )
