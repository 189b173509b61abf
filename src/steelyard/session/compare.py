"""Compare results folders, or the arms of one: is one slower, faster, the same, or can nobody tell?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import real_path
from steelyard.base.printable import visible
from steelyard.judges.compare.arms import (
    Rivals,
    against,
    factor_of,
    folder_factor,
    rivals_by,
    rivals_of,
    variable_names,
)
from steelyard.judges.compare.conditions import check_conditions
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.verdicts import Verdicts, compare
from steelyard.records.campaign_file import read_campaign
from steelyard.records.results_folder import check_results_folder
from steelyard.results.load import load
from steelyard.results.precision import asked_of
from steelyard.results.quantiles import rows_at


def compare_folders(
    folders: Sequence[Path],
    asked: Question,
    *,
    by: str | None = None,
    first: str | None = None,
    despite: Sequence[str] = (),
) -> Verdicts:
    """Compare several folders, or within one the values of the factor `by` (default: what its plan compares).

    `first` names the arm that the others are compared with, `despite` the conditions that may differ. Raises
    InputError for folders that cannot be compared.
    """
    check_conditions(despite)
    for folder in folders:
        check_results_folder(folder)
    precision = None
    if len(folders) == 1:
        campaign = read_campaign(folders[0])
        factor = factor_of(by) if by else folder_factor(campaign.plan)
        rows = rows_at(load(folders[0]), asked.quantile)
        rivals, precision = rivals_by(rows, factor, despite, campaign.looks), asked_of(campaign)
        rivals = replace(rivals, folders=(folders[0],) * len(rivals.arms))
    elif by is not None:
        raise InputError("--by compares within one folder; give one folder, or leave --by out")
    else:
        rivals = _of_several(folders, asked.quantile, despite)
    if first is not None:
        rivals = against(rivals, first)
    return compare(rivals, len(folders) == 1, replace(asked, precision=None if asked.quantile else precision))


def _of_several(folders: Sequence[Path], quantile: float | None, despite: Sequence[str]) -> Rivals:
    if len({real_path(folder) for folder in folders}) < len(folders):
        raise InputError(f"'{folders[0]}' would be compared with itself; give another folder")
    each = {visible(str(folder)): rows_at(load(folder), quantile) for folder in folders}
    rivals = rivals_of(each, despite)
    names = variable_names(each)
    return replace(rivals, arms=tuple(names.get(arm, arm) for arm in rivals.arms), folders=tuple(folders))


def fraction_of(name: str, percent: float, most: float = 10.0) -> float:
    """Convert a percentage to a fraction. Raises InputError, which names it, for one that cannot be."""
    if not 0 < percent / 100 < most:
        raise InputError(f"{name} is a percentage above 0 and below {100 * most:g}, not {percent:g}")
    return percent / 100
