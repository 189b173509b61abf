"""A section of a report: the pictures and tables of a group of points, or of models of points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from steelyard.analyses.core_noise.tables import core_tables
from steelyard.analyses.placement_pairs.model import PairTable
from steelyard.analyses.placement_pairs.pictures import matrix_chart
from steelyard.analyses.placement_pairs.tables import pair_table
from steelyard.base.plural import counted_range
from steelyard.base.units import format_bytes
from steelyard.records.kinds import COLLECTIVE
from steelyard.render.chart import HALF, THIRD, Chart
from steelyard.render.sections import PAGE_LETTERS, Part, Section, View, plain_table, untitled
from steelyard.render.table import Table
from steelyard.render.terminal import narrowed
from steelyard.results.facets import Ranks
from steelyard.results.row import Row
from steelyard.rows.figure_groups import FigureGroup
from steelyard.rows.pictures.distributions import distribution_charts, histogram_charts, tail_charts
from steelyard.rows.pictures.noise import noise_charts
from steelyard.rows.pictures.panels import FEW_PANELS, legend_of
from steelyard.rows.pictures.points import (
    bandwidth_charts,
    count_charts,
    dots_chart,
    latency_charts,
    launches_charts,
)
from steelyard.rows.pictures.ranks import rank_charts
from steelyard.rows.pictures.ratios import ratio_charts
from steelyard.rows.ratios import Ratio
from steelyard.rows.row_words import value_words

OSU = ("Avg Latency(us)", "Min Latency(us)", "Max Latency(us)")
IMB = ("t_min[usec]", "t_max[usec]", "t_avg[usec]")
MATRICES = ("From CPU to CPU", "From host to host")  # titles of pictures of placements
BESIDE = 3  # pictures that may stand side by side

_HISTOGRAMS = (
    "All samples of all launches, with equal weight for each launch; times are relative to the median of "
    "the row. Black: median; dashed red: p99, a triangle where it lies beyond the edge. Messages there "
    "point up, messages back point down."
)
_CUMULATED = (
    "The fraction of the samples at or below a time, with equal weight for each launch; two modes "
    "are two steps."
)
_TAILS = (
    "The fraction of the samples that took so long or longer, both axes logarithmic. A curve that reaches "
    "far to the right before it falls shows slow calls."
)
_LAUNCHES = "The median of each launch over the time of its row; dots in clusters are modes between launches."
_RANKS = (
    "The fraction of the samples in which each rank finished last, and its own median over the middle "
    "rank's; darker is later, and slower. Beyond 64 ranks, neighbours share a cell."
)
_OTHERS = (
    "OSU and IMB take the mean of each rank's own calls, and of those the mean, the least and the greatest."
)


def group_section(
    group: FigureGroup,
    main: Table,
    wide: Table | None,
    pairs: Sequence[PairTable],
    ratios: Mapping[int, Ratio],
) -> Section:
    """Make the pictures and tables of a group; `ratios` are those of its rows, by `id(row)`.

    `main` is its table for the terminal, `wide` the one with all columns, which is folded.
    """
    rows = rows_in(group)
    kinds = _charts(group, ratios)
    count = _open(group, kinds)
    opened = [chart for _, charts in kinds[:count] for chart in charts]
    folded = [Part(name, (View("", "", tuple(charts)),)) for name, charts in kinds[count:]]
    own = [pair for pair in pairs if pair.rows[0].op in {row.op for row in rows}]
    return Section(
        title=group.title,
        explained=", ".join(part for part in (main.explained, _launch_words(group)) if part),
        legend=legend_of(group),
        charts=beside([*opened, *_matrices(own), *noise_charts(group)]),
        tables=(narrowed(untitled(main), PAGE_LETTERS), *core_tables(rows)),
        more=(*folded, *_pair_parts(own), *_wide_part(wide), *_more(group)),
    )


def rows_in(group: FigureGroup) -> list[Row]:
    """List the rows of a group."""
    return [item.row for line in group.lines for item in line.items]


def beside(charts: Sequence[Chart]) -> tuple[Chart, ...]:
    """Narrow three pictures of half a page so that they fit in one line."""
    halves = [chart for chart in charts if chart.width == HALF]
    if len(halves) != BESIDE:
        return tuple(charts)
    return tuple(replace(chart, width=THIRD) if chart.width == HALF else chart for chart in charts)


def _charts(group: FigureGroup, ratios: Mapping[int, Ratio]) -> list[tuple[str, list[Chart]]]:
    """Make the pictures of comparisons, then of times and bandwidths; none without measurements."""
    if not any((row.median or 0) > 0 for row in rows_in(group)):
        return []
    found = [("Ratios", ratio_charts(group, ratios))]
    if group.is_sized:
        times, bandwidths = ("Times", latency_charts(group)), ("Bandwidths", bandwidth_charts(group))
        counts = [("Rates", count_charts(group))]
        is_rate = all(item.row.headline != "time" for item in group.items)
        found += [*counts, bandwidths, times] if is_rate else [times, bandwidths]
    else:
        found += [("Times", [dots_chart(group)])]
    return [(name, charts) for name, charts in found if charts]


def _open(group: FigureGroup, kinds: Sequence[tuple[str, list[Chart]]]) -> int:
    """Count the kinds of pictures above the table: all, or the first if each has many.

    None if most lines are single points: a curve needs two.
    """
    if group.is_sized and 2 * sum(1 for line in group.lines if len(line.items) > 1) < len(group.lines):
        return 0
    return 1 if any(len(charts) > FEW_PANELS for _, charts in kinds) else len(kinds)


def _matrices(tables: Sequence[PairTable]) -> Iterator[Chart]:
    for table in tables:
        chart = matrix_chart(table)
        if chart is not None:
            size = format_bytes(table.rows[0].bytes) if len(tables) > 1 else ""
            title = f"From {table.level} to {table.level}"
            yield replace(chart, title=", ".join(part for part in (title, size) if part))


def _more(group: FigureGroup) -> Iterator[Part]:
    """Make the folded part: distributions, launches, ranks, and what other suites would print."""
    views = (
        View("Histograms", _HISTOGRAMS, tuple(histogram_charts(group))),
        View("Cumulated", _CUMULATED, tuple(distribution_charts(group))),
        View("Tails", _TAILS, tuple(tail_charts(group))),
    )
    if any(view.charts for view in views):
        yield Part("Distributions", views)
    if group.is_sized and (launches := launches_charts(group)):
        yield Part("Launches", (View("", _LAUNCHES, tuple(launches)),))
    if ranks := rank_charts(group):
        charts = tuple(
            replace(chart, title=", ".join(part for part in (chart.title, label) if part))
            for label, *pair in ranks
            for chart in pair
        )
        yield Part("Ranks", (View("", _RANKS, charts),))
    if others := _others(group):
        yield Part("What OSU and IMB would print", (View("", _OTHERS, ()),), (others,))


def _pair_parts(tables: Sequence[PairTable]) -> Iterator[Part]:
    for level in dict.fromkeys(table.level for table in tables):
        own = (table for table in tables if table.level == level)
        printed = tuple(replace(pair_table(one), title=one.title, explained="") for one in own)
        yield Part(f"From {level} to {level}", tables=printed)


def _wide_part(table: Table | None) -> Iterator[Part]:
    if table is not None:
        yield Part("All columns", tables=(narrowed(untitled(table), PAGE_LETTERS),))


def _others(group: FigureGroup) -> Table | None:
    """Give what OSU and IMB would print for the collectives of a group, with their two decimals, in us."""
    lines = tuple(
        (
            line.label,
            format_bytes(item.row.bytes),
            value_words(item.row),
            *(f"{item.row.get(Ranks).osu[key] / 1e3:.2f}" for key in ("avg", "min", "max")),
            *(f"{item.row.get(Ranks).imb[key] / 1e3:.2f}" for key in ("t_min", "t_max", "t_avg")),
        )
        for line in group.lines
        for item in line.items
        if item.row.role == COLLECTIVE and item.row.get(Ranks).osu and item.row.get(Ranks).imb
    )
    columns = ("what", "bytes", "time", *(f"OSU {name}" for name in OSU), *(f"IMB {name}" for name in IMB))
    return plain_table("", columns, lines, ("what",)) if lines else None


def _launch_words(group: FigureGroup) -> str:
    """Write `7 launches` if all rows with values rest on the same number."""
    counts = {row.launch_count for row in rows_in(group) if row.launch_count}
    return counted_range(counts, "launch") if len(counts) == 1 else ""
