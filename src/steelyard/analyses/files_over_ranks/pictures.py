"""Pictures of files over ranks: the rate of all ranks together, a line for each op."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.files_over_ranks.model import BYTES, FilesOverRanks
from steelyard.analyses.files_over_ranks.tables import files_over_ranks_names, rate_words
from steelyard.base.units import format_bytes, format_count_rate, format_rate
from steelyard.render.axes import MOST_COLOURS, drawn_ends, limits, log_axis, style_of, worded
from steelyard.render.chart import Axis, Bars, Chart, Curve, Dots, Key, Mark, Style

_Named = tuple[str, FilesOverRanks]


def files_over_ranks_charts(found: Sequence[FilesOverRanks]) -> list[Chart]:
    """Draw a picture for each size, and one for names; a line for each op and what else differs."""
    groups: dict[tuple[str, int], list[_Named]] = {}
    for name, one in zip(files_over_ranks_names(found), found, strict=True):
        groups.setdefault((one.counted, one.bytes), []).append((name, one))
    return [_chart(*key, members) for key, members in groups.items()]


def _chart(counted: str, size: int, members: Sequence[_Named]) -> Chart:
    shown, left_out = members[:MOST_COLOURS], members[MOST_COLOURS:]
    ranks = sorted({point.ranks for _, one in shown for point in one.points})
    rates = [point.rate for _, one in shown for point in one.points]
    values = [value for rate in rates for value in (rate.value, *drawn_ends(rate.value, rate.low, rate.high))]
    low, high = limits([ranks[0], ranks[-1]])
    is_bytes = counted == BYTES
    return Chart(
        title=f"files over ranks, {f'pieces of {format_bytes(size)}' if is_bytes else 'names'}",
        x=Axis("ranks", low, high, worded(ranks, "{:g}".format), is_log=True),
        y=log_axis(f"{counted} a second", values, format_rate if is_bytes else format_count_rate),
        marks=tuple(mark for i, (name, one) in enumerate(shown) for mark in _marks(style_of(i), name, one)),
        height=320,
        legend=tuple(Key(name, style_of(i)) for i, (name, _) in enumerate(shown)),
        note=f"not drawn, and in the table: {'; '.join(name for name, _ in left_out)}" if left_out else "",
    )


def _marks(style: Style, name: str, one: FilesOverRanks) -> Iterator[Mark]:
    x = [float(point.ranks) for point in one.points]
    y = [point.rate.value for point in one.points]
    ends = [drawn_ends(point.rate.value, point.rate.low, point.rate.high) for point in one.points]
    yield Curve(x, y, style, width=1.5, tip=name)
    yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour)
    tips = [f"{name}, {point.ranks} ranks: {rate_words(one, point)}" for point in one.points]
    yield Dots(x, np.array(y), style, tips=tips)
