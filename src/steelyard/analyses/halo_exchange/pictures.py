"""Pictures of the exchanges of an application: the ratio of each way to messages of one thread; phases."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.halo_exchange.model import Exchanges, ExchangeWay
from steelyard.analyses.halo_exchange.tables import exchange_names, way_words
from steelyard.base.units import format_time
from steelyard.render.axes import PALETTE, drawn_ends, linear_axis, log_axis, names_axis, style_of
from steelyard.render.chart import FULL, Bars, Boxes, Chart, Dots, Key, Mark, Style
from steelyard.render.svg import RULE
from steelyard.rows.pictures.ratios import LEAST_SHOWN

_HEIGHT, _LINE = 48, 24  # of a picture without rows, and of a row, in CSS pixels
_HALF_BAR = 0.35  # of the distance of two rows


def exchange_charts(entries: Sequence[Exchanges]) -> list[Chart]:
    """Draw two pictures for each application, with a row for each way, the fastest on top.

    The first has the ratios to the base; 1 is a grey line, and hollow marks are ratios whose interval holds
    it. The second, if phases were recorded, has the time as a bar of its phases.
    """
    return [
        chart
        for one, name in zip(entries, exchange_names(entries), strict=True)
        for chart in (_chart(one, name), *([_phase_chart(one, name)] if one.base.shares else []))
    ]


def _chart(exchanges: Exchanges, name: str) -> Chart:
    ways = sorted(exchanges.ways, key=lambda way: way.time)
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
        height=_HEIGHT + _LINE * len(ways),
        width=FULL,
        legend=tuple(
            Key("1 mover" if count == 1 else f"{count} movers", style_of(i)) for i, count in enumerate(movers)
        )
        if len(movers) > 1
        else (),
    )


def _phase_chart(exchanges: Exchanges, name: str) -> Chart:
    ways = sorted(exchanges.ways, key=lambda way: way.time)
    phases = list(exchanges.base.shares)
    marks = [_phase_boxes(i, phase, phases[:i], ways) for i, phase in enumerate(phases)]
    return Chart(
        title=f"{name}: where the time goes",
        x=linear_axis("time", 0.0, max(way.time for way in ways), format_time),
        y=names_axis("", [way_words(way) for way in ways], most=len(ways), is_down=True),
        marks=tuple(marks),
        height=_HEIGHT + _LINE * len(ways),
        width=FULL,
        legend=tuple(Key(phase, Style(_colour(i), marker="square")) for i, phase in enumerate(phases)),
    )


def _phase_boxes(i: int, phase: str, before: Sequence[str], ways: Sequence[ExchangeWay]) -> Boxes:
    """Draw the part of each bar for phase `i`, after those of the phases before it."""
    starts = [way.time * sum(way.shares.get(one, 0.0) for one in before) for way in ways]
    lengths = [way.time * way.shares.get(phase, 0.0) for way in ways]
    places = [float(place) for place in range(len(ways))]
    return Boxes(
        x0=starts,
        y0=[place - _HALF_BAR for place in places],
        x1=[start + length for start, length in zip(starts, lengths, strict=True)],
        y1=[place + _HALF_BAR for place in places],
        colours=[_colour(i)] * len(ways),
        tips=[
            f"{way_words(way)}\n{phase}: {format_time(length)} of {format_time(way.time)}"
            for way, length in zip(ways, lengths, strict=True)
        ],
    )


def _colour(i: int) -> str:
    return PALETTE[i % len(PALETTE)]
