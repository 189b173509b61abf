"""The core-to-core matrix, and that of hosts: the time of a point from each place to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.analyses.placement_pairs.model import PairTable
from steelyard.base.units import format_time
from steelyard.render.axes import ink_on, names_axis, shade
from steelyard.render.chart import FULL, HALF, Boxes, Chart, Image, Mark, Shades
from steelyard.results.row import Row
from steelyard.rows.words import interval_words, pair_words

_Cell = tuple[object, object]  # two CPUs, or two hosts

MOST_NUMBERS = 12  # places of a matrix with numbers in its cells
MOST_RECTANGLES = 64  # CPUs; larger matrices are images, without words at the pointer
MOST_HEIGHT, CELL = 560, 44  # CSS pixels
LEAST_SPAN = 0.05  # of the colours, in powers of ten: smaller differences look alike
SHADES = tuple(shade(i / 31) for i in range(32))


def matrix_chart(table: PairTable) -> Chart | None:
    """Draw CPU by CPU or host by host, coloured by the logarithm of the median; None if no pair differs.

    The colours span pairs of different places: two on one CPU take turns, and would hide all else. A pair
    measured in one order stands for the other, too. Places without a measured pair are left out. A star marks
    CPUs that take the interrupts.
    """
    pairs = table.pairs
    if not any(a != b for a, b in pairs):
        return None
    spots = table.spots
    cells: dict[_Cell, Row] = {(b, a): row for (a, b), row in pairs.items()}
    cells.update(((a, b), row) for (a, b), row in pairs.items())
    taking = {cpu for row in pairs.values() if row.placed for cpu in row.placed.interrupts}
    apart = [float(np.log10(row.time or 1.0)) for (a, b), row in pairs.items() if a != b]
    low, high = min(apart), max(max(apart), min(apart) + LEAST_SPAN)
    colours = {
        pair: shade((float(np.log10(row.time or 1.0)) - low) / (high - low)) for pair, row in cells.items()
    }
    names = [f"{spot}*" if spot in taking else str(spot) for spot in spots]
    labels = tuple(format_time(10.0 ** float(one)) for one in np.linspace(low, high, 5))
    return Chart(
        title="",
        x=names_axis(table.level, names, 32),
        y=names_axis(table.level, names, 32, is_down=True),
        marks=(_cells_of(spots, cells, colours),),
        height=min(MOST_HEIGHT, 130 + CELL * len(spots)),
        width=HALF if len(spots) <= MOST_NUMBERS // 2 else min(FULL, 130 + 2 * CELL * len(spots)),
        shades=Shades(SHADES, labels),
        has_grid=False,
    )


def _cells_of(spots: Sequence[object], cells: Mapping[_Cell, Row], colours: Mapping[_Cell, str]) -> Mark:
    size = len(spots)
    place = {spot: index for index, spot in enumerate(spots)}
    if size > MOST_RECTANGLES:
        pixels = [[colours.get((a, b)) for b in spots] for a in spots]
        return Image(-0.5, -0.5, size - 0.5, size - 0.5, pixels)
    medians = [format_time(row.time or 0) for row in cells.values()]
    tips = [
        f"{a} – {b}: {median} ({interval_words(row.time_low, row.time_high, row.time)})\n{pair_words(row)}"
        for ((a, b), row), median in zip(cells.items(), medians, strict=True)
    ]
    return Boxes(
        [place[b] - 0.48 for _, b in cells],
        [place[a] - 0.48 for a, _ in cells],
        [place[b] + 0.48 for _, b in cells],
        [place[a] + 0.48 for a, _ in cells],
        [colours[pair] for pair in cells],
        texts=medians if size <= MOST_NUMBERS else (),
        inks=[ink_on(colours[pair]) for pair in cells],
        tips=tips,
    )
