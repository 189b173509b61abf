"""Sections of what rows make together: the layers under MPI, micro against macro, scaling, overlap, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from steelyard.models.algorithms import algorithms_of
from steelyard.models.collective_lines import collective_lines_of
from steelyard.models.cores import streams_of
from steelyard.models.efficiency import efficiencies
from steelyard.models.exchanges import exchanges_of
from steelyard.models.functionality import functionality_of
from steelyard.models.growth import growths_of
from steelyard.models.host_matrix import host_matrices
from steelyard.models.max_rate import max_rates_of
from steelyard.models.micro_macro import macro_of
from steelyard.models.overheads import overheads_of
from steelyard.models.overlap import curves
from steelyard.models.ranking import Ranking, choices_of, rankings_of, settings_ranked
from steelyard.models.rooflines import rooflines_of
from steelyard.models.scaling import scaling_curves
from steelyard.models.thread_costs import thread_curves
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
from steelyard.results.row import Row
from steelyard.show.collective_sheets import collective_sheets
from steelyard.show.cores_sheets import stream_sheets
from steelyard.show.exchange_sheets import exchange_names, exchange_sheets
from steelyard.show.figure_groups import Shown, layer_group
from steelyard.show.functionality_sheets import all_ways_sheet, functionality_sheets
from steelyard.show.growth_sheets import growth_names, growth_sheets
from steelyard.show.host_sheets import host_sheets
from steelyard.show.inside_sheets import phase_sheets
from steelyard.show.log_sheets import message_sheets
from steelyard.show.macro_sheets import curve_names, macro_sheets, scaling_sheets
from steelyard.show.max_rate_sheets import max_rate_sheets
from steelyard.show.model_sheets import floor_sheets, overlap_sheets
from steelyard.show.overhead_sheets import overhead_sheets
from steelyard.show.overview import ReadFolder, skipped_cases, unmeasured_words
from steelyard.show.ranking_sheets import all_ways_ranked, choice_sheets, ranking_sheets, setting_sheets
from steelyard.show.sheet import Sheet, plain_lines, words
from steelyard.show.thread_sheets import all_threads_sheet, thread_sheets
from steelyard.show.tree_sheets import tree_names, tree_sheets

_LAYERS = (
    "The same bytes through each layer. Efficiency is the time of the fastest layer that could "
    "replace it, divided by MPI's."
)
_OVERLAP = "Work and communication one after the other is 0; 1 where the shorter of the two costs nothing."
_PAIRS = "The median time of each rank with the rank that it calls; blank: not measured."


def layer_sections(items: Sequence[Shown]) -> Iterator[Section]:
    """Messages there and back, and streams, where two layers were measured."""
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
    """What was not measured, and why; nothing where all was."""
    lines = plain_lines((what, f"skipped: {why}") for what, why in skipped_cases(items))
    notes = tuple(f"{text}." for text in unmeasured_words(folders))
    if lines or notes:
        yield Section("Not measured", "", sheets=(Sheet("", "", (words(""), words("")), lines, notes),))


def picture_sections(rows: Sequence[Row], folder: str) -> Iterator[Section]:
    """What is seen only where many test cases share a picture: such sections come first."""
    if charts := overlap_charts(rows):
        tables = tuple(overlap_sheets(curves(rows)))
        yield Section(_titled("overlap", folder), _OVERLAP, charts=tuple(charts), sheets=tables)
    if charts := matrix_charts(rows):
        yield Section(_titled("rank by rank", folder), _PAIRS, charts=tuple(charts))


def _titled(title: str, folder: str) -> str:
    return title[0].upper() + title[1:] + (f", {folder}" if folder else "")


def model_sections(rows: Sequence[Row], folder: str) -> Iterator[Section]:
    """What the rows of a folder make together, in the order of the terminal; `folder` is in titles."""
    scaling, exchanges, trees = scaling_curves(rows), exchanges_of(rows), algorithms_of(rows)
    growths = growths_of(rows)
    drawn = scaling_charts(scaling, curve_names(scaling)) if scaling else []
    for sheets, pictures in (
        (tuple(phase_sheets(rows)), roofline_charts(rooflines_of(rows))),
        (tuple(host_sheets(host_matrices(rows))), []),
        (macro_sheets(macro_of(rows)), []),
        (message_sheets(rows), []),
        (overhead_sheets(overheads_of(rows)), []),
        (max_rate_sheets(max_rates_of(rows)), []),
        (scaling_sheets(scaling), drawn),
        (tree_sheets(trees), tree_charts(trees, tree_names(trees))),
        (collective_sheets(collective_lines_of(rows)), []),
        (growth_sheets(growths), growth_charts(growths, growth_names(growths))),
        (exchange_sheets(exchanges), exchange_charts(exchanges, exchange_names(exchanges))),
    ):
        if sheets:
            title, explained = _titled(sheets[0].title, folder), sentence(sheets[0].explained)
            yield Section(title, explained, charts=tuple(pictures), sheets=_sheets(sheets))
    over_threads = thread_curves(rows)
    for sheet in thread_sheets(over_threads):
        title, explained = _titled(sheet.title, folder), sentence(sheet.explained)
        whole = replace(all_threads_sheet(over_threads), title="")
        each = tuple(each_thread_charts(over_threads))
        views = (View("", "", each),) if each else ()
        folded = Part("All numbers of threads", views, sheets=(whole,))
        legend, charts = _legend_once(thread_charts(over_threads))
        yield Section(title, explained, legend, charts, sheets=(untitled(sheet),), more=(folded,))
    for sheet in stream_sheets(streams_of(rows)):
        title, explained = _titled(sheet.title, folder), sentence(sheet.explained)
        yield Section(title, explained, sheets=(untitled(sheet),))
    yield from _functionality_section(rows, folder)
    ranked, choices = rankings_of(rows), choices_of(rows)
    yield from _ranking_section(ranking_sheets(ranked), ranked, folder)
    yield from _ranking_section(choice_sheets(choices), choices, folder)
    settings = settings_ranked(rows)
    yield from _ranking_section(setting_sheets(settings), settings, folder)


def _legend_once(charts: Sequence[Chart]) -> tuple[tuple[Key, ...], tuple[Chart, ...]]:
    """The legend of several pictures that have the same one, above all of them; nothing where they differ."""
    if len({chart.legend for chart in charts}) != 1 or len(charts) < 2:
        return (), tuple(charts)
    return charts[0].legend, tuple(replace(chart, legend=()) for chart in charts)


def _ranking_section(sheets: Sequence[Sheet], ranked: Sequence[Ranking], folder: str) -> Iterator[Section]:
    """The best ways; all of them, in their order, are folded."""
    for sheet in sheets:
        whole = Part("All ways", sheets=(untitled(all_ways_ranked(ranked)),))
        title, explained = _titled(sheet.title, folder), sentence(sheet.explained)
        yield Section(title, explained, sheets=(untitled(sheet),), more=(whole,))


def _functionality_section(rows: Sequence[Row], folder: str) -> Iterator[Section]:
    """Which one-sided calls work; all combinations are folded."""
    found = functionality_of(rows)
    if sheets := functionality_sheets(found):
        title, explained = _titled("does it work", folder), sentence(sheets[0].explained)
        whole = all_ways_sheet(found)
        yield Section(
            title,
            explained,
            sheets=tuple(
                replace(one, explained="" if one.explained == sheets[0].explained else one.explained)
                for one in sheets
            ),
            more=(Part("All combinations", sheets=(untitled(whole),)),),
        )


def _sheets(found: Sequence[Sheet]) -> tuple[Sheet, ...]:
    """All tables of a model; the first has its title above the section."""
    return (untitled(found[0]), *(replace(one, explained=sentence(one.explained)) for one in found[1:]))


def sentence(text: str) -> str:
    """With a capital letter and a stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".") if text else ""
