"""Overlap over work, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.analyses.overlap.model import OverlapCurve
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Line, Table, number
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, param_facts


def overlap_tables(curves: Iterable[OverlapCurve]) -> Iterator[Table]:
    """Make a table for each op, a line for each amount of work; no overlap if that work was not measured
    alone.
    """
    by_op: dict[str, list[OverlapCurve]] = {}
    for curve in curves:
        by_op.setdefault(curve.op, []).append(curve)
    for op, members in by_op.items():
        labels = labels_of([_curve_facts(curve) for curve in members])
        lines = [line for i, curve in enumerate(members) for line in _overlap_lines(curve, labels.cells(i))]
        yield Table(
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
