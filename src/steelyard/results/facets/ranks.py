"""The values of single ranks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Struct

from steelyard.results.combined import Combined
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet
from steelyard.stats import Interval
from steelyard.stats.arrays import FloatArray
from steelyard.stats.fast_stats import row_middles


class Ranks(Facet, frozen=True, kw_only=True):
    """`rank_medians` are each rank's own, in ns; `osu` and `imb` are what those two suites would print.

    They print the least, the mean and the greatest of the ranks' own means. If not every rank's timestamps
    were kept, `rank_medians` are those of the chosen ranks `ranks_kept`; None means all ranks.
    `rank_quantiles` are the 5, 50 and 95 % quantiles of all ranks' own medians; `rank_evenness` is the
    shortest of these medians over the longest, with its interval over launches. `slowest_rank` took longest
    most often, in `slowest_share` of the samples (None if only rank 0 is reported). `yields_per_op` counts
    sched_yield of all ranks per operation.
    """

    rank_medians: tuple[float, ...] = ()
    ranks_kept: tuple[int, ...] | None = None
    rank_quantiles: tuple[float, ...] = ()
    rank_evenness: float | None = None
    rank_evenness_low: float | None = None
    rank_evenness_high: float | None = None
    osu: dict[str, float] = msgspec.field(default_factory=dict)
    imb: dict[str, float] = msgspec.field(default_factory=dict)
    slowest_rank: int | None = None
    slowest_share: float | None = None
    yields_per_op: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> Ranks | None:
        """None if single ranks are not known."""
        rank, share = _slowest(combined.launches)
        own = _own(combined.launches)
        even = _evenness(combined) if own.medians else None
        least, mean, most = own.means or (0.0, 0.0, 0.0)
        found = cls(
            rank_medians=own.medians,
            ranks_kept=own.kept,
            rank_quantiles=own.quantiles,
            rank_evenness=even.value if even else None,
            rank_evenness_low=even.low if even else None,
            rank_evenness_high=even.high if even else None,
            osu={"avg": mean, "min": least, "max": most} if own.means else {},
            imb={"t_min": least, "t_max": most, "t_avg": mean} if own.means else {},
            slowest_rank=rank,
            slowest_share=share,
            yields_per_op=_yields(combined.launches),
        )
        return found if found != cls() else None


class _Own(Struct, frozen=True):
    """Values of ranks over launches; nothing unless all of several ranks take part."""

    medians: tuple[float, ...] = ()
    means: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()
    kept: tuple[int, ...] | None = None


def _own(launches: Sequence[PointLaunch]) -> _Own:
    """Compute medians over launches of the ranks' values; of chosen ranks if these are the same ones."""
    point, first = launches[0].point, launches[0].taken
    if point is None or point.report == "message" or point.parts > 1 or point.path or point.low_reps > 1:
        return _Own()
    if first.ranks < 2 or any(launch.taken.kept != first.kept for launch in launches):
        return _Own()
    extents = [launch.taken.mean_extent for launch in launches if launch.taken.mean_extent is not None]
    quantiles = [launch.taken.rank_quantiles for launch in launches if launch.taken.rank_quantiles]
    medians = _column_middles([launch.taken.rank_medians for launch in launches])
    return _Own(
        medians=medians,
        means=_column_middles(extents) if extents else (),
        quantiles=_column_middles(quantiles) if quantiles else (),
        kept=first.kept,
    )


def _evenness(combined: Combined) -> Interval | None:
    """Compare the shortest of the ranks' medians with the longest, launch by launch."""
    medians = [launch.taken.rank_medians for launch in combined.launches]
    ratios = [min(ranks) / max(ranks) for ranks in medians if len(ranks) > 0 and max(ranks) > 0]
    return combined.span(ratios, most=1.0) if ratios else None


def _column_middles(launches: Sequence[Sequence[float] | FloatArray]) -> tuple[float, ...]:
    return tuple(row_middles(np.array(launches, dtype=np.float64).T).tolist())


def _slowest(launches: Sequence[PointLaunch]) -> tuple[int | None, float | None]:
    """Find the rank that took longest most often and its share; nothing if only rank 0 is reported.

    Launches have equal weight, however many samples they have.
    """
    if any(
        launch.point is None or launch.point.report == "root" or launch.taken.slowest.size < 2
        for launch in launches
    ):
        return None, None
    counts = [launch.taken.slowest for launch in launches]
    shares = np.mean([count / count.sum() for count in counts], axis=0)
    return int(np.argmax(shares)), float(shares.max())


def _yields(launches: Sequence[PointLaunch]) -> float | None:
    counted = [launch for launch in launches if launch.taken.yields is not None]
    operations = sum(launch.taken.operations for launch in counted)
    return sum(launch.taken.yields or 0 for launch in counted) / operations if operations else None
