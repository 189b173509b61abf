"""A section of a report: the pictures and tables of a group of points, or of what points make together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bokeh import embed
from markupsafe import Markup

from steelyard.groups import Group, Item, Line
from steelyard.pairs import PairTable
from steelyard.plots import (
    bandwidth_figure,
    distribution_figures,
    dots_figure,
    histogram_figures,
    latency_figure,
    launches_figure,
    line_style,
    matrix_figure,
    noise_figures,
    rank_figures,
    tail_figures,
)
from steelyard.report.layers import Made
from steelyard.row import Row
from steelyard.units import format_bytes, format_mops
from steelyard.wording import (
    bandwidth_words,
    core_cells,
    cycles_words,
    interval_words,
    is_collective,
    notes,
    relative_words,
    shared_nature,
    time_words,
    value_words,
)

OTHERS = (
    "Avg Latency(us)",
    "Min Latency(us)",
    "Max Latency(us)",
    "t_min[usec]",
    "t_max[usec]",
    "t_avg[usec]",
)


@dataclass(frozen=True, slots=True)
class TableRow:
    """Pairs of column and text; `level`: what the interval promises; `first`: here a new line begins.

    A row without numbers has `instead` in their place.
    """

    cells: tuple[tuple[str, str], ...]
    status: str
    flag: str
    level: str
    first: bool
    instead: str


@dataclass(frozen=True, slots=True)
class RankPictures:
    """Of the ranks of a line: who was last, and own times; `label` names the line where there are several."""

    label: str
    pictures: tuple[Markup, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """A point on pairs of CPUs: its matrix, if any two differ, and the lines of its table."""

    title: str
    picture: Markup | None
    lines: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A group of points: its pictures as divs and its tables.

    `others` is what OSU and IMB would print: the label where there are several lines, size, our latency, and
    the columns of `OTHERS`.
    """

    anchor: str
    title: str
    common: str
    legend: tuple[tuple[str, str, str], ...]  # label, colour, dash
    charts: tuple[Markup, ...]
    shapes: tuple[Markup, ...]
    histograms: tuple[Markup, ...]
    tails: tuple[Markup, ...]
    ranks: tuple[RankPictures, ...]
    noise: tuple[Markup, ...]
    cores: tuple[tuple[str, ...], ...]  # the noise of each, in the columns of `CORE_COLUMNS`
    launches: Markup | None
    pairs: tuple[Pairs, ...]
    columns: tuple[str, ...]
    table: tuple[TableRow, ...]
    others: tuple[tuple[str, ...], ...]
    script: Markup
    notes: tuple[str, ...] = ()  # sentences below the table
    words: tuple[str, ...] = ()  # its columns of words, beside those that always are


def group_section(number: int, group: Group, tables: Sequence[PairTable]) -> Section:
    """A group's tables and pictures, with a script of their own: Bokeh's work grows with its square."""
    figures, labels = _figures(group)
    ops = {row.op for row in _rows(group)}
    pairs = [table for table in tables if table.rows[0].op in ops]
    matrices = {f"matrix-{i}": matrix_figure(table) for i, table in enumerate(pairs)}
    figures |= {name: plot for name, plot in matrices.items() if plot is not None}
    script, divs = embed.components(figures) if figures else ("", {})
    safe = {name: Markup(div) for name, div in divs.items()}  # noqa: S704 - Bokeh's own markup
    known = shared_nature(_rows(group))
    common = f"{group.common} ({known})" if known else group.common
    columns, table = _table(group, known)

    def named(start: str) -> tuple[Markup, ...]:
        return tuple(div for name, div in safe.items() if name.startswith(start))

    return Section(
        anchor=f"ops-{number}",
        title=_title(group),
        common=", ".join(part for part in (common, _launch_words(group)) if part),
        legend=tuple((line.label, *line_style(line)) for line in group.lines),
        charts=named("chart"),
        shapes=named("shape"),
        histograms=named("histogram"),
        tails=named("tail"),
        ranks=tuple(RankPictures(label, named(f"rank-{i}-")) for i, label in enumerate(labels)),
        noise=named("noise"),
        cores=tuple(cells for row in _rows(group) for cells in core_cells(row)),
        launches=safe.get("launches"),
        pairs=tuple(
            Pairs(table.title, safe.get(f"matrix-{i}"), table.lines) for i, table in enumerate(pairs)
        ),
        columns=columns,
        table=table,
        others=_others(group),
        script=Markup(script),  # noqa: S704
    )


def made_section(number: int, made: Made) -> Section:
    """What rows make together: pictures and a table."""
    script, divs = embed.components(made.figures) if made.figures else ("", {})
    rows = (
        TableRow(tuple(zip(made.columns, line, strict=True)), "ok", "", "", bool(line[0]), "")
        for line in made.lines
    )
    return Section(
        anchor=f"{made.anchor}-{number}",
        title=made.title,
        common=made.common,
        legend=made.legend,
        charts=tuple(Markup(div) for div in divs.values()),  # noqa: S704 - Bokeh's own markup
        shapes=(),
        histograms=(),
        tails=(),
        ranks=(),
        noise=(),
        cores=(),
        launches=None,
        pairs=(),
        columns=made.columns,
        table=tuple(rows),
        notes=made.notes,
        words=made.words,
        others=(),
        script=Markup(script),  # noqa: S704
    )


def range_words(numbers: Sequence[int], one: str, many: str) -> str:
    """`7 launches`, `3 to 10 launches`; the numbers are sorted."""
    if not numbers:
        return f"no {one}"
    low, high = numbers[0], numbers[-1]
    if low == high:
        return f"{low} {one if low == 1 else many}"
    return f"{low} to {high} {many}"


