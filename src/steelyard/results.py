"""Results: a row per point over all launches, for people and machines."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.blame import blame, see
from steelyard.floor import transport_of
from steelyard.noise import core_noise
from steelyard.observations import Cell, Measured, Placement, PointCells, load
from steelyard.overhead import with_overheads
from steelyard.phases import communication_share, summarise
from steelyard.row import Row, RowLaunch, RowMode, RowPair, RowPath, RowSpun
from steelyard.stamps import pairs_of
from steelyard.stats import block_interval, drifts, find_modes, launch_interval, quantile, with_tick
from steelyard.stats.interval import Blocks, Estimate

SLOW = 3.0  # an observation above so many medians is slow
MOST_SLOW = 0.05  # share of slow observations from which a point is NOISY


def results(folder: Path) -> tuple[Row, ...]:
    """The rows of a results folder, in the order of the plan. Raises InputError."""
    return rows_of(load(folder))


def rows_of(measured: Measured, level: float = 0.95) -> tuple[Row, ...]:
    """A row for each point, in the order of the plan; `level` is what intervals are asked to have."""
    return with_overheads(tuple(_row(point, level) for point in measured.points), level)


def _row(point: PointCells, level: float) -> Row:
    """One point: what its launches have in common, and the numbers of those that went well."""
    plan, cells = point.plan, point.cells
    status, why = _status(cells)
    good = [cell for cell in cells if cell.status == "ok"]
    seen = next((cell.point for cell in cells if cell.point), None)
    common: dict[str, Any] = {
        "point": plan.point,
        "op": plan.op,
        "method": seen.method if seen else plan.method,
        "bytes": plan.bytes,
        "ranks": plan.ranks,
        "threads": plan.threads,
        "thread_level": plan.thread_level,
        "params": seen.params if seen else plan.params,
        "rule": seen.rule if seen else plan.rule,
        "method_params": plan.method_params,
        "rule_params": plan.rule_params,
        "placement": plan.placement.text if plan.placement else _placement(cells),
        "placed": plan.placement or _apart(cells),
        "mpi": plan.mpi,
        "omp": plan.omp,
        "reference_point": plan.reference,
        "transport": _transport(cells) if plan.mpi else None,
        "launch_count": len(good),
        "count": sum(cell.values.size for cell in good),
        "rejected": sum(cell.rejected for cell in good),
        "verified": _verified(good),
        "status": status,
        "why": why,
    }
    if not good:
        return Row(**common, launches=tuple(_launch(cell, None, False) for cell in cells))
    return Row(**common, **_numbers(cells, good, level))


def _numbers(cells: tuple[Cell, ...], good: list[Cell], level: float) -> dict[str, Any]:
    """The columns that need observations; `good` are the cells that ended well, at least one."""
    blocks = {id(cell): block_interval(cell.values, cell.taken.tick, level) for cell in good}
    drift = {id(cell): drifts(blocks[id(cell)].medians, blocks[id(cell)].estimate) for cell in good}
    inner = [blocks[id(cell)].estimate for cell in good]
    estimate = inner[0] if len(good) == 1 else launch_interval([one.value for one in inner], level)
    pooled = np.concatenate([cell.values for cell in good])
    tick = float(np.median([cell.taken.tick for cell in good]))
    estimate = with_tick(estimate, pooled, tick)
    probability = _probability(good)
    tails = {} if probability is None else _tails(good, probability, level)
    p5, p90, p95, p99 = quantile(pooled, (0.05, 0.90, 0.95, 0.99), tick)
    slow = float(np.mean(pooled > SLOW * estimate.value)) if estimate.value > 0 else None
    modes = find_modes([cell.values for cell in good], [cell.taken.tick for cell in good])
    blamed = blame(modes, [cell.taken.looks for cell in good])
    seen = see([look for cell in good for look in cell.taken.looks])
    flags = _flags(good, len(modes), slow, [drift[id(cell)] for cell in good])
    rank, share = _slowest(good)
    return {
        "median": estimate.value,
        "ci_low": _finite(estimate.low),
        "ci_high": _finite(estimate.high),
        "ci_level": estimate.level,
        "ci_of": "blocks" if len(good) == 1 else "launches",
        "min": float(pooled.min()),
        "p5": p5,
        "p90": p90,
        "p95": p95,
        "p99": p99,
        "max": float(pooled.max()),
        "mean": float(pooled.mean()),
        **_quantile_columns(probability, [tails[id(cell)].estimate for cell in good if tails], level),
        "slow_share": slow,
        "bandwidth": _bandwidth(good[0], estimate.value),
        "mops": _mops(good[0], estimate.value),
        "mops_low": _mops(good[0], estimate.high),
        "mops_high": _mops(good[0], estimate.low),
        "phases": summarise(
            [chunk for cell in good for chunk in cell.phases], good[0].point.reps if good[0].point else 1
        ),
        "overhead": float(np.mean([cell.taken.overhead for cell in good])),
        "clock_tick": tick,
        "clock_error_ns": max(
            (cell.clock_error for cell in good if cell.clock_error is not None), default=None
        ),
        "clock_bound_ns": max(
            (cell.clock_bound for cell in good if cell.clock_bound is not None), default=None
        ),
        "error_ns": _stated_error(estimate, good),
        "low_ns": _middle([float(np.median(cell.taken.low)) for cell in good if cell.taken.low is not None]),
        "skew_ns": _middle([cell.taken.skew for cell in good if cell.taken.skew is not None]),
        "imbalance_ns": _middle([one for cell in good if (one := cell.taken.imbalance) is not None]),
        "window_ns": _windows(good),
        "path": _path(good),
        "ways": _ways(good),
        "pairs": _pairs(good),
        **_ranks(good),
        **_rates(good),
        "slowest_rank": rank,
        "slowest_share": share,
        "yields_per_op": _yields(good),
        "modes": tuple(
            RowMode(mode.value, mode.share, saw.canary, saw.noise)
            for mode, saw in zip(modes, blamed.seen, strict=True)
        ),
        "canary_ns": seen.canary,
        "noise": seen.noise,
        "blame": blamed.layer,
        "spun": _spun(good),
        "cores": core_noise(good[0].point.op, good) if good[0].point else (),
        "flag": flags[0],
        "flags": flags,
        "launches": tuple(
            _launch(cell, blocks.get(id(cell)), drift.get(id(cell), False), tails.get(id(cell)))
            for cell in cells
        ),
    }


def _probability(good: list[Cell]) -> float | None:
    """Which quantile the stop rule was about, None where it was about none."""
    point = good[0].point
    return float(point.rule_params["q"]) if point and point.rule == "quantile" else None


def _tails(good: list[Cell], probability: float, level: float) -> dict[int, Blocks]:
    """The quantile of each launch with its interval."""
    return {id(cell): block_interval(cell.values, cell.taken.tick, level, probability) for cell in good}


def _quantile_columns(probability: float | None, inner: list[Estimate], level: float) -> dict[str, Any]:
    """The quantile of the stop rule over launches, or of the one launch."""
    if probability is None:
        return {}
    estimate = inner[0] if len(inner) == 1 else launch_interval([one.value for one in inner], level)
    return {
        "quantile": probability,
        "quantile_value": estimate.value,
        "quantile_low": _finite(estimate.low),
        "quantile_high": _finite(estimate.high),
    }


def _launch(cell: Cell, blocks: Blocks | None, drift: bool, tail: Blocks | None = None) -> RowLaunch:
    """What one launch says; `blocks` is its interval, None where it has no number; `tail` its quantile's."""
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
        median=estimate.value if estimate else None,
        ci_low=_finite(estimate.low) if estimate else None,
        ci_high=_finite(estimate.high) if estimate else None,
        lag1=blocks.lag1 if blocks else None,
        drift=drift,
        quantile_value=tail.estimate.value if tail else None,
        quantile_low=_finite(tail.estimate.low) if tail else None,
        quantile_high=_finite(tail.estimate.high) if tail else None,
        quantile_lag1=tail.lag1 if tail else None,
        communication_ns=None if estimate is None or share is None else share * estimate.value,
    )


