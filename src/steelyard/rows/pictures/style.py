"""How a row looks in a picture: the style of its line, and the words at the pointer."""

from __future__ import annotations

from steelyard.base.units import format_bytes
from steelyard.records.kinds import BLOCKING, NONBLOCKING, PERSISTENT
from steelyard.render.axes import DASHES, style_of
from steelyard.render.chart import Style
from steelyard.results.facets import Rate, Samples
from steelyard.results.row import Row
from steelyard.rows.figure_groups import FigureLine
from steelyard.rows.row_words import bandwidth_words, value_words
from steelyard.rows.words import interval_words, time_words

_FORMS = (BLOCKING, NONBLOCKING, PERSISTENT)  # of one collective, which differ in their dashes


def form_style(colour: int, form: str) -> Style:
    """Choose the style of a form of a collective."""
    return style_of(colour, DASHES[_FORMS.index(form)] if form in _FORMS else "")


def line_style(line: FigureLine) -> Style:
    """Choose the style of a line of a group, the same in all pictures."""
    return form_style(line.colour, line.form)


def point_words(row: Row, label: str) -> str:
    """Write the pointer's words at a point."""
    size = format_bytes(row.bytes) if row.bytes else ""
    interval = interval_words(row.time_low, row.time_high, row.time)
    words = [", ".join(part for part in (label, size) if part), f"{value_words(row)} ({interval})"]
    words += [f"p99 {time_words(row.get(Samples).p99)}"] if row.get(Samples).p99 is not None else []
    words += [bandwidth_words(row)] if row.get(Rate).bandwidth else []
    words += [" ".join(row.flags)] if row.flags else []
    return "\n".join(words)
