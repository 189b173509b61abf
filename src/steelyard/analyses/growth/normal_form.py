"""Growth with a number of ranks: sums of terms c p^i log2(p)^j, chosen by cross-validation, and their
predictions for other numbers.

Source: A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, Using automated performance modeling to find scalability
bugs in complex codes, SC'13 (the performance model normal form of Extra-P); the set of exponents is that of
its follow-up, CLUSTER'16. Prediction: S. Geisser, The predictive sample reuse method, JASA 70, 1975.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.interval import Interval, t_quantile
from steelyard.stats.line_fits import nonnegative_fits

_POWERS = tuple(map(Fraction, ("0", "1/4", "1/3", "1/2", "2/3", "3/4", "1", "5/4", "4/3", "3/2", "2")))
_LOGS = (0, 1, 2)
LEAST_COUNTS = 4  # numbers of ranks: a constant and a term leave two that check them
LEAST_FOR_CLASSIC = 5  # the same for the two terms of _CLASSIC
LEAST_FOR_TWO = 6  # the same for any two terms
_LEAST_ERROR = 0.01  # relative: models with a smaller error in cross-validation are equally good
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Shape:
    """p^power log2(p)^logs."""

    power: Fraction
    logs: int

    def at(self, p: FloatArray | float) -> FloatArray:
        """Compute its value at numbers of ranks; same shape."""
        x = np.asarray(p, dtype=np.float64)
        return np.asarray(x ** float(self.power) * np.log2(x) ** self.logs)

    @property
    def words(self) -> str:
        """`p^1/2 log2(p)`; empty for a constant."""
        power = "" if self.power == 0 else "p" if self.power == 1 else f"p^{self.power}"
        logs = "" if self.logs == 0 else "log2(p)" if self.logs == 1 else f"log2(p)^{self.logs}"
        return " ".join(word for word in (power, logs) if word)


@dataclass(frozen=True, slots=True)
class NormalForm:
    """`constant` + the sum of each factor times its shape, fitted at `counts`.

    `error` is the relative root mean square error at counts that were left out of the fit, each once.
    `rivals` are models that this error does not distinguish, for their predictions.
    """

    counts: tuple[int, ...]
    constant: float
    factors: tuple[float, ...]
    shapes: tuple[Shape, ...]
    error: float
    rivals: tuple[NormalForm, ...] = ()

    def at(self, p: FloatArray | float) -> FloatArray:
        """Compute its times at numbers of ranks; same shape."""
        told = [factor * shape.at(p) for factor, shape in zip(self.factors, self.shapes, strict=True)]
        return np.asarray(self.constant + sum(told, np.zeros_like(np.asarray(p, dtype=np.float64))))


def _shapes() -> tuple[Shape, ...]:
    found = (Shape(power, logs) for power, logs in itertools.product(_POWERS, _LOGS))
    return tuple(shape for shape in found if shape.power or shape.logs)


SHAPES = _shapes()
# Steps of a tree, and bytes that pass one rank: most collectives are made of both. R. Thakur, R. Rabenseifner
# and W. Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19, 2005, section 4.
_CLASSIC = (Shape(Fraction(0), 1), Shape(Fraction(1), 0))


def fit_normal_form(counts: Sequence[int], times: Sequence[float]) -> NormalForm | None:
    """Fit the model with the least error at counts that were left out, and its rivals; None for too few
    counts.

    `counts` are two or more, `times` positive. A constant alone is a model, then each with one shape, and
    with two if there are enough counts. More terms are taken only if they halve the error. The model of steps
    and bytes is always tried. No factor is below 0: no collective is faster because there are more ranks.
    """
    p, y = np.asarray(counts, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if p.size < LEAST_COUNTS:
        return None
    best: NormalForm | None = None
    all_found: list[NormalForm] = []
    for sets in _sets(p.size):
        found = _fitted(p, y, sets)
        all_found += found
        nearest = min(found, key=lambda one: one.error)
        if best is None or max(nearest.error, _LEAST_ERROR) < max(best.error, _LEAST_ERROR) / 2:
            best = nearest
        if best.error <= 2 * _LEAST_ERROR:
            break  # nothing halves the error
    assert best is not None
    if p.size >= LEAST_FOR_CLASSIC and all(one.shapes != _CLASSIC for one in all_found):
        all_found += _fitted(p, y, [_CLASSIC])
    most, terms = 2 * max(best.error, _LEAST_ERROR), len(best.shapes)
    rivals = tuple(
        one
        for one in all_found
        if one is not best and one.error <= most and (len(one.shapes) <= terms or one.shapes == _CLASSIC)
    )
    return NormalForm(best.counts, best.constant, best.factors, best.shapes, best.error, rivals)


def _sets(counts: int) -> Iterable[Sequence[tuple[Shape, ...]]]:
    """List the models that so many counts can distinguish, those of fewer terms first."""
    yield [()]
    yield [(shape,) for shape in SHAPES]
    if counts >= LEAST_FOR_TWO:
        yield list(itertools.combinations(SHAPES, 2))
    elif counts >= LEAST_FOR_CLASSIC:
        yield [_CLASSIC]


def _fitted(p: FloatArray, y: FloatArray, sets: Sequence[tuple[Shape, ...]]) -> list[NormalForm]:
    """Fit models of equally many shapes at once, in relative least squares, no factor below 0."""
    designs = [np.stack([np.ones(p.size), *(shape.at(p) for shape in shapes)], axis=1) for shapes in sets]
    relative = np.stack(designs) / y[:, None]  # (models, counts, terms)
    kept = np.concatenate((1.0 - np.eye(p.size), np.ones((1, p.size))))  # each count left out once, then none
    factors = nonnegative_fits(relative[:, None] * kept[..., None], kept)  # (models, counts + 1, terms)
    missed = np.sum(relative * factors[:, :-1], axis=2) - 1.0
    errors = np.sqrt(np.mean(np.square(missed), axis=1))
    counts = tuple(map(int, p))
    fits = zip(sets, factors[:, -1].tolist(), errors.tolist(), strict=True)
    return [
        NormalForm(counts, constant, tuple(rest), shapes, error) for shapes, (constant, *rest), error in fits
    ]


def predict(model: NormalForm, count: float) -> Interval:
    """Predict a number of ranks by a model and its rivals: the range of one more measurement with 95 %.

    Each model's own interval is Student's t with its error of cross-validation, and wider the further away
    (`_reach`); the whole is from the least end to the greatest. Growth may also end at the last count, as
    where a link or a memory is saturated, and no count shows that beforehand: beyond it the least end is no
    higher than at the last count.
    """
    ends = [_ends(one, count) for one in (model, *model.rivals)]
    if count > (last := max(model.counts)):
        ends += [_ends(one, last) for one in (model, *model.rivals)]
    return Interval(float(model.at(count)), min(low for low, _ in ends), max(high for _, high in ends))


def _ends(model: NormalForm, count: float) -> tuple[float, float]:
    said = float(model.at(count))
    degrees = max(1, len(model.counts) - 1 - len(model.shapes))
    half = t_quantile(_LEVEL, degrees) * max(model.error, _LEAST_ERROR / 2) * _reach(model, count)
    return said * max(0.0, 1.0 - half), said * (1.0 + half)


def _reach(model: NormalForm, count: float) -> float:
    """Compute the factor of a relative error from the counts to another: of the prediction of a
    regression.
    """
    p = np.asarray(model.counts, dtype=np.float64)
    y = model.at(p)
    columns = [np.ones(p.size), *(shape.at(p) for shape in model.shapes)]
    design = np.stack(columns, axis=1) / y[:, None]
    there = np.array([1.0, *(float(shape.at(count)) for shape in model.shapes)]) / float(model.at(count))
    spread = float(there @ np.linalg.pinv(design.T @ design) @ there)
    return math.sqrt(1.0 + spread)
