"""Pictures of the exchanges of an application: the ratio of each way to messages of one thread."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.models.exchanges import Exchanges
from steelyard.plots.axes import drawn_ends, log_axis, names_axis, style_of
from steelyard.plots.chart import FULL, Bars, Chart, Dots, Key, Mark
from steelyard.plots.ratios import LEAST_SHOWN
from steelyard.plots.svg import RULE
from steelyard.show.exchange_sheets import way_words


def exchange_charts(found: Sequence[Exchanges], names: Sequence[str]) -> list[Chart]:
    """A picture for each application, a row for each way, the fastest on top; 1 is a grey line.

    Hollow marks are ratios whose interval holds 1. `names` are those of the applications.
    """
    return [_chart(one, name) for one, name in zip(found, names, strict=True)]


def _chart(one: Exchanges, name: str) -> Chart:
    ways = sorted(one.ways, key=lambda way: way.time)
    movers = sorted({way.movers for way in ways})
    marks: list[Mark] = [Bars([1.0], [-1.0], [1.0], [float(len(ways))], RULE, width=1)]
    shown: list[float] = [*LEAST_SHOWN]
    for place, way in enumerate(ways):
        span, style = way.ratio, style_of(movers.index(way.movers))
        low, high = drawn_ends(span.value, span.low, span.high)
        shown += [span.value, low, high]
        holds = span.low is None or span.high is None or span.low <= 1.0 <= span.high
        marks.append(Bars([low], [float(place)], [high], [float(place)], style.colour, width=3, alpha=0.4))
        interval = "" if span.low is None else f" ({span.low:.3g} – {span.high:.3g})"
        tip = f"{way_words(way)}\n{span.value:.3g}{interval}"
        marks.append(Dots([span.value], [float(place)], style, hollow=[holds], tips=[tip]))
    return Chart(
        title=name,
        x=log_axis("time / time of nonblocking messages of one thread", shown, "{:g}".format),
        y=names_axis("", [way_words(way) for way in ways], most=len(ways), is_down=True),
        marks=tuple(marks),
        height=48 + 24 * len(ways),
        width=FULL,
        legend=tuple(
            Key("1 mover" if count == 1 else f"{count} movers", style_of(i)) for i, count in enumerate(movers)
        )
        if len(movers) > 1
        else (),
    )
