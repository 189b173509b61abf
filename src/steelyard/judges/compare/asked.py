"""The comparison that folders allow without being asked: arms of a folder, its MPIs, or several folders."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.overview import ReadFolder, as_shown
from steelyard.base.errors import InputError
from steelyard.judges.compare.answer import Question
from steelyard.judges.compare.arms import folder_factor, rivals_by, rivals_of
from steelyard.judges.compare.headline import headline
from steelyard.judges.compare.verdicts import OtherConditionsError, Verdicts, compare
from steelyard.judges.verdict import CANNOT_TELL


def headline_of(folders: Sequence[ReadFolder]) -> tuple[str, ...]:
    """Write the headline of results folders, as in `headline.headline`."""
    folders = as_shown(folders)
    return headline({folder.name: folder.made for folder in folders}, comparison(folders))


def comparison(folders: Sequence[ReadFolder]) -> Verdicts | str | None:
    """Compare what the folders allow; None if nothing is compared, or no verdict is possible.

    Arms that the plan names are always compared. A sentence if arms were measured in different ways.
    """
    campaign = folders[0].measured.campaign
    plan = campaign.plan
    try:
        if len(folders) > 1:
            rivals = rivals_of({folder.name: folder.rows for folder in folders})
        else:
            rivals = rivals_by(folders[0].rows, folder_factor(plan), looks=campaign.looks)
        found = compare(rivals, len(folders) == 1, Question())
    except OtherConditionsError as error:
        text = str(error)
        return f"{text[0].upper()}{text[1:]}."
    except InputError:
        return None
    asked = len(folders) == 1 and bool(plan.get("arms"))
    return found if asked or any(one.verdict != CANNOT_TELL for one in found.points) else None
