"""Pictures for a phone: all of them in sight, long names above their lines."""

from __future__ import annotations

from dataclasses import replace

from steelyard.render.chart import Chart

WIDTH = 366  # CSS pixels: those of a phone, 390, less the margins of the page
_ROW = 36  # CSS pixels of a line with its name above
_ENDS = 56  # CSS pixels above the first line and of the x axis
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
