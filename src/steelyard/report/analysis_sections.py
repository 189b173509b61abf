"""Sections of analyses, of the layers under MPI, and of what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from steelyard.analyses.analysis import Made, PagePlace
from steelyard.analyses.efficiency.model import efficiencies
from steelyard.analyses.efficiency.tables import floor_tables
from steelyard.analyses.overview import ReadFolder, skipped_cases, unmeasured_words
from steelyard.analyses.registry import ANALYSES, tables_across
from steelyard.records.kinds import BANDWIDTH, LATENCY
from steelyard.render.chart import Chart, Key
from steelyard.render.sections import Section, untitled
from steelyard.render.table import Table, plain_lines, words
from steelyard.report.section import beside
from steelyard.rows.figure_groups import Shown, layer_group
from steelyard.rows.pictures.panels import legend_of
from steelyard.rows.pictures.points import bandwidth_charts, latency_charts

_LAYERS = (
    "The same bytes through each layer. Efficiency is the time of the fastest layer that could "
    "replace it, divided by MPI's."
)


def layer_sections(items: Sequence[Shown]) -> Iterator[Section]:
    """Make sections of messages there and back, and of streams, if two layers were measured."""
    found = efficiencies([item.row for item in items])
    for role, title in ((LATENCY, "Layers under MPI"), (BANDWIDTH, "Layers under MPI, streams")):
        group = layer_group(items, role)
        if group is not None:
            own = [one for one in found if one.role == role]
            yield Section(
                title=title,
                explained=_LAYERS,
                legend=legend_of(group),
                charts=beside([*latency_charts(group), *bandwidth_charts(group)]),
                tables=tuple(map(untitled, floor_tables(own))),
            )


def skipped_section(folders: Sequence[ReadFolder], items: Sequence[Shown]) -> Iterator[Section]:
    """List what was not measured, and why; none if all was."""
    lines = plain_lines((what, f"skipped: {why}") for what, why in skipped_cases(items))
    notes = tuple(f"{text}." for text in unmeasured_words(folders))
    if lines or notes:
        yield Section("Not measured", "", tables=(Table("", "", (words(""), words("")), lines, notes),))


def analysis_sections(made: Made, folder: str, place: PagePlace) -> Iterator[Section]:
    """Make the sections of a folder's analyses that stand at a place of the page, in the order of the
    terminal; `folder` is in titles, empty if it is the only one.
    """
    for analysis in ANALYSES:
        if analysis.place is not place or (folder and analysis.tables_across):
            continue
        tables, pictures = analysis.tables_of(made, ANALYSES), analysis.pictures(made(analysis))
        if not tables and not pictures:
            continue
        legend, charts = _legend_once(pictures)
        title = analysis.title or tables[0].title
        yield Section(
            title[0].upper() + title[1:] + (f", {folder}" if folder else ""),
            analysis.explained or sentence(tables[0].explained),
            legend,
            charts,
            tables=tables if analysis.explained else _tables(tables, bool(analysis.title)),
            more=(analysis.folded(made(analysis)),) if analysis.folded else (),
        )


def sections_across(folders: Mapping[str, Made]) -> Iterator[Section]:
    """Make the sections that several folders share."""
    for table in tables_across(folders):
        title = table.title[0].upper() + table.title[1:]
        yield Section(title, sentence(table.explained), tables=_tables((table,), all_titled=False))


def _legend_once(charts: Sequence[Chart]) -> tuple[tuple[Key, ...], tuple[Chart, ...]]:
    """Take the legend that several pictures share, to stand above all of them; none if they differ."""
    if len({chart.legend for chart in charts}) != 1 or len(charts) < 2:
        return (), tuple(charts)
    return charts[0].legend, tuple(replace(chart, legend=()) for chart in charts)


def _tables(tables: Sequence[Table], all_titled: bool) -> tuple[Table, ...]:
    """List all tables of a model; shared explanations stand once. The first has its title above the section,
    too.
    """
    first, *others = tables
    told = [
        replace(other, explained="" if other.explained == first.explained else sentence(other.explained))
        for other in others
    ]
    return (replace(first, explained="") if all_titled else untitled(first), *told)


def sentence(text: str) -> str:
    """Begin with a capital letter and end with a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".") if text else ""
