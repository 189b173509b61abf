"""The picture of a comparison: for each test case its ratio with the interval, and its verdict by shape."""

from __future__ import annotations

from steelyard.base.plural import counted
from steelyard.judges.compare.scale import FASTER, LITTLE, SAME, SLOWER
from steelyard.judges.compare.tables import verdict_words
from steelyard.judges.compare.verdicts import CaseVerdict, Verdicts
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.render.axes import drawn_ends, ends_within, log_axis, names_axis
from steelyard.render.chart import FULL, Bars, Boxes, Chart, Dots, Key, Mark, Style
from steelyard.render.svg import RULE
from steelyard.rows.pictures.ratios import LEAST_SHOWN
from steelyard.rows.words import ratio_span

MOST_ROWS = 40  # a screen; more are in the table
MARGIN_COLOUR = "#edf3ec"
# Slower is to the right of 1, faster to the left; undecided ones are hollow.
STYLES = {
    SLOWER: Style("#a3161b", marker="right"),
    FASTER: Style("#0a4a86", marker="left"),
    LITTLE: Style("#a06a00", marker="diamond"),
    SAME: Style("#2a7a4b", marker="square"),
    CANNOT_TELL: Style("#6b6b6b", marker="circle"),
}


def forest_chart(verdicts: Verdicts, margin: float) -> Chart:
    """Draw ratios with simultaneous intervals; a band within `margin` of 1, and a line at 1.

    If there are more test cases than rows, those that differ come first, then the means of ops.
    """
    rows = [(_label(case, verdicts), case) for case in shown_cases(verdicts)]
    drawn = [(place, label, one) for place, (label, one) in enumerate(rows) if one.ratio is not None]
    kept = [end for _, _, one in drawn for end in drawn_ends(one.ratio or 1.0, one.low, one.high)]
    axis = log_axis(f"time / time of {verdicts.arms[0]}", [*LEAST_SHOWN, *kept], "{:g}".format)
    ends = [ends_within(axis, one.ratio or 1.0, one.low, one.high) for _, _, one in drawn]
    foot = float(len(rows))
    marks: list[Mark] = [
        Boxes([1 / (1 + margin)], [-1.0], [1 + margin], [foot], [MARGIN_COLOUR]),
        Bars([1.0], [-1.0], [1.0], [foot], RULE, width=1),
    ]
    for verdict, style in STYLES.items():
        own = [(*one, end) for one, end in zip(drawn, ends, strict=True) if one[2].verdict == verdict]
        places = [float(place) for place, *_ in own]
        low, high = [end[0] for *_, end in own], [end[1] for *_, end in own]
        marks.append(Bars(low, places, high, places, style.colour, width=2.5, alpha=0.55))
        marks.append(
            Dots(
                [one.ratio or 1.0 for _, _, one, _ in own],
                places,
                style,
                size=9,
                hollow=[verdict == CANNOT_TELL] * len(own),
                tips=[_tip(label, one) for _, label, one, _ in own],
            )
        )
    names = [label for label, _ in rows]
    left = len(verdicts.points) - sum(1 for _, one in rows if one.point_b is not None)
    return Chart(
        title="",
        x=axis,
        y=names_axis("", names, most=len(names), is_down=True),
        marks=tuple(mark for mark in marks if not isinstance(mark, Dots) or len(mark.x)),
        height=50 + 22 * len(names),
        width=FULL,
        legend=tuple(
            Key(verdict_words(verdict, margin), style, is_hollow=verdict == CANNOT_TELL)
            for verdict, style in STYLES.items()
            if any(one.verdict == verdict for _, one in rows)
        ),
        note=f"{counted(left, 'more test case')} in the table" if left else "",
    )


def shown_cases(verdicts: Verdicts) -> tuple[CaseVerdict, ...]:
    """Choose the rows of the picture: op by op, with the mean below the sizes of an op."""
    sized = {
        point.op
        for point in verdicts.points
        if sum(other.op == point.op and other.b == point.b for other in verdicts.points) > 1
    }
    whole = [case for case in verdicts.ops if case.op in sized]
    every: list[CaseVerdict] = [
        case
        for op in dict.fromkeys(point.op for point in verdicts.points)
        for case in (*verdicts.points, *whole)
        if case.op == op
    ]
    if len(every) <= MOST_ROWS:
        return tuple(every)
    differing = [point for point in verdicts.points if point.verdict in (SLOWER, FASTER, LITTLE)]
    return tuple(case for case in every if case in [*differing, *whole][:MOST_ROWS])


def _label(verdict: CaseVerdict, verdicts: Verdicts) -> str:
    """Write `mpi.bcast 64 KiB`, `mpi.bcast, all`, and the arm if there are several."""
    size = ", all" if verdict.point_b is None else f" {verdict.size}".rstrip()
    more = [part for part in (verdict.what, verdict.b if len(verdicts.arms) > 2 else "") if part]
    return ", ".join([f"{verdict.op}{size}", *more])


def _tip(label: str, verdict: CaseVerdict) -> str:
    ratio, low, high = ratio_span(verdict.ratio, verdict.low, verdict.high)
    interval = "" if verdict.low is None else f" ({low} – {high})"
    return f"{label}\n{verdict.b} / {verdict.a}: {ratio}{interval}\n{verdict.verdict}"
