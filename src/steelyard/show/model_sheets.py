"""Models of rows as tables, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from steelyard.base.units import format_bytes, format_time
from steelyard.models.efficiency import Efficiency
from steelyard.models.host_matrix import host_matrices
from steelyard.models.made import (
    CHOICES,
    COLLECTIVES,
    EXCHANGES,
    FLOOR,
    FUNCTIONALITY,
    GROWTH,
    MACRO,
    MESSAGES,
    OVERHEADS,
    OVERLAP,
    RANKINGS,
    RATES,
    SCALING,
    SETTINGS,
    STREAMS,
    THREADS,
    TREES,
    Made,
)
from steelyard.models.overlap import OverlapCurve
from steelyard.show.collective_sheets import collective_sheets
from steelyard.show.core_pairs import PairTable, pair_tables
from steelyard.show.cores_sheets import stream_sheets
from steelyard.show.exchange_sheets import exchange_sheets
from steelyard.show.functionality_sheets import functionality_sheets
from steelyard.show.growth_sheets import growth_sheets
from steelyard.show.hang_sheets import hang_sheets
from steelyard.show.host_sheets import host_sheets
from steelyard.show.inside_sheets import core_sheets, phase_sheets
from steelyard.show.labels import Fact, Facts, count_fact, labels_of, param_facts
from steelyard.show.log_sheets import message_sheets
from steelyard.show.macro_sheets import macro_sheets, scaling_sheets
from steelyard.show.max_rate_sheets import max_rate_sheets
from steelyard.show.overhead_sheets import overhead_sheets
from steelyard.show.ranking_sheets import choice_sheets, ranking_sheets, setting_sheets
from steelyard.show.sheet import NOTHING, Line, Sheet, number, plain_lines, remark, words
from steelyard.show.thread_sheets import thread_sheets
from steelyard.show.tree_sheets import tree_sheets, unseen_tree_sheets
from steelyard.show.unmodelled_sheets import unmodelled_growth_sheets, unmodelled_rate_sheets

EFFICIENCY = "efficiency: time of the fastest layer / time of MPI; then each layer's"


def model_sheets(made: Made, folder: str = "") -> Iterator[Sheet]:
    """Make all tables of a folder's models; `folder` is its name if there are several."""
    for tables in MODEL_TABLES.values():
        for sheet in tables(made):
            yield replace(sheet, title=f"{sheet.title} ({folder})") if folder else sheet


def overlap_sheets(found: Iterable[OverlapCurve]) -> Iterator[Sheet]:
    """Make a table for each op, a line for each amount of work; no overlap if that work was not measured
    alone.
    """
    by_op: dict[str, list[OverlapCurve]] = {}
    for curve in found:
        by_op.setdefault(curve.op, []).append(curve)
    for op, members in by_op.items():
        labels = labels_of([_curve_facts(curve) for curve in members])
        lines = [line for i, curve in enumerate(members) for line in _overlap_lines(curve, labels.cells(i))]
        yield Sheet(
            f"overlap of {op}",
            "; ".join(("(pure + work - both) / min(pure, work)", *labels.common.values())),
            (
                *(axis.column for axis in labels.varying),
                *map(number, ("work", "pure", "both")),
                number("overlap", strong=True),
                *map(number, ("interval", "left")),
            ),
            tuple(lines),
            ("left: availability, 1 - (both - work) / pure",),
            grouped=len(labels.varying),
        )


def _curve_facts(curve: OverlapCurve) -> Facts:
    size, level = format_bytes(curve.bytes), curve.thread_level or ""
    return {
        "bytes": Fact("bytes", size, size),
        "mpi": Fact("MPI", curve.mpi or "", curve.mpi or ""),
        "ranks": count_fact("rank", curve.ranks),
        "threads": count_fact("thread", curve.threads),
        "thread level": Fact("thread level", level, f"thread level {level}" if level else ""),
        "method": Fact("method", curve.method, f"method {curve.method}"),
        **param_facts(curve.params, is_usual=True),
    }


