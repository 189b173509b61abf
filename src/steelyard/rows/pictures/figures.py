"""Static figures for papers: a file for each picture, as wide as a column of text."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from markupsafe import escape

from steelyard.base.errors import InputError
from steelyard.records.command_line import installing
from steelyard.render.chart import Axis, Band, Bars, Chart, Curve, Dots, Key
from steelyard.render.svg import FONT, GRID, INK, LETTER, LINE_HEIGHT, RULE, SOFT, svg, swatch
from steelyard.rows.figure_groups import FigureGroup
from steelyard.rows.pictures.panels import legend_of
from steelyard.rows.pictures.points import bandwidth_charts, count_charts, dots_chart, latency_charts
from steelyard.rows.pictures.ratios import ratio_charts
from steelyard.rows.ratios import Ratio

COLUMN, HEIGHT = 334, 250  # CSS pixels, 1/96 inch: 88 mm, a column of most journals, with letters of 8 points
MOST_SIZES = 6  # that are named below an axis of that width
DOTS_PER_INCH = 300
_POINT = 0.75  # of a CSS pixel
_SWATCH = 40  # CSS pixels beside the words of a line of a legend


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its legend inside; `name` distinguishes it from others of a folder."""

    name: str
    chart: Chart
    legend: tuple[Key, ...]

    @property
    def height(self) -> int:
        """In CSS pixels, with a line for each key of the legend."""
        return self.chart.height + LINE_HEIGHT * len(self.legend)


def figures_of(groups: Sequence[FigureGroup], ratios: Mapping[int, Ratio]) -> Iterator[Figure]:
    """Draw times over sizes with their intervals, rates if they are the subject, and ratios of rivals.

    Ops without sizes are rows of dots. `ratios` are those of rows, by `id(row)`.
    """
    for group in groups:
        if not any((item.row.time or 0) > 0 for item in group.items):
            continue
        for kind, charts in _kinds(group, ratios):
            for number, chart in enumerate(charts, 1):
                words = [group.title, kind, *([str(number)] if len(charts) > 1 else [])]
                name = re.sub(r"[^\w.]+", "-", "-".join(words)).strip("-")
                yield Figure(name, _narrow(chart, group), _legend(chart, group))


def _legend(chart: Chart, group: FigureGroup) -> tuple[Key, ...]:
    """Make the legend of drawn lines: the base of ratios has no line of its own."""
    drawn = {mark.style.colour for mark in chart.marks if isinstance(mark, Curve | Dots)}
    return tuple(key for key in chart.legend or legend_of(group) if key.style.colour in drawn)


def _kinds(group: FigureGroup, ratios: Mapping[int, Ratio]) -> Iterator[tuple[str, Sequence[Chart]]]:
    if not group.is_sized:
        yield "time", [dots_chart(group)]
    elif all(item.row.headline == "time" for item in group.items):
        yield "time", latency_charts(group)
    else:
        yield "bandwidth", bandwidth_charts(group)
        yield "rate", count_charts(group)
    yield "ratio", ratio_charts(group, ratios)


def _narrow(chart: Chart, group: FigureGroup) -> Chart:
    """Make the picture as wide as a column if x are sizes; with a title, because it stands alone."""
    title = ", ".join(part for part in (group.title, chart.title) if part)
    if not group.is_sized:
        return replace(chart, title=title, width=2 * COLUMN, height=chart.height + LINE_HEIGHT)
    step = -(-len(chart.x.ticks) // MOST_SIZES)
    x = replace(chart.x, ticks=chart.x.ticks[::step])
    return replace(chart, title=title, width=COLUMN, height=HEIGHT, x=x)


def _svg_file(figure: Figure) -> bytes:
    """Write the picture of the report, with its legend below it."""
    chart = figure.chart
    keys = "".join(
        f'<g transform="translate(8 {chart.height + i * LINE_HEIGHT})">{swatch(key)}'
        f'<text x="{_SWATCH}" y="10" font-size="{FONT}" fill="{INK}">{escape(key.label)}</text></g>'
        for i, key in enumerate(figure.legend)
    )
    width = max([chart.width, *(_SWATCH + 16 + LETTER * len(key.label) for key in figure.legend)])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{figure.height}" '
        f'viewBox="0 0 {width:g} {figure.height}" font-family="Helvetica, Arial, sans-serif">'
        f'<rect width="100%" height="100%" fill="#fff"/>{svg(chart)}{keys}</svg>\n'
    ).encode()


