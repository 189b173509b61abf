"""Charts as SVG inside a page: no script, no font, no other file; words at the pointer are titles."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from steelyard.render.chart import (
    Axis,
    Band,
    Bars,
    Boxes,
    Chart,
    Curve,
    Dots,
    Image,
    Key,
    Outline,
    Shades,
    Style,
)
from steelyard.stats.arrays import FloatArray

INK, SOFT, RULE, GRID = "#1c1c1c", "#5a5a5a", "#8a8a8a", "#e4e4e4"
FONT = 11  # CSS pixels of a letter
NEAR = 0.3  # CSS pixels from a straight line that nobody sees
LETTER, TITLE_LETTER = 6.8, 7.4  # CSS pixels of a letter in a tick and in a title, about
MOST_LABEL = 0.4  # of a picture's width for the labels of its y axis: longer ones are cut
LINE_HEIGHT, SHADES_WIDTH, RIGHT = 16, 74, 14
ABOVE = 11  # CSS pixels from a line up to the name above it: a marker fits between
# Corners of markers around their middle, in half sizes; the circle has none.
_CORNERS = {
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "up": [(0, -1.15), (1.1, 0.9), (-1.1, 0.9)],  # the truth is above
    "down": [(0, 1.15), (1.1, -0.9), (-1.1, -0.9)],
    "right": [(1.15, 0), (-0.9, 1.1), (-0.9, -1.1)],
    "left": [(-1.15, 0), (0.9, 1.1), (0.9, -1.1)],
    "star": [
        ((1.5 if i % 2 == 0 else 0.65) * math.sin(math.pi * i / 5),
         -(1.5 if i % 2 == 0 else 0.65) * math.cos(math.pi * i / 5))
        for i in range(10)
    ],
    "hexagon": [(1.15 * math.sin(math.pi * i / 3), 1.15 * math.cos(math.pi * i / 3)) for i in range(6)],
    "plus": [
        (-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
        (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4),
    ],
    "tall": [(-0.5, -1.2), (0.5, -1.2), (0.5, 1.2), (-0.5, 1.2)],
    "wide": [(-1.2, -0.5), (1.2, -0.5), (1.2, 0.5), (-1.2, 0.5)],
}  # fmt: skip
_STROKES = {"cross": "M-1-1L1 1M-1 1L1-1", "dash": "M-1 0H1", "bar": "M0-1V1"}


@dataclass(frozen=True, slots=True)
class _Frame:
    """The box of the marks: its place in the picture, and its axes."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    def xs(self, values: Iterable[float] | FloatArray) -> FloatArray:
        return self.x.place(np.asarray(values, dtype=float)) * self.width

    def ys(self, values: Iterable[float] | FloatArray) -> FloatArray:
        return (1.0 - self.y.place(np.asarray(values, dtype=float))) * self.height


def svg(chart: Chart) -> Markup:
    """Draw the picture as one `<svg>` element, as wide as `chart.width` or its place, if that is narrower."""
    frame = _frame(chart)
    names = f"{chart.title}: {chart.y.label} over {chart.x.label}".strip(": ")
    inner = "".join(_drawn(mark, frame) for mark in chart.marks)
    size = f'viewBox="0 0 {chart.width} {chart.height}" width="{chart.width}" height="{chart.height}"'
    box = f'width="{_n(frame.width)}" height="{_n(frame.height)}" overflow="hidden"'
    parts = [
        f'<svg {size} role="img" aria-label="{escape(names)}" font-size="{FONT}" fill="{INK}">',
        _title(chart),
        _words(frame.left, frame.top - 6, chart.y.label, colour=SOFT) if chart.y.label else "",
        *_y_axis(frame, chart.has_grid, not chart.names_above),
        *_x_axis(frame, chart.has_grid),
        # An inner <svg> clips at the axes, without an id that must be unique in the page.
        f'<svg x="{_n(frame.left)}" y="{_n(frame.top)}" {box}>{inner}</svg>',
        *(_names_above(frame) if chart.names_above else ()),
        *(_shades(chart.shades, frame) if chart.shades else ()),
        "</svg>",
    ]
    return Markup("".join(parts))  # noqa: S704 - all texts have gone through escape