def _figures(group: Group) -> tuple[dict[str, Any], list[str]]:
    """The pictures of a group, and the lines that those of ranks are of; none where nothing was measured."""
    figures: dict[str, Any] = {}
    if not any((row.median or 0) > 0 for row in _rows(group)):
        return figures, []
    if group.is_sized:
        figures["chart-time"] = latency_figure(group)
        if (bandwidth := bandwidth_figure(group)) is not None:
            figures["chart-rate"] = bandwidth
    else:
        figures["chart-time"] = dots_figure(group)
    figures.update((f"shape-{i}", shape) for i, shape in enumerate(distribution_figures(group)))
    figures.update((f"histogram-{i}", one) for i, one in enumerate(histogram_figures(group)))
    figures.update((f"tail-{i}", tail) for i, tail in enumerate(tail_figures(group)))
    figures.update((f"noise-{i}", one) for i, one in enumerate(noise_figures(group)))
    ranks = rank_figures(group)
    for i, (_, last, own) in enumerate(ranks):
        figures |= {f"rank-{i}-last": last, f"rank-{i}-own": own}
    if group.is_sized and any(row.launch_count > 1 for row in _rows(group)):
        figures["launches"] = launches_figure(group)
    return figures, [label for label, _, _ in ranks]


def _rows(group: Group) -> list[Row]:
    return [item.row for line in group.lines for item in line.items]


def _others(group: Group) -> tuple[tuple[str, ...], ...]:
    """What OSU and IMB would print of the collectives of a group, with their two decimals, in us."""
    label = slice(None) if len(group.lines) > 1 else slice(0)
    return tuple(
        (
            *(line.label,)[label],
            format_bytes(item.row.bytes),
            value_words(item.row),
            *(f"{item.row.osu[key] / 1e3:.2f}" for key in ("avg", "min", "max")),
            *(f"{item.row.imb[key] / 1e3:.2f}" for key in ("t_min", "t_max", "t_avg")),
        )
        for line in group.lines
        for item in line.items
        if item.row.osu and item.row.imb and is_collective(item.row)
    )


def _title(group: Group) -> str:
    """The op where there is one, else what the ops have in common."""
    ops = {item.row.op for line in group.lines for item in line.items}
    return group.name if group.is_sized else ops.pop() if len(ops) == 1 else f"{group.name}.*"


def _launch_words(group: Group) -> str:
    """`7 launches`, where all rows that have numbers rest on as many."""
    counts = {item.row.launch_count for line in group.lines for item in line.items if item.row.launch_count}
    return range_words(sorted(counts), "launch", "launches") if len(counts) == 1 else ""


_OVERHEADS = ("overhead", "overhead in cycles", "of the core")


def _overhead_words(row: Row) -> str:
    """`120 ns (115 – 126 ns)`: what the row takes beyond its reference; a dash where it has none."""
    if row.corrected is None:
        return "–"
    return f"{time_words(row.corrected)} ({interval_words(row.corrected_low, row.corrected_high)})"


def _table(group: Group, known: str) -> tuple[tuple[str, ...], tuple[TableRow, ...]]:
    """Columns and rows of a group's table; columns that say nothing are left out, as are repeated reasons.

    `known` is the nature of the numbers that stands above.
    """
    rows: list[tuple[Line, Item, str]] = []
    for line in group.lines:
        reasons = {item.row.why for item in line.items if item.row.status == "skipped"}
        skipped = sum(1 for item in line.items if item.row.status == "skipped")
        if skipped == len(line.items) > 1 and len(reasons) == 1:
            sizes = f"{format_bytes(line.items[0].row.bytes)} – {format_bytes(line.items[-1].row.bytes)}"
            rows.append((line, line.items[0], sizes))
        else:
            rows += [(line, item, format_bytes(item.row.bytes)) for item in line.items]
    cells = [_cells(line, item, size, known) for line, item, size in rows]
    hidden: set[str] = {
        name
        for name in ("bandwidth", "rate", "communication", *_OVERHEADS, "notes")
        if not any(one[name].strip("–") for one in cells)
    }
    hidden |= {"bytes"} if not group.is_sized else set()
    hidden |= {"launches"} if _launch_words(group) else set()
    columns = tuple(name for name in cells[0] if name not in hidden and (name or len(group.lines) > 1))
    before: Line | None = None
    table = []
    for (line, item, _), one in zip(rows, cells, strict=True):
        row = item.row
        first = not group.is_sized or line is not before
        level = f"{100 * row.ci_level:.4g} %, {row.ci_of}" if row.ci_level is not None else ""
        shown = tuple((name, one[name]) for name in columns)
        instead = "" if row.median is not None else f"{row.status}: {row.why or 'no reason given'}"
        table.append(TableRow(shown, row.status, row.flag or "", level, first, instead))
        before = line
    return columns, tuple(table)


def _cells(line: Line, item: Item, size: str, known: str) -> dict[str, str]:
    """The columns of a table, in their order."""
    row = item.row
    return {
        "": line.label,
        "bytes": size,
        "median": value_words(row),
        "interval": interval_words(row.ci_low, row.ci_high, row.median),
        "±": relative_words(row),
        "min": time_words(row.min),
        "p99": time_words(row.p99),
        "bandwidth": bandwidth_words(row),
        "rate": "–" if row.mops is None else format_mops(row.mops),
        "communication": f"{100 * row.phases.communication:.1f} %" if row.phases else "–",
        "overhead": _overhead_words(row),
        "overhead in cycles": cycles_words(row.corrected, row.tsc_hz),
        "of the core": cycles_words(row.corrected, row.core_hz),
        "launches": str(row.launch_count),
        "flag": row.status if row.status != "ok" else row.flag or "",
        "notes": "; ".join(notes(row, known)),
    }
