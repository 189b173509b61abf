"""Measure, inspect the results, and measure further sizes, as `refine` asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from steelyard.base.plural import counted
from steelyard.base.units import format_bytes
from steelyard.campaign.folder import add_sizes
from steelyard.plan.plan import Plan, budget_left, budget_seconds
from steelyard.records.campaign_file import CampaignFile
from steelyard.records.command_line import resumed

if TYPE_CHECKING:
    from steelyard.results.row import Row

_MOST_ROUNDS = 8  # a gap of 16 MiB around a break is then one byte wide
_USUAL_ROUNDS = 4  # find the byte between 4 and 8 KiB
_MOST_NAMED = 6  # sizes

# Measures a campaign; the number says how many rounds share the time budget. No point has seconds of its own.
MeasureCampaign = Callable[[Plan, CampaignFile, int, None], None]


def measure_rounds(
    folder: Path, plan: Plan, campaign: CampaignFile, measure: MeasureCampaign, tell: Callable[[str], None]
) -> None:
    """Measure a campaign; if the plan says so, then further sizes that its results ask for, until there are
    none; `tell` hears of them.

    The time budget is for all rounds together: the first leaves a share for each that usually follows. If
    nothing is refined, a message says why.
    """
    began = time.monotonic()
    measure(plan, campaign, 1 + _USUAL_ROUNDS if plan.refine else 1, None)
    for number in range(_MOST_ROUNDS if plan.refine else 0):
        budget = budget_seconds(plan)
        left = None if budget is None else budget - (time.monotonic() - began)
        if left is not None and left <= 0:
            tell(f"refining: the time budget is over; to go on: {resumed(folder, refine=True)}")
            return
        wanted = _wanted(folder)
        if not wanted:
            if number == 0:
                from steelyard.results.rows import results

                tell(f"refining: {why_none(results(folder))}")
            return
        campaign = add_sizes(folder, campaign, wanted)
        sizes = sorted({size for _, size in wanted})
        named = ", ".join(map(format_bytes, sizes[:_MOST_NAMED])) + (", ..." if sizes[_MOST_NAMED:] else "")
        tell(f"refining: {counted(len(wanted), 'more test case')}, of {named}")
        later = msgspec.structs.replace(plan, time_budget=budget_left(left))
        measure(later, campaign, max(1, _USUAL_ROUNDS - number), None)


def _wanted(folder: Path) -> Sequence[tuple[int, int]]:
    from steelyard.analyses.loggp.refine import sizes_to_add
    from steelyard.results.rows import results

    return sizes_to_add(results(folder))


def why_none(rows: Sequence[Row]) -> str:
    """Say why the first round asks for no further size."""
    from steelyard.analyses.loggp.refine import LEAST_SIZES, most_sizes

    most = most_sizes(rows)
    if most < LEAST_SIZES:
        has = f"the longest series here has {most}" if most else "none was measured here"
        wants = f"a change is seen in a series of {LEAST_SIZES} sizes or more"
        return f"{wants}; {has}: give more --bytes, such as 512..64Ki"
    return "no series changes its line with a jump, or bends, between its sizes"
