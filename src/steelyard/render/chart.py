"""A picture as data: axes and marks in the units of the measurement. `svg` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.stats.arrays import FloatArray

Numbers = Sequence[float] | FloatArray

FULL, HALF, THIRD, QUARTER = 1040, 508, 334, 248  # widths in CSS pixels: one to four pictures in a line


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a line. Each has a marker of its own, for prints without colour."""

    colour: str
    dash: str = ""
    marker: str = "circle"


@dataclass(frozen=True, slots=True)
class Key:
    """A line of a legend; its marker is hollow if those of the picture are."""

    label: str
    style: Style
    is_hollow: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from `low` to `high` (which may run downwards), with its labelled ticks."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    is_log: bool = False

    def place(self, values: ArrayLike) -> FloatArray:
        """Compute the places of values between the ends, 0 to 1; same shape."""
        ends = np.asarray([self.low, self.high], dtype=float)
        found = np.asarray(values, dtype=float)
        if self.is_log:
            ends, found = np.log(ends), np.log(np.maximum(found, min(self.low, self.high) * 1e-6))
        return np.asarray((found - ends[0]) / (ends[1] - ends[0]))


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, shapes (n,); a step reaches each point at that point's height."""

    x: Numbers
    y: Numbers
    style: Style
    width: float = 2.0
    alpha: float = 1.0
    is_step: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two curves over the same `x`."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str
    alpha: float = 0.16


@dataclass(frozen=True, slots=True)
class Dots:
    """A mark at each point, hollow if `hollow` says so; `tips` are the words at the pointer."""

    x: Numbers
    y: Numbers
    style: Style
    size: float = 7.0
    hollow: Sequence[bool] = ()
    tips: Sequence[str] = ()
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Bars:
    """Straight lines from (x0, y0) to (x1, y1)."""

    x0: Numbers
    y0: Numbers
    x1: Numbers
    y1: Numbers
    colour: str
    width: float = 1.5
    alpha: float = 1.0
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Filled rectangles, with words in their middles if there are `texts`."""

    x0: Numbers
    y0: Numbers
    x1: Numbers
    y1: Numbers
    colours: Sequence[str]
    texts: Sequence[str] = ()
    inks: Sequence[str] = ()
    tips: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A filled outline."""

    x: FloatArray
    y: FloatArray
    colour: str
    alpha: float = 0.6
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    """A colour for each cell, shape (rows, columns), row 0 on top; None for an empty cell."""

    x0: float
    y0: float
    x1: float
    y1: float
    rows: Sequence[Sequence[str | None]]


M = TypeVar("M", Curve, Band, Dots, Bars, Boxes, Outline, Image)
Mark = Curve | Band | Dots | Bars | Boxes | Outline | Image


@dataclass(frozen=True, slots=True)
class Shades:
    """The colours of a heat map beside their meaning, the lowest first."""

    colours: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture. `legend` is its own, if no other explains its lines; `note` says what it leaves out.

    `names_above`: names of the y axis stand above their lines, not left of them.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    height: int = 300
    width: int = HALF
    legend: tuple[Key, ...] = ()
    shades: Shades | None = None
    note: str = ""
    has_grid: bool = True
    names_above: bool = False

    def marks_of(self, kind: type[M]) -> list[M]:
        """List the marks of one kind, in the order of drawing."""
        return [mark for mark in self.marks if isinstance(mark, kind)]
