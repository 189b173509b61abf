"""Pictures of rooflines: the phases of kernels below the limit of memory."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.phases.rooflines import Roofline
from steelyard.base.units import format_mops
from steelyard.render.axes import MOST_COLOURS, limits, log_axis, style_of
from steelyard.render.chart import Chart, Curve, Dots, Key, Style
from steelyard.render.svg import RULE
from steelyard.rows.labels import row_labels

_MEGA = 1e6


def roofline_charts(rooflines: Sequence[Roofline]) -> list[Chart]:
    """Draw a picture for each bandwidth of roofs: a mark for each phase, a colour for each kernel."""
    by_roof: dict[float, list[Roofline]] = {}
    for roofline in rooflines:
        by_roof.setdefault(roofline.bandwidth, []).append(roofline)
    return [_chart(bandwidth, members) for bandwidth, members in by_roof.items()]


def _chart(bandwidth: float, members: Sequence[Roofline]) -> Chart:
    shown = members[:MOST_COLOURS]
    names = _names(shown)
    points = [phase for one in shown for phase in one.phases]
    first, last = limits([phase.intensity for phase in points])
    ends = [first, last]
    roof = [bandwidth * end for end in ends]
    tip = f"STREAM's triad: {bandwidth / 1e9:.3g} GB/s"
    marks = [
        Dots(
            [phase.intensity for phase in one.phases],
            [phase.rate for phase in one.phases],
            style_of(i),
            tips=[
                f"{name}, {phase.name}\n{phase.intensity:.3g} operations per byte, "
                f"{format_mops(phase.rate / _MEGA)}, {100 * phase.share:.0f} % of the roof"
                for phase in one.phases
            ],
        )
        for i, (name, one) in enumerate(zip(names, shown, strict=True))
    ]
    rates = [*(phase.rate for phase in points), *roof]
    return Chart(
        title=f"Roofline, {tip}",
        x=log_axis("operations per byte", ends, "{:g}".format),
        y=log_axis("operations in a second", rates, lambda rate: format_mops(rate / _MEGA)),
        marks=(Curve(ends, roof, Style(RULE), width=1.5, tip=tip), *marks),
        height=320,
        legend=tuple(Key(name, style_of(i)) for i, name in enumerate(names)),
        note=f"{len(members) - len(shown)} more kernels are in the table" if members[MOST_COLOURS:] else "",
    )


def _names(rooflines: Sequence[Roofline]) -> list[str]:
    """Name each, with what differs among them: `npb.cg, class=S`."""
    labels = row_labels([roofline.row for roofline in rooflines])
    return [
        ", ".join(
            (
                one.row.op,
                *(said for axis in labels.varying if axis.key != "op" and (said := axis.facts[i].said)),
            )
        )
        for i, one in enumerate(rooflines)
    ]
