"""The comparison of a report: a picture of all verdicts, and their table."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.compare.answer import MARGIN
from steelyard.compare.sheets import verdict_sheet
from steelyard.compare.verdicts import Verdicts
from steelyard.plots.forest import forest_chart
from steelyard.report.blocks import Part, Section, untitled

_EXPLAINED = (
    "{launches} launches of each. Time of each test case over that of {first}, with simultaneous {level:g} % "
    "intervals; the band is what lies within {margin:g} % of 1. {promise}."
)


def comparison_section(found: Verdicts | str | None) -> Iterator[Section]:
    """Make the picture of all verdicts, with their table below."""
    if found is None or isinstance(found, str):
        return
    sheet = verdict_sheet(found, MARGIN)
    explained = _EXPLAINED.format(
        first=found.arms[0],
        level=100 * found.level,
        margin=100 * MARGIN,
        launches=found.launches,
        promise=found.promise.words[0].upper() + found.promise.words[1:],
    )
    yield Section(
        title=sheet.title,
        explained=explained,
        charts=(forest_chart(found, MARGIN),),
        more=(Part("Verdicts", sheets=(untitled(sheet),)),),
    )
