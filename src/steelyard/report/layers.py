"""The layers under MPI as one picture of times and one of bandwidths, and MPI's efficiency against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.floor import Efficiency, efficiencies
from steelyard.groups import Item, layer_group
from steelyard.plots import bandwidth_figure, latency_figure, line_style
from steelyard.tables import FLOOR_COLUMNS, floor_lines


@dataclass(frozen=True, slots=True)
class Layers:
    """Figures by the name of their div, the lines of the legend, and the table of efficiencies."""

    title: str
    figures: dict[str, Any]
    legend: tuple[tuple[str, str, str], ...]
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def layers_of(items: Sequence[Item]) -> tuple[Layers, ...]:
    """Of messages there and back, and of streams, where two layers were measured."""
    found = efficiencies([item.row for item in items])
    return tuple(
        _layers(items, streams, [one for one in found if (one.op != "mpi.pingpong") == streams])
        for streams in (False, True)
        if layer_group(items, streams) is not None
    )


def _layers(items: Sequence[Item], streams: bool, found: Sequence[Efficiency]) -> Layers:
    group = layer_group(items, streams)
    assert group is not None
    figures = {"chart-time": latency_figure(group)}
    if (bandwidth := bandwidth_figure(group)) is not None:
        figures["chart-rate"] = bandwidth
    legend = tuple((line.label, *line_style(line)) for line in group.lines)
    title = "Layers under MPI, streams" if streams else "Layers under MPI"
    columns = ("", *FLOOR_COLUMNS[1:])  # beside what stands a legend
    return Layers(title, figures, legend, columns, tuple(floor_lines(found)))
