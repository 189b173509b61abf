"""Which ratios of arms are as precise as their plan asks."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.errors import InputError
from steelyard.judges.compare.arms import folder_factor, rivals_by
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.verdicts import compare
from steelyard.results.load import Measured
from steelyard.results.precision import asked_of
from steelyard.results.row import Row


def unreached_ratios(measured: Measured, rows: Sequence[Row]) -> frozenset[int]:
    """Find the points of both arms of ratios that need more launches; none where nothing can be compared."""
    campaign = measured.campaign
    asked = Question(precision=asked_of(campaign))
    try:
        rivals = rivals_by(rows, folder_factor(campaign.plan), looks=campaign.looks)
        found = compare(rivals, True, asked)
    except InputError:
        return frozenset()
    ends = [(point.point_a, point.point_b) for point in found.points if point.precise is False]
    return frozenset(point for pair in ends for point in pair if point is not None)
