"""Pictures and tables for a phone: all of them in sight, long names above their lines."""

from __future__ import annotations

from dataclasses import replace

from steelyard.render.chart import Chart
from steelyard.render.table import REMARK, WORDS, Table

WIDTH = 366  # CSS pixels: those of a phone, 390, less the margins of the page
_ROW = 36  # CSS pixels of a line with its name above
_ENDS = 56  # CSS pixels above the first line and of the x axis
_LETTERS = 54  # of a line of a table that is WIDTH wide
_LONG = 12  # letters: shorter names leave room for the marks, and so do numbers with their units


def phone_chart(chart: Chart) -> Chart | None:
    """Draw a picture again, as narrow as a phone; None of a matrix, and where the usual one is no wider."""
    if chart.width <= WIDTH or chart.shades is not None:
        return None
    longest = max((len(text) for _, text in chart.y.ticks), default=0)
    if longest < _LONG:
        return replace(chart, width=WIDTH)
    height = _ENDS + round(_ROW * abs(chart.y.low - chart.y.high))
    return replace(chart, width=WIDTH, height=height, names_above=True)


def is_crowded(table: Table) -> bool:
    """Has a phone no room for all columns? Then the first one, of words, stands above what it holds for."""
    body = [column for column in table.columns if column.kind != REMARK]
    if len(body) <= 2 or body[0].kind != WORDS:
        return False
    whole = [line.cells for line in table.lines if len(line.cells) >= len(body)]
    letters = len(body)
    for i, column in enumerate(body):
        cells = max((len(cells[i]) for cells in whole), default=0)
        heading = max(map(len, column.name.split()), default=0)
        letters += max(heading, min(cells, _LONG) if column.kind == WORDS else cells)
    return letters > _LETTERS


def phone_columns(table: Table) -> int:
    """Count the columns that stand side by side on a phone."""
    return sum(column.kind != REMARK for column in table.columns) - is_crowded(table)
