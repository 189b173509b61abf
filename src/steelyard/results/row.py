"""A row of results: one point over all its launches, as tables, pictures and machines take it."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

from steelyard.records.campaign_file import Placement
from steelyard.records.fields import Params
from steelyard.records.kinds import BLOCKING, CALL
from steelyard.records.schema import StuckRank

NOT_YET = "not measured yet; run the same command again to resume"  # why a row has the status skipped


class Facet(Struct, frozen=True, kw_only=True):
    """Columns of a row that belong together: a kind of row has them, others do not.

    Each field is a key of results.json and a column of results.csv, and has a default: what a row without the
    facet says there. Which facets there are stands in `facets.FACETS`.
    """


F = TypeVar("F", bound=Facet)


class RowLaunch(Struct, frozen=True, kw_only=True):
    """What one launch says of a point; times in ns, None where it has no number.

    `time` is what it took while in the mode that the row is headed by, None where it never was in that.
    `communication_ns` is the part of `median` that the phases that communicate have in all phases.
    `began_unix_ns` is when the launch began, ns since 1970, None where records do not say. `finishes`: when
    each rank had done, since the first began, of a synchronised method. `where`: where its ranks were when it
    hung.
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


def has_time(one: RowLaunch) -> bool:
    """Has a launch a median that a ratio can be made of?"""
    return one.median is not None and one.median > 0


def has_no_time(one: RowLaunch) -> bool:
    """Has a launch a median of 0, or less when the timer's cost is off: no time that its timer can tell?"""
    return one.median is not None and one.median <= 0


class Row(Struct, frozen=True, kw_only=True):
    """A point over all launches. Times in ns per operation; None for no number.

    `time` is what a row is headed by: the value of its typical mode where there are several, else the median.
    `median` is over all launches in any case. The interval `ci_low`..`ci_high` has the probability `ci_level`
    for the median over launches (`ci_of` launches) or, with one launch, of that launch alone (`ci_of`
    blocks); it holds for launches that are made then. `alike_p` is the p of the hypothesis that launches are
    in random order, against neighbours that are alike, and `widened` by how much the interval is for it.
    `thread_level` is what the plan asks of MPI. `flags` holds all that apply, `flag` the one that
    weighs most. `method_params` and `rule_params` are those that the plan sets; `asked` names those of
    `params` that it sets, and `method` and `rule` where it does. `headline` is what a table is about: `time`,
    `bandwidth`, `operations` or `messages` (in a second).

    Of a synchronised method `median` is from the first start to the last stop; of bounds, what the operation
    takes at most. `transport` is `tcp` where the environment leaves an MPI nothing else,
    and what carried the messages of an op that gives them to another library, in that one's words.

    `placed` is where ranks and threads were asked to be, None for the default; `placement` is its text, and
    of the default the CPUs that ranks were bound to. `omp` are the settings of OpenMP and `env` the
    variables of the environment that the plan sets.
    `hosts` is the number that the plan asks for, None where it does not.
    `reference_point` is the row of the same without what is measured.

    `sized` tells an op without a size from 0 bytes. `base`, `form`, `role` and `layer` say what kind of op it
    is, `nature` why the number is not simply what the operation takes, `bound` whether it is a `lower` or an
    `upper` one: see `records.schema.Point`. All else stands in facets: `row.get(Samples).p99`.
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
    flag: str | None = None
    flags: tuple[str, ...] = ()
    verified: bool | None = None
    status: str = "ok"
    why: str | None = None
    facets: tuple[Facet, ...] = ()
    launches: tuple[RowLaunch, ...] = ()

    def __post_init__(self) -> None:
        """A row that is given no time of its own is headed by its median."""
        if self.time is None and self.median is not None:
            own = (self.median, self.ci_low, self.ci_high, self.ci_level)
            for name, value in zip(("time", "time_low", "time_high", "time_level"), own, strict=True):
                force_setattr(self, name, value)

    def get(self, kind: type[F]) -> F:
        """The facet of that kind; one of defaults where the row has none."""
        for facet in self.facets:
            if isinstance(facet, kind):
                return facet
        return kind()
