"""How large a plan is, and whether it can be measured here, before anything runs."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.secret import masked_text
from steelyard.campaign.folder import topology_for
from steelyard.campaign.forecast import Forecast, forecast
from steelyard.campaign.jobs import check_launches
from steelyard.plan.plan import Plan, plan_document
from steelyard.records.campaign_file import points_without_secrets
from steelyard.session.design import Needed, needed, with_launches
from steelyard.session.events import OnEvent, ignored, teller
from steelyard.session.measure import set_up
from steelyard.system.machine import read_machine


class Foreseen(Struct, frozen=True):
    """A plan's jobs and their times, why it cannot be run here (None if it can), and what its precision takes
    (None if it asks for none).
    """

    plan: Forecast
    why_not: str | None
    takes: Needed | None


def foresee(
    plan: Plan, folder: Path, scatter: Path | None = None, *, on_event: OnEvent = ignored
) -> Foreseen:
    """Estimate a plan, without measuring. Raises InputError for ops and settings that there are not.

    The launches of a precision are those that test cases have in the mean, if it is known how they scatter.
    """
    setup, points = set_up(plan, read_machine(), topology_for(folder, plan), teller(on_event), builds=False)
    takes = needed(plan, points, folder, scatter)
    plan = with_launches(plan, folder, takes)
    expected = replace(plan, launches=_likely(plan, takes))
    found = forecast(expected, points_without_secrets(points, plan_document(plan)), setup)
    try:
        check_launches(plan, points, setup)
    except InputError as error:
        return Foreseen(found, masked_text(str(error)), takes)
    return Foreseen(found, None, takes)


def _likely(plan: Plan, takes: Needed | None) -> int:
    """Expect so many launches of each test case."""
    if not plan.precision:
        return plan.most_launches
    if takes is not None and takes.launches:
        return takes.on_average(plan.most_launches)
    from steelyard.stats.interim_looks import FIRST_LOOK  # which loads numpy

    return FIRST_LOOK
