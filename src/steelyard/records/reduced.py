"""Records that the engine reduced over ranks, so that their size does not grow with the ranks."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from steelyard.records.fields import Amount, Count, Real, Several, Share, Whole


class Kept(Struct, frozen=True, kw_only=True):
    """One sample of a chunk on chosen ranks: their starts and stops, ns since the first start of all.

    For a method without a common clock each rank's start is 0, and its stop its own duration.
    """

    sample: Count
    ranks: tuple[Count, ...]
    start_ns: tuple[Real, ...]
    stop_ns: tuple[Real, ...]


class Reduced(Struct, frozen=True, kw_only=True, tag_field="record", tag="reduced", gc=False):
    """A chunk of samples, each reduced over all ranks; `start_ns` and `stop_ns` are rank 0's, as in `Obs`.

    In each sample rank `slowest` was last: with synchronised clocks it stopped last, `took_ns` after the
    first start of all; else its own duration, `took_ns`, was the longest. `took_ns` still includes the cost
    of a reading of its clock, `cost_ns`. With synchronised clocks, `skew_ns` is from the first start to the
    last, `imbalance_ns` from the first stop to the last. `yields` is a sum over ranks, `noise` the largest of
    any rank. All else is as in `Obs`.
    """

    point: Count
    first: Count
    count: Count
    start_ns: list[Whole]
    stop_ns: list[Whole]
    took_ns: list[Real]
    cost_ns: list[Amount]
    slowest: list[Count]
    skew_ns: list[Amount] | None = None
    imbalance_ns: list[Amount] | None = None
    yields: Count | None = None
    kept: Kept | None = None
    sync_before: Whole | None = None
    sync_after: Whole | None = None
    target_ns: list[Whole] | None = None
    window_ns: Count | None = None
    late: tuple[Whole, ...] = ()
    low: tuple[Whole, ...] = ()
    canary_ns: Amount | None = None
    noise: Share | None = None


class WorstSpun(Struct, frozen=True, kw_only=True):
    """The waits of one rank over a test case, with `spun_ns` and the like as in `Obs`."""

    rank: Count
    ns: Count
    lost_ns: Count
    longest_ns: Count


class RanksTold(Struct, frozen=True, kw_only=True, tag_field="record", tag="ranks"):
    """Summary of ranks at the end of a test case: their own durations in all `count` samples.

    Each rank's cost of a reading is subtracted; ns of the timed region. Over all ranks: the least, the mean
    and the greatest of their means, and how many have a median in bucket b of `sketch` ([b, ranks]): from
    `sketch_width` ** b ns to one width more, the first from 0. `kept` are chosen ranks, with their medians
    and means. `worst_spun` is the rank whose waits lost the largest share.
    """

    point: Count
    count: Count
    least_mean_ns: Real
    mean_ns: Real
    most_mean_ns: Real
    sketch_width: Amount
    sketch: tuple[tuple[Count, Several], ...]
    worst_spun: WorstSpun | None = None
    kept: tuple[Count, ...] = ()
    medians_ns: tuple[Real, ...] = ()
    means_ns: tuple[Real, ...] = ()


class ReducedSync(Struct, frozen=True, kw_only=True, tag_field="record", tag="sync_reduced"):
    """`Sync` over ranks: the two largest errors and bounds, the least and the largest drift."""

    index: Count
    algorithm: str
    domains: Several
    at_ns: Whole  # on rank 0's clock
    error_ns: tuple[Amount, Amount]
    bound_ns: tuple[Amount, Amount]
    drift_ppm: tuple[Real, Real]
    error_basis: Literal["closure", "bound"] = "closure"
    cost_ns: Whole = 0
