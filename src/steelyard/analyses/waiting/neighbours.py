"""What a waiting rank takes from its neighbour: STREAM beside it over STREAM beside a sleeper."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.base.units import format_bytes, format_rate
from steelyard.render.table import Table, number, plain_lines
from steelyard.results.key import key_of
from steelyard.results.roofs import moved_bytes
from steelyard.results.row import Row, launch_medians, modes_of
from steelyard.rows.labels import Fact, Facts, labels_of, where_facts
from steelyard.rows.words import ratio_span
from steelyard.stats import Interval, span_of

WAIT_OP = "mpi.wait.stream"
_WAIT, _SLEEP = "wait", "sleep"


class WaitingNeighbour(Struct, frozen=True, kw_only=True):
    """`alone` and `beside` are bytes/s of rank 0 beside a rank that sleeps and one that waits in MPI.

    `ratio` is the time beside the waiting one over that beside the sleeper, launch by launch.
    """

    mpi: str | None
    bytes: int
    placement: str | None
    env: dict[str, str]
    alone: float
    beside: float
    ratio: Interval


def waiting_neighbours(rows: Sequence[Row]) -> tuple[WaitingNeighbour, ...]:
    """Compare each with the same beside a sleeper, in the order of the rows."""
    streams = [
        row for row in rows if row.op == WAIT_OP and row.status == "ok" and row.time and moved_bytes(row)
    ]
    asleep = {key_of(row, (f"param.{_WAIT}",)): row for row in streams if row.params.get(_WAIT) == _SLEEP}
    pairs = [(row, asleep.get(key_of(row, (f"param.{_WAIT}",)))) for row in streams]
    return tuple(_of(row, base) for row, base in pairs if base is not None and base is not row)


def _of(row: Row, base: Row) -> WaitingNeighbour:
    mine, theirs = launch_medians(row), launch_medians(base)
    ratios = [mine[launch] / theirs[launch] for launch in sorted(mine.keys() & theirs.keys())]
    return WaitingNeighbour(
        mpi=row.mpi,
        bytes=row.bytes,
        placement=row.placed_text,
        env=row.env,
        alone=1e9 * moved_bytes(base) / (base.time or 1.0),
        beside=1e9 * moved_bytes(row) / (row.time or 1.0),
        ratio=span_of(ratios, alike=modes_of(row, base))
        if ratios
        else Interval((row.time or 1.0) / (base.time or 1.0)),
    )


def neighbour_tables(cases: Sequence[WaitingNeighbour]) -> tuple[Table, ...]:
    """A line for each placement and setting; none without any."""
    if not cases:
        return ()
    labels = labels_of([_facts(case) for case in cases])
    return (
        Table(
            title="neighbour of a waiting rank",
            explained=", ".join(
                (
                    "STREAM beside a rank that sleeps, and that waits in MPI; times as long",
                    *labels.common.values(),
                )
            ),
            columns=(
                *(axis.column for axis in labels.varying),
                *(number("bytes"), number("asleep"), number("waiting"), number("ratio", strong=True)),
                *(number("from"), number("to")),
            ),
            lines=plain_lines(
                (
                    *labels.cells(i),
                    *(format_bytes(case.bytes), format_rate(case.alone), format_rate(case.beside)),
                    *ratio_span(case.ratio.value, case.ratio.low, case.ratio.high),
                )
                for i, case in enumerate(cases)
            ),
            grouped=len(labels.varying),
        ),
    )


def _facts(case: WaitingNeighbour) -> Facts:
    return {
        "mpi": Fact("MPI", case.mpi or "", case.mpi or ""),
        **where_facts(case.placement, case.env),
    }