def _status(cells: tuple[Cell, ...]) -> tuple[str, str | None]:
    """Failed when any launch failed; skipped when none was measured; the reasons, each with its launches."""
    failed = [cell for cell in cells if cell.status == "failed"]
    skipped = [cell for cell in cells if cell.status == "skipped"]
    done = any(cell.status == "ok" for cell in cells)
    if failed:
        return "failed", _reasons(failed, len(cells))
    if skipped:
        return ("ok" if done else "skipped"), _reasons(skipped, len(cells))
    return ("ok", None) if done else ("skipped", "not measured yet; run the same command again to go on")


def _reasons(cells: list[Cell], total: int) -> str:
    """`hang: ... (launch 2 of 5)`, reasons that are alike together; all launches are not named."""
    launches: dict[str, list[int]] = {}
    for cell in cells:
        launches.setdefault(cell.why or "no reason given", []).append(cell.launch)
    if len(launches) == 1 and len(cells) == total:
        return next(iter(launches))
    return "; ".join(
        f"{why} (launch{'es' if len(which) > 1 else ''} {', '.join(map(str, which))} of {total})"
        for why, which in launches.items()
    )


def _flags(good: list[Cell], mode_count: int, slow: float | None, drift: list[bool]) -> tuple[str, ...]:
    """All flags that apply, the weightiest first.

    UNSETTLED or TIME when the stop rule of any launch ended so; NOISY with several modes, or more than 5 % of
    the observations above 3 medians; DRIFT when half of the launches or more became slower or faster on the
    way. SETTLED stands alone.
    """
    ends = {cell.flag for cell in good}
    flags: list[str] = [flag for flag in ("UNSETTLED", "TIME") if flag in ends]
    if mode_count > 1 or (slow is not None and slow > MOST_SLOW):
        flags.append("NOISY")
    if 2 * sum(drift) >= len(drift):
        flags.append("DRIFT")
    return tuple(flags) or ("SETTLED",)


