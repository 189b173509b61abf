"""What each rank says for itself."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from steelyard.results.combined import Combined
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet


class Ranks(Facet, frozen=True, kw_only=True):
    """`rank_medians` are each rank's own, in ns; `osu` and `imb` are what those two suites would print.

    They print the least, the mean and the greatest of the ranks' own means. `slowest_rank` took longest
    most often, in `slowest_share` of the samples (None where only rank 0 is reported). `yields_per_op` counts
    sched_yield of all ranks per operation.
    """

    rank_medians: tuple[float, ...] = ()
    osu: dict[str, float] = msgspec.field(default_factory=dict)
    imb: dict[str, float] = msgspec.field(default_factory=dict)
    slowest_rank: int | None = None
    slowest_share: float | None = None
    yields_per_op: float | None = None

    @classmethod
    def of(cls, one: Combined) -> Ranks | None:
        """None where nothing is known of single ranks."""
        rank, share = _slowest(one.launches)
        medians, means = _own(one.launches)
        least, mean, most = (min(means), float(np.mean(means)), max(means)) if means else (0.0, 0.0, 0.0)
        found = cls(
            rank_medians=medians,
            osu={"avg": mean, "min": least, "max": most} if means else {},
            imb={"t_min": least, "t_max": most, "t_avg": mean} if means else {},
            slowest_rank=rank,
            slowest_share=share,
            yields_per_op=_yields(one.launches),
        )
        return found if found != cls() else None


def _own(launches: Sequence[PointLaunch]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Each rank's own median and mean over launches; nothing unless all of several ranks take part."""
    point = launches[0].point
    if point is None or point.report == "message" or point.parts > 1 or point.path or point.low_reps > 1:
        return (), ()
    medians = np.median([launch.taken.rank_medians for launch in launches], axis=0)
    means = np.median([launch.taken.rank_means for launch in launches], axis=0)
    return (tuple(medians.tolist()), tuple(means.tolist())) if medians.size > 1 else ((), ())


def _slowest(launches: Sequence[PointLaunch]) -> tuple[int | None, float | None]:
    """The rank that took longest most often and its share; nothing where only rank 0 is reported."""
    if any(
        launch.point is None or launch.point.report == "root" or launch.taken.slowest.size < 2
        for launch in launches
    ):
        return None, None
    counts = np.sum([launch.taken.slowest for launch in launches], axis=0)
    return int(np.argmax(counts)), float(counts.max() / counts.sum())


def _yields(launches: Sequence[PointLaunch]) -> float | None:
    counted = [launch for launch in launches if launch.taken.yields is not None]
    operations = sum(launch.taken.operations for launch in counted)
    return sum(launch.taken.yields or 0 for launch in counted) / operations if operations else None
