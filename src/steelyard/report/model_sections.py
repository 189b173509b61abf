"""Sections of models of rows: the layers under MPI, micro against macro, scaling, overlap, pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from steelyard.models.efficiency import efficiencies
from steelyard.models.made import (
    CHOICES,
    EXCHANGES,
    FUNCTIONALITY,
    GROWTH,
    OVERLAP,
    RANKINGS,
    SCALING,
    SETTINGS,
    THREADS,
    TREES,
    Made,
)
from steelyard.models.ranking import Ranking
from steelyard.models.rooflines import rooflines_of
from steelyard.plots import (
    Chart,
    Key,
    bandwidth_charts,
    each_thread_charts,
    exchange_charts,
    growth_charts,
    latency_charts,
    legend_of,
    matrix_charts,
    overlap_charts,
    roofline_charts,
    scaling_charts,
    thread_charts,
    tree_charts,
)
from steelyard.records.kinds import BANDWIDTH, LATENCY
from steelyard.report.blocks import Part, Section, View, untitled
from steelyard.report.section import beside
from steelyard.show.exchange_sheets import exchange_names
from steelyard.show.figure_groups import Shown, layer_group
from steelyard.show.functionality_sheets import all_ways_sheet
from steelyard.show.growth_sheets import growth_names
from steelyard.show.macro_sheets import curve_names
from steelyard.show.model_sheets import MODEL_TABLES, floor_sheets, overlap_sheets
from steelyard.show.overview import ReadFolder, skipped_cases, unmeasured_words
from steelyard.show.ranking_sheets import all_ways_ranked
from steelyard.show.sheet import Sheet, plain_lines, words
from steelyard.show.thread_sheets import all_threads_sheet
from steelyard.show.tree_sheets import tree_names

_LAYERS = (
    "The same bytes through each layer. Efficiency is the time of the fastest layer that could "
    "replace it, divided by MPI's."
)
_OVERLAP = "Work and communication one after the other is 0; 1 where the shorter of the two costs nothing."
_PAIRS = "The median time of each rank with the rank that it calls; blank: not measured."


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
                sheets=tuple(map(untitled, floor_sheets(own))),
            )


def skipped_section(folders: Sequence[ReadFolder], items: Sequence[Shown]) -> Iterator[Section]:
    """List what was not measured, and why; none if all was."""
    lines = plain_lines((what, f"skipped: {why}") for what, why in skipped_cases(items))
    notes = tuple(f"{text}." for text in unmeasured_words(folders))
    if lines or notes:
        yield Section("Not measured", "", sheets=(Sheet("", "", (words(""), words("")), lines, notes),))


def picture_sections(made: Made, folder: str) -> Iterator[Section]:
    """Make the sections whose pictures show many test cases; such sections come first."""
    if charts := overlap_charts(made(OVERLAP)):
        tables = tuple(overlap_sheets(made(OVERLAP)))
        yield Section(_titled("overlap", folder), _OVERLAP, charts=tuple(charts), sheets=tables)
    if charts := matrix_charts(made.rows):
        yield Section(_titled("rank by rank", folder), _PAIRS, charts=tuple(charts))


def _titled(title: str, folder: str) -> str:
    return title[0].upper() + title[1:] + (f", {folder}" if folder else "")


def model_sections(made: Made, folder: str) -> Iterator[Section]:
    """Make the sections of a folder's models, in the order of the terminal; `folder` is in titles."""
    for key, tables in MODEL_TABLES.items():
        sheets = () if key in ELSEWHERE else tuple(tables(made))
        if not sheets:
            continue
        legend, charts = _legend_once(PICTURES[key](made) if key in PICTURES else ())
        yield Section(
            _titled(TITLES.get(key, sheets[0].title), folder),
            sentence(sheets[0].explained),
            legend,
            charts,
            sheets=_sheets(sheets, key in TITLES),
            more=(FOLDED[key](made),) if key in FOLDED else (),
        )


def _legend_once(charts: Sequence[Chart]) -> tuple[tuple[Key, ...], tuple[Chart, ...]]:
    """Take the legend that several pictures share, to stand above all of them; none if they differ."""
    if len({chart.legend for chart in charts}) != 1 or len(charts) < 2:
        return (), tuple(charts)
    return charts[0].legend, tuple(replace(chart, legend=()) for chart in charts)


def _sheets(found: Sequence[Sheet], all_titled: bool) -> tuple[Sheet, ...]:
    """List all tables of a model; shared explanations stand once. The first has its title above the section,
    too.
    """
    first, *others = found
    told = [
        replace(one, explained="" if one.explained == first.explained else sentence(one.explained))
        for one in others
    ]
    return (replace(first, explained="") if all_titled else untitled(first), *told)


def _all_threads(made: Made) -> Part:
    each = tuple(each_thread_charts(made(THREADS)))
    whole = replace(all_threads_sheet(made(THREADS)), title="")
    return Part("All numbers of threads", (View("", "", each),) if each else (), sheets=(whole,))


def _all_ways(ranked: Sequence[Ranking]) -> Part:
    return Part("All ways", sheets=(untitled(all_ways_ranked(ranked)),))


def _all_combinations(made: Made) -> Part:
    return Part("All combinations", sheets=(untitled(all_ways_sheet(made(FUNCTIONALITY))),))


# Keys of `MODEL_TABLES`: those that have a place of their own in the report, titles that are not those of the
# first table, pictures, and what is folded.
ELSEWHERE = ("overlap", "floor", "cores", "pairs")
TITLES = {"functionality": "does it work"}
PICTURES: Mapping[str, Callable[[Made], Sequence[Chart]]] = {
    "phases": lambda made: roofline_charts(rooflines_of(made.rows)),
    "scaling": lambda made: scaling_charts(made(SCALING), curve_names(made(SCALING))),
    "trees": lambda made: tree_charts(made(TREES), tree_names(made(TREES))),
    "growth": lambda made: growth_charts(made(GROWTH), growth_names(made(GROWTH))),
    "exchanges": lambda made: exchange_charts(made(EXCHANGES), exchange_names(made(EXCHANGES))),
    "threads": lambda made: thread_charts(made(THREADS)),
}
FOLDED: Mapping[str, Callable[[Made], Part]] = {
    "functionality": _all_combinations,
    "rankings": lambda made: _all_ways(made(RANKINGS)),
    "choices": lambda made: _all_ways(made(CHOICES)),
    "settings": lambda made: _all_ways(made(SETTINGS)),
    "threads": _all_threads,
}


def sentence(text: str) -> str:
    """Begin with a capital letter and end with a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".") if text else ""
