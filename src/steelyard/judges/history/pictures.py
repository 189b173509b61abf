"""Pictures of nights: their times, the levels between changes, and tonight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from steelyard.render.axes import PALETTE, linear_axis, log_axis
from steelyard.render.chart import FULL, HALF, Axis, Bars, Boxes, Chart, Curve, Dots, Mark, Style
from steelyard.rows.words import time_words
from steelyard.stats.arrays import FloatArray
from steelyard.stats.change_points import Change

_CHANGED, _DATED, _LEVEL = "#a3161b", "#f7e4e4", "#8a8a8a"
_MOST_NAMES = {HALF: 3, FULL: 7}  # of nights below a picture
_MOST_LINEAR = 1.5  # ratio of the ends of an axis up to which it is linear
_NEAR_ONE = (0.97, 1.03)  # least ends of an axis: nights that are nearly equal must look so


def nights_chart(
    title: str,
    values: FloatArray,
    changes: Sequence[Change],
    nights: Sequence[str],
    width: int = HALF,
) -> Chart:
    """Draw a dot for each night over the first level, tonight's filled; a dashed line at each change.

    values: (n,), logarithms of ns, nan for none. A band is the range of the date of a change.
    """
    n = values.size
    ends = (0, *(change.at for change in changes), n)
    levels = [float(np.nanmedian(values[a:b])) for a, b in pairwise(ends)]
    known = np.flatnonzero(np.isfinite(values)).tolist()
    ratios = np.exp(values[known] - levels[0])
    axis = _ratio_axis(f"time / {time_words(float(np.exp(levels[0])))}", [*_NEAR_ONE, *ratios])
    marks: list[Mark] = [
        Boxes([change.earliest - 0.5], [axis.low], [change.latest - 0.5], [axis.high], [_DATED])
        for change in changes
        if change.earliest < change.latest
    ]
    for level, (first, after) in zip(levels, pairwise(ends), strict=True):
        height = float(np.exp(level - levels[0]))
        marks.append(Curve([first - 0.5, after - 0.5], [height, height], Style(_LEVEL), width=1.5))
    changed = [change.at - 0.5 for change in changes]
    marks.append(
        Bars(changed, [axis.low] * len(changed), changed, [axis.high] * len(changed), _CHANGED, dash="4 3")
    )
    tips = [f"{nights[i]}\n{time_words(float(np.exp(values[i])))}" for i in known]
    style = Style(PALETTE[0])
    marks.append(Dots(known, ratios, style, size=6, hollow=[i != n - 1 for i in known], tips=tips))
    return Chart(title, _nights_axis(nights, _MOST_NAMES[width]), axis, tuple(marks), height=220, width=width)


def _ratio_axis(label: str, ratios: Sequence[float]) -> Axis:
    low, high = min(ratios), max(ratios)
    if high > _MOST_LINEAR * low:
        return log_axis(label, ratios, "{:g}".format)
    room = 0.08 * (high - low)
    return linear_axis(label, low - room, high + room)


def _nights_axis(nights: Sequence[str], most: int) -> Axis:
    step = max(1, -(-len(nights) // most))
    return Axis(
        "", -0.5, len(nights) - 0.5, tuple((float(i), nights[i]) for i in range(0, len(nights), step))
    )
