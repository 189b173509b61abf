"""A row of results: one point over all its launches, as tables, pictures and machines take it."""

from __future__ import annotations

from msgspec import Struct

from steelyard.noise import CoreNoise
from steelyard.observations import Placement
from steelyard.phases import RowPhases
from steelyard.records import Params


class RowMode(Struct, frozen=True):
    """A regime of a point: its median in ns and the share of the time blocks that were in it.

    `canary_ns` and `noise` are as in `Row`, of the looks at the machine while it was in this regime.
    """

    value: float
    share: float
    canary_ns: float | None = None
    noise: float | None = None


class RowPath(Struct, frozen=True):
    """What a method without a common clock watched in a launch: see `WatchedPath` of the records."""

    late: int
    observer: int
    late_ns: float
    observer_ns: float
    loops: int


class RowSpun(Struct, frozen=True):
    """What a rank's waits for its windows saw: the share of it lost in gaps, the longest gap in ns."""

    rank: int
    share: float
    longest_ns: int


class RowPair(Struct, frozen=True):
    """Two ranks that exchange messages while others do, and the median of their messages in ns."""

    low: int
    high: int
    median: float


class RowLaunch(Struct, frozen=True, kw_only=True):
    """What one launch says of a point; times in ns, None where it has no number.

    `communication_ns` is the part of `median` that the phases that communicate have in all phases.
    """

    launch: int
    status: str
    why: str | None
    flag: str | None
    count: int
    rejected: int
    reps: int | None
    warm_up_reps: int | None = None
    median: float | None
    ci_low: float | None
    ci_high: float | None
    lag1: float | None
    drift: bool
    quantile_value: float | None = None
    quantile_low: float | None = None
    quantile_high: float | None = None
    quantile_lag1: float | None = None
    communication_ns: float | None = None


class Row(Struct, frozen=True, kw_only=True):
    """A point over all launches. Times in ns per operation, `bandwidth` in bytes/s; None for no number.

    The interval `ci_low`..`ci_high` has the probability `ci_level` for the median over launches (`ci_of`
    launches) or, with one launch, of that launch alone (`ci_of` blocks). Quantiles, `min`, `max`, `mean` and
    `slow_share` (share of observations above 3 medians) are those of all observations of all launches
    together. `overhead` ns per operation were subtracted as the cost of the clock. `slowest_rank` took
    longest most often, in `slowest_share` of the observations (None when only rank 0 is reported).
    `thread_level` is what the plan asks of MPI. `flags` holds all that apply, `flag` the one that weighs
    most. `method_params` and `rule_params` are those that the plan sets.

    Of a synchronised method `median` is from the first start to the last stop, `low_ns` from the last start
    to the last stop: the operation took from `low_ns` to `median`, and `error_ns` more or less (half the
    interval and what the clocks may be off, `clock_error_ns`). `skew_ns` and `imbalance_ns` are the spreads
    of starts and stops, `window_ns` the first and the widest of the windows. Of bounds, `low_ns` is what the
    operation takes at least and `median` what it takes at most. `rank_medians` are each rank's own; `osu` and
    `imb` are what those two would print of the same observations: least, mean and greatest of the ranks' own
    means. `ways` are the medians of messages from rank 0 to rank 1 and back, `pairs` those of pairs that
    exchange messages at once. Where the stop rule is about a quantile, `quantile` says which, and
    `quantile_value` has the interval `quantile_low`..`quantile_high`,
    made as the median's: of the launches' own quantiles, or inside the one launch. `transport` is `tcp` where
    the environment leaves an MPI nothing else.

    `placed` is where ranks and threads were asked to be, None for the default; `placement` is its text, and
    of the default the CPUs that ranks were bound to.

    Of an op that counts its operations, `mops` is how many millions of them a second the median makes, and
    `mops_low`..`mops_high` what the interval makes. `phases` is where the time goes inside.

    `omp` are the settings of OpenMP that the plan makes. Where the op has a `reference`, the same without
    what is measured, `corrected` is what it takes beyond that, with the interval `corrected_low`..
    `corrected_high` of that difference, of the probability `corrected_level`, over launches or, with one
    launch, of that one (`corrected_of`); `reference_point` is the reference's row. `tsc_hz` is how fast the
    counter runs that stamps are taken from (None: another clock), `core_hz` the core when launches began, as
    `core_by` tells.

    Of the looks at the machine between chunks, `canary_ns` is the median time of a cache line from rank to
    rank without MPI, `noise` the share of time that the rank lost to others that lost most. Of several modes,
    `blame` says what the looks make of them: `below`, `noise`, `above` (see `blame.Blame`), None for nothing.
    `spun` is what the waits of each rank saw, of methods with windows; `cores` the noise of each rank's core,
    of ops of the family noise (see `noise.CoreNoise`).
    """

    point: int
    op: str
    method: str
    bytes: int
    ranks: int
    threads: int
    thread_level: str | None = None
    params: Params
    rule: str = ""
    method_params: Params = {}
    rule_params: Params = {}
    placement: str | None
    placed: Placement | None = None
    mpi: str | None
    transport: str | None = None
    launch_count: int
    count: int
    rejected: int
    unit: str = "ns"
    median: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_level: float | None = None
    ci_of: str | None = None
    min: float | None = None
    p5: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    mean: float | None = None
    quantile: float | None = None
    quantile_value: float | None = None
    quantile_low: float | None = None
    quantile_high: float | None = None
    slow_share: float | None = None
    bandwidth: float | None = None
    mops: float | None = None
    mops_low: float | None = None
    mops_high: float | None = None
    phases: RowPhases | None = None
    overhead: float | None = None
    clock_tick: float | None = None
    clock_error_ns: float | None = None
    clock_bound_ns: float | None = None
    error_ns: float | None = None
    low_ns: float | None = None
    skew_ns: float | None = None
    imbalance_ns: float | None = None
    window_ns: tuple[int, int] | None = None
    path: RowPath | None = None
    ways: tuple[float, float] | None = None
    pairs: tuple[RowPair, ...] = ()
    rank_medians: tuple[float, ...] = ()
    osu: dict[str, float] = {}
    imb: dict[str, float] = {}
    omp: dict[str, str] = {}
    reference: str | None = None
    reference_point: int | None = None
    corrected: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    corrected_level: float | None = None
    corrected_of: str | None = None
    tsc_hz: float | None = None
    core_hz: float | None = None
    core_by: str | None = None
    slowest_rank: int | None = None
    slowest_share: float | None = None
    yields_per_op: float | None = None
    modes: tuple[RowMode, ...] = ()
    canary_ns: float | None = None
    noise: float | None = None
    blame: str | None = None
    spun: tuple[RowSpun, ...] = ()
    cores: tuple[CoreNoise, ...] = ()
    flag: str | None = None
    flags: tuple[str, ...] = ()
    verified: bool | None = None
    status: str = "ok"
    why: str | None = None
    launches: tuple[RowLaunch, ...] = ()
