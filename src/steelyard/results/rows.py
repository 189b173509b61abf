"""Rows of results: one for each point over all launches, for people and machines."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from steelyard.base.plural import plural
from steelyard.base.serial_map import Mapper, serially
from steelyard.records.campaign_file import OTHER_HOST, Placement, PlannedOp
from steelyard.records.kinds import BANDWIDTH, BLOCKING, CALL, FILE, KERNEL, MPI, RATE
from steelyard.records.parts import Transport
from steelyard.records.schema import Point
from steelyard.results.agreement import with_same_answers
from steelyard.results.combined import Combined, combine, finite, launches_alike
from steelyard.results.facets import FACETS, Samples
from steelyard.results.load import Measured, PointLaunch, PointLaunches, load
from steelyard.results.overhead import with_overheads
from steelyard.results.phases import communication_share
from steelyard.results.precision import with_precision
from steelyard.results.roofs import with_roofs
from steelyard.results.row import INDEPENDENT, NOT_YET, Row, RowLaunch
from steelyard.results.states import Interference, interference_in, is_disturbed
from steelyard.results.transport import transport_of
from steelyard.stats import drift_of
from steelyard.stats.autocorrelation import Likeness, alike_p
from steelyard.stats.interval import MODES, Blocks

# The role of an op -> the subject of its table, if that is not its time: the first that is counted.
HEADLINES = {
    BANDWIDTH: ("bandwidth",),
    RATE: ("messages",),
    KERNEL: ("operations",),
    FILE: ("bandwidth", "names"),
}
_CELL_SECONDS = 3e-4  # the time to process one point of one launch, an estimate
MOST_SLOW = 0.05  # share of slow samples from which a point is NOISY


def results(folder: Path) -> tuple[Row, ...]:
    """Make the rows of a results folder, in the order of the plan. Raises InputError."""
    return rows_of(load(folder))


def rows_of(measured: Measured, level: float = 0.95, mapped: Mapper = serially) -> tuple[Row, ...]:
    """Make a row for each point, in the order of the plan; `level` is the probability asked of intervals.

    `mapped` may make rows in parallel.
    """
    named, ops = _named(measured), measured.campaign.ops
    sized = {name for name, op in ops.items() if op.sized}
    sized |= {
        point.plan.op for point in measured.points if point.plan.bytes
    }  # older folders have nothing else
    of_job: dict[str, list[Interference]] = {}
    for file in measured.files:
        of_job.setdefault(file.job.job, []).append(interference_in(file))

    def make(point: PointLaunches) -> Row:
        disturbed = is_disturbed(
            interference for cell in point.cells for interference in of_job.get(cell.job.job, ())
        )
        op = replace(ops.get(point.plan.op, PlannedOp()), sized=point.plan.op in sized)
        return _row(point, level, named, op, disturbed, alike)

    points = with_same_answers(measured.points)
    alike = launches_alike(points)
    rows = mapped(make, points, _CELL_SECONDS * sum(len(point.cells) for point in points))
    return with_precision(with_roofs(with_overheads(tuple(rows), level, alike)), measured)


def _named(measured: Measured) -> frozenset[str]:
    """Find which of `method`, `rule` and `params` the plan names; none for a folder without a plan."""
    said = measured.campaign.plan.get("measure")
    measures = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    axes = {axis for axis in ("method", "rule") if any(measure.get(axis) for measure in measures)}
    return frozenset({*axes, "params"} if measured.campaign.points else ())


def _row(
    point: PointLaunches,
    level: float,
    named: frozenset[str],
    op: PlannedOp,
    disturbed: bool,
    alike: Likeness,
) -> Row:
    """Make the row of a point: what its launches share, and the numbers of the successful ones."""
    plan, cells = point.plan, point.cells
    status, why = _status(cells)
    good = [cell for cell in cells if cell.status == "ok"]
    seen = next((cell.point for cell in cells if cell.point), None)
    kind = seen or op
    is_of_mpi = plan.mpi is not None and kind.layer in (None, MPI)  # and not of a layer below it
    carried = [cell.transport for cell in good if cell.transport is not None]
    common: dict[str, Any] = {
        "point": plan.point,
        "op": plan.op,
        "method": seen.method if seen else plan.method,
        "bytes": plan.bytes,
        "sized": op.sized,
        "base": kind.base or plan.op,
        "form": kind.form or BLOCKING,
        "role": kind.role or CALL,
        "layer": carried[0].layer if carried else kind.layer,
        "nature": seen.nature if seen else None,
        "bound": seen.bound if seen else None,
        "ranks": plan.ranks,
        "hosts": plan.hosts,
        "threads": plan.threads,
        "thread_level": plan.thread_level,
        "params": seen.params if seen else {**op.params, **plan.params},
        "rule": seen.rule if seen else plan.rule,
        "method_params": plan.method_params,
        "rule_params": plan.rule_params,
        "placement": plan.placement.text if plan.placement else _placement(cells),
        "placed": plan.placement or _apart(cells),
        "mpi": plan.mpi,
        "omp": plan.omp,
        "env": plan.env,
        "reference_point": plan.reference,
        "transport": _carriers(carried) or (_transport(cells) if is_of_mpi else None),
        "headline": _headline(seen) if seen else "time",
        "asked": (*(plan.params if "params" in named else ()), *sorted(named - {"params"})),
        "launch_count": len(good),
        "count": sum(cell.values.size for cell in good),
        "rejected": sum(cell.rejected for cell in good),
        "verified": _verified(good),
        "status": status,
        "why": why,
    }
    if not good:
        return Row(**common, launches=tuple(_launch(cell, None, 0.0) for cell in cells))
    one = combine(good, level, disturbed, alike)
    drift = [drift_of(blocks.medians, level) for blocks in one.blocks]
    return Row(**common, **_numbers(one, drift), launches=_launches(cells, one, drift))


def _headline(point: Point) -> str:
    """Choose the subject of its table; its time if nothing is counted for a rate."""
    subjects = HEADLINES.get(point.role or "", ())
    counted = (
        subject for subject in subjects if (point.moved_bytes if subject == "bandwidth" else point.work) > 0
    )
    return next(counted, "time")


def _numbers(combined: Combined, drift: list[float]) -> dict[str, Any]:
    """Compute the columns that need samples; `drift`: by how much each launch became slower or faster."""
    facets = tuple(facet for kind in FACETS if (facet := kind.of(combined)) is not None)
    slow = next((facet.slow_share for facet in facets if isinstance(facet, Samples)), None)
    flags = _flags(combined, slow, drift)
    return {
        "median": combined.estimate.value,
        "ci_low": finite(combined.estimate.low),
        "ci_high": finite(combined.estimate.high),
        "ci_level": combined.estimate.level,
        "widened": combined.estimate.widened,
        "alike_p": alike_p([blocks.estimate.value for blocks in combined.blocks])
        if len(combined.launches) > 1
        else None,
        "alike": combined.alike.of_means,
        "apart": math.exp(combined.alike.apart) if combined.estimate.kind.endswith(MODES) else None,
        "ci_if": INDEPENDENT if combined.alike.assumes(len(combined.launches)) else None,
        "ci_of": "blocks" if len(combined.launches) == 1 else "launches",
        "flag": flags[0],
        "flags": flags,
        "facets": facets,
    }


def _launches(
    cells: tuple[PointLaunch, ...], combined: Combined, drift: list[float]
) -> tuple[RowLaunch, ...]:
    """Make the lines of all launches, also of those without numbers."""
    tails = combined.tails or (None,) * len(combined.launches)
    times = (
        combined.modes[combined.typical].by_launch
        if len(combined.modes) > 1
        else [b.estimate.value for b in combined.blocks]
    )
    told = {
        id(cell): said
        for cell, *said in zip(combined.launches, combined.blocks, drift, times, tails, strict=True)
    }
    return tuple(_launch(cell, *told.get(id(cell), (None, 0.0))) for cell in cells)


def _launch(
    cell: PointLaunch,
    blocks: Blocks | None,
    drift: float,
    time: float | None = None,
    tail: Blocks | None = None,
) -> RowLaunch:
    """Make the line of one launch; `blocks` is its interval, None without a value; `tail` its quantile's.

    `time` is its level in the mode that heads the row.
    """
    estimate = blocks.estimate if blocks else None
    share = communication_share(cell.phases)
    return RowLaunch(
        launch=cell.launch,
        status=cell.status,
        why=cell.why,
        flag=cell.flag,
        count=int(cell.values.size),
        rejected=cell.rejected,
        reps=cell.point.reps if cell.point else None,
        warm_up_reps=cell.point.warm_up_reps if cell.point else None,
        time=time,
        median=estimate.value if estimate else None,
        ci_low=finite(estimate.low) if estimate else None,
        ci_high=finite(estimate.high) if estimate else None,
        lag1=blocks.lag1 if blocks else None,
        drift=drift > 0,
        quantile_value=tail.estimate.value if tail else None,
        quantile_low=finite(tail.estimate.low) if tail else None,
        quantile_high=finite(tail.estimate.high) if tail else None,
        quantile_lag1=tail.lag1 if tail else None,
        communication_ns=None if estimate is None or share is None else share * estimate.value,
        began_unix_ns=(cell.start.start_unix_ns or None) if cell.start else None,
        finishes=() if cell.taken.finishes is None else tuple(cell.taken.finishes.tolist()),
        where=cell.where,
        ending=cell.ending,
    )


def _status(cells: tuple[PointLaunch, ...]) -> tuple[str, str | None]:
    """Find the status: failed if any launch failed; skipped if none was measured; the reasons with their
    launches.
    """
    failed = [cell for cell in cells if cell.status == "failed"]
    skipped = [cell for cell in cells if cell.status == "skipped"]
    done = any(cell.status == "ok" for cell in cells)
    if failed:
        return "failed", _reasons(failed, len(cells))
    if skipped:
        return ("ok" if done else "skipped"), _reasons(skipped, len(cells))
    return ("ok", None) if done else ("skipped", NOT_YET)


def _reasons(cells: list[PointLaunch], total: int) -> str:
    """Write `hang: ... (launch 2 of 5)`, equal reasons together; launches are not named if all are meant."""
    launches: dict[str, list[int]] = {}
    for cell in cells:
        launches.setdefault(cell.why or "no reason given", []).append(cell.launch)
    if len(launches) == 1 and len(cells) == total:
        return next(iter(launches))
    return "; ".join(
        f"{why} ({plural('launch', len(which))} {', '.join(map(str, which))} of {total})"
        for why, which in launches.items()
    )


def _flags(combined: Combined, slow: float | None, drift: Sequence[float]) -> tuple[str, ...]:
    """List all flags that apply, the gravest first.

    UNSETTLED or TIME if the stop rule of any launch ended so; NOISY with several modes, or more than 5 % of
    the samples above 3 medians; DRIFT if most launches became slower or faster inside, by so much that it
    decides the time more than its interval says. SETTLED stands alone.
    """
    ends = {cell.flag for cell in combined.launches}
    flags: list[str] = [flag for flag in ("UNSETTLED", "TIME") if flag in ends]
    if len(combined.modes) > 1 or (slow is not None and slow > MOST_SLOW):
        flags.append("NOISY")
    if _is_drifting(combined, drift):
        flags.append("DRIFT")
    return tuple(flags) or ("SETTLED",)


def _is_drifting(combined: Combined, drift: Sequence[float]) -> bool:
    """Do most launches drift, and by more than the interval: is the middle of the way outside of it?"""
    drifting = [change for change in drift if change > 0]
    if 2 * len(drifting) <= len(drift):
        return False
    half = max(
        combined.estimate.high - combined.estimate.value, combined.estimate.value - combined.estimate.low
    )
    return not math.isfinite(half) or statistics.median(drifting) / 2 > half


def _verified(good: list[PointLaunch]) -> bool | None:
    """False if any launch found a wrong answer, None if none could check."""
    told = [cell.verified for cell in good if cell.verified is not None]
    return all(told) if told else None


def _placement(cells: tuple[PointLaunch, ...]) -> str | None:
    """Write the CPUs that ranks 0, 1, ... were most often bound to: `0|1`, with hosts if there
    are several.
    """
    texts: Counter[str] = Counter()
    for cell in cells:
        if cell.start is None:
            continue
        places = sorted(cell.start.places, key=lambda place: place.rank)
        several = len({place.host for place in places}) > 1
        texts["|".join(f"{place.host}:{place.cpus}" if several else place.cpus for place in places)] += 1
    return texts.most_common(1)[0][0] if texts else None


def _apart(cells: tuple[PointLaunch, ...]) -> Placement | None:
    """Describe two ranks on two hosts, each on one CPU: a pair, too, of a class that no single host has."""
    for cell in cells:
        places = sorted(cell.start.places, key=lambda place: place.rank) if cell.start else []
        bound = [int(place.cpus) for place in places if place.cpus.isdigit()]
        if len(places) == len(bound) == len({place.host for place in places}) == 2:
            return Placement(OTHER_HOST, tuple(bound))
    return None


def _carriers(carried: Sequence[Transport]) -> str | None:
    """Name what carried the messages, and what did so in other launches."""
    return " or ".join(dict.fromkeys(one.name for one in carried)) or None


def _transport(cells: tuple[PointLaunch, ...]) -> str | None:
    """Find the transport that all launches of the MPI were limited to."""
    words = {transport_of(cell.start) for cell in cells if cell.start is not None}
    return words.pop() if len(words) == 1 else None
