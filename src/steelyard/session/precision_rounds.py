"""A precision that is asked: launches are added until the printed numbers are as precise as asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from steelyard.base.plural import counted
from steelyard.base.units import parse_percent
from steelyard.campaign.folder import add_look, last_launch
from steelyard.plan.plan import Plan, budget_left, budget_seconds
from steelyard.records.campaign_file import CampaignFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.results.load import Measured
    from steelyard.results.row import Row

# Measures a part of a campaign up to the launches of the plan, in one round, and points for so many seconds.
MeasurePart = Callable[[Plan, CampaignFile, int, Mapping[int, float]], None]


def measure_precisely(
    folder: Path, plan: Plan, campaign: CampaignFile, measure: MeasurePart, tell: Callable[[str], None]
) -> None:
    """Measure a campaign in rounds, each with the test cases that are not yet as precise as asked.

    The numbers of launches at which it is looked at are fixed before, and kept in the folder as it grows.
    How long a test case measures in a launch follows from the first round.
    """
    began = time.monotonic()
    asked = parse_percent(plan.precision or "")
    part: CampaignFile = campaign
    seconds: Mapping[int, float] = {}
    done = last_launch(folder)
    if done:
        part, seconds = _next(folder, campaign)
    for look in _looks(plan, done):
        if not part.points:
            return
        budget = budget_seconds(plan)
        left = None if budget is None else budget - (time.monotonic() - began)
        if left is not None and left <= 0:
            return
        now = msgspec.structs.replace(plan, launches=look, time_budget=budget_left(left))
        measure(now, part, 1, seconds)
        if look == plan.most_launches:
            return
        part, pilot = _next(folder, campaign)
        seconds = seconds or pilot
        cases = counted(len(campaign.points), "test case")
        tell(f"after {look} launches: ± is above {100 * asked:g} % in {len(part.points)} of {cases}")
        if not part.points:
            return
        campaign = add_look(folder, campaign, look)


def _looks(plan: Plan, done: int) -> Iterator[int]:
    """List the looks to come."""
    from steelyard.stats.interim_looks import looks_until

    yield from (look for look in looks_until(plan.most_launches) if look > done or look == plan.most_launches)


def _next(folder: Path, campaign: CampaignFile) -> tuple[CampaignFile, Mapping[int, float]]:
    """Find the part of a campaign that needs more launches, and how long each point should measure."""
    from steelyard.results.load import load
    from steelyard.results.precision import best_seconds, with_partners
    from steelyard.results.rows import rows_of

    measured = load(folder, may_be_lost=True)
    rows = rows_of(measured)
    points = with_partners(campaign.points, _wanted(measured, rows))
    return msgspec.structs.replace(campaign, points=points), best_seconds(measured, rows)


def _wanted(measured: Measured, rows: Sequence[Row]) -> frozenset[int]:
    """Find the points whose times, or whose ratios where arms are compared, are not precise enough."""
    from steelyard.judges.compare.precision import unreached_ratios
    from steelyard.results.precision import unreached

    return unreached_ratios(measured, rows) if measured.campaign.plan.get("arms") else unreached(rows)
