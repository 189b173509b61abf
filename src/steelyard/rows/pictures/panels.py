"""Choose the lines of a group that share a picture: few enough to distinguish, the others in
small multiples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.base.units import format_bytes
from steelyard.render.axes import MOST_COLOURS, style_of
from steelyard.render.chart import HALF, THIRD, Key, Style
from steelyard.rows.figure_groups import FigureGroup, FigureLine, Shown
from steelyard.rows.pictures.style import form_style, line_style

FEW_PANELS = 4  # that stand side by side at half the page's width
MOST_PANELS = 12  # pictures of curves of one group
MOST_NAMED = 12  # lines without room that are named
MOST_SHAPES = 48  # small pictures of distributions of one group


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines that share a picture; `title` is what they have in common and others do not."""

    title: str
    lines: tuple[FigureLine, ...]
    width: int = HALF
    height: int = 330


def panels_of(group: FigureGroup) -> tuple[list[Panel], list[str]]:
    """Make the pictures of a group with sizes, and list the labels of lines without room.

    There is a picture for each `row` of lines; if there are colours for all lines, all are in one.
    """
    rows: dict[str, list[FigureLine]] = {}
    for line in _drawn(group):
        rows.setdefault(line.row, []).append(line)
    width = HALF if len(rows) <= FEW_PANELS else THIRD
    height = 330 if len(rows) == 1 else 250 if len(rows) <= FEW_PANELS else 200
    panels = [Panel(title, tuple(members), width, height) for title, members in rows.items()]
    left_out = [line.label for panel in panels[MOST_PANELS:] for line in panel.lines]
    return panels[:MOST_PANELS], left_out


def _drawn(group: FigureGroup) -> list[FigureLine]:
    """List those that have a value or a failure to show."""
    return [
        line
        for line in group.lines
        if any((item.row.median or 0) > 0 or item.row.status == "failed" for item in line.items)
    ]


@dataclass(frozen=True, slots=True)
class ShapeCurve:
    """A distribution in a small picture: its subject, and its look."""

    label: str
    style: Style
    item: Shown


@dataclass(frozen=True, slots=True)
class ShapePanel:
    """Distributions that share a picture: rivals in their times, or test cases relative to their medians."""

    title: str
    curves: tuple[ShapeCurve, ...]
    is_relative: bool = False

    @property
    def legend(self) -> tuple[Key, ...]:
        """The legend; for rivals the section has it."""
        return tuple(Key(curve.label, curve.style) for curve in self.curves) if self.is_relative else ()


def shapes_of(group: FigureGroup) -> tuple[list[ShapePanel], list[str]]:
    """Make the small pictures of a group's distributions, and list those without room.

    A size, or a row of lines, has a picture with a curve for each line. If that would be one curve in each,
    as many share a picture as there are colours, relative to their medians.
    """
    by_title: dict[str, list[tuple[FigureLine, Shown]]] = {}
    for line in group.lines:
        for item in line.items:
            if (item.row.median or 0) > 0:
                title = _shape_title(group, line, item)
                by_title.setdefault(title, []).append((line, item))
    if group.is_sized:  # sizes in their order, whichever line had them first
        by_title = dict(sorted(by_title.items(), key=lambda one: (one[1][0][0].row, one[1][0][1].row.bytes)))
    if all(len(members) == 1 for members in by_title.values()):
        return _together([(title, item) for title, ((_, item),) in by_title.items()])
    cut = list(by_title)[MOST_SHAPES:]
    panels = []
    for title, members in list(by_title.items())[:MOST_SHAPES]:
        curves = [ShapeCurve(line.label, line_style(line), item) for line, item in members]
        panels.append(ShapePanel(title, tuple(curves[:MOST_COLOURS])))
        cut += [f"{title}: {curve.label}" for curve in curves[MOST_COLOURS:]]
    return panels, cut


def _together(named: list[tuple[str, Shown]]) -> tuple[list[ShapePanel], list[str]]:
    """Put as many into a picture as there are colours."""
    panels = []
    for first in range(0, len(named), MOST_COLOURS):
        own = named[first : first + MOST_COLOURS]
        curves = tuple(ShapeCurve(label, style_of(i), item) for i, (label, item) in enumerate(own))
        title = f"{own[0][0]} to {own[-1][0]}" if len(named) > MOST_COLOURS else ""
        panels.append(ShapePanel(title, curves, is_relative=True))
    cut = [curve.label for panel in panels[MOST_PANELS:] for curve in panel.curves]
    return panels[:MOST_PANELS], cut


def _shape_title(group: FigureGroup, line: FigureLine, item: Shown) -> str:
    if not group.is_sized:
        return line.row
    return ", ".join(part for part in (line.row, format_bytes(item.row.bytes)) if part)


def legend_of(group: FigureGroup) -> tuple[Key, ...]:
    """Make the legend of colours and dashes for all pictures of a group.

    Nothing if there is one line, or if a colour stands for another line in each picture.
    """
    keys: dict[tuple[int, str], Key] = {}
    for line in _drawn(group):
        form = "" if line.row else line.form
        key = keys.setdefault((line.colour, form), Key(line.level, form_style(line.colour, form)))
        if key.label != line.level:
            return ()
    return tuple(keys.values()) if len(keys) > 1 else ()


def panel_legend(group: FigureGroup, panel: Panel) -> tuple[Key, ...]:
    """Make the legend of one picture, if there is none for all."""
    if legend_of(group) or len(panel.lines) < 2:
        return ()
    return tuple(Key(line.level, style_of(line.colour)) for line in panel.lines)


def left_out_words(labels: Sequence[str], noun: str) -> str:
    """Write `3 more lines are not drawn: a; b; c`; nothing if all are drawn."""
    if not labels:
        return ""
    several = f"{noun}s are" if len(labels) > 1 else f"{noun} is"
    named = "; ".join(labels[:MOST_NAMED]) + ("; ..." if len(labels) > MOST_NAMED else "")
    return f"{len(labels)} more {several} not drawn, and in the table: {named}"
