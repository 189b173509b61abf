"""The comparison of a report: arms of a folder, its MPIs, or several folders, with verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.errors import InputError
from steelyard.compare.answer import CANNOT_TELL, MARGIN, Question
from steelyard.compare.arms import folder_factor, rivals_by, rivals_of
from steelyard.compare.sheets import verdict_sentences, verdict_sheet
from steelyard.compare.verdicts import OtherConditionsError, Verdicts, compare
from steelyard.plots.forest import forest_chart
from steelyard.report.blocks import Part, Section, untitled
from steelyard.show.overview import ReadFolder

_EXPLAINED = (
    "{launches} launches of each. Time of each test case over that of {first}, with simultaneous {level:g} % "
    "intervals; the band is what lies within {margin:g} % of 1. {promise}."
)


def comparison(folders: Sequence[ReadFolder]) -> Verdicts | str | None:
    """Compare what the folders allow; None if nothing is compared, or no verdict is possible.

    Arms that the plan names are always compared. A sentence if arms were measured in different ways.
    """
    plan = folders[0].measured.campaign.plan
    try:
        if len(folders) > 1:
            rivals = rivals_of({folder.name: folder.rows for folder in folders})
        else:
            rivals = rivals_by(folders[0].rows, folder_factor(plan))
        found = compare(rivals, len(folders) == 1, Question())
    except OtherConditionsError as error:
        text = str(error)
        return f"{text[0].upper()}{text[1:]}."
    except InputError:
        return None
    asked = len(folders) == 1 and bool(plan.get("arms"))
    return found if asked or any(one.verdict != CANNOT_TELL for one in found.points) else None


def comparison_sentences(found: Verdicts | str | None, most_ops: int) -> tuple[str, ...]:
    """Sum up: a sentence for each arm and op; one for all together beyond `most_ops`."""
    if found is None or isinstance(found, str):
        return () if found is None else (found,)
    return verdict_sentences(found, MARGIN, most_ops)


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
