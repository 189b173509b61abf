"""The comparison of a report: a picture of all verdicts, and their table."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judges.compare.pictures import forest_chart
from steelyard.judges.compare.scale import MARGIN
from steelyard.judges.compare.tables import verdict_table
from steelyard.judges.compare.verdicts import Verdicts
from steelyard.render.sections import Part, Section, untitled

_EXPLAINED = (
    "{launches} launches of each. Time of each test case over that of {first}, with simultaneous {level:g} % "
    "intervals; the band is what lies within {margin:g} % of 1. {promise}."
)


def comparison_section(found: Verdicts | str | None) -> Iterator[Section]:
    """Make the picture of all verdicts, with their table below."""
    if found is None or isinstance(found, str):
        return
    table = verdict_table(found, MARGIN)
    explained = _EXPLAINED.format(
        first=found.arms[0],
        level=100 * found.level,
        margin=100 * MARGIN,
        launches=found.launches,
        promise=found.promise.words[0].upper() + found.promise.words[1:],
    )
    yield Section(
        title=table.title,
        explained=explained,
        charts=(forest_chart(found, MARGIN),),
        more=(Part("Verdicts", tables=(untitled(table),)),),
    )
