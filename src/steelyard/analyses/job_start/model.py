"""The start and the end of a job: the process, MPI_Init_thread, the first allreduce, MPI_Finalize.

Each first use has launches of its own. Those of `mpi.first.init` are taken where it was measured, else those
of the first use that stands first. `job` is `mpi.first.job`: from main to the end of the first allreduce.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.results.facets import JobStart
from steelyard.results.row import Row
from steelyard.stats import Interval

INIT, JOB = "mpi.first.init", "mpi.first.job"
_Key = tuple[str | None, str | None, int, int | None, tuple[tuple[str, str], ...]]


class StartTimes(Struct, frozen=True, kw_only=True):
    """The launches of one MPI, launcher, number of ranks and hosts, and setting; ns of the slowest rank."""

    mpi: str | None
    launcher: str | None
    ranks: int
    hosts: int | None
    env: dict[str, str]
    launches: int
    launch: Interval | None
    exec_to_main: float | None
    main_to_init: float | None
    init: Interval
    finalize: float | None
    job: Interval | None


def start_times(rows: Sequence[Row]) -> tuple[StartTimes, ...]:
    """Take the start of each kind of launch, in the order of the rows."""
    known: dict[_Key, list[Row]] = {}
    for row in rows:
        if row.get(JobStart).init is not None:
            known.setdefault(_key(row), []).append(row)
    return tuple(map(_of, known.values()))


def _key(row: Row) -> _Key:
    return row.mpi, row.get(JobStart).launcher, row.ranks, row.hosts, tuple(sorted(row.env.items()))


def _of(rows: Sequence[Row]) -> StartTimes:
    row = next((row for row in rows if row.op == INIT), rows[0])
    whole = next((row for row in rows if row.op == JOB and row.time is not None), None)
    began = row.get(JobStart)
    return StartTimes(
        mpi=row.mpi,
        launcher=began.launcher,
        ranks=row.ranks,
        hosts=row.hosts,
        env=dict(row.env),
        launches=row.launch_count,
        launch=None if began.launch is None else Interval(began.launch, began.launch_low, began.launch_high),
        exec_to_main=began.exec_to_main,
        main_to_init=began.main_to_init,
        init=Interval(began.init or 0.0, began.init_low, began.init_high),
        finalize=began.finalize,
        job=None if whole is None else Interval(whole.time or 0.0, whole.time_low, whole.time_high),
    )
