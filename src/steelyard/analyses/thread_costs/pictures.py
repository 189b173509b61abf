"""Pictures of threads: the rate of calls over the threads of a rank, a curve for each way to call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from steelyard.analyses.thread_costs.model import ThreadCurve, ThreadPoint
from steelyard.analyses.thread_costs.tables import LAYOUT, all_threads_table, thread_labels
from steelyard.base.units import format_bytes, format_count_rate
from steelyard.render.axes import MOST_COLOURS, drawn_ends, limits, linear_axis, log_axis, style_of, worded
from steelyard.render.chart import FULL, HALF, Axis, Bars, Chart, Curve, Dots, Key, Mark, Style
from steelyard.render.sections import Part, View
from steelyard.render.svg import RULE
from steelyard.rows.labels import Labels
from steelyard.rows.pictures.panels import MOST_PANELS, left_out_words

_OWN = ("thread", "comms")  # words of a layout in which threads share nothing: dashed
_DASH = "7 4"
_PICTURE: tuple[str, ...] = ("mpi", "bytes", "ranks", "method")  # facts that curves of a picture share


def thread_charts(curves: Sequence[ThreadCurve]) -> list[Chart]:
    """Draw a picture for each MPI and size, or for each op of those if colours do not suffice; with
    intervals.

    Colours stand for ops and ways to synchronise and complete. Dashed curves have windows or communicators
    for each thread. The grey line has as many calls per thread as one thread alone makes. Axes are
    logarithmic.
    """
    if not curves:
        return []
    labels = thread_labels(curves)
    keys = _PICTURE
    panels = _panels(curves, labels, keys)
    if any(len({_way(labels, i) for i in panel}) > MOST_COLOURS for panel in panels.values()):
        keys = (*_PICTURE, "op")
        panels = _panels(curves, labels, keys)
    width = HALF if len(panels) > 1 else FULL
    left_out = list(panels)[MOST_PANELS:]
    charts = [
        _chart(title, [(i, curves[i]) for i in panel], labels, keys, width)
        for title, panel in list(panels.items())[:MOST_PANELS]
    ]
    if left_out:
        charts[-1] = replace(charts[-1], note=left_out_words(left_out, "picture"))
    return charts


def each_thread_charts(curves: Sequence[ThreadCurve]) -> list[Chart]:
    """Draw the rate of each thread of a rank, for the most threads that noted their times; a picture for each
    op.

    Colours and dashes are those of `thread_charts`. The rate axis is logarithmic.
    """
    told = [curve for curve in curves if _noted(curve) is not None]
    labels = thread_labels(told) if told else None
    if labels is None:
        return []
    keys = (*_PICTURE, "op")
    panels = list(_panels(told, labels, keys).items())
    charts = [_each_chart(title, told, panel, labels, keys) for title, panel in panels[:MOST_PANELS]]
    left_out = [title for title, _ in panels[MOST_PANELS:]]
    if left_out:
        charts[-1] = replace(charts[-1], note=left_out_words(left_out, "picture"))
    return charts


def _noted(curve: ThreadCurve) -> Sequence[float] | None:
    """Find the rates of the most threads that have noted their own times."""
    return next((point.thread_rates for point in reversed(curve.points) if point.thread_rates), None)


def _each_chart(
    title: str, curves: Sequence[ThreadCurve], panel: Sequence[int], labels: Labels, keys: Collection[str]
) -> Chart:
    ways = list(dict.fromkeys(_way(labels, i) for i in panel))
    shown = [i for i in panel if ways.index(_way(labels, i)) < MOST_COLOURS]
    rates = [_noted(curves[i]) or () for i in shown]
    styles = [_style(ways.index(_way(labels, i)), curves[i]) for i in shown]
    names = [_said(labels, i, keys) or curves[i].op for i in shown]
    marks: list[Mark] = []
    for own, style, name in zip(rates, styles, names, strict=True):
        threads = [float(thread) for thread in range(len(own))]
        tips = [f"{name}\nthread {i}: {format_count_rate(rate)}" for i, rate in enumerate(own)]
        marks += [Curve(threads, list(own), style), Dots(threads, list(own), style, tips=tips)]
    return Chart(
        title=f"{title}: each thread" if title else "each thread",
        x=linear_axis("thread", -0.5, max(map(len, rates)) - 0.5),
        y=log_axis("calls a second of a thread", [rate for own in rates for rate in own], format_count_rate),
        marks=tuple(marks),
        height=260,
        width=HALF,
        legend=tuple(Key(name, style) for name, style in zip(names, styles, strict=True)),
        note=left_out_words([_said(labels, i, keys) for i in panel if i not in shown], "curve"),
    )


def _panels(curves: Sequence[ThreadCurve], labels: Labels, keys: Sequence[str]) -> dict[str, list[int]]:
    """Group the curves of each picture, by its title."""
    panels: dict[str, list[int]] = {}
    for i in range(len(curves)):
        said = (axis.facts[i].said for axis in labels.varying if axis.key in keys)
        panels.setdefault(", ".join(word for word in said if word), []).append(i)
    return panels


def _way(labels: Labels, i: int) -> str:
    """Name the fact that a colour stands for."""
    return _said(labels, i, (*_PICTURE, *(f"param {name}" for name in LAYOUT)))


def _chart(
    title: str,
    members: Sequence[tuple[int, ThreadCurve]],
    labels: Labels,
    keys: Collection[str],
    width: int,
) -> Chart:
    """Draw a picture of curves that share the facts `keys`."""
    ways = list(dict.fromkeys(_way(labels, i) for i, _ in members))
    shown = [(i, curve) for i, curve in members if ways.index(_way(labels, i)) < MOST_COLOURS]
    styles = [_style(ways.index(_way(labels, i)), curve) for i, curve in shown]
    names = [_said(labels, i, keys) or curve.op for i, curve in shown]
    counts = sorted({point.threads for _, curve in shown for point in curve.points})
    first, last = counts[0], counts[-1]
    ends = [end for _, curve in shown for point in curve.points for end in _ends(point)]
    start = max(curve.points[0].rate / curve.points[0].threads for _, curve in shown)
    alone = [start * first, start * last]
    ideal = Curve([first, last], alone, Style(RULE), width=1, tip="each thread as one alone")
    low, high = limits([first, last])
    marks = [
        mark
        for (_, curve), style, name in zip(shown, styles, names, strict=True)
        for mark in _marks(curve, style, name)
    ]
    return Chart(
        title=title,
        x=Axis("threads of a rank", low, high, worded(counts, "{:g}".format), is_log=True),
        y=log_axis("calls a second", [*ends, *alone], format_count_rate),
        marks=(ideal, *marks),
        height=320,
        width=width,
        legend=tuple(Key(name, style) for name, style in zip(names, styles, strict=True)),
        note=left_out_words([_said(labels, i, keys) for i, one in members if (i, one) not in shown], "curve"),
    )


def _said(labels: Labels, i: int, without: Collection[str]) -> str:
    """Write what differs, without some of it."""
    said = (axis.facts[i].said for axis in labels.varying if axis.key not in without)
    return ", ".join(word for word in said if word)


def _style(number: int, curve: ThreadCurve) -> Style:
    own = any(curve.params.get(name) in _OWN for name in LAYOUT)
    return replace(style_of(number), dash=_DASH if own else "")


def _ends(point: ThreadPoint) -> tuple[float, float]:
    """Compute the drawn interval of a rate."""
    return drawn_ends(point.rate, point.rate_low, point.rate_high)


def _marks(curve: ThreadCurve, style: Style, name: str) -> Iterator[Mark]:
    x, y = [float(point.threads) for point in curve.points], [point.rate for point in curve.points]
    ends = [_ends(point) for point in curve.points]
    yield Bars(x, [low for low, _ in ends], x, [high for _, high in ends], style.colour, alpha=0.5)
    yield Curve(x, y, style)
    tips = [
        f"{name}, {format_bytes(curve.bytes)}\n{point.threads} threads: {format_count_rate(point.rate)}, "
        f"kept {point.kept:.3g}"
        for point in curve.points
    ]
    yield Dots(x, y, style, tips=tips)


def all_threads(curves: Sequence[ThreadCurve]) -> Part:
    """Make the folded part: a picture of each number of threads, and one table of all."""
    each = tuple(each_thread_charts(curves))
    whole = replace(all_threads_table(curves), title="")
    return Part("All numbers of threads", (View("", "", each),) if each else (), tables=(whole,))
