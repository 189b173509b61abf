"""What is inside rows of kernels, as tables: their phases, and the messages of their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from steelyard.analyses.halo_exchange.model import other_ways
from steelyard.analyses.phases.model import roof_shares
from steelyard.base.units import format_memory, format_mops, format_time
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.results.facets import Inside, Rate
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row
from steelyard.results.row_kinds import is_kernel
from steelyard.rows.labels import op_with_facts, row_labels
from steelyard.rows.words import interval_words

_ROOF = (
    "; of roof: bytes per second of a phase, over STREAM's triad on as many cores; over 100 %: from caches"
)


def phase_tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Make a line for each phase of each row that has phases, and a line for what the ranks of a kernel send.

    If an application moved its halo in several ways, the base way is shown here; `exchange_tables` has the
    others.
    """
    others = other_ways(rows)
    told = [
        (row, inside)
        for row in rows
        if id(row) not in others and (inside := row.get(Inside).phases) is not None
    ]
    if not told:
        return
    labels = row_labels([row for row, _ in told])
    roofs = roof_shares(rows)
    is_rated = any(phase.work_share for _, inside in told for phase in inside.phases)
    told_first = "per repetition and rank" + (_ROOF if roofs else "")
    yield Table(
        "where the time goes",
        ", ".join((told_first, *labels.common.values())),
        (
            words("what"),
            words("phase"),
            *map(
                number,
                (
                    "share",
                    "median",
                    "5 % to 95 %",
                    "slowest rank",
                    *(("rate",) if is_rated else ()),
                    *(("of roof",) if roofs else ()),
                ),
            ),
        ),
        plain_lines(
            (op_with_facts(labels, i, row.op), *cells)
            for i, (row, inside) in enumerate(told)
            for cells in _phase_cells(inside, row, is_rated, roofs.get(id(row), {}) if roofs else None)
        ),
        _communication(inside for _, inside in told),
        grouped=1,
    )
    kernels = [(i, row, inside) for i, (row, inside) in enumerate(told) if is_kernel(row)]
    if kernels:  # other ops may have phases, but do not count what they send
        yield Table(
            "messages between ranks",
            ", ".join(("per repetition and rank", *labels.common.values())),
            (
                words("what"),
                *map(number, ("sending, waiting", "imbalance", "messages", "bytes", "collectives", "memory")),
            ),
            plain_lines(
                (op_with_facts(labels, i, row.op), *_rank_cells(inside)) for i, row, inside in kernels
            ),
        )


def _communication(each: Iterable[RowPhases]) -> tuple[str, ...]:
    """`exchange, sums: communication.`"""
    names = dict.fromkeys(phase.name for inside in each for phase in inside.phases if phase.communicates)
    return (f"{', '.join(names)}: communication.",) if names else ()


def _phase_cells(
    inside: RowPhases, row: Row, is_rated: bool, roofs: Mapping[str, float] | None
) -> Iterator[tuple[str, ...]]:
    """Make the cells of each phase; `roofs` are shares of the memory bandwidth, None if no row has any."""
    work = (row.get(Rate).mops or 0.0) * (row.time or 0.0)  # millions times ns / s
    for phase in inside.phases:
        mops = work * (phase.work_share or 0.0) / phase.median if phase.median else 0.0
        yield (
            phase.name,
            f"{100 * phase.share:.1f} %",
            format_time(phase.median),
            interval_words(phase.low, phase.high),
            format_time(phase.slowest),
            *((format_mops(mops) if mops else "",) if is_rated else ()),
            *(() if roofs is None else (f"{100 * roofs[phase.name]:.0f} %" if phase.name in roofs else "",)),
        )


def _rank_cells(inside: RowPhases) -> tuple[str, ...]:
    return (
        f"{100 * inside.communication:.1f} %",
        f"{100 * inside.imbalance:.1f} %",
        f"{inside.messages:.4g}",
        format_memory(inside.bytes + inside.collective_bytes),
        f"{inside.collectives:.4g}",
        format_memory(inside.memory),
    )
