"""How often intervals over few launches hold, where forty test cases of a folder tell what launches do.

    .venv/bin/python benchmarks/coverage_folders.py [--folders 40] [--seed 7] [--only NAME ...]

Medians of launches are drawn, not recorded, each test case by itself, and `common_likeness` and
`launch_interval` make intervals of them as `show` does. An entry is `96.0 ±106`: 96 % of the intervals hold
the median over all launches that there are, and half of one is 106 % of the time in the median. Markdown, for
docs/results/coverage.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from coverage_table import figures, table

from steelyard.stats import launch_interval
from steelyard.stats.arrays import FloatArray
from steelyard.stats.autocorrelation import common_likeness

CASES = 40  # test cases of a folder
SCATTER = 0.03  # of launches
LAUNCHES = (3, 4, 5, 6, 10, 20)

# (generator, launches) -> logarithms of launch medians, (CASES, launches), and of the true times, (CASES,)
World = Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]


def _around(draw: Callable[[np.random.Generator, tuple[int, int]], FloatArray]) -> World:
    """Launches around 0 that scatter so."""
    return lambda rng, n: (SCATTER * draw(rng, (CASES, n)), np.zeros(CASES))


def _alike(rho: float) -> World:
    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        logs = rng.standard_normal(shape)
        for k in range(1, shape[1]):
            logs[:, k] = rho * logs[:, k - 1] + math.sqrt(1 - rho * rho) * logs[:, k]
        return logs

    return _around(draw)


def _wave(height: float, length: int) -> World:
    """Up and down within so many launches, each test case at its own place."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        places = np.arange(shape[1]) / length + rng.random((shape[0], 1))
        return np.asarray(rng.standard_normal(shape) + height / SCATTER * np.sin(2 * np.pi * places))

    return _around(draw)


@dataclass(frozen=True, slots=True)
class Modes:
    """Two modes, from `least` to `most` times apart, the slow one in such a share of launches.

    A launch stays in the mode of the launch before with probability `stay`. `having`: the share of test cases
    that have modes.
    """

    least: float
    most: float
    slow: float
    stay: float
    having: float = 1.0

    def __call__(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        """Draw a folder, as `World` does."""
        is_slow = rng.random((CASES, n)) < self.slow
        for k in range(1, n):
            stays = rng.random(CASES) < self.stay
            is_slow[:, k] = np.where(stays, is_slow[:, k - 1], is_slow[:, k])
        apart = rng.uniform(math.log(self.least), math.log(self.most), CASES)
        apart *= rng.random(CASES) < self.having
        logs = SCATTER * rng.standard_normal((CASES, n)) + apart[:, None] * is_slow
        return logs, np.array([self._median(float(one)) for one in apart])

    def _median(self, apart: float) -> float:
        """The median of both modes together, by bisection."""
        scatter = NormalDist(sigma=SCATTER)
        low, high = -1.0, 1.0 + apart
        for _ in range(50):
            at = (low + high) / 2
            below = (1 - self.slow) * scatter.cdf(at) + self.slow * scatter.cdf(at - apart)
            low, high = (at, high) if below < 0.5 else (low, at)
        return low


WORLDS: dict[str, World] = {
    "independent": _around(lambda rng, shape: rng.standard_normal(shape)),
    "what a launch shares twice as large as the rest": _around(
        lambda rng, shape: rng.standard_normal(shape) + 2 * rng.standard_normal((1, shape[1]))
    ),
    "t with 2 degrees": _around(lambda rng, shape: rng.standard_t(2, shape)),
    "AR(1), 0.4": _alike(0.4),
    "AR(1), 0.8": _alike(0.8),
    "a wave of 5 % in twenty": _wave(0.05, 20),
    "a wave of 5 % in forty": _wave(0.05, 40),
    "modes x 2, 30 %, independent": Modes(2.0, 2.0, 0.3, 0.0),
    "modes x 2, 30 %, that stay with 0.5": Modes(2.0, 2.0, 0.3, 0.5),
    "modes x 2, 30 %, that stay with 0.8": Modes(2.0, 2.0, 0.3, 0.8),
    "modes x 2, 10 %, 0.8": Modes(2.0, 2.0, 0.1, 0.8),
    "modes x 2, 45 %, 0.8": Modes(2.0, 2.0, 0.45, 0.8),
    "modes x 1.05 to 1.6, 30 %, 0.8": Modes(1.05, 1.6, 0.3, 0.8),
    "modes x 1.05 to 1.6, 45 %, 0.8": Modes(1.05, 1.6, 0.45, 0.8),
    "modes x 1.05 to 1.6, 10 %, 0.8": Modes(1.05, 1.6, 0.1, 0.8),
    "modes x 1.2, 30 %, 0.8": Modes(1.2, 1.2, 0.3, 0.8),
    "modes x 1.1, 30 %, 0.8": Modes(1.1, 1.1, 0.3, 0.8),
    "a third with modes x 2, 30 %, 0.8": Modes(2.0, 2.0, 0.3, 0.8, 1 / 3),
    "modes x 2, 30 %, 0.95": Modes(2.0, 2.0, 0.3, 0.95),
}


def cell(world: World, n: int, folders: int, seed: int, number: int) -> str:
    """How many intervals of so many folders hold, in %, and half of one."""
    held, halves = [], []
    for folder in range(folders):
        logs, truths = world(np.random.default_rng([seed, number, n, folder]), n)
        alike = common_likeness(np.exp(logs))
        found = [launch_interval(own, alike=alike) for own in np.exp(logs).tolist()]
        held += [
            one.low <= math.exp(true) <= one.high for one, true in zip(found, truths.tolist(), strict=True)
        ]
        halves += [max(one.high - one.value, one.value - one.low) / one.value for one in found]
    return f"{100 * np.mean(held):.1f} ±{figures(100 * float(np.median(halves)))}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="how often intervals over few launches hold")
    parser.add_argument("--folders", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", nargs="*", help="names of worlds")
    given = parser.parse_args()
    rows = [
        [name, *(cell(world, n, given.folders, given.seed, number) for n in LAUNCHES)]
        for number, (name, world) in enumerate(WORLDS.items())
        if not given.only or name in given.only
    ]
    print(table(["forty test cases; launches", *map(str, LAUNCHES)], rows))


if __name__ == "__main__":
    main()
