"""Pictures of noise: what each core lost when, in pieces of which length, and what has a period."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from steelyard.groups import Group, Item
from steelyard.noise import LENGTH_NAMES, lost_of
from steelyard.plots.axes import FIGURE, PALETTE, dress, figure, models
from steelyard.plots.shapes import good_cells
from steelyard.stamps import FloatArray
from steelyard.stats import spectrum

MOST_DOTS = 1500  # of a rank in a picture: of more, the worst of neighbours stands for them
MOST_RANKS = 8
LENGTH_LABELS = ("below 1 us", "1 to 10 us", "10 to 100 us", "0.1 to 1 ms", "1 to 10 ms", "longer")


def noise_figures(group: Group) -> list[Any]:
    """For each noise op of a group: lost time over time, the lengths, and of ftq the spectrum."""
    found = []
    for line in group.lines:
        for item in line.items:
            if item.row.cores:
                found += [_time_figure(item), _length_figure(item)]
                if item.row.op == "noise.ftq":
                    found += [plot for plot in [_spectrum_figure(item)] if plot is not None]
    return found


def _ranks(item: Item) -> Iterator[tuple[int, str, str]]:
    """Rank, its name and its colour, of the first few."""
    for i, core in enumerate(item.row.cores[:MOST_RANKS]):
        yield core.rank, f"rank {core.rank} on cpu {core.cpus}", PALETTE[i % len(PALETTE)]


def _whole(item: Item) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of the first launch: seconds since it began, ns lost, ns that it took; shapes (ranks, count)."""
    series = next(cell.taken.series for cell in good_cells(item) if cell.taken.series is not None)
    start = (series.start - series.start[:, :1]) / 1e9
    return start, lost_of(item.row.op, series), series.took


def thin(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """At most so many points: of neighbours the one that is highest."""
    if x.size <= most:
        return x, y
    firsts = np.linspace(0, x.size, most + 1).astype(int)
    chosen = [a + int(np.argmax(y[a:b])) for a, b in pairwise(firsts)]
    return x[chosen], y[chosen]


def _time_figure(item: Item) -> Any:
    plot = figure(height=260, title=f"{item.row.op}: what each repetition lost", **FIGURE)
    dress(plot)
    seconds, lost, took = _whole(item)
    for rank, name, colour in _ranks(item):
        x, y = thin(seconds[rank], 100 * lost[rank] / took[rank], MOST_DOTS)
        plot.scatter(x, y, size=3, color=colour, alpha=0.6, legend_label=name)
    plot.xaxis.axis_label = "s"
    plot.yaxis.axis_label = "% of its time"
    plot.legend.label_text_font_size = "11px"
    return plot


def _length_figure(item: Item) -> Any:
    what = "detours" if item.row.op == "noise.selfish" else "disturbed quanta"
    plot = figure(
        height=260, x_range=list(LENGTH_LABELS), title=f"{item.row.op}: {what} by what they took", **FIGURE
    )
    dress(plot)
    cores = item.row.cores[:MOST_RANKS]
    width = 0.8 / len(cores)
    for i, (core, (_, name, colour)) in enumerate(zip(cores, _ranks(item), strict=True)):
        shift = models.Dodge(value=(i - (len(cores) - 1) / 2) * width, range=plot.x_range)
        per_second = [core.lengths.get(length, 0) / core.seconds for length in LENGTH_NAMES]
        plot.vbar(
            x={"field": "x", "transform": shift},
            top="top",
            width=0.9 * width,
            color=colour,
            legend_label=name,
            source=models.ColumnDataSource({"x": list(LENGTH_LABELS), "top": per_second}),
        )
    plot.y_range.start = 0
    plot.yaxis.axis_label = "per second"
    plot.legend.label_text_font_size = "11px"
    return plot


def _spectrum_figure(item: Item) -> Any | None:
    """Amplitudes over frequencies; None where there are too few samples."""
    seconds, lost, took = _whole(item)
    lines: list[tuple[Sequence[float], Sequence[float], str, str]] = []
    for rank, name, colour in _ranks(item):
        hz, amplitude = spectrum(seconds[rank], lost[rank] / took[rank])
        if hz.size:
            x, y = thin(hz[1:], 100 * amplitude[1:], MOST_DOTS)
            lines.append((x.tolist(), y.tolist(), name, colour))
    if not lines:
        return None
    plot = figure(height=260, title=f"{item.row.op}: what comes with a period", **FIGURE)
    dress(plot)
    for xs, ys, name, colour in lines:
        plot.line(xs, ys, line_color=colour, line_width=1, legend_label=name)
    plot.xaxis.axis_label = "Hz"
    plot.yaxis.axis_label = "amplitude, % of the time"
    plot.legend.label_text_font_size = "11px"
    return plot
