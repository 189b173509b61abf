"""The engine's rules `median` and `quantile`: how often the truth is in the interval when they stop, and
whether the package computes the same interval.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from cbuild import library_of_tests
from further import further
from steelyard.stats import block_interval
from steelyard.stats.arrays import FloatArray

_TRUTH = 100.0  # the median of every series here
_NOT_YET, _SETTLED, _UNSETTLED, _TIME = range(4)
_PARAMS_MAX = 16


class _Param(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("name", "unit", "summary")),
        *((name, ctypes.c_double) for name in ("normal", "least", "most")),
        *((name, ctypes.c_void_p) for name in ("words", "bytes", "all")),
    )


class _Series(ctypes.Structure):
    _fields_ = (
        ("values", ctypes.POINTER(ctypes.c_double)),
        ("count", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("rejected", ctypes.c_size_t),
        ("tick", ctypes.c_double),
        ("seconds", ctypes.c_double),
        ("limit_s", ctypes.c_double),
        ("next_look", ctypes.c_size_t),
    )


_Done = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Series), ctypes.POINTER(ctypes.c_double))


class _Rule(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("summary", ctypes.c_char_p),
        ("params", ctypes.POINTER(_Param)),
        ("done", _Done),
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule in C. `params` of it are given by name; those that bound the time are out of the way."""

    rule: Any
    names: tuple[str, ...]

    def _values(self, params: dict[str, float]) -> Any:
        given = {"least_seconds": 0.0, "most_seconds": 1e9, "most_count": 1e8, **params}
        values = (ctypes.c_double * _PARAMS_MAX)()
        for i, name in enumerate(self.names):
            values[i] = given.pop(name, self.rule.params[i].normal)
        assert not given
        return values

    def look(self, values: FloatArray, tick: float = 0.0, **params: float) -> int:
        """What the rule says when it sees all values at once."""
        return self.stop(values, tick, first=values.size, **params)[0]

    def stop(
        self, values: FloatArray, tick: float = 0.0, first: int = 128, **params: float
    ) -> tuple[int, int]:
        """Show it `first` values and then as many as it asks for; what it said, and how many it had seen."""
        pointer = values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        series, chosen = _Series(pointer, first, values.size, 0, tick, 0.0, 0), self._values(params)
        while True:
            said = self.rule.done(ctypes.byref(series), chosen)
            if said != _NOT_YET or series.next_look > values.size or series.next_look <= series.count:
                return said, series.count
            series.count = series.next_look


def _find(name: bytes) -> Rule:
    library = ctypes.CDLL(str(library_of_tests()))
    library.stop_find.restype = ctypes.POINTER(_Rule)
    found = library.stop_find(name).contents
    names: list[str] = []
    while param := found.params[len(names)].name:
        names.append(param.decode())
    return Rule(found, tuple(names))


@pytest.fixture(scope="module")
def rule() -> Rule:
    return _find(b"median")


@pytest.fixture(scope="module")
def quantile_rule() -> Rule:
    return _find(b"quantile")


# ---- coverage ----------------------------------------------------------------------------------------------

Draw = Callable[[np.random.Generator, int], FloatArray]


def _normal(rng: np.random.Generator, count: int) -> FloatArray:
    return _TRUTH + 10 * rng.standard_normal(count)


def _lognormal(rng: np.random.Generator, count: int) -> FloatArray:
    return np.asarray(_TRUTH * np.exp(0.3 * rng.standard_normal(count)))


def _autoregressive(rng: np.random.Generator, count: int) -> FloatArray:
    """AR(1) with a correlation time of 50 values, begun in its stationary state."""
    from scipy.signal import lfilter  # which takes each worker a second, and few need it

    rho = math.exp(-1 / 50)
    shocks = rng.standard_normal(count) * math.sqrt(1 - rho * rho)
    shocks[0] = rng.standard_normal()
    return np.asarray(_TRUTH + 10 * lfilter([1], [1, -rho], shocks), dtype=np.float64)


# In the long run 92.1 to 93.3 % in all rows; where there are few series, 3 standard errors less are let pass.
@pytest.mark.parametrize(
    ("draw", "tolerance", "most", "series", "least_coverage"),
    [
        (_normal, 0.01, 1 << 12, 2000, 0.905),
        (_lognormal, 0.03, 1 << 12, 2000, 0.905),
        further(_normal, 0.003, 1 << 15, 400, 0.88),
        further(_lognormal, 0.01, 1 << 15, 400, 0.88),
        further(_autoregressive, 0.03, 1 << 16, 400, 0.88),
        further(_autoregressive, 0.015, 1 << 17, 200, 0.84),
    ],
)
def test_the_interval_at_which_it_stops_covers_the_truth(
    rule: Rule,
    draw: Draw,
    tolerance: float,
    most: int,
    series: int,
    least_coverage: float,
) -> None:
    """Nominally 95 %; some of it is lost because one stops when the interval happens to be narrow."""
    rng = np.random.default_rng(20241121)
    covered = 0
    for _ in range(series):
        values = draw(rng, most)
        said, count = rule.stop(values, tolerance=tolerance)
        assert said == _SETTLED
        estimate = block_interval(values[:count]).estimate
        covered += estimate.low <= _TRUTH <= estimate.high
    assert least_coverage <= covered / series <= 0.98


def _true_quantile(draw: Draw, p: float) -> float:
    """For the series above, whose values are normal or lognormal."""
    normal = float(ndtri(p))
    return _TRUTH * math.exp(0.3 * normal) if draw is _lognormal else _TRUTH + 10 * normal