def swatch(key: Key) -> Markup:
    """Draw the line of a legend, as it looks in the picture."""
    style = key.style
    curve = f'<path d="M1 6H33" fill="none" {_stroke(style.colour, 2, style.dash)}/>'
    mark = _marker(style, 17, 6, 7, hollow=key.is_hollow, tip="")
    return Markup(f'<svg width="34" height="12" aria-hidden="true">{curve}{mark}</svg>')  # noqa: S704


def _frame(chart: Chart) -> _Frame:
    longest = max((len(text) for _, text in chart.y.ticks), default=0)
    left = 8 if chart.names_above else min(8 + LETTER * longest, MOST_LABEL * chart.width)
    top = (LINE_HEIGHT + 2 if chart.title else 0) + (LINE_HEIGHT if chart.y.label else 6)
    bottom = LINE_HEIGHT + 2 + (LINE_HEIGHT if chart.x.label else 0)
    right = SHADES_WIDTH if chart.shades else RIGHT
    return _Frame(left, top, chart.width - left - right, chart.height - top - bottom, chart.x, chart.y)


def _title(chart: Chart) -> str:
    """Write as much of the title as there is room for; the pointer shows all of it."""
    short, tip = _shortened(chart.title, int(chart.width / TITLE_LETTER))
    return _words(0, 12, short, size=12, weight=600, tip=tip)


def _y_axis(frame: _Frame, has_grid: bool, has_names: bool) -> Iterable[str]:
    most = int(frame.left / LETTER)
    heights = _heights(frame)
    if has_grid and heights:
        yield _rules([(frame.left, y, frame.left + frame.width, y) for y in heights], GRID)
    for y, (_, text) in zip(heights if has_names else (), frame.y.ticks, strict=has_names):
        short, tip = _shortened(text, most)
        yield _words(frame.left - 5, y + 3.5, short, anchor="end", tip=tip)


def _names_above(frame: _Frame) -> Iterable[str]:
    """Write the names of the y axis over the marks, each above its line."""
    for y, (_, text) in zip(_heights(frame), frame.y.ticks, strict=True):
        short, tip = _shortened(text, int(frame.width / LETTER))
        yield _words(frame.left, y - ABOVE, short, tip=tip)


def _heights(frame: _Frame) -> list[float]:
    """List the places of the ticks of the y axis in the picture."""
    return [frame.top + float(y) for y in frame.ys([value for value, _ in frame.y.ticks])]


def _shortened(text: str, most: int) -> tuple[str, str]:
    """Cut a text that has no room; its whole is what the pointer shows."""
    return (text, "") if len(text) <= most else (text[: most - 1] + "…", text)


def _x_axis(frame: _Frame, has_grid: bool) -> Iterable[str]:
    foot, taken = frame.top + frame.height, -1.0
    places = [frame.left + float(x) for x in frame.xs([value for value, _ in frame.x.ticks])]
    if has_grid and places:
        yield _rules([(x, frame.top, x, foot) for x in places], GRID)
    across = (frame.left, foot, frame.left + frame.width, foot)
    yield _rules([across, *((x, foot, x, foot + 4) for x in places)], RULE)
    for x, (_, text) in zip(places, frame.x.ticks, strict=True):
        half = LETTER * len(text) / 2
        middle = min(max(x, half), frame.left + frame.width + RIGHT - half)
        if middle - half > taken:  # else it would overlap the one before
            taken = middle + half + LETTER / 2
            yield _words(middle, foot + 15, text, anchor="middle")
    if frame.x.label:
        middle = frame.left + frame.width / 2
        yield _words(middle, foot + 31, frame.x.label, anchor="middle", colour=SOFT)


def _shades(shades: Shades, frame: _Frame) -> Iterable[str]:
    """Draw a bar of colours, the lowest at the foot, with its labels beside it."""
    x = frame.left + frame.width + 10
    step = frame.height / len(shades.colours)
    for i, colour in enumerate(shades.colours):
        top = frame.top + frame.height - (i + 1) * step
        yield f'<rect x="{_n(x)}" y="{_n(top)}" width="11" height="{_n(step + 0.5)}" fill="{colour}"/>'
    last = max(len(shades.labels) - 1, 1)
    for i, label in enumerate(shades.labels):
        yield _words(x + 15, frame.top + frame.height * (1 - i / last) + 4, label)


