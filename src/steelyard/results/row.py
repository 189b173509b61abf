"""A row of results: one point over all its launches, for tables, pictures and machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

from steelyard.records.campaign_file import Placement
from steelyard.records.fields import Params
from steelyard.records.kinds import BLOCKING, CALL
from steelyard.records.parts import StuckRank
from steelyard.stats.autocorrelation import Likeness

NOT_YET = "not measured yet"  # why a row has the status skipped
INDEPENDENT = "independent"  # what an interval of few launches assumes them to be


class Facet(Struct, frozen=True, kw_only=True):
    """Columns of a row that belong together: a kind of row has them, others do not.

    Each field is a key of results.json and a column of results.csv. Its default is the value of a row without
    the facet. `facets.FACETS` lists all facets.
    """


F = TypeVar("F", bound=Facet)


class RowLaunch(Struct, frozen=True, kw_only=True):
    """One launch of a point; times in ns, None if it has no value.

    `time` is its time in the mode that heads the row, None if it never was in that mode. `communication_ns`
    is the share of communicating phases in all phases, of `median`. `began_unix_ns` is the begin of the
    launch, ns since 1970, None if records do not have it. `finishes`: the end of each rank after the first
    start, for a synchronised method. `where`: the places of its ranks when it hung. `ending`: what went wrong
    in the launch after its last test case, as in MPI_Finalize.
    """

    launch: int
    status: str
    why: str | None
    flag: str | None
    count: int
    rejected: int
    reps: int | None
    warm_up_reps: int | None = None
    time: float | None = None
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
    began_unix_ns: int | None = None
    finishes: tuple[float, ...] = ()
    where: tuple[StuckRank, ...] = ()
    ending: str | None = None


def has_time(launch: RowLaunch) -> bool:
    """Does a launch have a median from which a ratio can be made?"""
    return launch.median is not None and launch.median > 0


def has_no_time(launch: RowLaunch) -> bool:
    """Does a launch have a median of 0, or less after the timer's cost: a time below what its timer can
    measure?
    """
    return launch.median is not None and launch.median <= 0


def half_of(value: float | None, low: float | None, high: float | None) -> float | None:
    """Compute half of an interval, its larger side, relative to its value; None without one."""
    if value is None or low is None or high is None or value <= 0:
        return None
    return max(value - low, high - value) / value


class Row(Struct, frozen=True, kw_only=True):
    """A point over all launches. Times in ns per operation; None for no value.

    `time` heads the row; it is the median over launches, as `median` is. The interval `ci_low`..`ci_high` has
    the probability `ci_level` for the median over launches (`ci_of` launches) or, with one launch, for that
    launch alone (`ci_of` blocks); it describes the time of the measurement. `alike_p` is the p of the
    hypothesis that launches are in random order, against similar neighbours; `widened` is the factor by which
    the interval is wider because of it. `alike` is how alike neighbours are at least, by all test cases of
    the folder; `ci_if` is `independent` where the interval assumes that launches are hardly alike, because
    they are too few to show it. `apart`: launches of the folder stay in modes, these may all be in one, and
    the interval reaches to another one that is so many times as slow, or as fast. `thread_level` is the level
    that the plan asks of MPI. `flags` holds all that apply, `flag` the gravest. `method_params` and
    `rule_params` are those that the plan sets; `asked` names those of `params` that it sets, and `method` and
    `rule` if it does. `headline` is the subject of a table: `time`, `bandwidth`, `operations`, `messages` or
    `names` (per second).

    For a synchronised method `median` is from the first start to the last stop; for bounds, the upper bound.
    `transport` is `tcp` if the environment leaves an MPI no other, or what carried the messages of an op over
    another library, in that library's words.

    `placed` is the placement that was asked for, None for the default; `placement` is its text, and for the
    default the CPUs that ranks were bound to. `omp` are the settings of OpenMP and `env` the variables of the
    environment that the plan sets. `hosts` is the number that the plan asks for, None if it does not.
    `reference_point` is the row of the same op without what is measured.

    `sized` distinguishes an op without a size from 0 bytes. `base`, `form`, `role` and `layer` give the kind
    of op, `nature` says why the value is not simply the operation's time, `bound` whether it is a `lower` or
    an `upper` one: see `records.schema.Point`. All else is in facets: `row.get(Samples).p99`.
    """

    point: int
    op: str
    method: str
    bytes: int
    sized: bool = False
    base: str = ""
    form: str = BLOCKING
    role: str = CALL
    layer: str | None = None
    nature: str | None = None
    bound: str | None = None
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
    headline: str = "time"
    asked: tuple[str, ...] = ()
    omp: dict[str, str] = {}
    env: dict[str, str] = {}
    hosts: int | None = None
    reference_point: int | None = None
    launch_count: int
    count: int
    rejected: int
    unit: str = "ns"
    time: float | None = None
    time_low: float | None = None
    time_high: float | None = None
    time_level: float | None = None
    median: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_level: float | None = None
    ci_of: str | None = None
    widened: float | None = None
    alike_p: float | None = None
    alike: float = 0.0
    apart: float | None = None
    ci_if: str | None = None
    flag: str | None = None
    flags: tuple[str, ...] = ()
    verified: bool | None = None
    status: str = "ok"
    why: str | None = None
    facets: tuple[Facet, ...] = ()
    launches: tuple[RowLaunch, ...] = ()

    def __post_init__(self) -> None:
        """Head the row by its median if it was given no time."""
        if self.time is None and self.median is not None:
            own = (self.median, self.ci_low, self.ci_high, self.ci_level)
            for name, value in zip(("time", "time_low", "time_high", "time_level"), own, strict=True):
                force_setattr(self, name, value)

    @property
    def placed_text(self) -> str | None:
        """The placement that was asked for; None for the default."""
        return self.placed.text if self.placed else None

    @property
    def likeness(self) -> Likeness:
        """How alike launches are, for intervals of what is made of their values."""
        return Likeness(self.alike, apart=math.log(self.apart) if self.apart else 0.0)

    def get(self, kind: type[F]) -> F:
        """Get the facet of that kind; one of defaults if the row has none."""
        for facet in self.facets:  # by class: `isinstance` of each takes three times as long
            if facet.__class__ is kind:
                return facet
        return kind()


def launch_medians(row: Row) -> dict[int, float]:
    """Map launch numbers to medians above 0, in ns."""
    return {
        launch.launch: launch.median or 0.0
        for launch in row.launches
        if launch.status == "ok" and has_time(launch)
    }


def likeness_of(rows: Iterable[Row]) -> Likeness:
    """How alike launches are, for intervals of what is made of several rows."""
    found = [row.likeness for row in rows]
    return Likeness(max(one.rho for one in found), apart=max(one.apart for one in found))


def modes_of(*rows: Row) -> Likeness:
    """The same for ratios of values of one launch, in which what is alike cancels, but not modes of each."""
    return Likeness(apart=likeness_of(rows).apart)


def any_row(test: Mapping[str, Row]) -> Row:
    """Take one row of a test, for what all of them have in common."""
    return next(iter(test.values()))
