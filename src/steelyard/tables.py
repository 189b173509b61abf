"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from steelyard.overlap import Curve, curves
from steelyard.records import Params
from steelyard.row import Row
from steelyard.units import format_bytes, format_mops, format_time, format_values
from steelyard.wording import (
    bandwidth_words,
    interval_words,
    notes,
    relative_words,
    row_line,
    row_name,
    shared_nature,
    time_words,
    value_words,
)

__all__ = ["results_tables", "row_line"]

FLAG_STYLES = {
    "SETTLED": "green",
    "TIME": "yellow",
    "UNSETTLED": "yellow",
    "NOISY": "yellow",
    "DRIFT": "yellow",
}
STATUS_STYLES = {"failed": "bold red", "skipped": "dim"}


def results_tables(rows: Sequence[Row]) -> list[Table]:
    """A table for each op, in the order in which they come; a line for each point, readable on 100 columns.

    Ops with a single size are collected by the first word of their names. What all rows of a table share,
    ranks or the MPI, stands in its title, what they do not in columns of its own. Curves of overlap that the
    rows make come after them, a table for each op.
    """
    sizes: dict[str, set[int]] = {}
    for row in rows:
        sizes.setdefault(row.op, set()).add(row.bytes)
    tables: dict[str, list[Row]] = {}
    for row in rows:
        name = row.op if len(sizes[row.op]) > 1 else row.op.partition(".")[0] + ".*"
        tables.setdefault(name, []).append(row)
    overlaps: dict[str, list[Curve]] = {}
    for curve in curves(rows):
        overlaps.setdefault(curve.op, []).append(curve)
    return [
        *(_table(name, members) for name, members in tables.items()),
        *_phase_tables(rows),
        *(_overlap_table(op, members) for op, members in overlaps.items()),
    ]


