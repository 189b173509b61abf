"""Pictures of points: curves over sizes, rows of dots without sizes, and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from steelyard.base.units import format_bytes, format_count_rate, format_rate, format_time
from steelyard.render.axes import drawn_ends, linear_axis, log_axis, names_axis, position_of, size_axis
from steelyard.render.chart import FULL, Axis, Band, Bars, Chart, Curve, Dots, Mark, Style
from steelyard.results.facets import Modes, Rate, Windows
from steelyard.results.row import Row
from steelyard.rows.figure_groups import FigureGroup, FigureLine
from steelyard.rows.method_words import AT_LEAST, AT_MOST, bound_sign
from steelyard.rows.pictures.panels import Panel, left_out_words, panel_legend, panels_of
from steelyard.rows.pictures.style import line_style, point_words

RateOf = Callable[[Row], float | None]  # per second; None if a row has no rate

_COUNTED = ("messages", "names")  # headlines that say what is counted
POINTING = {AT_MOST: "down", AT_LEAST: "up"}  # a bound is a triangle that points to the truth
TURNED = {"down": "up", "up": "down"}  # an upper bound of a time is a lower bound of a rate
MOST_BANDS = 4  # lines of a picture whose intervals can be distinguished
ROW_HEIGHT, ROWS_BESIDE = 24, 30  # of pictures of dots: pixels a row, or fewer where there are many rows


def latency_charts(group: FigureGroup) -> list[Chart]:
    """Draw time per operation against size, logarithmic axes, with the interval of each line.

    Hollow marks are points that did not converge, short bars their modes, crosses at the foot failed points.
    Triangles are bounds; a band lies between two bounds of one point. Many lines become small multiples. If
    there are more than `MOST_BANDS` in one picture, only the medians are drawn.
    """
    panels, left_out = panels_of(group)
    rows = [item.row for panel in panels for line in panel.lines for item in line.items]
    values = [
        x for row in rows for x in (row.time, *_ends(row), *(mode.value for mode in row.get(Modes).modes))
    ]
    axis = log_axis("time per operation", [*values, *map(lower_bound, rows)], format_time)
    return [
        Chart(
            title=panel.title,
            x=size_axis(group.sizes),
            y=axis,
            marks=tuple(
                mark
                for line in panel.lines
                for mark in _latency_marks(line, group, axis.low)
                if len(panel.lines) <= MOST_BANDS or not _is_beside(mark)
            ),
            height=panel.height,
            width=panel.width,
            legend=panel_legend(group, panel),
            note="; ".join(_latency_notes(panel, left_out if panel is panels[-1] else ())),
        )
        for panel in panels
    ]


def _latency_notes(panel: Panel, left_out: Sequence[str]) -> Iterator[str]:
    """Say what the picture of a panel leaves out."""
    if len(panel.lines) > MOST_BANDS:
        yield "for want of room the intervals and modes are in the table"
    if left_out:
        yield left_out_words(left_out, "line")


def _is_beside(mark: Mark) -> bool:
    """Is it an interval or a mode, beside the medians?"""
    return isinstance(mark, Band) or (isinstance(mark, Dots) and mark.style.marker == "dash")


def _latency_marks(line: FigureLine, group: FigureGroup, foot: float) -> Iterator[Mark]:
    style = line_style(line)
    rows = [item.row for item in line.items]
    good = [row for row in rows if (row.time or 0) > 0]
    x, medians = _places(good, group), [row.time or 0.0 for row in good]
    ends = [_ends(row) for row in good]
    yield Band(x, [low for low, _ in ends], [high for _, high in ends], style.colour)
    if bounded := [row for row in good if lower_bound(row)]:
        at, low = _places(bounded, group), [lower_bound(row) or 0.0 for row in bounded]
        yield Band(at, low, [row.time or 0.0 for row in bounded], style.colour, alpha=0.08)
        yield Curve(at, low, Style(style.colour), width=1, alpha=0.6)
        yield Dots(at, low, Style(style.colour, marker=POINTING[AT_LEAST]))
    yield Curve(x, medians, style)
    yield _medians(line, good, x, medians)
    moded = [
        (row, mode.value) for row in good if len(row.get(Modes).modes) > 1 for mode in row.get(Modes).modes
    ]
    if moded:
        at = _places([row for row, _ in moded], group)
        yield Dots(at, [value for _, value in moded], Style(style.colour, marker="dash"), size=14)
    if lost := [row for row in rows if row.status == "failed"]:
        tips = [f"{line.label}, {format_bytes(row.bytes)}: failed, {row.why}" for row in lost]
        cross = Style(style.colour, marker="cross")
        yield Dots(_places(lost, group), [foot * 1.05] * len(lost), cross, size=10, tips=tips)


def _ends(row: Row) -> tuple[float, float]:
    """Compute the drawn interval of a row; (0, 0) without a median."""
    return drawn_ends(row.time or 0.0, row.time_low, row.time_high)


def _places(rows: Sequence[Row], group: FigureGroup) -> list[float]:
    return [position_of(row.bytes, group.sizes) for row in rows]


def _medians(line: FigureLine, rows: Sequence[Row], x: Sequence[float], y: Sequence[float]) -> Dots:
    """Make marks at medians; those that did not converge are hollow."""
    style = line_style(line)
    pointing = POINTING.get(bound_sign(rows[0])) if rows else None
    return Dots(
        x,
        y,
        Style(style.colour, marker=pointing or style.marker),
        hollow=[row.flag != "SETTLED" for row in rows],
        tips=[point_words(row, line.label) for row in rows],
    )


def lower_bound(row: Row) -> float | None:
    """Find the lower bound of a point, if its method gives one."""
    return row.get(Windows).low_ns if bound_sign(row) == AT_MOST else None


def bandwidth_charts(group: FigureGroup) -> list[Chart]:
    """Draw bandwidth against size, logarithmic axes, with the interval; none if nothing moves bytes."""
    return _rate_charts(group, "bandwidth", lambda row: row.get(Rate).bandwidth, format_rate)


def count_charts(group: FigureGroup) -> list[Chart]:
    """Draw messages or operations per second against size; none if none are counted."""

    def per_second(row: Row) -> float | None:
        mops = row.get(Rate).mops
        return None if mops is None else 1e6 * mops

    headlines = {item.row.headline for item in group.items}
    counted = next((name for name in _COUNTED if headlines == {name}), "operations")
    return _rate_charts(group, f"{counted} a second", per_second, format_count_rate)


def _rate_charts(
    group: FigureGroup, label: str, rate_of: RateOf, words: Callable[[float], str]
) -> list[Chart]:
    panels, _ = panels_of(group)
    rows = [item.row for panel in panels for line in panel.lines for item in line.items if rate_of(item.row)]
    if not rows:
        return []
    axis = log_axis(label, [end for row in rows for end in _rate_ends(row, rate_of)], words)
    return [
        Chart(panel.title, size_axis(group.sizes), axis, marks, panel.height, panel.width)
        for panel in panels
        if (
            marks := tuple(
                mark
                for line in panel.lines
                for mark in _rate_marks(line, group, rate_of)
                if len(panel.lines) <= MOST_BANDS or not _is_beside(mark)
            )
        )
    ]


def _rate_ends(row: Row, rate_of: RateOf) -> tuple[float, float]:
    """Convert the ends of the interval of the time to those of a rate."""
    rate, median, (low, high) = rate_of(row) or 0.0, row.time or 1.0, _ends(row)
    return rate * median / high, rate * median / low


def _rate_marks(line: FigureLine, group: FigureGroup, rate_of: RateOf) -> Iterator[Mark]:
    rows = [item.row for item in line.items if rate_of(item.row)]
    if not rows:
        return
    style, ends = line_style(line), [_rate_ends(row, rate_of) for row in rows]
    x, y = _places(rows, group), [rate_of(row) or 0.0 for row in rows]
    yield Band(x, [low for low, _ in ends], [high for _, high in ends], style.colour)
    yield Curve(x, y, style)
    marks = _medians(line, rows, x, y)
    marker = TURNED.get(marks.style.marker, marks.style.marker)
    yield Dots(x, y, Style(style.colour, marker=marker), hollow=marks.hollow, tips=marks.tips)


def dots_chart(group: FigureGroup) -> Chart:
    """Draw ops without a curve, a row each: time (mark), interval (bar), medians of launches (pale dots)."""
    names = list(dict.fromkeys(line.row for line in group.lines))
    shown = [(line, item.row) for line in group.lines for item in line.items if (item.row.time or 0) > 0]
    values = [x for _, row in shown for x in (row.time, *_ends(row), *_launch_medians(row))]
    axis = log_axis("time per operation", [*values, *(lower_bound(row) for _, row in shown)], format_time)
    places = {name: float(place) for place, name in enumerate(names)}
    per_row = ROW_HEIGHT if len(names) <= ROWS_BESIDE else 0.6 * ROW_HEIGHT
    return Chart(
        title="",
        x=axis,
        y=names_axis("", names, most=len(names), is_down=True),
        marks=tuple(mark for line, row in shown for mark in _dot_marks(line, row, places[line.row])),
        height=round(46 + per_row * len(names)),
        width=FULL,
        note=_without_words([line.label for line in group.lines], [line.label for line, _ in shown]),
    )


def _without_words(all_labels: Sequence[str], drawn: Sequence[str]) -> str:
    """Name those without a value, and so without a dot."""
    left_out = [label for label in dict.fromkeys(all_labels) if label not in set(drawn)]
    return f"without a number: {'; '.join(left_out)}" if left_out else ""


def _dot_marks(line: FigureLine, row: Row, place: float) -> Iterator[Mark]:
    style = line_style(line)
    median = row.time or 0.0
    low, high = _ends(row)
    yield Bars([low], [place], [high], [place], style.colour, width=6, alpha=0.3)
    if launches := _launch_medians(row):
        yield Dots(launches, [place] * len(launches), Style(style.colour), size=5, alpha=0.35)
    if len(row.get(Modes).modes) > 1:
        bar = Style(style.colour, marker="bar")
        yield Dots(
            [mode.value for mode in row.get(Modes).modes], [place] * len(row.get(Modes).modes), bar, size=13
        )
    if (least := lower_bound(row)) is not None:
        yield Bars([least], [place], [median], [place], style.colour, width=1)
        yield Dots([least], [place], Style(style.colour, marker=POINTING[AT_LEAST]))
    yield _medians(line, [row], [median], [place])


def _launch_medians(row: Row) -> list[float]:
    return [launch.median for launch in row.launches if launch.median is not None and row.launch_count > 1]


def launches_charts(group: FigureGroup) -> list[Chart]:
    """Draw the median of each launch relative to the time of the row: clusters are modes between launches."""
    panels, left_out = panels_of(group)
    found = [(panel, _launch_dots(panel, group.sizes)) for panel in panels]
    ratios = [float(y) for _, marks in found for mark in marks for y in mark.y]
    if not ratios:
        return []
    axis = log_axis("median of a launch / time of the row", [0.8, 1.25, *ratios], "{:g}".format)
    names = names_axis("size", [format_bytes(size) for size in group.sizes], most=10)
    note = left_out_words(left_out, "line")
    return [
        Chart(
            panel.title,
            names,
            axis,
            tuple(marks),
            height=250,
            width=FULL if len(panels) == 1 else panel.width,
            note=note if panel is panels[-1] else "",
        )
        for panel, marks in found
        if marks
    ]


def _launch_dots(panel: Panel, sizes: Sequence[int]) -> list[Dots]:
    """Make dots of each line, side by side within a size."""
    found = []
    for number, line in enumerate(panel.lines):
        shift = 0.7 * ((number + 0.5) / len(panel.lines) - 0.5)
        dots = [
            (sizes.index(item.row.bytes) + shift, launch.median / item.row.time, launch.launch, launch.median)
            for item in line.items
            for launch in item.row.launches
            if (item.row.time or 0) > 0 and item.row.time and (launch.median or 0) > 0 and launch.median
        ]
        if dots:
            x, y, launches, medians = zip(*dots, strict=True)
            tips = [
                f"{line.label}\nlaunch {launch}: {format_time(median)}"
                for launch, median in zip(launches, medians, strict=True)
            ]
            found.append(Dots(x, y, line_style(line), size=5, tips=tips, alpha=0.7))
    return found


def share_axis(label: str) -> Axis:
    """Make an axis from nothing to everything, in per cent."""
    axis = linear_axis(label, 0.0, 1.0, lambda share: f"{100 * share:.0f} %", most=4)
    return Axis(axis.label, -0.02, 1.02, axis.ticks)
