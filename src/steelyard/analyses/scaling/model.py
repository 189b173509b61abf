"""Scaling of kernels: speed-up and efficiency over ranks or threads, and models fitted to them.

Both kinds rest on the rate, work per time. Strong scaling keeps the class: the speed-up T(b) / T(p) is the
ratio of rates. Weak scaling lets the class grow with the ranks. The classes of NPB do not grow in proportion,
so two rows belong to one curve if their work per rank differs by a quarter at most, and the ratio of rates
corrects for the rest. With b the fewest ranks or threads,

    speed-up(p) = rate(p) / rate(b)        efficiency(p) = speed-up(p) b / p

Models, in relative least squares: of strong scaling T = A + B / p, Amdahl's, with the serial fraction A / (A
+ B), and T = a + b / p + c log2 p from four counts on; of weak scaling T = a + c log2 (p / b), with T the
time for the work of one rank. Factors may be below 0: a serial fraction below 0 means that p ranks are more
than p times as fast, for example because their caches hold what one cache does not. Each launch has its own
ratios and its own fit; the interval is that of the launches' values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.records.kinds import KERNEL
from steelyard.results.facets import Rate
from steelyard.results.key import key_of
from steelyard.results.row import Row, launch_medians, modes_of
from steelyard.stats import Interval, relative_fit, span_of
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import Likeness

AXES = ("ranks", "threads")
OTHER = {"ranks": "threads", "threads": "ranks"}
STRONG, WEAK = "strong", "weak"
_SAME_WORK = 1e-3  # relative: of a strong curve, whose problem does not grow with the ranks
WEAK_APART = 1.25  # the largest ratio of work per rank for which classes make one curve
LEAST_FOR_THREE = 4  # counts, for a model with three factors: one more than those


class ScalingPoint(Struct, frozen=True):
    """A number of ranks or threads, on a class (`size`): times in ns per operation."""

    count: int
    size: str
    time: Interval
    speedup: Interval
    efficiency: Interval


SERIAL = "serial fraction"


class Term(Struct, frozen=True):
    """A parameter of a model; `is_time`: in ns."""

    name: str
    span: Interval
    is_time: bool = False


class Fit(Struct, frozen=True):
    """A fitted model. `factors` are those of 1, b / p and log2 (p / b), fitted to the medians over launches.

    `missed` is the greatest relative distance of a median from the model; `is_exact`: there are as many
    parameters as counts, so `missed` must be 0.
    """

    name: str
    terms: tuple[Term, ...]
    factors: tuple[float, float, float]
    missed: float
    is_exact: bool


class ScalingCurve(Struct, frozen=True, kw_only=True):
    """A kernel over ranks or threads (`axis`), with `fixed` of the other.

    `params` are all but the class of a weak one.
    """

    kind: str
    op: str
    params: Params
    mpi: str | None
    axis: str
    fixed: int
    points: tuple[ScalingPoint, ...]
    fits: tuple[Fit, ...]


def scaling_curves(rows: Sequence[Row]) -> tuple[ScalingCurve, ...]:
    """Make every curve of at least two counts from the rows of kernels, strong ones first.

    Other ops have no problem that ranks share: on more ranks they do more, or something else.
    """
    good = [
        row
        for row in rows
        if row.role == KERNEL
        and row.status == "ok"
        and row.get(Rate).mops
        and row.time
        and launch_medians(row)
    ]
    return (*_strong(good), *_weak(good))


def fit_speedup(curve: ScalingCurve, fit: Fit, count: float) -> float:
    """Predict the speed-up at a count by a model."""
    p = count / curve.points[0].count
    a, b, c = fit.factors
    relative: float = (a + b) / (a + b / p + c * math.log2(p))
    return relative * (p if curve.kind == WEAK else 1.0)


def _groups(
    rows: Sequence[Row], axis: str, apart: str | None
) -> Iterator[tuple[tuple[object, ...], list[Row]]]:
    """Group rows that differ only in `axis`, and in the parameter `apart`.

    A row on one rank without MPI joins the ranks of each MPI that has none of its own.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        without = ("mpi", "thread_level", axis, f"param.{apart}", *(("placed",) if axis == "ranks" else ()))
        groups.setdefault((row.mpi, *key_of(row, without)), []).append(row)
    lends = axis == "ranks"
    for (mpi, *rest), members in groups.items():
        same = tuple(rest)
        if lends and mpi is None and any(group[0] is not None and group[1:] == same for group in groups):
            continue  # it is part of the curves of the MPIs
        alone = groups.get((None, *same), []) if lends else []
        own = {(row.ranks, row.params.get(apart or "")) for row in members}
        lent = [row for row in alone if (row.ranks, row.params.get(apart or "")) not in own]
        yield (mpi, *same), [*members, *lent]


def _other(row: Row, axis: str) -> int:
    return int(getattr(row, OTHER[axis]))


def _strong(rows: Sequence[Row]) -> Iterator[ScalingCurve]:
    for axis in AXES:
        for (mpi, *_), members in _groups(rows, axis, None):
            base = min(members, key=lambda row: int(getattr(row, axis)))
            by_count: dict[int, Row] = {}
            for row in members:
                if math.isclose(_work(row), _work(base), rel_tol=_SAME_WORK):
                    by_count.setdefault(getattr(row, axis), row)
            if len(by_count) > 1:
                yield _curve(STRONG, axis, mpi, dict(sorted(by_count.items())))