# What is missed lies mostly below the truth, where a slow spell was not seen.
@pytest.mark.parametrize(
    ("draw", "p", "tolerance", "most", "series", "least_coverage"),
    [
        (_lognormal, 0.9, 0.05, 1 << 15, 400, 0.91),
        further(_lognormal, 0.99, 0.03, 1 << 17, 100, 0.87),
        further(_lognormal, 0.05, 0.03, 1 << 16, 200, 0.90),
        (_autoregressive, 0.9, 0.03, 1 << 17, 200, 0.88),
        further(_autoregressive, 0.99, 0.05, 1 << 18, 100, 0.85),
    ],
)
def test_the_interval_of_a_quantile_covers_the_truth(
    quantile_rule: Rule,
    draw: Draw,
    p: float,
    tolerance: float,
    most: int,
    series: int,
    least_coverage: float,
) -> None:
    """Nominally 95 %, as for the median."""
    rng = np.random.default_rng(20241121)
    covered, truth = 0, _true_quantile(draw, p)
    for _ in range(series):
        values = draw(rng, most)
        said, count = quantile_rule.stop(values, tolerance=tolerance, q=p)
        assert said == _SETTLED
        estimate = block_interval(values[:count], p=p).estimate
        covered += estimate.low <= truth <= estimate.high
    assert least_coverage <= covered / series <= 0.98


@pytest.mark.parametrize(("p", "least"), [(0.9, 12800), (0.99, 128000), (0.1, 12800), (0.5, 2560)])
def test_a_quantile_waits_until_ten_values_of_a_block_lie_beyond_it(
    quantile_rule: Rule, p: float, least: int
) -> None:
    values = _normal(np.random.default_rng(2), least + 1000)
    assert quantile_rule.look(values[: least - 1], tolerance=10, q=p) == _NOT_YET
    assert quantile_rule.stop(values, tolerance=10, q=p) == (_SETTLED, least)


def test_correlated_values_are_not_believed_while_blocks_are_short(rule: Rule) -> None:
    """With 1024 values and a correlation time of 50, the interval would cover the truth in 4 of 5 cases."""
    rng = np.random.default_rng(1)
    said = [rule.look(_autoregressive(rng, 1024), tolerance=10) for _ in range(200)]
    assert said.count(_SETTLED) <= 10


# ---- the same interval in C and in Python ------------------------------------------------------------------


def _python_says(
    values: FloatArray, tick: float, tolerance: float, level: float, p: float
) -> tuple[bool, float]:
    """Whether the package's statistics call the values settled, and how far that is from the boundary."""
    blocks = block_interval(values, tick, level, p)
    assert blocks.lag1 is not None
    quantile = {0.9: 1.7531, 0.95: 2.1314, 0.99: 2.9467}[
        level
    ]  # Student's t with 15 degrees of freedom, tables
    half = quantile * float(np.std(blocks.medians, ddof=1)) / 4
    allowed = max(tolerance * abs(float(blocks.medians.mean())), 0.1 * tick)
    margins = (abs(blocks.lag1 - 0.4), abs(half - allowed) / max(half, allowed))
    return blocks.lag1 < 0.4 and half <= allowed, min(margins)


def _compare_c_and_python(
    rule: Rule, draw: Draw, tick: float, level: float, p: float, sizes: tuple[int, int], **params: float
) -> list[bool]:
    """What both say, at random sizes and at tolerances around the boundary, on values rounded to the tick."""
    rng = np.random.default_rng(3)
    said = []
    for _ in range(60):
        values = draw(rng, int(rng.integers(*sizes)))
        values = np.floor(values / tick) * tick if tick else values
        half = block_interval(values, tick, level, p).estimate
        tolerance = (half.high - half.low) / 2 / half.value * float(rng.uniform(0.5, 2)) + 1e-6
        expected, margin = _python_says(values, tick, tolerance, level, p)
        if margin < 1e-3:  # C has Student's t to four figures
            continue
        said.append(expected)
        assert rule.look(values, tick, tolerance=tolerance, level=level, **params) == (
            _SETTLED if expected else _NOT_YET
        )
    return said


@pytest.mark.parametrize("draw", [_normal, _lognormal, _autoregressive])
@pytest.mark.parametrize("tick", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_c_and_python_see_the_same(rule: Rule, draw: Draw, tick: float, level: float) -> None:
    said = _compare_c_and_python(rule, draw, tick, level, 0.5, (128, 6000))
    assert len(said) > 50
    assert draw is _autoregressive or (any(said) and not all(said))


@pytest.mark.parametrize("draw", [_lognormal, _autoregressive])
@pytest.mark.parametrize("tick", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("p", [0.1, further(0.75), 0.9])
def test_c_and_python_see_the_same_quantile(quantile_rule: Rule, draw: Draw, tick: float, p: float) -> None:
    said = _compare_c_and_python(quantile_rule, draw, tick, 0.95, p, (12800, 20000), q=p)
    assert len(said) > 50
    assert any(said)
    assert tick == 10.0 or not all(said)  # which is coarse enough to end it by itself


def test_a_clock_that_always_says_the_same_settles_at_once(rule: Rule) -> None:
    values = np.full(128, 30.0)
    assert rule.stop(values, 10.0) == (_SETTLED, 128)
    estimate = block_interval(values, 10.0).estimate
    assert (estimate.value, estimate.low, estimate.high) == (30.0, 25.0, 35.0)