@singledispatch
def _drawn(mark: object, _frame: _Frame) -> str:
    raise TypeError(f"no picture of {type(mark).__name__}")


@_drawn.register
def _(mark: Curve, frame: _Frame) -> str:
    xs, ys = frame.xs(mark.x), frame.ys(mark.y)
    path = _steps(xs, ys) if mark.is_step else _path(xs, ys)
    stroke = _stroke(mark.style.colour, mark.width, mark.style.dash, mark.alpha)
    return _tipped("path", f'd="{path}" fill="none" {stroke}', mark.tip)


@_drawn.register
def _(mark: Band, frame: _Frame) -> str:
    there, back = frame.xs(mark.x), frame.xs(mark.x)[::-1]
    outline = _path(
        np.concatenate((there, back)), np.concatenate((frame.ys(mark.low), frame.ys(mark.high)[::-1]))
    )
    return f'<path d="{outline}z" fill="{mark.colour}" fill-opacity="{mark.alpha}"/>'


@_drawn.register
def _(mark: Outline, frame: _Frame) -> str:
    path = _path(frame.xs(mark.x), frame.ys(mark.y))
    return _tipped("path", f'd="{path}z" fill="{mark.colour}" fill-opacity="{mark.alpha}"', mark.tip)


@_drawn.register
def _(mark: Dots, frame: _Frame) -> str:
    xs, ys = frame.xs(mark.x), frame.ys(mark.y)
    hollow = mark.hollow or [False] * len(xs)
    tips = mark.tips or [""] * len(xs)
    each = zip(xs.tolist(), ys.tolist(), hollow, tips, strict=True)
    drawn = "".join(_marker(mark.style, x, y, mark.size, is_hollow, tip) for x, y, is_hollow, tip in each)
    return drawn if mark.alpha == 1.0 else f'<g opacity="{mark.alpha}">{drawn}</g>'


@_drawn.register
def _(mark: Bars, frame: _Frame) -> str:
    ends = (frame.xs(mark.x0), frame.ys(mark.y0), frame.xs(mark.x1), frame.ys(mark.y1))
    each = zip(*(end.tolist() for end in ends), strict=True)
    path = "".join(f"M{_n(x0)} {_n(y0)}L{_n(x1)} {_n(y1)}" for x0, y0, x1, y1 in each)
    return f'<path d="{path}" fill="none" {_stroke(mark.colour, mark.width, mark.dash, mark.alpha)}/>'


@_drawn.register
def _(mark: Boxes, frame: _Frame) -> str:
    found = []
    corners = zip(frame.xs(mark.x0), frame.ys(mark.y0), frame.xs(mark.x1), frame.ys(mark.y1), strict=True)
    for i, (x0, y0, x1, y1) in enumerate(corners):
        left, top, width, height = min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)
        box = f'x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}"'
        found.append(_tipped("rect", f'{box} fill="{mark.colours[i]}"', mark.tips[i] if mark.tips else ""))
        if mark.texts and mark.texts[i]:
            ink = mark.inks[i] if mark.inks else INK
            found.append(
                _words(left + width / 2, top + height / 2 + 4, mark.texts[i], anchor="middle", colour=ink)
            )
    return "".join(found)


@_drawn.register
def _(mark: Image, frame: _Frame) -> str:
    xs, ys = sorted(frame.xs([mark.x0, mark.x1])), sorted(frame.ys([mark.y0, mark.y1]))
    place = f'x="{_n(xs[0])}" y="{_n(ys[0])}" width="{_n(xs[1] - xs[0])}" height="{_n(ys[1] - ys[0])}"'
    data = base64.b64encode(_png(mark.rows)).decode()
    return (
        f'<image {place} preserveAspectRatio="none" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{data}"/>'
    )