def _weak(rows: Sequence[Row]) -> Iterator[ScalingCurve]:
    """Choose, for each class on the fewest ranks or threads, the class at each other count whose work grew
    alike.
    """
    for axis in AXES:
        for (mpi, *_), members in _groups(rows, axis, "class"):
            least = min(getattr(row, axis) for row in members)
            for base in (row for row in members if getattr(row, axis) == least):
                chain = {least: base}
                for row in sorted(members, key=lambda member: _apart(member, base, axis)):
                    if _apart(row, base, axis) <= WEAK_APART:
                        chain.setdefault(getattr(row, axis), row)
                if len(chain) > 1:
                    yield _curve(WEAK, axis, mpi, dict(sorted(chain.items())))


def _apart(row: Row, base: Row, axis: str) -> float:
    """Divide the work per rank or thread of two rows, the larger by the smaller."""
    shares = [_work(one) / int(getattr(one, axis)) for one in (row, base)]
    return max(shares) / min(shares)


def _work(row: Row) -> float:
    return (row.get(Rate).mops or 0.0) * (row.time or 0.0)


def _curve(kind: str, axis: str, mpi: object, rows: Mapping[int, Row]) -> ScalingCurve:
    """Make the points and fits of rows by count, the fewest first."""
    counts = np.array(list(rows), dtype=np.float64)
    rates = [_rates(row) for row in rows.values()]
    shared = sorted(set.intersection(*(set(rate) for rate in rates)))
    first = next(iter(rows.values()))
    relative = counts / counts[0]
    speedups = {launch: np.array([rate[launch] / rates[0][launch] for rate in rates]) for launch in shared}
    middle = np.array([row.get(Rate).mops or 0.0 for row in rows.values()]) / (first.get(Rate).mops or 1.0)
    points, modes = [], modes_of(*rows.values())
    for i, (count, row) in enumerate(rows.items()):
        ratios = [float(speedup[i]) for speedup in speedups.values()]
        span = (
            Interval(1.0)
            if i == 0
            else span_of(ratios, alike=modes)
            if ratios
            else Interval(float(middle[i]))
        )
        points.append(
            ScalingPoint(
                count=count,
                size=str(row.params.get("class", "")),
                time=Interval(row.time or 0.0, row.time_low, row.time_high),
                speedup=span,
                efficiency=_scaled(span, 1.0 / float(relative[i])),
            )
        )
    params = {key: value for key, value in first.params.items() if kind == STRONG or key != "class"}
    grown = relative if kind == WEAK else np.ones(counts.size)
    # the time of the first one's work at the rate of each
    start = {one: launch_medians(first)[one] for one in shared}
    times = {one: start[one] * grown / speedups[one] for one in shared}
    return ScalingCurve(
        kind=kind,
        op=first.op,
        params=params,
        mpi=mpi if isinstance(mpi, str) else None,
        axis=axis,
        fixed=_other(first, axis),
        points=tuple(points),
        fits=tuple(_fits(kind, relative, (first.time or 0.0) * grown / middle, times, modes)),
    )


def _rates(row: Row) -> dict[int, float]:
    """Compute the rate of each launch, in Mop/s."""
    done = (row.get(Rate).mops or 0.0) * (row.time or 0.0)
    return {launch: done / median for launch, median in launch_medians(row).items()}


def _scaled(span: Interval, factor: float) -> Interval:
    low, high = (None if end is None else end * factor for end in (span.low, span.high))
    return Interval(span.value * factor, low, high)


# ---- models ---------------------------------------------------------------------------------------------

# A model's name, and which of the three shapes it has.
_MODELS: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    STRONG: (("Amdahl: A + B/p", (0, 1)), ("a + b/p + c log2 p", (0, 1, 2))),
    WEAK: (("a + c log2 p", (0, 2)),),
}


def _fits(
    kind: str, p: FloatArray, middle: FloatArray, launches: Mapping[int, FloatArray], modes: Likeness
) -> Iterator[Fit]:
    """Fit every model for which there are enough counts."""
    for name, used in _MODELS[kind]:
        if launches and (p.size >= LEAST_FOR_THREE if len(used) == 3 else p.size >= len(used)):
            shapes = _shapes(p)[:, used]
            factors = _whole(used, relative_fit(shapes, middle.tolist()))
            own = [_whole(used, relative_fit(shapes, times.tolist())) for times in launches.values()]
            missed = np.abs(_shapes(p) @ np.array(factors) / middle - 1.0).max()
            terms = tuple(_terms(kind, used, own, modes))
            yield Fit(name, terms, factors, float(missed), p.size == len(used))


def _shapes(p: FloatArray) -> FloatArray:
    """Compute 1, 1/p and log2 p, shape (counts, 3)."""
    return np.stack((np.ones(p.size), 1.0 / p, np.log2(p)), axis=1)


def _whole(used: Sequence[int], factors: FloatArray) -> tuple[float, float, float]:
    """Expand factors to all three shapes, with 0 for those that a model lacks."""
    whole = [0.0, 0.0, 0.0]
    for i, factor in zip(used, factors.tolist(), strict=True):
        whole[i] = factor
    return whole[0], whole[1], whole[2]


def _terms(
    kind: str, used: Sequence[int], own: Sequence[tuple[float, float, float]], modes: Likeness
) -> Iterator[Term]:
    """List the parameters that are shown, each over launches."""
    if kind == STRONG:
        yield Term(SERIAL, span_of([a / (a + b) for a, b, _ in own], logs=False, alike=modes))
        if 2 in used:
            yield Term(
                "each doubling adds", span_of([c for *_, c in own], logs=False, alike=modes), is_time=True
            )
    else:
        yield Term("growth for each doubling", span_of([c / a for a, _, c in own], logs=False, alike=modes))