def _overlap_lines(curve: OverlapCurve, first: tuple[str, ...]) -> Iterator[Line]:
    for point in curve.points:
        times = (format_time(ns) for ns in (point.work_ns, point.pure_ns, point.both_ns))
        if point.overlap is None or point.availability is None:
            yield Line((*first, *times, point.why))
            continue
        known = point.low is not None and point.high is not None
        interval = f"{point.low:.2f} – {point.high:.2f}" if known else NOTHING
        yield Line((*first, *times, f"{point.overlap:.2f}", interval, f"{point.availability:.2f}"))
    for asked in curve.lacks:
        yield Line((*first, f"{curve.axis}={asked:g}: self.work was not measured with this much"))


def floor_sheets(found: Sequence[Efficiency]) -> Iterator[Sheet]:
    """Make a table for each op, a line for each MPI message for which a layer below was measured too."""
    for op in dict.fromkeys(one.op for one in found):
        members = [one for one in found if one.op == op]
        labels = labels_of([_efficiency_facts(one) for one in members])
        common = ", ".join(labels.common.values())
        yield Sheet(
            f"{op} against the layers below it",
            "; ".join(part for part in (EFFICIENCY, common) if part),
            (
                *(axis.column for axis in labels.varying),
                *map(number, ("bytes", "MPI")),
                words("floor"),
                number("efficiency", strong=True),
                number("interval"),
                remark(),
            ),
            plain_lines((*labels.cells(i), *_efficiency_cells(one)) for i, one in enumerate(members)),
            grouped=len(labels.varying),
        )


def _efficiency_facts(one: Efficiency) -> Facts:
    return {
        "mpi": Fact("MPI", one.mpi or "", one.mpi or ""),
        "method": Fact("method", one.method, f"method {one.method}", is_usual=True),
        **param_facts(one.params, is_usual=True),
    }


def _efficiency_cells(one: Efficiency) -> tuple[str, ...]:
    known = one.low is not None and one.high is not None
    return (
        format_bytes(one.bytes),
        format_time(one.mpi_ns),
        one.floor_words,
        NOTHING if one.efficiency is None else f"{one.efficiency:.3g}",
        f"{one.low:.3g} – {one.high:.3g}" if known else NOTHING,
        one.why or ", ".join(f"{layer.words} {layer.ratio:.3g}" for layer in one.layers),
    )


def pair_sheet(pairs: PairTable) -> Sheet:
    """Make a line for each pair of CPUs or hosts, from that of rank or thread 0 to the other."""
    return Sheet(
        f"from {pairs.level} to {pairs.level}, by pair" if pairs.level == "host" else "from CPU to CPU",
        pairs.title,
        (number(f"{pairs.level}s"), number("time", strong=True), number("interval"), words("where")),
        plain_lines(pairs.lines),
    )


# Model -> its tables, in the order of the terminal and the report.
MODEL_TABLES: Mapping[str, Callable[[Made], Iterable[Sheet]]] = {
    "hangs": lambda made: hang_sheets(made.rows),
    "phases": lambda made: phase_sheets(made.rows),
    "overlap": lambda made: overlap_sheets(made(OVERLAP)),
    "floor": lambda made: floor_sheets(made(FLOOR)),
    "cores": lambda made: core_sheets(made.rows),
    "pairs": lambda made: map(pair_sheet, pair_tables(made.rows)),
    "hosts": lambda made: host_sheets(host_matrices(made.rows)),
    "macro": lambda made: macro_sheets(made(MACRO)),
    "messages": lambda made: message_sheets(made(MESSAGES), made(MACRO)),
    "overheads": lambda made: overhead_sheets(made(OVERHEADS)),
    "rates": lambda made: (*max_rate_sheets(made(RATES)), *unmodelled_rate_sheets(made.rows)),
    "scaling": lambda made: scaling_sheets(made(SCALING)),
    "trees": lambda made: (*tree_sheets(made(TREES)), *unseen_tree_sheets(made.rows)),
    "collectives": lambda made: collective_sheets(made(COLLECTIVES)),
    "growth": lambda made: (*growth_sheets(made(GROWTH)), *unmodelled_growth_sheets(made.rows)),
    "exchanges": lambda made: exchange_sheets(made(EXCHANGES)),
    "functionality": lambda made: functionality_sheets(made(FUNCTIONALITY)),
    "rankings": lambda made: ranking_sheets(made(RANKINGS)),
    "choices": lambda made: choice_sheets(made(CHOICES)),
    "settings": lambda made: setting_sheets(made(SETTINGS)),
    "threads": lambda made: thread_sheets(made(THREADS)),
    "streams": lambda made: stream_sheets(made(STREAMS)),
}