def _png(rows: Sequence[Sequence[str | None]]) -> bytes:
    """Write pixels of `#rrggbb` as a PNG; None is transparent."""
    lines = b"".join(
        b"\0" + b"".join(bytes.fromhex(f"{one[1:]}ff" if one else "00000000") for one in row) for row in rows
    )
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _marker(style: Style, x: float, y: float, size: float, hollow: bool, tip: str) -> str:
    """Draw a marker; hollow ones are filled with the paper's colour, so that no line shows through."""
    half = size / 2
    fill = "#fff" if hollow else style.colour
    look = f'fill="{fill}" stroke="{style.colour}" stroke-width="1.5"'
    if style.marker in _STROKES:
        at = f'transform="translate({_n(x)} {_n(y)}) scale({_n(half)})" vector-effect="non-scaling-stroke"'
        stroke = _stroke(style.colour, 2.5)
        return _tipped("path", f'd="{_STROKES[style.marker]}" fill="none" {at} {stroke}', tip)
    if style.marker in _CORNERS:
        corners = np.asarray(_CORNERS[style.marker]) * half + (x, y)
        return _tipped("path", f'd="{_path(corners[:, 0], corners[:, 1])}z" {look}', tip)
    return _tipped("circle", f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(half)}" {look}', tip)


def _tipped(tag: str, attributes: str, tip: str) -> str:
    return f"<{tag} {attributes}><title>{escape(tip)}</title></{tag}>" if tip else f"<{tag} {attributes}/>"


def _path(xs: FloatArray, ys: FloatArray) -> str:
    """Write a path from point to point; points on the line of their neighbours are left out."""
    kept = _bends(xs, ys)
    # Python's numbers are written in half the time of numpy's.
    places = zip(xs[kept].tolist(), ys[kept].tolist(), strict=True)
    return "M" + "L".join([f"{_n(x)} {_n(y)}" for x, y in places])


def _bends(xs: FloatArray, ys: FloatArray) -> NDArray[np.bool_]:
    """Find where a line turns: ends, and points further than `NEAR` from the line between their
    neighbours.
    """
    kept = np.ones(xs.size, dtype=bool)
    if xs.size > 2:
        dx, dy = xs[2:] - xs[:-2], ys[2:] - ys[:-2]
        length = np.maximum(np.hypot(dx, dy), 1e-9)
        away = np.abs(dx * (ys[1:-1] - ys[:-2]) - dy * (xs[1:-1] - xs[:-2])) / length
        kept[1:-1] = away > NEAR
        kept[2:-1:2] = True  # at most one of two neighbours is dropped, so that no slow bend is lost
    return kept


def _steps(xs: FloatArray, ys: FloatArray) -> str:
    """Write steps: up or down, then across."""
    moves = [f"V{_n(y)}H{_n(x)}" for x, y in zip(xs[1:].tolist(), ys[1:].tolist(), strict=True)]
    return f"M{_n(xs[0])} {_n(ys[0])}" + "".join(moves)


def _n(value: float) -> str:
    """Write a length with one decimal, enough for a screen."""
    return f"{value:.1f}".removesuffix(".0")


def _stroke(colour: str, width: float, dash: str = "", alpha: float = 1.0) -> str:
    words = [f'stroke="{colour}" stroke-width="{width:g}"']
    words += [f'stroke-dasharray="{dash}"'] if dash else []
    words += [f'stroke-opacity="{alpha:g}"'] if alpha != 1.0 else []
    return " ".join(words)


def _rules(lines: Sequence[tuple[float, float, float, float]], colour: str) -> str:
    path = "".join(f"M{_n(x0)} {_n(y0)}L{_n(x1)} {_n(y1)}" for x0, y0, x1, y1 in lines)
    return f'<path d="{path}" stroke="{colour}"/>'


def _words(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    colour: str = INK,
    size: int = FONT,
    weight: int = 400,
    tip: str = "",
) -> str:
    """Write a text; attributes that the picture sets are left out."""
    words = [f'x="{_n(x)}" y="{_n(y)}"']
    words += [f'text-anchor="{anchor}"'] if anchor != "start" else []
    words += [f'fill="{colour}"'] if colour != INK else []
    words += [f'font-size="{size}"'] if size != FONT else []
    words += [f'font-weight="{weight}"'] if weight != 400 else []
    title = f"<title>{escape(tip)}</title>" if tip else ""
    return f"<text {' '.join(words)}>{escape(text)}{title}</text>"
