"""Pictures of noise: the losses of each core over time, by length, and by period."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from steelyard.render.axes import MOST_COLOURS, linear_axis, style_of
from steelyard.render.chart import HALF, Axis, Boxes, Chart, Curve, Dots, Key, Style
from steelyard.results.core_noise import LENGTH_NAMES, lost_of
from steelyard.results.facets import Cores
from steelyard.rows.figure_groups import FigureGroup, Shown
from steelyard.rows.pictures.distributions import good_cells
from steelyard.stats import spectrum
from steelyard.stats.arrays import FloatArray

MOST_DOTS = 600  # of a rank in a picture; if there are more, the worst of neighbours is drawn
LENGTH_LABELS = ("< 1 us", "1–10 us", "10–100 us", "0.1–1 ms", "1–10 ms", "> 10 ms")
HEIGHT = 240


def noise_charts(group: FigureGroup) -> list[Chart]:
    """Draw, for each noise op of a group, lost time over time, the lengths, and for ftq the spectrum."""
    found = []
    for line in group.lines:
        for item in line.items:
            if item.row.get(Cores).cores:
                found += [_time_chart(item), _length_chart(item)]
                if item.row.op == "noise.ftq":
                    found += [chart for chart in [_spectrum_chart(item)] if chart is not None]
    return found


def _ranks(item: Shown) -> Iterator[tuple[int, Key]]:
    """List rank, name and colour of the first few."""
    for i, core in enumerate(item.row.get(Cores).cores[:MOST_COLOURS]):
        yield core.rank, Key(f"rank {core.rank} on CPU {core.cpus}", style_of(i))


def _left_out(item: Shown) -> str:
    ranks = len(item.row.get(Cores).cores)
    return f"ranks {MOST_COLOURS} to {ranks - 1} are in the table" if ranks > MOST_COLOURS else ""


def _whole(item: Shown) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Take, from the first launch: seconds since it began, ns lost, ns that it took; shapes
    (ranks, count).
    """
    series = next(cell.taken.series for cell in good_cells(item) if cell.taken.series is not None)
    start = (series.start - series.start[:, :1]) / 1e9
    return start, lost_of(item.row.op, series), series.took


def thin(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Reduce the points: of neighbours the highest is kept."""
    if x.size <= most:
        return x, y
    firsts = np.linspace(0, x.size, most + 1).astype(int)
    chosen = [a + int(np.argmax(y[a:b])) for a, b in pairwise(firsts)]
    return x[chosen], y[chosen]


def _time_chart(item: Shown) -> Chart:
    seconds, lost, took = _whole(item)
    marks, most, last = [], 0.0, 0.0
    for rank, key in _ranks(item):
        x, y = thin(seconds[rank], 100 * lost[rank] / took[rank], MOST_DOTS)
        marks.append(Dots(x, y, Style(key.style.colour, marker=key.style.marker), size=2.5, alpha=0.6))
        most, last = max(most, float(y.max())), max(last, float(x[-1]))
    return Chart(
        title=f"{item.row.op}: what each repetition lost",
        x=linear_axis("s", 0.0, last),
        y=linear_axis("% of its time", -0.02 * most, 1.05 * most),
        marks=tuple(marks),
        height=HEIGHT,
        legend=tuple(key for _, key in _ranks(item)),
        note=_left_out(item),
    )


def _length_chart(item: Shown) -> Chart:
    what = "detours" if item.row.op == "noise.selfish" else "disturbed quanta"
    cores = item.row.get(Cores).cores[:MOST_COLOURS]
    width = 0.8 / len(cores)
    boxes, most = [], 0.0
    for i, (core, (_, key)) in enumerate(zip(cores, _ranks(item), strict=True)):
        per_second = [core.lengths.get(length, 0) / core.seconds for length in LENGTH_NAMES]
        left = [place - 0.4 + i * width for place in range(len(LENGTH_NAMES))]
        boxes.append(
            Boxes(
                left,
                [0.0] * len(left),
                [one + 0.9 * width for one in left],
                per_second,
                [key.style.colour] * len(left),
                tips=[f"{key.label}: {rate:.4g} per second" for rate in per_second],
            )
        )
        most = max(most, *per_second)
    ticks = tuple((float(place), label) for place, label in enumerate(LENGTH_LABELS))
    return Chart(
        title=f"{item.row.op}: {what} by what they took",
        x=Axis("", -0.5, len(LENGTH_LABELS) - 0.5, ticks),
        y=linear_axis("per second", 0.0, 1.05 * most),
        marks=tuple(boxes),
        height=HEIGHT,
        width=HALF,
        note=_left_out(item),
    )


def _spectrum_chart(item: Shown) -> Chart | None:
    """Draw amplitudes over frequencies; None if there are too few samples."""
    seconds, lost, took = _whole(item)
    curves: list[Curve] = []
    for rank, key in _ranks(item):
        hz, amplitude = spectrum(seconds[rank], lost[rank] / took[rank])
        if hz.size:
            x, y = thin(hz[1:], 100 * amplitude[1:], MOST_DOTS)
            curves.append(Curve(x, y, Style(key.style.colour), width=1, tip=key.label))
    if not curves:
        return None
    return Chart(
        title=f"{item.row.op}: periodic losses",
        x=linear_axis("Hz", 0.0, max(float(np.max(curve.x)) for curve in curves)),
        y=linear_axis(
            "amplitude, % of the time", 0.0, 1.05 * max(float(np.max(curve.y)) for curve in curves)
        ),
        marks=tuple(curves),
        height=HEIGHT,
        note=_left_out(item),
    )
