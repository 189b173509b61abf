"""A picture of congestion: impact factors by quantile, a place for each victim beside each congestor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.analyses.congestion.model import QUANTILES, Congestion
from steelyard.analyses.congestion.tables import congestion_labels
from steelyard.base.units import format_factor
from steelyard.render.axes import drawn_ends, log_axis, names_axis, style_of
from steelyard.render.chart import Bars, Chart, Curve, Dots, Key, Mark, Style

MOST_PLACES = 40
_APART = 0.22  # of a place: between the marks of two quantiles


def congestion_charts(victims: Sequence[Congestion]) -> list[Chart]:
    """Draw one picture; none without any."""
    shown = victims[:MOST_PLACES]
    if not shown:
        return []
    labels = congestion_labels(shown)
    names = [
        ", ".join(part for part in (labels.label(i), victim.traffic) if part)
        for i, victim in enumerate(shown)
    ]
    spans = [span for victim in shown for span in victim.impact.values()]
    ends = [end for span in spans for end in (span.value, *drawn_ends(span.value, span.low, span.high))]
    return [
        Chart(
            title="impact of congestion",
            x=log_axis("times as long as beside idle ranks", [1.0, *ends], format_factor),
            y=names_axis("", names, MOST_PLACES, is_down=True),
            marks=tuple(_marks(shown)),
            height=80 + 26 * len(shown),
            legend=tuple(Key(name, style_of(i)) for i, name in enumerate(QUANTILES)),
            note=f"{len(victims) - len(shown)} more are in the table" if len(victims) > len(shown) else "",
        )
    ]


def _marks(shown: Sequence[Congestion]) -> Iterator[Mark]:
    yield Curve([1.0, 1.0], [-0.5, len(shown) - 0.5], Style("#555555", dash="4 3"), width=1.0)
    for number, quantile in enumerate(QUANTILES):
        style = style_of(number)
        places = [
            (i + _APART * (number - 1), victim) for i, victim in enumerate(shown) if quantile in victim.impact
        ]
        y = [place for place, _ in places]
        spans = [victim.impact[quantile] for _, victim in places]
        ends = [drawn_ends(span.value, span.low, span.high) for span in spans]
        yield Bars([low for low, _ in ends], y, [high for _, high in ends], y, style.colour)
        tips = [f"{quantile}: {format_factor(span.value)} times" for span in spans]
        yield Dots([span.value for span in spans], np.array(y), style, tips=tips)