def _slowest(good: list[Cell]) -> tuple[int | None, float | None]:
    """The rank that took longest most often and its share; nothing where only rank 0 is reported."""
    if any(cell.point is None or cell.point.report == "root" or cell.taken.slowest.size < 2 for cell in good):
        return None, None
    counts = np.sum([cell.taken.slowest for cell in good], axis=0)
    return int(np.argmax(counts)), float(counts.max() / counts.sum())


def _stated_error(estimate: Estimate, good: list[Cell]) -> float | None:
    """How far a latency on synchronised clocks may be from the truth: what the sample leaves open, and what
    the clocks do, which is the same in all observations and so adds to it.
    """
    errors = [cell.clock_error for cell in good if cell.clock_error is not None]
    if not errors or not math.isfinite(estimate.high - estimate.low):
        return None
    return (estimate.high - estimate.low) / 2 + max(errors)


def _windows(good: list[Cell]) -> tuple[int, int] | None:
    """The first and the widest window."""
    widths = [width for cell in good for width in cell.taken.windows]
    return (widths[0], max(widths)) if widths else None


def _path(good: list[Cell]) -> RowPath | None:
    """What the first launch watched."""
    point = good[0].point
    if point is None or point.path is None:
        return None
    path = point.path
    return RowPath(path.late, path.observer, path.late_ns, path.observer_ns, path.loops)


def _pairs(good: list[Cell]) -> tuple[RowPair, ...]:
    """The medians of pairs that exchange messages at once, where each message is timed."""
    point = good[0].point
    if point is None or point.partners is None:
        return ()
    medians = np.median(
        [np.median(cell.values.reshape(-1, cell.taken.pairs), axis=0) for cell in good], axis=0
    )
    return tuple(RowPair(*pair, float(value)) for pair, value in zip(pairs_of(point), medians, strict=True))


def _ways(good: list[Cell]) -> tuple[float, float] | None:
    """Medians of messages there and back, where each message of one pair is timed."""
    point = good[0].point
    if point is None or point.report != "message" or point.partners is not None:
        return None
    there, back = (np.concatenate([cell.values[way::2] for cell in good]) for way in (0, 1))
    return (float(np.median(there)), float(np.median(back))) if back.size else None


