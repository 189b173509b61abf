"""Growth of collectives with the ranks: a model of each, and its predictions for more ranks.

The model is a sum of terms c p^i log2(p)^j, chosen by cross-validation (`normal_form`, the normal form
of Extra-P: Calotoiu and others, SC'13). It is fitted to the medians over launches at four numbers of ranks or
more, and extrapolated to twice and four times the most ranks. The interval (95 %) is that in which one more
such median would lie, over all models that the measured ranks do not distinguish.

Growth may end at the most ranks, where a link or a memory is full: the interval reaches down to the time
there. The model cannot see that the library changes its algorithm beyond the measured ranks, or that times
grow faster because more ranks share a link or a memory. The data do not show it, and the interval does not
contain it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from steelyard.analyses.growth.normal_form import LEAST_COUNTS, NormalForm, fit_normal_form, predict
from steelyard.analyses.unmodelled import Unmodelled, unmodelled
from steelyard.records.fields import Params
from steelyard.records.kinds import COLLECTIVE
from steelyard.results.key import key_of
from steelyard.results.row import Row, modes_of
from steelyard.stats import Interval

AHEAD = (2, 4)  # times the most ranks
GROWTH_FREE = ("ranks", "placed", "hosts")  # the keys in which rows of one curve may differ


class GrowthTerm(Struct, frozen=True):
    """`factor` ns times p^power log2(p)^logs; `power` is a fraction such as `1/2`."""

    factor: float
    power: str
    logs: int
    words: str


class GrowthPoint(Struct, frozen=True):
    """A number of ranks: the time in ns, and the model's time."""

    ranks: int
    time: Interval
    said: float


class GrowthAhead(Struct, frozen=True):
    """A number of ranks that was not measured, and the time in ns that the model predicts."""

    ranks: int
    time: Interval


class Growth(Struct, frozen=True, kw_only=True):
    """A collective of one size over ranks, ascending.

    The model is `constant` ns and the sum of `terms`. `error` is the relative root mean square error at
    points that were left out, one by one; `rivals`: how many other models have at most twice that error.
    """

    op: str
    mpi: str | None
    bytes: int
    method: str
    params: Params
    points: tuple[GrowthPoint, ...]
    constant: float
    terms: tuple[GrowthTerm, ...]
    error: float
    rivals: int
    ahead: tuple[GrowthAhead, ...]


def is_grown(row: Row) -> bool:
    """Is it a point of a curve over ranks?"""
    return row.role == COLLECTIVE and row.status == "ok" and bool(row.time) and row.ranks > 1


def growths_of(rows: Sequence[Row]) -> tuple[Growth, ...]:
    """Model every collective at four numbers of ranks or more, in the order of the rows."""
    curves: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in rows:
        if is_grown(row):
            curves.setdefault(key_of(row, GROWTH_FREE), {}).setdefault(row.ranks, row)
    found = (_growth(dict(sorted(curve.items()))) for curve in curves.values())
    return tuple(one for one in found if one is not None)


def _growth(curve: dict[int, Row]) -> Growth | None:
    model = fit_normal_form(list(curve), [row.time or 0.0 for row in curve.values()])
    if model is None:
        return None
    first = next(iter(curve.values()))
    return Growth(
        op=first.op,
        mpi=first.mpi,
        bytes=first.bytes,
        method=first.method,
        params=first.params,
        points=tuple(
            GrowthPoint(ranks, Interval(row.time or 0.0, row.time_low, row.time_high), float(model.at(ranks)))
            for ranks, row in curve.items()
        ),
        constant=model.constant,
        terms=tuple(_terms(model)),
        error=model.error,
        rivals=len(model.rivals),
        ahead=tuple(
            GrowthAhead(n * max(curve), _with_modes(predict(model, n * max(curve)), curve)) for n in AHEAD
        ),
    )


def _with_modes(said: Interval, curve: dict[int, Row]) -> Interval:
    """Widen an interval by modes that no launch of the curve may have been in."""
    factor = math.exp(modes_of(*curve.values()).apart)
    return Interval(said.value, (said.low or 0.0) / factor, (said.high or 0.0) * factor)


def _terms(model: NormalForm) -> list[GrowthTerm]:
    return [
        GrowthTerm(factor, str(shape.power), shape.logs, shape.words)
        for factor, shape in zip(model.factors, model.shapes, strict=True)
        if factor > 0
    ]


def unmodelled_growths(rows: Sequence[Row]) -> tuple[Unmodelled, ...]:
    """Find collectives on enough numbers of ranks for a model of growth, but by several methods."""
    return unmodelled([row for row in rows if is_grown(row)], GROWTH_FREE, LEAST_COUNTS)
