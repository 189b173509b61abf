"""The core-to-core matrix: what a point takes from each CPU to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh import palettes

from steelyard.pairs import PairTable
from steelyard.plots.axes import FIGURE, INK, PALE, dress, figure, models, name_axis
from steelyard.row import Row
from steelyard.units import format_time
from steelyard.wording import interval_words, pair_words

Pair = tuple[int, int]

MOST_NUMBERS = 12  # CPUs of a matrix that has its numbers written in it
MOST_RECTANGLES = 64  # CPUs; of more it is an image, in which the pointer finds no words
MOST_HEIGHT, CELL = 560, 44  # CSS pixels
LEAST_SPAN = 0.05  # of the colours, in powers of ten: what differs by less looks alike


def matrix_figure(table: PairTable) -> Any | None:
    """CPU by CPU, coloured by the logarithm of the median; None where no pair of CPUs differs.

    The colours run over pairs that differ: two on one CPU take turns, and would hide all else.
    A pair that was measured one way round stands for the other way too. CPUs of which no pair was measured
    are left out. A star marks those that take the interrupts.
    """
    pairs = table.pairs
    if not any(a != b for a, b in pairs):
        return None
    cpus = sorted({cpu for pair in pairs for cpu in pair})
    place = {cpu: index for index, cpu in enumerate(cpus)}
    cells = {(b, a): row for (a, b), row in pairs.items()} | pairs
    taking = {cpu for row in pairs.values() if row.placed for cpu in row.placed.interrupts}
    apart = [float(np.log10(row.median or 1.0)) for (a, b), row in pairs.items() if a != b]
    shades = models.LinearColorMapper(
        palette=list(palettes.Viridis256), low=min(apart), high=max(max(apart), min(apart) + LEAST_SPAN)
    )
    size = len(cpus)
    plot = figure(
        x_range=models.Range1d(-0.5, size - 0.5),
        y_range=models.Range1d(size - 0.5, -0.5),
        height=min(MOST_HEIGHT, 130 + CELL * size),
        max_width=max(MOST_HEIGHT, 130 + 2 * CELL * size),
        **FIGURE,
    )
    dress(plot)
    plot.grid.grid_line_color = None
    plot.xaxis.axis_label = plot.yaxis.axis_label = "CPU"
    names = [f"{cpu}*" if cpu in taking else str(cpu) for cpu in cpus]
    name_axis(plot.xaxis[0], names, 32)
    name_axis(plot.yaxis[0], names, 32)
    if size > MOST_RECTANGLES:
        image = np.full((size, size), np.nan, dtype=np.float32)
        for (a, b), row in cells.items():
            image[place[a], place[b]] = np.log10(row.median or 1.0)
        plot.image([image], x=-0.5, y=-0.5, dw=size, dh=size, color_mapper=shades)
    else:
        _rectangles(plot, cells, place, shades)
    _colour_bar(plot, shades)
    return plot


def _rectangles(plot: Any, cells: Mapping[Pair, Row], place: dict[int, int], shades: Any) -> None:
    middle = (shades.low + shades.high) / 2
    value = {pair: float(np.log10(row.median or 1.0)) for pair, row in cells.items()}
    source = models.ColumnDataSource(
        {
            "x": [place[b] for _, b in cells],
            "y": [place[a] for a, _ in cells],
            "value": [value[pair] for pair in cells],
            "pair": [f"{a} – {b}" for a, b in cells],
            "median": [format_time(row.median or 0) for row in cells.values()],
            "interval": [interval_words(row.ci_low, row.ci_high, row.median) for row in cells.values()],
            "note": [pair_words(row) for row in cells.values()],
            "ink": [INK if value[pair] > middle else "white" for pair in cells],
        }
    )
    fill = {"field": "value", "transform": shades}
    drawn = plot.rect("x", "y", 1, 1, source=source, fill_color=fill, line_color=PALE, line_width=0.5)
    if len(place) <= MOST_NUMBERS:
        plot.text(
            "x",
            "y",
            "median",
            source=source,
            text_align="center",
            text_baseline="middle",
            text_font_size="11px",
            text_color="ink",
        )
    tips = [("CPUs", "@pair"), ("median", "@median"), ("interval", "@interval"), ("", "@note")]
    plot.add_tools(models.HoverTool(renderers=[drawn], tooltips=tips))


def _colour_bar(plot: Any, shades: Any) -> None:
    """Round times beside the colours."""
    ticks = [float(one) for one in np.linspace(shades.low, shades.high, 5)]
    bar = models.ColorBar(
        color_mapper=shades,
        ticker=models.FixedTicker(ticks=ticks),
        major_label_overrides={tick: format_time(10**tick) for tick in ticks},
        width=12,
        title=None,
    )
    plot.add_layout(bar, "right")
