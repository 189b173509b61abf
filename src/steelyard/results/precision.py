"""Which rows are as precise as their plan asks, what the others need, and how long a launch should measure.

The printed number is that over launches, so its interval is what must be narrow. Where arms are compared, the
ratio is: see `compare.precision`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.units import parse_percent
from steelyard.records.campaign_file import CampaignFile, PlannedPoint
from steelyard.records.job_file import JobFile
from steelyard.results.facets import PrecisionGoal
from steelyard.results.load import Measured, PointLaunch
from steelyard.results.row import Row, RowLaunch, half_of
from steelyard.stats.interim_looks import launches_for
from steelyard.stats.interval import t_quantile

_LEVEL = 0.95  # of the intervals of launches
_COARSE = 15  # degrees of freedom of the interval inside a launch
_LEAST_SECONDS, _MOST_SECONDS = 0.005, 1.0  # of a test case in a launch
_USUAL_START = 0.5  # seconds, where only one launch was made


def asked_of(campaign: CampaignFile) -> float | None:
    """Read the precision that the plan of a folder asks for, as a fraction; None without one."""
    text = campaign.plan.get("precision")
    try:
        return parse_percent(text) if isinstance(text, str) else None
    except InputError:
        return None  # an edited file


def with_precision(rows: Sequence[Row], measured: Measured) -> tuple[Row, ...]:
    """Add to each row whether it is as precise as the plan asks, and what it would take.

    Rows of arms are left as they are: their ratios are asked.
    """
    asked = asked_of(measured.campaign)
    if asked is None or measured.campaign.plan.get("arms"):
        return tuple(rows)
    seconds = launch_seconds(measured.files)
    return tuple(_judged(row, asked, seconds.get(row.point, 0.0)) for row in rows)


def _judged(row: Row, asked: float, seconds: float) -> Row:
    if row.time is None:
        return row
    half = half_of(row.time, row.time_low, row.time_high)
    if half is not None and half <= asked and row.launch_count > 1:
        found = PrecisionGoal(precision=asked, precision_reached=True)
    else:
        needed = launches_for(asked, half or math.inf, row.launch_count)
        takes = None if needed is None else (needed - row.launch_count) * seconds
        found = PrecisionGoal(
            precision=asked, precision_reached=False, precision_launches=needed, precision_seconds=takes
        )
    return replace(row, facets=(*row.facets, found))


def unreached(rows: Sequence[Row]) -> frozenset[int]:
    """Find the points of rows that need more launches: what has failed in all of them needs none."""
    return frozenset(row.point for row in rows if row.get(PrecisionGoal).precision_reached is False)


def with_partners(points: Sequence[PlannedPoint], wanted: frozenset[int]) -> tuple[PlannedPoint, ...]:
    """Take the wanted points, and those with which they are compared launch by launch."""
    taken = set(wanted)
    taken |= {point.reference for point in points if point.point in wanted and point.reference is not None}
    beside = {
        (point.beside, point.bytes) for point in points if point.point in taken and point.beside is not None
    }
    return tuple(point for point in points if point.point in taken or (point.beside, point.bytes) in beside)


def launch_seconds(files: Sequence[JobFile]) -> Mapping[int, float]:
    """Estimate the seconds of one more launch of each point: its own time, and its part of the start."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for file, starts in zip(files, _start_seconds(files), strict=True):
        for point, own in _own_seconds(file):
            found[point].append(own + starts / max(1, len(file.points)))
    return {point: median(values) for point, values in found.items()}


def _own_seconds(file: JobFile) -> Iterator[tuple[int, float]]:
    """List how long each point of a launch took, in its order."""
    before = 0.0
    for run in sorted(file.points, key=lambda run: run.end.stop_ns if run.end else 0):
        if run.end is not None:
            yield run.index, run.end.stop_ns / 1e9 - before
            before = run.end.stop_ns / 1e9


def _start_seconds(files: Sequence[JobFile]) -> list[float]:
    """Estimate how long each launch took beyond its points, from the begin of the next one."""
    began = sorted(file.launch.start_unix_ns for file in files if file.launch and file.launch.start_unix_ns)
    starts = [_USUAL_START] * len(files)
    for i, file in enumerate(files):
        if file.launch is None or not (own := file.launch.start_unix_ns):
            continue
        later = next((at for at in began if at > own), None)
        took = max((run.end.stop_ns for run in file.points if run.end), default=0) / 1e9
        if later is not None:
            starts[i] = min(max((later - own) / 1e9 - took, 0.0), 10 * _USUAL_START)
    return starts


@dataclass(frozen=True, slots=True)
class _Pilot:
    """What some launches say: seconds of a launch before it has any sample, seconds and number of samples;
    the variance of a launch median that its samples explain, and that between launches, relative.
    """

    start: float
    sampling: float
    inside: float
    between: float


def best_seconds(measured: Measured, rows: Sequence[Row]) -> Mapping[int, float]:
    """Compute how long each point should measure in a launch, so that a given time leaves the least variance.

    n = sqrt(cost of a launch / cost of a sample x variance inside / variance between) samples (Cochran,
    Sampling Techniques, 1977, section 10.6), from the launches so far; within 5 ms and 1 s.
    """
    seconds = launch_seconds(measured.files)
    cells = {point.plan.point: point.cells for point in measured.points}
    found = {}
    for row in rows:
        pilot = _pilot(row, cells.get(row.point, ()), seconds.get(row.point, 0.0))
        if pilot is not None and pilot.sampling > 0:
            ratio = math.sqrt(pilot.start / pilot.sampling * pilot.inside / max(pilot.between, 1e-12))
            found[row.point] = min(max(ratio * pilot.sampling, _LEAST_SECONDS), _MOST_SECONDS)
    return found


def _pilot(row: Row, cells: Sequence[PointLaunch], seconds: float) -> _Pilot | None:
    known = [launch for launch in row.launches if _error(launch) is not None]
    sampled = [_sampling_seconds(cell) for cell in cells if cell.status == "ok"]
    if len(known) < 2 or not sampled:
        return None
    inside = float(np.mean([(_error(one) or 0.0) ** 2 for one in known]))
    whole = float(np.var([math.log(one.median or 1.0) for one in known], ddof=1))
    sampling = median(sampled)
    return _Pilot(max(seconds - sampling, 0.0), sampling, inside, max(whole - inside, 0.0))


def _error(launch: RowLaunch) -> float | None:
    """Compute the standard error of a launch median inside its launch, relative; None if not known."""
    half = half_of(launch.median, launch.ci_low, launch.ci_high)
    return None if half is None else half / t_quantile(_LEVEL, _COARSE)


def _sampling_seconds(cell: PointLaunch) -> float:
    """Estimate how long the samples of a launch took, without warm-up, checks and start."""
    repeated = cell.point.reps * cell.point.parts if cell.point else 1
    return float(cell.values.sum()) * repeated / max(cell.taken.pairs, 1) / 1e9