def _phase_tables(rows: Sequence[Row]) -> list[Table]:
    """Where the time goes inside the ops that say it: a line for each phase of each point."""
    told = [(row, row.phases) for row in rows if row.phases is not None]
    if not told:
        return []
    table = Table(
        title="where the time goes, per repetition and rank",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    for column in ("what", "phase", "share", "median", "5 % to 95 %", "slowest rank", "communication"):
        table.add_column(column, justify="left" if column in ("what", "phase") else "right", no_wrap=False)
    for row, inside in told:
        what = _kernel_words(row)
        for i, phase in enumerate(inside.phases):
            table.add_row(
                "" if i else what,
                phase.name,
                f"{100 * phase.share:.1f} %",
                format_time(phase.median),
                interval_words(phase.low, phase.high),
                format_time(phase.slowest),
                "yes" if phase.communicates else "",
            )
    ranks = Table(
        title="what ranks say to each other, per repetition and rank",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    for column in ("what", "communication", "imbalance", "messages", "bytes", "collectives", "memory"):
        ranks.add_column(column, justify="left" if column == "what" else "right", no_wrap=False)
    for row, inside in told:
        ranks.add_row(
            _kernel_words(row),
            f"{100 * inside.communication:.1f} %",
            f"{100 * inside.imbalance:.1f} %",
            f"{inside.messages:.4g}",
            format_bytes(round(inside.bytes + inside.collective_bytes)),
            f"{inside.collectives:.4g}",
            format_bytes(inside.memory),
        )
    return [table, ranks]


def _kernel_words(row: Row) -> str:
    """How lines of several kernels are told from each other: `npb.cg on 4 ranks class=A backend=blocking`."""
    told = {key: value for key, value in row.params.items() if key in ("class", "backend")}
    return f"{row_name(row)} {format_values(told)}".rstrip()


def _overlap_table(op: str, members: list[Curve]) -> Table:
    """A line for each amount of work; works that were not measured alone have no overlap."""
    title = f"overlap of {op}: (pure + work - both) / min(pure, work)"
    table = Table(title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in ("what", "bytes", "work", "pure", "both", "overlap", "interval", "availability"):
        table.add_column(column, justify="left" if column == "what" else "right", no_wrap=column != "what")
    for curve in members:
        level = f"thread level {curve.thread_level}" if curve.thread_level else ""
        words = (curve.mpi, f"{curve.ranks} ranks", level, curve.method, format_values(curve.params))
        what, size = ", ".join(word for word in words if word), format_bytes(curve.bytes)
        for point in curve.points:
            times = (format_time(ns) for ns in (point.work_ns, point.pure_ns, point.both_ns))
            known = point.low is not None and point.high is not None
            interval = f"{point.low:.2f} to {point.high:.2f}" if known else ""
            table.add_row(what, size, *times, f"{point.overlap:.2f}", interval, f"{point.availability:.2f}")
        for asked in curve.lacks:
            table.add_row(what, size, f"{curve.axis}={asked:g}", "", "", "no self.work with it", "", "")
    return table


def _table(name: str, rows: list[Row]) -> Table:
    common = _common_params(rows)
    axes = [_axes(row, common) for row in rows]
    if len({row.op for row in rows}) == 1:
        name = rows[0].op
    varying = [axis for axis in axes[0] if len({one[axis] for one in axes}) > 1]
    if known := shared_nature(rows):
        axes = [{**one, "method": f"{one['method']} ({known})"} for one in axes]
    shared = [text for axis, text in axes[0].items() if axis not in ("op", *varying) and text]
    if common:
        shared.append(format_values(common))
    counts = {row.launch_count for row in rows if row.launch_count}
    if len(counts) == 1:
        shared.append("1 launch" if counts == {1} else f"{min(counts)} launches")
    if levels := {100 * row.ci_level for row in rows if row.ci_level is not None}:
        shared.append(f"{_level_words(levels)} intervals")
    title = ", ".join([name, *shared])
    table = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        min_width=min(len(title), 99),
    )
    for axis in varying:
        table.add_column(axis, no_wrap=True)
    cells = [_cells(row, known) for row in rows]
    empty = {"bytes": not any(row.bytes for row in rows), "launches": len(counts) < 2}
    empty["bandwidth"] = all(row.bandwidth is None for row in rows)
    empty["rate"] = all(row.mops is None for row in rows)
    columns = [column for column in cells[0] if not empty.get(column)]
    for column in columns:
        if column == "notes":
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="left" if column == "flag" else "right", no_wrap=True)
    for one, cell in zip(axes, cells, strict=True):
        table.add_row(*(Text(one[axis]) for axis in varying), *(cell[column] for column in columns))
    return table


def _common_params(rows: Sequence[Row]) -> Params:
    """Of several rows, the parameters that have the same value in all: they stand in the title."""
    first = rows[0].params if len(rows) > 1 else {}
    return {key: value for key, value in first.items() if all(row.params.get(key) == value for row in rows)}


def _axes(row: Row, common: Params) -> dict[str, str]:
    """What may differ between rows of an op beside the size; `common` are parameters that do not."""
    own = {key: value for key, value in row.params.items() if key not in common}
    return {
        "op": row.op,
        "mpi": row.mpi or "",
        "ranks": f"{row.ranks} ranks" if row.ranks > 1 else "",
        "threads": f"{row.threads} threads" if row.threads > 1 else "",
        "thread level": f"thread level {row.thread_level}" if row.thread_level else "",
        "params": format_values(own),
        "method": row.method,
        "set": format_values({**row.method_params, **row.rule_params}),
    }


def _level_words(levels: set[float]) -> str:
    """`95 %`, `97.9 %`, `95 to 98 %`."""
    low, high = min(levels), max(levels)
    return f"{low:.3g} %" if high - low < 0.1 else f"{low:.0f} to {high:.0f} %"


def _cells(row: Row, known: str) -> dict[str, Text]:
    """The columns, in their order; `known` is the nature that the title has told."""
    flag = row.status if row.status != "ok" else row.flag or ""
    style = STATUS_STYLES.get(row.status) or FLAG_STYLES.get(flag, "")
    return {
        "bytes": Text(format_bytes(row.bytes)),
        "median": Text(value_words(row), style="bold"),
        "interval": Text(relative_words(row)),
        "min": Text(time_words(row.min)),
        "p99": Text(time_words(row.p99)),
        "bandwidth": Text(bandwidth_words(row)),
        "rate": Text("–" if row.mops is None else format_mops(row.mops)),
        "launches": Text(str(row.launch_count)),
        "flag": Text(flag, style=style),
        "notes": Text("; ".join(notes(row, known))),
    }
