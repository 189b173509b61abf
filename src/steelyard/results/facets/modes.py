"""The modes of a row, and the looks at the machine in each."""

from __future__ import annotations

from msgspec import Struct

from steelyard.results.combined import Combined, finite
from steelyard.results.mode_cause import LooksSaw, blame, see
from steelyard.results.row import Facet
from steelyard.stats import Interval, Mode, share_interval
from steelyard.stats.interval import Estimate


class RowMode(Struct, frozen=True):
    """A mode of a point: its value in ns over the launches that were in it, and its share of the time.

    `low`..`high` is the interval of the value, made as that of a median, and `share_low`..`share_high` that
    of the share over launches (Clopper and Pearson), None for a single mode or launch. `launches` counts
    those that were in it. `canary_ns` and `noise` are as in `Modes`, of the looks at the machine in this
    mode.
    """

    value: float
    share: float
    canary_ns: float | None = None
    noise: float | None = None
    low: float | None = None
    high: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    launches: int = 0


class Modes(Facet, frozen=True, kw_only=True):
    """The modes, the fastest first, and the looks at the machine between chunks.

    `typical_mode` is the index in `modes` of the one that heads the row: the fastest of those that may be the
    most frequent. `canary_ns` is the median time of a cache line from rank to rank without MPI, `noise` the
    largest share of time that a rank lost to others. With several modes, `blame` is the layer that the looks
    blame: `below`, `noise`, `above`, None for none; `canary_ratio` is the canary in the slowest mode over
    that in the fastest (see `mode_cause.Blame`).
    """

    modes: tuple[RowMode, ...] = ()
    typical_mode: int = 0
    canary_ns: float | None = None
    noise: float | None = None
    blame: str | None = None
    canary_ratio: Interval | None = None

    @classmethod
    def of(cls, combined: Combined) -> Modes:
        """Each row has them."""
        looks = [launch.taken.looks for launch in combined.launches]
        blamed = blame(combined.modes, looks, combined.disturbed)
        seen = see([look for each in looks for look in each])
        return cls(
            modes=tuple(
                _row_mode(mode, value, saw, combined.level)
                for mode, value, saw in zip(combined.modes, combined.values, blamed.seen, strict=True)
            ),
            typical_mode=combined.typical,
            canary_ns=seen.canary,
            noise=seen.noise,
            blame=blamed.layer,
            canary_ratio=blamed.canary_ratio,
        )


def _row_mode(mode: Mode, value: Estimate, saw: LooksSaw, level: float) -> RowMode:
    has_share = mode.share < 1 and len(mode.shares) > 1
    share_low, share_high = share_interval(mode.shares, level) if has_share else (None, None)
    return RowMode(
        value=value.value,
        share=mode.share,
        canary_ns=saw.canary,
        noise=saw.noise,
        low=finite(value.low),
        high=finite(value.high),
        share_low=share_low,
        share_high=share_high,
        launches=sum(share > 0 for share in mode.shares),
    )
