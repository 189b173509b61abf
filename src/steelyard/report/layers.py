"""What rows make together: the layers under MPI, as one picture of times and one of bandwidths, and MPI's
efficiency against them; micro against macro; scaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.floor import Efficiency, efficiencies
from steelyard.groups import Item, layer_group
from steelyard.macro import macro_of
from steelyard.plots import bandwidth_figure, latency_figure, line_style, scaling_figures
from steelyard.row import Row
from steelyard.scaling import scaling_curves
from steelyard.tables import FLOOR_COLUMNS, floor_lines
from steelyard.tables_macro import Sheet, curve_names, macro_sheets, scaling_sheets

_LAYERS = (
    "the same bytes through each layer; efficiency is the time of the fastest layer that could stand in, "
    "divided by MPI's"
)


@dataclass(frozen=True, slots=True)
class Made:
    """Figures by the name of their div, the lines of the legend, and a table; `notes` stand below it."""

    anchor: str
    title: str
    common: str
    figures: dict[str, Any]
    legend: tuple[tuple[str, str, str], ...]
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # columns of words, not of numbers


def layers_of(items: Sequence[Item]) -> tuple[Made, ...]:
    """Of messages there and back, and of streams, where two layers were measured."""
    found = efficiencies([item.row for item in items])
    return tuple(
        _layers(items, streams, [one for one in found if (one.op != "mpi.pingpong") == streams])
        for streams in (False, True)
        if layer_group(items, streams) is not None
    )


def _layers(items: Sequence[Item], streams: bool, found: Sequence[Efficiency]) -> Made:
    group = layer_group(items, streams)
    assert group is not None
    figures = {"chart-time": latency_figure(group)}
    if (bandwidth := bandwidth_figure(group)) is not None:
        figures["chart-rate"] = bandwidth
    legend = tuple((line.label, *line_style(line)) for line in group.lines)
    title = "Layers under MPI, streams" if streams else "Layers under MPI"
    columns = ("", *FLOOR_COLUMNS[1:])  # beside what stands a legend
    return Made("layers", title, _LAYERS, figures, legend, columns, tuple(floor_lines(found)))


def macro_made(rows: Sequence[Row], folder: str) -> tuple[Made, ...]:
    """Micro against macro, and scaling with its pictures, of the rows of a folder; `folder` is in titles."""
    curves = scaling_curves(rows)
    pictures = {f"chart-{i}": one for i, one in enumerate(scaling_figures(curves, curve_names(curves)))}
    sheets: list[tuple[Sheet, dict[str, Any]]] = [(one, {}) for one in macro_sheets(macro_of(rows))]
    sheets += [(one, {} if i else pictures) for i, one in enumerate(scaling_sheets(curves))]
    return tuple(_made(sheet, figures, folder) for sheet, figures in sheets)


def _made(sheet: Sheet, figures: dict[str, Any], folder: str) -> Made:
    title = sheet.title[0].upper() + sheet.title[1:] + (f", {folder}" if folder else "")
    words = (*sheet.columns[: sheet.words], "best")
    explained = sheet.explained[0].upper() + sheet.explained[1:] + "."
    return Made("macro", title, explained, figures, (), sheet.columns, sheet.lines, sheet.notes, words)