def _drawn_file(figure: Figure, format_: str) -> bytes:
    """Write the same by matplotlib. Raises InputError if it is missing."""
    try:
        with contextlib.chdir(
            "/"
        ):  # a matplotlibrc of the current folder may be anybody's, and runs programs
            import matplotlib as mpl
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise InputError(
            f"--to {format_} needs matplotlib; type: {installing('plot')}; SVG needs none: --to svg, or "
            "--out NAME.svg"
        ) from None
    chart, file = figure.chart, io.BytesIO()
    settings: Any = {"font.size": FONT * _POINT, "axes.linewidth": 0.6, "pdf.fonttype": 42}
    settings["text.parse_math"] = False  # names are no formulas
    with mpl.rc_context(settings):
        inches = chart.width / 96, figure.height / 96
        canvas = Canvas(figsize=inches, dpi=DOTS_PER_INCH, layout="constrained")
        axes = canvas.subplots()
        axes.set_title(chart.title, fontsize=FONT * _POINT, fontweight="bold", loc="left")
        _scale(axes.set_xscale, axes.set_xlim, axes.xaxis, chart.x)
        _scale(axes.set_yscale, axes.set_ylim, axes.yaxis, chart.y)
        axes.grid(chart.has_grid, color=GRID, linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for mark in chart.marks:
            _draw(mark, axes)
        if figure.legend:
            handles = [_handle(key) for key in figure.legend]
            canvas.legend(handles=handles, frameon=False, loc="outside lower left")
        canvas.savefig(file, format=format_)
    return file.getvalue()


def _scale(scale: Callable[[str], Any], limits: Callable[[float, float], Any], own: Any, axis: Axis) -> None:
    scale("log" if axis.is_log else "linear")
    limits(axis.low, axis.high)
    own.set_ticks([value for value, _ in axis.ticks], [text for _, text in axis.ticks])
    own.set_ticks([], minor=True)
    own.set_label_text(axis.label, color=SOFT)
    own.set_tick_params(color=RULE, labelcolor=INK)


_MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "star": "*",
    "hexagon": "h",
    "tall": "d",
    "wide": "P",
    "plus": "P",
    "up": "^",
    "down": "v",
    "right": ">",
    "cross": "x",
    "dash": "_",
    "bar": "|",
}


def _handle(key: Key) -> Any:
    from matplotlib.lines import Line2D

    style = key.style
    return Line2D(
        [], [], color=style.colour, linestyle=_dashes(style.dash), marker=_MARKERS[style.marker],
        markersize=4, linewidth=1.2, label=key.label,
    )  # fmt: skip


def _dashes(dash: str) -> Any:
    return (0, tuple(float(word) * _POINT for word in dash.split())) if dash else "solid"


@singledispatch
def _draw(mark: object, _axes: Any) -> None:
    raise TypeError(f"no figure of {type(mark).__name__}")


@_draw.register
def _(mark: Curve, axes: Any) -> None:
    axes.plot(
        mark.x, mark.y, color=mark.style.colour, linestyle=_dashes(mark.style.dash),
        linewidth=mark.width * _POINT * 0.8, alpha=mark.alpha,
    )  # fmt: skip


@_draw.register
def _(mark: Band, axes: Any) -> None:
    axes.fill_between(mark.x, mark.low, mark.high, color=mark.colour, alpha=mark.alpha, linewidth=0)


@_draw.register
def _(mark: Dots, axes: Any) -> None:
    hollow = np.asarray(mark.hollow or [False] * len(mark.x), dtype=bool)
    is_stroke = mark.style.marker in ("cross", "dash", "bar")
    for which, fill in ((~hollow, mark.style.colour), (hollow, "#ffffff")):
        axes.plot(
            np.asarray(mark.x)[which], np.asarray(mark.y)[which], linestyle="none",
            marker=_MARKERS[mark.style.marker], markersize=mark.size * _POINT * 0.8, alpha=mark.alpha,
            color=mark.style.colour, markerfacecolor=mark.style.colour if is_stroke else fill,
            markeredgewidth=0.9,
        )  # fmt: skip


@_draw.register
def _(mark: Bars, axes: Any) -> None:
    from matplotlib.collections import LineCollection

    ends = np.stack([np.column_stack((mark.x0, mark.y0)), np.column_stack((mark.x1, mark.y1))], axis=1)
    lines = LineCollection(list(ends), colors=mark.colour, linewidths=mark.width * _POINT, alpha=mark.alpha)
    axes.add_collection(lines, autolim=False)


# Format, which is the suffix of its files -> its writer.
FIGURE_FORMATS: Mapping[str, Callable[[Figure], bytes]] = {
    "svg": _svg_file,
    "png": lambda figure: _drawn_file(figure, "png"),
    "pdf": lambda figure: _drawn_file(figure, "pdf"),
}
