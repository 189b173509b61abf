"""What is inside rows, as tables: phases of a kernel, messages of ranks, the noise of each core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.base.units import format_memory, format_mops, format_time
from steelyard.models.exchanges import other_ways
from steelyard.models.micro_macro import is_kernel
from steelyard.models.roofs import roof_shares
from steelyard.results.core_noise import CoreNoise, fundamentals
from steelyard.results.facets import Cores, Inside, Rate
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row
from steelyard.show.labels import Labels, row_labels
from steelyard.show.sheet import Sheet, number, plain_lines, words
from steelyard.show.words import interval_words

_ROOF = "; of roof: bytes per second of a phase, over STREAM's triad on as many cores"


def phase_sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """Make a line for each phase of each row that has phases, and a line for what the ranks of a kernel send.

    If an application moved its halo in several ways, the base way is shown here; `exchange_sheets` has the
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
    yield Sheet(
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
            words(""),
        ),
        plain_lines(
            (_name(labels, i, row), *cells)
            for i, (row, inside) in enumerate(told)
            for cells in _phase_cells(inside, row, is_rated, roofs.get(id(row), {}) if roofs else None)
        ),
        grouped=1,
    )
    kernels = [(i, row, inside) for i, (row, inside) in enumerate(told) if is_kernel(row)]
    if kernels:  # other ops may have phases, but do not count what they send
        yield Sheet(
            "messages between ranks",
            ", ".join(("per repetition and rank", *labels.common.values())),
            (
                words("what"),
                *map(number, ("sending, waiting", "imbalance", "messages", "bytes", "collectives", "memory")),
            ),
            plain_lines((_name(labels, i, row), *_rank_cells(inside)) for i, row, inside in kernels),
        )


def _name(labels: Labels, i: int, row: Row) -> str:
    """`npb.cg, class=S`."""
    told = (axis.facts[i].said for axis in labels.varying if axis.key != "op")
    return ", ".join(word for word in (row.op, *told) if word)


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
            "communicates" if phase.communicates else "",
        )


def _rank_cells(inside: RowPhases) -> tuple[str, ...]:
    return (
        f"{100 * inside.communication:.1f} %",
        f"{100 * inside.imbalance:.1f} %",
        f"{inside.messages:.4g}",
        format_memory(round(inside.bytes + inside.collective_bytes)),
        f"{inside.collectives:.4g}",
        format_memory(inside.memory),
    )


def core_sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """Make a line for each core that the noise ops watched."""
    told = [row for row in rows if row.get(Cores).cores]
    if not told:
        return
    labels = row_labels(told)
    yield Sheet(
        "noise of each core",
        ", ".join(labels.common.values()),
        (
            words("op"),
            *map(number, ("rank", "CPUs", "watched", "lost", "per second", "longest")),
            words("periods"),
        ),
        plain_lines(
            (_name(labels, i, row), *_core_cells(core))
            for i, row in enumerate(told)
            for core in row.get(Cores).cores
        ),
        grouped=1,
    )


def _core_cells(core: CoreNoise) -> tuple[str, ...]:
    periods = ", ".join(
        f"{peak.hz:.4g} Hz" + (f" and {multiples} multiples" if multiples else "")
        for peak, multiples in fundamentals(core.peaks)
    )
    return (
        str(core.rank),
        core.cpus,
        f"{core.seconds:.3g} s",
        f"{100 * core.share:.3g} %",
        f"{core.per_second:.4g}",
        format_time(core.longest_ns),
        periods,
    )
