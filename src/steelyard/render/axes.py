"""Common parts of pictures: axes and their ticks, colours, styles of lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from steelyard.base.units import format_bytes
from steelyard.render.chart import Axis, Style

TickWords = Callable[[float], str]

# Colours and markers that differ in lightness and in shape, for prints without colour.
PALETTE = ("#0a4a86", "#e0781e", "#2a8f5b", "#6d2f85", "#a88b00", "#a8123f", "#3fa0bd", "#555555")
MARKERS = ("circle", "square", "diamond", "star", "hexagon", "tall", "wide", "plus")
MOST_COLOURS = len(PALETTE)  # that a reader can distinguish in one picture
DASHES = ("", "7 4", "2 3")
TICK_STEPS = (1.0, 3.0, 2.0, 5.0, 1.5, 7.0, 2.5, 4.0, 6.0, 8.0, 9.0, 1.2, 1.1, 1.3, 1.4, 1.7, 3.5, 4.5, 5.5)
LINEAR_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
FARTHEST = 10.0  # times a value: the farthest end of a drawn interval
MOST_SIZES = 10  # that are named below a picture
# Viridis at nine places: perceptually even, and as dark in grey as in colour.
_VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
_DARKER = ("#f7f7f3", "#7f1d1d")  # from nothing to much


def style_of(number: int, dash: str = "") -> Style:
    """Choose the style of line `number` of a picture; lines of one colour may differ in `DASHES`."""
    return Style(PALETTE[number % MOST_COLOURS], dash, MARKERS[number % MOST_COLOURS])


def position_of(size: int, sizes: Sequence[int]) -> float:
    """Compute log2 of a size; 0 bytes stand one octave left of the smallest other size."""
    if size > 0:
        return math.log2(size)
    return math.log2(min((one for one in sizes if one > 0), default=2)) - 1.0


def size_axis(sizes: Sequence[int]) -> Axis:
    """Sizes in octaves, the smallest first."""
    places = [position_of(size, sizes) for size in sizes]
    step = max(1, math.ceil(len(places) / MOST_SIZES))
    ticks = tuple((place, format_bytes(size)) for place, size in zip(places, sizes, strict=True))
    return Axis("size", places[0] - 0.5, places[-1] + 0.5, ticks[::step])


def log_axis(label: str, values: Iterable[float | None], words: TickWords, most: int = 8) -> Axis:
    """Make a logarithmic axis that fits `values`, with round ticks."""
    low, high = limits([value for value in values if value is not None])
    return Axis(label, low, high, log_ticks(low, high, words, most), is_log=True)


def drawn_ends(value: float, low: float | None, high: float | None) -> tuple[float, float]:
    """Limit the drawn ends of an interval to a factor of ten, to leave room for the rest."""
    low, high = value if low is None else low, value if high is None else high
    return max(low, value / FARTHEST), min(high, value * FARTHEST)


def ends_within(axis: Axis, value: float, low: float | None, high: float | None) -> tuple[float, float]:
    """Limit an interval to an axis: a longer one ends at the picture's edge."""
    low, high = value if low is None else low, value if high is None else high
    return max(low, axis.low), min(high, axis.high)


def limits(values: Iterable[float]) -> tuple[float, float]:
    """Find the ends of a logarithmic axis, an eighth of its length beyond the values, and at least a factor
    of 2.
    """
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    margin = max(0.08 * (high - low), (0.30103 - (high - low)) / 2, 0.05)
    return 10 ** (low - margin), 10 ** (high + margin)


def log_ticks(low: float, high: float, words: TickWords, most: int = 8) -> tuple[tuple[float, str], ...]:
    """List the ticks of a logarithmic axis: round numbers first, finer ones if there is room."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    gap = math.log10(high / low) / most
    ticks: list[float] = []
    for step in TICK_STEPS:
        for decade in decades:
            tick = step * 10.0**decade
            if low <= tick <= high and all(abs(math.log10(tick / other)) >= gap for other in ticks):
                ticks.append(tick)
    return worded(sorted(ticks) or [low], words)


def linear_axis(label: str, low: float, high: float, words: TickWords = "{:g}".format, most: int = 6) -> Axis:
    """Make a linear axis with round ticks."""
    high = high if high > low else low + 1.0
    scale = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next((one * scale for one in LINEAR_STEPS if (high - low) / (one * scale) <= most), 10 * scale)
    first = math.ceil(low / step - 1e-9)
    ticks = [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]
    return Axis(label, low, high, worded(ticks, words))


def names_axis(label: str, names: Sequence[str], most: int, is_down: bool = False) -> Axis:
    """Make an axis with a place for each name; if names are many, only each second or third is written."""
    step = max(1, -(-len(names) // most))
    ticks = tuple((float(place), names[place]) for place in range(0, len(names), step))
    low, high = -0.5, max(len(names), 1) - 0.5
    return Axis(label, *((high, low) if is_down else (low, high)), ticks)


def worded(ticks: Iterable[float], words: TickWords) -> tuple[tuple[float, str], ...]:
    """Label ticks; `10.0 us` becomes `10 us`, because a tick is exact."""
    return tuple((tick, _short(words(tick))) for tick in ticks)


def _short(text: str) -> str:
    number, space, unit = text.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def shade(share: float, is_even: bool = True) -> str:
    """Choose the colour of a share from 0 to 1: viridis, or from pale to dark red."""
    stops = _VIRIDIS if is_even else _DARKER
    at = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(at), len(stops) - 2)
    a, b = (np.array([int(stop[i : i + 2], 16) for i in (1, 3, 5)]) for stop in stops[first : first + 2])
    return "#" + "".join(f"{round(one):02x}" for one in a + (at - first) * (b - a))


def ink_on(colour: str) -> str:
    """Choose black or white, whichever is more legible on a colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#1c1c1c" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"