def _ranks(good: list[Cell]) -> dict[str, Any]:
    """Each rank's own durations, and what OSU and IMB would make of them; only where all ranks take part."""
    point = good[0].point
    if point is None or point.report == "message" or point.parts > 1 or point.path or point.low_reps > 1:
        return {}
    medians = np.median([cell.taken.rank_medians for cell in good], axis=0)
    if medians.size < 2:
        return {}
    means = np.median([cell.taken.rank_means for cell in good], axis=0)
    least, mean, most = float(means.min()), float(means.mean()), float(means.max())
    return {
        "rank_medians": tuple(medians.tolist()),
        "osu": {"avg": mean, "min": least, "max": most},
        "imb": {"t_min": least, "t_max": most, "t_avg": mean},
    }


def _spun(good: list[Cell]) -> tuple[RowSpun, ...]:
    """What the waits of each rank saw, over all launches."""
    seen = [cell.taken.spun for cell in good if cell.taken.spun is not None]
    if not seen:
        return ()
    ns, lost = np.sum([one.ns for one in seen], axis=0), np.sum([one.lost_ns for one in seen], axis=0)
    longest = np.max([one.longest_ns for one in seen], axis=0)
    return tuple(
        RowSpun(rank, float(lost[rank] / max(1, ns[rank])), int(longest[rank])) for rank in range(ns.size)
    )


def _rates(good: list[Cell]) -> dict[str, Any]:
    """How fast the counter and the core ran, over launches."""
    starts = [cell.start for cell in good if cell.start is not None]
    cores = [start.core for start in starts if start.core is not None and start.core.hz]
    ways = {core.by for core in cores}
    return {
        "tsc_hz": _middle([start.clock.hz for start in starts if start.clock.hz is not None]),
        "core_hz": _middle([core.hz for core in cores if core.hz is not None]),
        "core_by": ways.pop() if len(ways) == 1 else None,
    }


def _middle(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None


def _yields(good: list[Cell]) -> float | None:
    """sched_yield of all ranks per operation."""
    counted = [cell for cell in good if cell.taken.yields is not None]
    operations = sum(cell.taken.operations for cell in counted)
    return sum(cell.taken.yields or 0 for cell in counted) / operations if operations else None


def _bandwidth(cell: Cell, value: float) -> float | None:
    """Bytes that a repetition moves per second of a repetition (`parts` operations of `value` ns)."""
    if cell.point is None or cell.point.moved_bytes == 0 or value <= 0:
        return None
    return cell.point.moved_bytes / (value * cell.point.parts) * 1e9


def _mops(cell: Cell, value: float) -> float | None:
    """Millions of operations a second, of a repetition whose `parts` operations take `value` ns each."""
    if cell.point is None or cell.point.work == 0 or value <= 0 or not math.isfinite(value):
        return None
    return cell.point.work / (value * cell.point.parts) * 1e3


def _verified(good: list[Cell]) -> bool | None:
    """False when any launch found a wrong answer, None when none could tell."""
    told = [cell.verified for cell in good if cell.verified is not None]
    return all(told) if told else None


def _placement(cells: tuple[Cell, ...]) -> str | None:
    """The cpus that ranks 0, 1, ... were bound to, most often: `0|1`, with hosts where there are several."""
    texts: Counter[str] = Counter()
    for cell in cells:
        if cell.start is None:
            continue
        places = sorted(cell.start.places, key=lambda place: place.rank)
        several = len({place.host for place in places}) > 1
        texts["|".join(f"{place.host}:{place.cpus}" if several else place.cpus for place in places)] += 1
    return texts.most_common(1)[0][0] if texts else None


def _apart(cells: tuple[Cell, ...]) -> Placement | None:
    """Two ranks on two hosts, each on one CPU, are a pair too, of a class that no one host has."""
    for cell in cells:
        places = sorted(cell.start.places, key=lambda place: place.rank) if cell.start else []
        bound = [int(place.cpus) for place in places if place.cpus.isdigit()]
        if len(places) == len(bound) == len({place.host for place in places}) == 2:
            return Placement("other-host", tuple(bound))
    return None


def _transport(cells: tuple[Cell, ...]) -> str | None:
    """What the environment of all launches leaves the MPI to send by."""
    words = {transport_of(cell.start.environment) for cell in cells if cell.start is not None}
    return words.pop() if len(words) == 1 else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
