"""Pictures of rivals: the time of each over the time of the first, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.base.units import format_bytes
from steelyard.render.axes import (
    MOST_COLOURS,
    drawn_ends,
    ends_within,
    log_axis,
    names_axis,
    position_of,
    size_axis,
    style_of,
)
from steelyard.render.chart import FULL, Axis, Band, Bars, Chart, Curve, Dots, Key, Mark, Style
from steelyard.render.svg import RULE
from steelyard.rows.figure_groups import FigureGroup, FigureLine, Shown
from steelyard.rows.pictures.panels import panels_of
from steelyard.rows.pictures.style import line_style
from steelyard.rows.ratios import Ratio

LEAST_SHOWN = (0.8, 1.25)  # of an axis of ratios: nearly equal times must look so


def ratio_words(ratio: Ratio) -> str:
    """Write a ratio and its interval: `4.34 (4.02 – 4.69)`."""
    interval = "" if ratio.low is None else f" ({ratio.low:.3g} – {ratio.high:.3g})"
    return f"{ratio.value:.3g}{interval}"


def _tip(ratio: Ratio, label: str) -> str:
    size = f", {format_bytes(ratio.row.bytes)}" if ratio.row.bytes else ""
    return f"{label}{size}\n{ratio.name} / {ratio.base_name}: {ratio_words(ratio)}"


def _ends(axis: Axis, ratio: Ratio) -> tuple[float, float]:
    return ends_within(axis, ratio.value, ratio.low, ratio.high)


def _axis(label: str, ratios: Sequence[Ratio]) -> Axis:
    values = [
        end for ratio in ratios for end in (ratio.value, *drawn_ends(ratio.value, ratio.low, ratio.high))
    ]
    return log_axis(label, [*LEAST_SHOWN, *values], "{:g}".format)


def ratio_charts(group: FigureGroup, ratios: Mapping[int, Ratio]) -> list[Chart]:
    """Draw the ratios of a group over sizes, or a row for each without sizes; 1 is a grey line.

    `ratios` are those of rows, by `id(row)`. Hollow marks are ratios whose interval holds 1. None without
    ratios.
    """
    found = [
        (line, item, ratios[id(item.row)])
        for line in group.lines
        for item in line.items
        if id(item.row) in ratios
    ]
    if not found:
        return []
    label = f"time / time of {found[0][2].base_name}"
    axis = _axis(label, [ratio for *_, ratio in found])
    if not group.is_sized:
        return [_rows_chart(found, axis)]
    panels, _ = panels_of(group)
    one = Bars([-1.0], [1.0], [64.0], [1.0], RULE, width=1)
    return [
        Chart(
            title=panel.title,
            x=size_axis(group.sizes),
            y=axis,
            marks=(one, *(mark for line in panel.lines for mark in _line_marks(line, group, axis, found))),
            height=panel.height,
            width=panel.width,
        )
        for panel in panels
    ]


def _line_marks(
    line: FigureLine, group: FigureGroup, axis: Axis, found: Sequence[tuple[FigureLine, Shown, Ratio]]
) -> Iterator[Mark]:
    own = [ratio for one, _, ratio in found if one is line]
    if own:
        style, ends = line_style(line), [_ends(axis, ratio) for ratio in own]
        x = [position_of(ratio.row.bytes, group.sizes) for ratio in own]
        y = [ratio.value for ratio in own]
        yield Band(x, [low for low, _ in ends], [high for _, high in ends], style.colour)
        yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour, alpha=0.6)
        yield Curve(x, y, style)
        tips = [_tip(ratio, line.label) for ratio in own]
        yield Dots(x, y, style, hollow=[ratio.holds_one for ratio in own], tips=tips)


def _rows_chart(found: Sequence[tuple[FigureLine, Shown, Ratio]], axis: Axis) -> Chart:
    names = list(dict.fromkeys(line.row or line.label for line, *_ in found))
    marks: list[Mark] = [Bars([1.0], [-1.0], [1.0], [float(len(names))], RULE, width=1)]
    for line, _, ratio in found:
        place, (low, high) = float(names.index(line.row or line.label)), _ends(axis, ratio)
        style = line_style(line)
        marks.append(Bars([low], [place], [high], [place], style.colour, width=3, alpha=0.4))
        tip = _tip(ratio, line.label)
        marks.append(Dots([ratio.value], [place], style, hollow=[ratio.holds_one], tips=[tip]))
    per_row = 24 if len(names) <= 30 else 15
    return Chart(
        title="",
        x=axis,
        y=names_axis("", names, most=len(names), is_down=True),
        marks=tuple(marks),
        height=48 + per_row * len(names),
        width=FULL,
    )


def overview_chart(named: Sequence[tuple[str, Ratio]]) -> Chart:
    """Draw a row for each operation, a mark for the ratio of each of its test cases; hollow ones hold 1."""
    names = list(dict.fromkeys(name for name, _ in named))
    rivals = list(dict.fromkeys(ratio.name for _, ratio in named))[:MOST_COLOURS]
    marks: list[Mark] = [Bars([1.0], [-1.0], [1.0], [float(len(names))], RULE, width=1)]
    for number, rival in enumerate(rivals):
        own = [(name, ratio) for name, ratio in named if ratio.name == rival]
        shift = 0.5 * ((number + 0.5) / len(rivals) - 0.5)
        style = style_of(number + 1)
        marks.append(
            Dots(
                [ratio.value for _, ratio in own],
                [names.index(name) + shift for name, _ in own],
                Style(style.colour, marker=style.marker),
                size=6,
                hollow=[ratio.holds_one for _, ratio in own],
                tips=[_tip(ratio, name) for name, ratio in own],
            )
        )
    return Chart(
        title="",
        x=_axis(f"time / time of {named[0][1].base_name}", [ratio for _, ratio in named]),
        y=names_axis("", names, most=len(names), is_down=True),
        marks=tuple(marks),
        height=50 + 26 * len(names),
        width=FULL,
        legend=tuple(Key(rival, style_of(i + 1)) for i, rival in enumerate(rivals)),
        note="" if len(rivals) == len({r.name for _, r in named}) else "more rivals are in the tables",
    )
