"""Convert the records of a simulation to rows: each method's estimate beside the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.read import read_job
from steelyard.results.load import PointLaunch, cell_of
from steelyard.stats import block_interval, slope_interval
from steelyard.stats.arrays import FloatArray
from steelyard.stats.interval import Estimate
from steelyard.validate.design import Simulation
from steelyard.validate.simulator import Ran

LEVEL = 0.95  # of the intervals of estimates and of the truth


class Planned(Struct, frozen=True, kw_only=True):
    """A method on an op, as a simulation planned it."""

    op: str
    method: str
    bytes: int
    ranks: int
    selector: str
    barrier: str | None
    platform: str


class Comparison(Planned, frozen=True, kw_only=True):
    """A method's estimate of one op and the truth, times in ns.

    `low_ns`..`high_ns` is the method's own interval of its estimate, without clocks. `stated_error_ns` is the
    largest error that the method states; `truth_error_ns` the half width of the truth's interval, because
    with noise the truth is a sample too. `truth_again_ns` is the truth taken after the methods, None if the
    simulation ended before. `skew_counts`: the weight of `skew_ns` in the stated error. `flat`: all hosts on
    one switch of our own platform. `asymmetric`: some paths may take longer in one direction, which no
    exchange of messages can see; `certain`: the clocks' guaranteed error is stated, not that of the closure.
    """

    truth_ns: float
    estimate_ns: float
    error_pct: float
    stated_error_ns: float
    inside_stated_error: bool
    noise: bool
    flat: bool
    asymmetric: bool
    certain: bool
    ranks_per_host: int
    seed: int
    low_ns: float
    high_ns: float
    truth_error_ns: float
    truth_first_ns: float
    truth_again_ns: float | None
    clock_error_ns: float | None
    skew_ns: float | None
    skew_counts: float
    count: int
    rejected: int


class NotRun(Planned, frozen=True, kw_only=True):
    """A planned method without a row: the reason, and whether it was only too slow (`slow`) or failed."""

    why: str
    kind: Literal["slow", "failed", "skipped"]


SKEW_COUNTS = 3.0  # ns that a ns of skew costs at least, by statement


def skew_counts(values: FloatArray, skews: FloatArray | None) -> float:
    """Estimate how many ns the latency grows with each ns of skew between the starts.

    If each message has a path of its own, at most 1, because no rank finishes later than if all had started
    with the last. More if messages share a link, because a late one delays others: in an alltoall of 1 MiB on
    16 ranks 3, on 64 ranks 10. An operation's own windows show it, because their skews differ. The result is
    the upper end of the slope of `values` over `skews`, shape (count,) each, if it is surely above 0, and
    `SKEW_COUNTS` at least.
    """
    slope = None if skews is None else slope_interval(skews, values, LEVEL)
    return max(SKEW_COUNTS, slope.high) if slope is not None and slope.low > 0 else SKEW_COUNTS


def stated_error(
    half_width_ns: float,
    tick_ns: float,
    clock_error_ns: float | None,
    skew_ns: float | None,
    counts: float = SKEW_COUNTS,
) -> float:
    """Compute the largest error that a method states for an estimate, in ns.

    A latency is the stop of one rank minus the start of another, and the clocks' error may be in it:
    `clock_error_ns`. Ranks that start `skew_ns` apart, as seen on those clocks, make it longer by up to
    `counts` times that (`skew_counts`). Both timestamps are cut to the clock's tick, so their difference is
    off by less than one tick. Half the width of the interval from the scatter of samples is added. A method
    that compares no clocks states only the last two, and so does not know its bias.

    An operation that takes longer as soon as ranks start a few ns apart, and no longer with more, is not
    covered. The skews of its windows do not show this, and ranks of a real machine never start at one
    instant.
    """
    return (clock_error_ns or 0.0) + counts * (skew_ns or 0.0) + tick_ns + half_width_ns


def is_inside(error_ns: float, stated_ns: float, truth_error_ns: float) -> bool:
    """Is an estimate as near to the truth as stated, with the truth known to `truth_error_ns`?

    The scatter of both is independent, so the two add up as squares.
    """
    return abs(error_ns) <= math.hypot(stated_ns, truth_error_ns)


def rows_of_simulation(
    simulation: Simulation, records: Path, ran: Ran
) -> tuple[tuple[Comparison, ...], tuple[NotRun, ...]]:
    """Make the rows of a simulation from its file of records, and list what it has not reached."""
    cells: dict[int, PointLaunch] = {}

    def visit(file: JobFile, run: PointRun) -> None:
        cells[run.index] = cell_of(file, run)

    read_job(records, visit)
    rows: list[Comparison] = []
    missing: list[NotRun] = []
    width = len(simulation.methods) + 2
    for index, size in enumerate(simulation.sizes):
        first, *measured, again = (cells.get(index * width + offset) for offset in range(width))
        for method, cell in zip(simulation.methods, measured, strict=True):
            why, kind = _trouble((first, cell), ran)
            if not why and _trouble((again,), ran)[1] == "failed":  # too slow for the second truth is no loss
                why, kind = _trouble((again,), ran)
            if why:
                missing.append(_not_run(simulation, method, size, why, kind))
            else:
                assert first is not None
                assert cell is not None
                row = row_of(simulation, method, size, cell, first, again)
                if isinstance(row, Comparison):
                    rows.append(row)
                else:
                    missing.append(_not_run(simulation, method, size, row, "failed"))
    return tuple(rows), tuple(missing)


_Kind = Literal["slow", "failed", "skipped"]


def _trouble(cells: tuple[PointLaunch | None, ...], ran: Ran) -> tuple[str, _Kind]:
    """Explain why cells cannot be used, "" if they can."""
    for cell in cells:
        if cell is None or cell.status == "unfinished":
            if ran.too_slow:
                return f"too slow: {ran.why}", "slow"
            return ran.why or "the simulation ended without it", "failed"
        if cell.status != "ok":
            return cell.why or cell.status, "skipped" if cell.status == "skipped" else "failed"
    return "", "failed"


def _planned(simulation: Simulation, method: str, size: int) -> dict[str, Any]:
    """Make the fields of `Planned`."""
    return {
        "op": simulation.op,
        "method": method,
        "bytes": size,
        "ranks": simulation.ranks,
        "selector": simulation.selector,
        "barrier": simulation.barrier,
        "platform": simulation.machine.name,
    }


def _not_run(simulation: Simulation, method: str, size: int, why: str, kind: _Kind) -> NotRun:
    return NotRun(
        **_planned(simulation, method, size),
        why=why,
        kind=kind,
    )


@dataclass(frozen=True, slots=True)
class _CellValues:
    """The values of a cell: an estimate and its tick, the error of clocks, the spread of starts;
    all in ns.
    """

    estimate: Estimate
    tick: float
    clock_error: float | None
    skew: float | None
    low: float  # lower bound of the operation: the estimate's own, or that of bounds


def _seen(cells: Sequence[PointLaunch]) -> _CellValues:
    """Join the cells of one method. All that this module knows about the contents of cells is here."""
    values = np.concatenate([cell.values for cell in cells])
    estimate = block_interval(values, cells[0].taken.tick, LEVEL).estimate
    low, point = cells[0].taken.low, cells[0].point
    is_bounds = low is not None and point is not None and point.low_reps > 1
    return _CellValues(
        estimate=estimate,
        low=float(np.median(low)) if is_bounds and low is not None else estimate.low,
        tick=cells[0].taken.tick,
        clock_error=cells[0].clock_error,
        skew=cells[0].taken.skew,
    )


def row_of(
    simulation: Simulation,
    method: str,
    size: int,
    cell: PointLaunch,
    first: PointLaunch,
    again: PointLaunch | None,
) -> Comparison | str:
    """One method's estimate, or why there is none; the truth is that of before and after it together."""
    later = again if again is not None and again.status == "ok" else None
    seen = _seen([cell])
    estimate = seen.estimate
    truth = _seen([one for one in (first, later) if one is not None]).estimate
    error = estimate.value - truth.value
    counts = skew_counts(cell.values, cell.taken.skews)
    stated = stated_error(_half_width(estimate), seen.tick, seen.clock_error, seen.skew, counts)
    truth_error = _half_width(truth)
    if truth.value <= 0:
        return f"the truth is {truth.value:g} ns: nothing takes time on this machine"
    if not math.isfinite(stated + truth_error):
        return f"too few samples for an interval: {cell.values.size}, of the truth {first.values.size}"
    return Comparison(
        **_planned(simulation, method, size),
        truth_ns=truth.value,
        estimate_ns=estimate.value,
        error_pct=100 * error / truth.value,
        stated_error_ns=stated,
        inside_stated_error=is_inside(error, stated, truth_error),
        noise=simulation.machine.noise,
        flat=simulation.machine.flat,
        asymmetric=simulation.machine.asymmetric,
        certain=simulation.machine.certain,
        ranks_per_host=simulation.per_host,
        seed=simulation.seed,
        low_ns=seen.low,
        high_ns=estimate.high,
        truth_error_ns=truth_error,
        truth_first_ns=_seen([first]).estimate.value,
        truth_again_ns=_seen([later]).estimate.value if later else None,
        clock_error_ns=seen.clock_error,
        skew_ns=seen.skew,
        skew_counts=counts,
        count=int(cell.values.size),
        rejected=cell.rejected,
    )


def _half_width(estimate: Estimate) -> float:
    return max(estimate.high - estimate.value, estimate.value - estimate.low)
