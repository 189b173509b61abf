"""The slow samples of each launch of a victim, so that they can be compared launch by launch."""

from __future__ import annotations

from msgspec import Struct

from steelyard.results.combined import Combined
from steelyard.results.facets.samples import least_samples
from steelyard.results.row import Facet
from steelyard.stats import quantile

TOLD = {"p99": 0.99, "p99.9": 0.999}
_PARAM = "traffic"  # of ops whose ranks suffer from others


class LaunchTail(Struct, frozen=True):
    """A launch's own quantiles in ns, by name: those of which it has enough samples."""

    launch: int
    values: dict[str, float]


class Tails(Facet, frozen=True, kw_only=True):
    """`tails` are in the order of the launches that went well; nothing for other ops."""

    tails: tuple[LaunchTail, ...] = ()

    @classmethod
    def of(cls, combined: Combined) -> Tails | None:
        """None for an op that is no victim of others."""
        point = combined.launches[0].point
        if point is None or _PARAM not in point.params:
            return None
        return cls(
            tails=tuple(
                LaunchTail(
                    launch.launch,
                    {
                        name: quantile(launch.values, (at,), launch.taken.tick)[0]
                        for name, at in TOLD.items()
                        if launch.values.size >= least_samples(at)
                    },
                )
                for launch in combined.launches
            )
        )
