"""`steelyard run --refine`: measure, look at what was measured, and measure sizes that would tell more."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from steelyard.base.plural import counted
from steelyard.base.units import format_bytes
from steelyard.campaign.folder import add_sizes
from steelyard.cli.console import tell
from steelyard.plan.plan import Plan, budget_seconds
from steelyard.records.campaign_file import CampaignFile

_MOST_ROUNDS = 8  # a gap of 16 MiB around a break is then one byte wide
_MOST_NAMED = 6  # sizes

MeasureCampaign = Callable[[Plan, CampaignFile], None]


def measure_rounds(folder: Path, plan: Plan, campaign: CampaignFile, measure: MeasureCampaign) -> None:
    """Measure a campaign; if the plan says so, then the sizes that its results ask for, until none is left.

    The time budget is for all rounds together.
    """
    began = time.monotonic()
    measure(plan, campaign)
    for _ in range(_MOST_ROUNDS if plan.refine else 0):
        budget = budget_seconds(plan)
        left = None if budget is None else budget - (time.monotonic() - began)
        wanted = () if left is not None and left <= 0 else _wanted(folder)
        if not wanted:
            return
        campaign = add_sizes(folder, campaign, wanted)
        sizes = sorted({size for _, size in wanted})
        named = ", ".join(map(format_bytes, sizes[:_MOST_NAMED])) + (", ..." if sizes[_MOST_NAMED:] else "")
        tell(f"refining: {counted(len(wanted), 'more test case')}, of {named}")
        later = plan if left is None else msgspec.structs.replace(plan, time_budget=f"{left:.1f}s")
        measure(later, campaign)


def _wanted(folder: Path) -> Sequence[tuple[int, int]]:
    from steelyard.models.refine import sizes_to_add
    from steelyard.results.rows import results

    return sizes_to_add(results(folder))
