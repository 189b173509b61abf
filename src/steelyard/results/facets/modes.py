"""The regimes of a row, and what the looks at the machine say of them."""

from __future__ import annotations

from msgspec import Struct

from steelyard.results.combined import Combined
from steelyard.results.mode_cause import blame, see
from steelyard.results.row import Facet
from steelyard.stats import Interval


class RowMode(Struct, frozen=True):
    """A regime of a point: its median in ns and the share of the time blocks that were in it.

    `canary_ns` and `noise` are as in `Modes`, of the looks at the machine while it was in this regime.
    """

    value: float
    share: float
    canary_ns: float | None = None
    noise: float | None = None


class Modes(Facet, frozen=True, kw_only=True):
    """The regimes, and the looks at the machine between chunks.

    `canary_ns` is the median time of a cache line from rank to rank without MPI, `noise` the share of time
    that the rank lost to others that lost most. With several modes, `blame` says what the looks make of them:
    `below`, `noise`, `above`, None for nothing, and `canary_ratio` how the canary differs between the slowest
    and the fastest (see `mode_cause.Blame`).
    """

    modes: tuple[RowMode, ...] = ()
    canary_ns: float | None = None
    noise: float | None = None
    blame: str | None = None
    canary_ratio: Interval | None = None

    @classmethod
    def of(cls, one: Combined) -> Modes:
        """Each row has them."""
        looks = [launch.taken.looks for launch in one.launches]
        blamed = blame(one.modes, looks, one.disturbed)
        seen = see([look for each in looks for look in each])
        return cls(
            modes=tuple(
                RowMode(mode.value, mode.share, saw.canary, saw.noise)
                for mode, saw in zip(one.modes, blamed.seen, strict=True)
            ),
            canary_ns=seen.canary,
            noise=seen.noise,
            blame=blamed.layer,
            canary_ratio=blamed.canary_ratio,
        )
