"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from steelyard.floor import Efficiency, efficiencies
from steelyard.macro import is_kernel, macro_of
from steelyard.overlap import Curve, curves, own_params
from steelyard.pairs import PairTable, pair_tables
from steelyard.records import Params
from steelyard.row import Row
from steelyard.scaling import scaling_curves
from steelyard.tables_macro import Sheet, macro_sheets, scaling_sheets
from steelyard.units import format_bytes, format_mops, format_time, format_values
from steelyard.wording import (
    CORE_COLUMNS,
    bandwidth_words,
    core_cells,
    cycles_words,
    interval_words,
    notes,
    overhead_name,
    relative_words,
    row_line,
    row_name,
    shared_nature,
    time_words,
    value_words,
)

__all__ = ["FLOOR_COLUMNS", "floor_lines", "results_tables", "row_line"]

FLOOR_COLUMNS = ("what", "bytes", "MPI", "floor", "efficiency", "interval", "layers")

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
    ranks or the MPI, stands in its title, what they do not in columns of its own. What ops take beyond their
    references, where the time goes inside, curves of overlap, MPI's efficiency against the layers
    below it, a table of the noise of each core, one for each point on pairs of CPUs, micro against macro and
    scaling come after them.
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
    corrected = [row for row in rows if row.corrected is not None]
    return [
        *(_table(name, members) for name, members in tables.items()),
        *_phase_tables(rows),
        *([_overhead_table(corrected)] if corrected else []),
        *(_overlap_table(op, members) for op, members in overlaps.items()),
        *([_floor_table(found)] if (found := efficiencies(rows)) else []),
        *([_noise_table(noisy)] if (noisy := [row for row in rows if row.cores]) else []),
        *(_pair_table(table) for table in pair_tables(rows)),
        *(_sheet(sheet) for sheet in (*macro_sheets(macro_of(rows)), *scaling_sheets(scaling_curves(rows)))),
    ]


def _sheet(sheet: Sheet) -> Table:
    """What is explained stands in the title, notes below."""
    table = Table(
        title=escape(f"{sheet.title}: {sheet.explained}"),
        title_justify="left",
        title_style="bold",
        caption=escape("\n".join(sheet.notes)) or None,
        caption_justify="left",
        box=None,
        pad_edge=False,
    )
    for i, column in enumerate(sheet.columns):
        is_words = i < sheet.words or column == "best"
        table.add_column(escape(column), justify="left" if is_words else "right")
    for cells in sheet.lines:
        table.add_row(*map(escape, cells))
    return table


def _pair_table(pairs: PairTable) -> Table:
    """A line for each pair of CPUs, from rank or thread 0's to the other's."""
    title = f"from CPU to CPU: {pairs.title}"
    table = Table(title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in ("CPUs", "median", "interval", "note"):
        table.add_column(column, justify="left" if column == "note" else "right", no_wrap=column != "note")
    for line in pairs.lines:
        table.add_row(*(Text(word) for word in line))
    return table


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
        if not is_kernel(row):  # others name phases, and do not count what they send
            continue
        ranks.add_row(
            _kernel_words(row),
            f"{100 * inside.communication:.1f} %",
            f"{100 * inside.imbalance:.1f} %",
            f"{inside.messages:.4g}",
            format_bytes(round(inside.bytes + inside.collective_bytes)),
            f"{inside.collectives:.4g}",
            format_bytes(inside.memory),
        )
    return [table, ranks] if ranks.rows else [table]


def _kernel_words(row: Row) -> str:
    """How lines of several kernels are told from each other: `npb.cg on 4 ranks class=A backend=blocking`."""
    told = {key: value for key, value in row.params.items() if key in ("class", "backend")}
    return f"{row_name(row)} {format_values(told)}".rstrip()


def _noise_table(rows: list[Row]) -> Table:
    """A line for each core."""
    table = Table(
        title="noise of each core", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for column in CORE_COLUMNS:
        table.add_column(column, justify="left" if column in ("op", "periods") else "right")
    for row in rows:
        for cells in core_cells(row):
            table.add_row(*map(escape, cells))
    return table


def _overhead_table(rows: list[Row]) -> Table:
    """A line for each row that has a reference: raw and corrected, in ns and in cycles."""
    title = (
        f"overhead: raw less the reference ({', '.join(dict.fromkeys(row.reference or '' for row in rows))})"
    )
    table = Table(title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in (
        "what",
        "raw",
        "overhead",
        "interval",
        "cycles raw",
        "overhead",
        "core cycles",
        "overhead",
    ):
        table.add_column(column, justify="left" if column == "what" else "right", no_wrap=column != "what")
    for row in rows:
        interval = interval_words(row.corrected_low, row.corrected_high)
        cycles = (
            cycles_words(value, hz)
            for hz in (row.tsc_hz, row.core_hz)
            for value in (row.median, row.corrected)
        )
        table.add_row(
            overhead_name(row, rows), time_words(row.median), time_words(row.corrected), interval, *cycles
        )
    return table


def _floor_table(found: Sequence[Efficiency]) -> Table:
    """A line for each message of MPI that a layer below it was measured for too."""
    title = "MPI against the floor under it: efficiency = time of the fastest layer / time of MPI"
    table = Table(title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in FLOOR_COLUMNS:
        words = column in ("what", "floor", "layers")
        table.add_column(column, justify="left" if words else "right", no_wrap=not words)
    for cells in floor_lines(found):
        table.add_row(*cells)
    return table


def floor_lines(found: Sequence[Efficiency]) -> list[tuple[str, ...]]:
    """The cells of `FLOOR_COLUMNS`; `layers`: every layer's ratio, the fastest first.

    MPI's own parameters are named where those of an op differ.
    """
    given: dict[str, set[str]] = {}
    for one in found:
        given.setdefault(one.op, set()).add(format_values(one.params))
    return [_floor_cells(one, format_values(one.params) if len(given[one.op]) > 1 else "") for one in found]


def _floor_cells(one: Efficiency, params: str) -> tuple[str, ...]:
    known = one.low is not None and one.high is not None
    return (
        ", ".join(word for word in (one.mpi, one.op, one.method, params) if word),
        format_bytes(one.bytes),
        format_time(one.mpi_ns),
        one.floor or "none",
        "" if one.efficiency is None else f"{one.efficiency:.3g}",
        f"{one.low:.3g} to {one.high:.3g}" if known else "",
        ", ".join(f"{layer.op} {layer.ratio:.3g}" for layer in one.layers),
    )


def _overlap_table(op: str, members: list[Curve]) -> Table:
    """A line for each amount of work; works that were not measured alone have no overlap."""
    title = f"overlap of {op}: (pure + work - both) / min(pure, work)"
    table = Table(title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in ("what", "bytes", "work", "pure", "both", "overlap", "interval", "availability"):
        table.add_column(column, justify="left" if column == "what" else "right", no_wrap=column != "what")
    for curve in members:
        level = f"thread level {curve.thread_level}" if curve.thread_level else ""
        own = format_values(own_params(curve, members))
        words = (curve.mpi, f"{curve.ranks} ranks", level, curve.method, own)
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
    if "placement" in varying:
        axes = [{**one, "placement": one["placement"] or "default"} for one in axes]
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
        "omp": format_values(row.omp),
        "placement": row.placed.text if row.placed else "",
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
