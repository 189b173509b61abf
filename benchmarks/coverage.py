"""How often the intervals that Steelyard prints hold the truth: nominal against actual, in simulated worlds.

    .venv/bin/python benchmarks/coverage.py [--rounds 1000]

Tables as Markdown: intervals inside one launch, intervals over launches, and modes. Each world is simulated
with a truth that is known; the code that is run is the one that makes the numbers of the results.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from steelyard.stats import block_interval, find_modes, launch_interval, mode_interval, share_interval

Series = NDArray[np.float64]
World = Callable[[np.random.Generator, int], Series]


def correlated(rng: np.random.Generator, count: int, time: float) -> Series:
    """AR(1) of unit variance whose correlation lasts for `time` samples, stationary from the start."""
    phi = math.exp(-1 / time)
    noise = math.sqrt(1 - phi**2) * rng.standard_normal(count)
    noise[0] /= math.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise), dtype=np.float64)


def wandering(rng: np.random.Generator, count: int) -> Series:
    """Like 1/f: the sum of AR(1) with times of 1, 4, 16, ... samples, in equal parts."""
    times = [4.0**k for k in range(1 + int(math.log(count, 4)))]
    return sum((correlated(rng, count, time) for time in times), np.zeros(count)) / math.sqrt(len(times))


def regimes(rng: np.random.Generator, count: int, dwell: float) -> Series:
    """70 % of the time 1, else 2; spells of `dwell` samples on average."""
    state, values = rng.random() < 0.3, np.empty(count)
    at = 0
    while at < count:
        spell = 1 + int(rng.exponential(dwell * (0.6 if state else 1.4)))
        values[at : at + spell] = 2.0 if state else 1.0
        state, at = not state, at + spell
    return values * (1 + 0.02 * rng.standard_normal(count))


# A launch of 0.1 s at 35 us a sample, and one at 1 ms. World -> its samples, and its median.
LONG, SHORT = 2857, 100
INSIDE: dict[str, tuple[World, float]] = {
    "independent, normal 10 %": (lambda rng, n: 1 + 0.1 * rng.standard_normal(n), 1.0),
    "independent, lognormal 30 %": (lambda rng, n: np.exp(0.3 * rng.standard_normal(n)), 1.0),
    "heavy tail, Pareto 1.5": (lambda rng, n: 1 + 0.1 * rng.pareto(1.5, n), 1 + 0.1 * (2 ** (1 / 1.5) - 1)),
    "correlated for 10 samples": (lambda rng, n: 1 + 0.1 * correlated(rng, n, 10), 1.0),
    "correlated for 50 samples": (lambda rng, n: 1 + 0.1 * correlated(rng, n, 50), 1.0),
    "correlated for 200 samples": (lambda rng, n: 1 + 0.1 * correlated(rng, n, 200), 1.0),
    "1/f-like wander": (lambda rng, n: 1 + 0.1 * wandering(rng, n), 1.0),
    "regimes 70/30 x 2, 300 samples each": (lambda rng, n: regimes(rng, n, 300), 1.0),
    "regimes 70/30 x 2, 3000 samples each": (lambda rng, n: regimes(rng, n, 3000), 1.0),
}
LAUNCHES = (2, 3, 5, 6, 10, 20)
MODE_LAUNCHES = (4, 5, 6, 8, 10, 15, 20)


def _between(rng: np.random.Generator, count: int, day: float = 0.0) -> Series:
    return np.exp(0.03 * rng.standard_normal(count) + day * rng.standard_normal())


# World -> launch medians, and the median of all launches that there are.
OVER: dict[str, tuple[World, float]] = {
    "lognormal 3 %": (_between, 1.0),
    "modes 70/30 x 2": (lambda rng, n: _between(rng, n) * np.where(rng.random(n) < 0.3, 2.0, 1.0), 1.0166),
    "launches alike, lag 1 of 0.4": (
        lambda rng, n: np.exp(0.03 * correlated(rng, n, -1 / math.log(0.4))),
        1.0,
    ),
    "a day's effect as large as a launch's": (lambda rng, n: _between(rng, n, day=0.03), 1.0),
}


# World -> logarithms of launch medians. With two modes the slow one has 30 % of the launches.
SLOW = 0.3
MODES: dict[str, tuple[World, float]] = {
    "one mode, lognormal 3 %": (lambda rng, n: 0.03 * rng.standard_normal(n), 1.0),
    "one mode, lognormal 30 %": (lambda rng, n: 0.3 * rng.standard_normal(n), 1.0),
    "one mode, t with 3 degrees": (lambda rng, n: 0.1 * rng.standard_t(3, n), 1.0),
    "one mode, Pareto 1.5": (lambda rng, n: np.log1p(0.1 * rng.pareto(1.5, n)), 1.0),
    "70/30 x 1.3, 3 %": (lambda rng, n: _two_modes(rng, n, 1.3), 1.3),
    "70/30 x 2, 3 %": (lambda rng, n: _two_modes(rng, n, 2.0), 2.0),
}


def _two_modes(rng: np.random.Generator, count: int, ratio: float) -> Series:
    return 0.03 * rng.standard_normal(count) + math.log(ratio) * (rng.random(count) < SLOW)


def mode_row(world: World, ratio: float, count: int, rounds: int) -> tuple[float, float, float]:
    """Fraction of campaigns with modes; of these, where value and share of the modes hold the truth."""
    held = []
    for seed in range(rounds):
        launches = np.exp(world(np.random.default_rng([seed, count]), count))
        modes = find_modes([np.full(8, one) for one in launches])
        if len(modes) > 1:
            span, (low, high) = mode_interval(modes[0]), share_interval(modes[-1].shares)
            held.append((span.low <= 1.0 <= span.high, low <= SLOW <= high))
    value, share = np.mean(held, axis=0) if held and ratio > 1 else (math.nan, math.nan)
    return len(held) / rounds, float(value), float(share)


def inside_row(world: World, truth: float, count: int, rounds: int) -> tuple[float, float, float]:
    """Fraction of intervals that hold the truth, fraction that there are, median half-width of those."""
    held, widths = 0, []
    for seed in range(rounds):
        found = block_interval(world(np.random.default_rng([seed, count]), count)).estimate
        held += found.low <= truth <= found.high
        if math.isfinite(found.high):
            widths.append((found.high - found.low) / 2 / found.value)
    return held / rounds, len(widths) / rounds, float(np.median(widths)) if widths else math.nan


def over_row(world: World, truth: float, count: int, rounds: int) -> tuple[float, float]:
    """Fraction of intervals over `count` launches that hold the truth, and the level that they state."""
    held, level = 0, 0.0
    for seed in range(rounds):
        found = launch_interval(world(np.random.default_rng([seed, count]), count))
        held += found.low <= truth <= found.high
        level = found.level
    return held / rounds, level


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often the intervals hold the truth")
    parser.add_argument("--rounds", type=int, default=1000)
    rounds = parser.parse_args().rounds
    rows = []
    for name, (world, truth) in INSIDE.items():
        cells = [name]
        for count in (LONG, SHORT):
            held, given, width = inside_row(world, truth, count, rounds)
            cells += [f"{100 * held:.0f} %", f"{100 * given:.0f} %", f"{100 * width:.2g} %"]
        rows.append(cells)
    heads = ("holds", "given", "half-width")
    print(
        _table(["one launch, nominal 95 %", *(f"{n}: {head}" for n in (LONG, SHORT) for head in heads)], rows)
    )
    print()
    rows = [["states", *(f"{100 * over_row(_between, 1.0, n, 2)[1]:.1f} %" for n in LAUNCHES)]]
    for name, (world, truth) in OVER.items():
        rows.append([name, *(f"{100 * over_row(world, truth, n, rounds)[0]:.0f} %" for n in LAUNCHES)])
    print(_table(["over launches", *(f"{n}" for n in LAUNCHES)], rows))
    print()
    rows = []
    for name, (world, ratio) in MODES.items():
        found = [mode_row(world, ratio, n, rounds) for n in MODE_LAUNCHES]
        rows.append([name, *(f"{100 * one[0]:.1f} %" for one in found)])
        if ratio > 1:
            for place, what in enumerate(("value of the fast one holds", "share of the slow one holds"), 1):
                rows.append([f"- {what}", *(f"{100 * one[place]:.0f} %" for one in found)])
    print(_table(["modes found, launches", *(f"{n}" for n in MODE_LAUNCHES)], rows))


if __name__ == "__main__":
    main()
