"""Processes that are planted for the referee of commands: launches of rows, of two arms, of nights."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import referee
from coverage_derived import Floats, alike
from referee import SCATTER, World, modes

CASES = 20  # of a night


def _exponential(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(0.1 * rng.exponential(1, n))


def _sometimes_wild(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(SCATTER * rng.standard_normal(n) * np.where(rng.random(n) < 0.2, 10, 1))


def _cold(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(SCATTER * rng.standard_normal(n) + 0.2 * (np.arange(n) == 0))


def _alternating(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(SCATTER * rng.standard_normal(n) + 0.05 * ((np.arange(n) + rng.integers(2)) % 2))


def _burst(rng: np.random.Generator, n: int) -> Floats:
    """Three launches in a row, somewhere among twenty, take 30 % longer."""
    at = rng.integers(20)
    return np.asarray(SCATTER * rng.standard_normal(n) + 0.26 * (((np.arange(n) - at) % 20) < 3))


def _wave(rng: np.random.Generator, n: int) -> Floats:
    """5 % up and down within twenty launches."""
    return np.asarray(
        SCATTER * rng.standard_normal(n) + 0.05 * np.sin(2 * np.pi * (np.arange(n) / 20 + rng.random()))
    )


def _three_modes(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(SCATTER * rng.standard_normal(n) + np.log([1.0, 1.3, 2.0])[rng.integers(3, size=n)])


def _one_by_one(draw: referee.Logs) -> referee.Logs:
    """Draw launches of as many campaigns, each at its own place."""
    return lambda rng, n: np.array([draw(rng, 20)[rng.integers(20)] for _ in range(n)])


OWN_WORLDS = {
    "launches: lognormal 30 %": World(lambda rng, n: 0.3 * rng.standard_normal(n)),
    "launches: Pareto 1.5": World(lambda rng, n: np.log1p(SCATTER * rng.pareto(1.5, n))),
    "launches: exponential, 10 %": World(_exponential),
    "launches: one in five scatters ten times as much": World(_sometimes_wild),
    "launches: three modes, 1, 1.3 and 2": World(_three_modes),
    "launches: the first takes 20 % longer": World(_cold, marginal=referee.scattered),
    "launches: every second one 5 % slower": World(_alternating, marginal=_one_by_one(_alternating)),
    "launches: three of twenty in a row 30 % slower": World(_burst, marginal=_one_by_one(_burst)),
    "launches: a wave of 5 % in twenty": World(_wave, marginal=_one_by_one(_wave)),
    "three sittings, 10 %": World(sittings=3, between=0.1),
    "three hosts by turns, 10 %": World(hosts=3, between=0.1),
    "two sittings, and modes 70/30 x 2": World(
        lambda rng, n: modes(rng, n, 2.0, 0.3), sittings=2, between=0.03
    ),
}
ROWS = referee.WORLDS | OWN_WORLDS

# (generator, pairs, test cases) -> logarithms of the launch medians of both arms, (2, n, P)
Arms = Callable[[np.random.Generator, int, int], Floats]


def _plain(rng: np.random.Generator, n: int, cases: int) -> Floats:
    """Launches scatter by 3 %, and by 2 % that all test cases of a launch share."""
    return np.asarray(SCATTER * rng.standard_normal((2, n, cases)) + 0.02 * rng.standard_normal((2, n, 1)))


def _moded(rng: np.random.Generator, n: int, cases: int, ratio: float = 2.0) -> Floats:
    return np.asarray(_plain(rng, n, cases) + math.log(ratio) * (rng.random((2, n, cases)) < 0.3))


def _own_series(one: Callable[[np.random.Generator, int], Floats]) -> Arms:
    """Each arm of each test case has a series of its own."""
    return lambda rng, n, cases: np.stack([[one(rng, n) for _ in range(cases)] for _ in "ab"]).swapaxes(1, 2)


def _walking(rng: np.random.Generator, n: int, cases: int) -> Floats:
    """Both arms of a pair share a random walk of 5 %."""
    return np.asarray(_plain(rng, n, cases) + np.cumsum(0.05 * rng.standard_normal((n, cases)), axis=0))


def _trends(rng: np.random.Generator, n: int, cases: int) -> Floats:
    """Each arm of each test case drifts by 10 % in all, up or down."""
    slopes = 0.1 * rng.choice((-1.0, 1.0), (2, 1, cases))
    return np.asarray(_plain(rng, n, cases) + slopes * np.linspace(-0.5, 0.5, n)[:, None])


EQUALS: dict[str, Arms] = {
    "independent": _plain,
    "modes 70/30 x 2": _moded,
    "modes 70/30 x 1.3": lambda rng, n, cases: _moded(rng, n, cases, 1.3),
    "t with 2 degrees": lambda rng, n, cases: SCATTER * rng.standard_t(2, (2, n, cases)),
    "Pareto 1.5": lambda rng, n, cases: np.log1p(SCATTER * rng.pareto(1.5, (2, n, cases))),
    "a walk of 5 % that both share": _walking,
    "a drift of 10 % of each arm's own": _trends,
    "each arm AR(1), 0.4": _own_series(lambda rng, n: SCATTER * alike(rng, n, 0.4)),
    "each arm AR(1), 0.8": _own_series(lambda rng, n: SCATTER * alike(rng, n, 0.8)),
    "modes x 1.3 of its own that stay with 0.8": _own_series(lambda rng, n: modes(rng, n, 1.3, 0.3, 0.8)),
}

NIGHT = 0.01  # what a night adds to a test case
OF_A_NIGHT = 5  # launches

# (generator, nights) -> logarithms of launch medians, (nights, CASES, OF_A_NIGHT); the last night is tonight
Nights = Callable[[np.random.Generator, int], Floats]


def _nights(values: Callable[[np.random.Generator, tuple[int, int]], Floats]) -> Nights:
    """Launches scatter by 1 % around what a night adds to a test case."""

    def draw(rng: np.random.Generator, nights: int) -> Floats:
        own = values(rng, (nights, CASES))[:, :, None]
        return np.asarray(own + 0.01 * rng.standard_normal((nights, CASES, OF_A_NIGHT)))

    return draw


def _by_case(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray(rng.uniform(0.005, 0.04, shape[1]) * rng.standard_normal(shape))


def _drifting(slope: float) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    return lambda rng, shape: NIGHT * rng.standard_normal(shape) + slope * np.arange(shape[0])[:, None]


def _correlated(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.stack([NIGHT * alike(rng, shape[0], 0.5) for _ in range(shape[1])], axis=1)


def _with_modes(share: float, tonight: float) -> Nights:
    """A mode 1.5 times as slow in such a share of the launches of each test case, another share tonight."""
    plain = _nights(lambda rng, shape: NIGHT * rng.standard_normal(shape))

    def draw(rng: np.random.Generator, nights: int) -> Floats:
        logs = plain(rng, nights)
        shares = np.where(np.arange(nights) == nights - 1, tonight, share)[:, None, None]
        return np.asarray(logs + math.log(1.5) * (rng.random(logs.shape) < shares))

    return draw


NIGHTS: dict[str, Nights] = {
    "normal": _nights(lambda rng, shape: NIGHT * rng.standard_normal(shape)),
    "0.5 to 4 % by test case": _nights(_by_case),
    "t with 4 degrees": _nights(lambda rng, shape: NIGHT * rng.standard_t(4, shape)),
    "t with 3 degrees": _nights(lambda rng, shape: NIGHT * rng.standard_t(3, shape)),
    "lognormal, skewed": _nights(lambda rng, shape: NIGHT * (np.exp(rng.standard_normal(shape)) - 1)),
    "correlated 0.5": _nights(_correlated),
    "all drift by 0.3 % a night": _nights(_drifting(0.003)),
    "modes 70/30 x 1.5 in each night": _with_modes(0.3, 0.3),
}
OTHER_MODES = {
    "a mode in 30 %, tonight in 90 %": _with_modes(0.3, 0.9),
    "a mode in 5 %, tonight in all": _with_modes(0.05, 1.0),
    "a mode in 60 %, tonight in 90 %": _with_modes(0.6, 0.9),
}
