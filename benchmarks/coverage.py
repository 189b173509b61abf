"""How often the intervals that Steelyard prints hold the truth: nominal against actual, in simulated worlds.

    .venv/bin/python benchmarks/coverage.py [--rounds 2000]

Tables as Markdown: intervals inside one launch, intervals over launches, and modes. Each world is simulated
with a truth that is known; the code that is run is the one that makes the numbers of the results. What an
entry says: `coverage_table.py`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from coverage_table import LAST, Held, held_by, row_of, states_row, table
from numpy.typing import NDArray
from scipy.signal import lfilter

from steelyard.stats import (
    Interval,
    block_interval,
    find_modes,
    launch_interval,
    mode_interval,
    share_interval,
)
from steelyard.stats.interval import Estimate

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
# The same for p99: what a stop rule about it prints, and one launch of a table.
SAMPLES = (16_000, 30_000, 100_000)
P99: dict[str, tuple[World, float]] = {
    "independent, lognormal 30 %": (INSIDE["independent, lognormal 30 %"][0], math.exp(0.3 * 2.3263)),
    "heavy tail, Pareto 1.5": (INSIDE["heavy tail, Pareto 1.5"][0], 1 + 0.1 * (100 ** (1 / 1.5) - 1)),
    "correlated for 10 samples": (INSIDE["correlated for 10 samples"][0], 1.23263),
    "correlated for 50 samples": (INSIDE["correlated for 50 samples"][0], 1.23263),
}
LEAST_SEEN = 0.1  # fraction of a launch from which a regime is one that it has seen
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


def mode_row(world: World, ratio: float, count: int, rounds: int) -> tuple[float, Held, Held]:
    """Fraction of campaigns with modes; of these, the fast mode's value and the slow one's share."""
    values, shares = list[tuple[Estimate, float]](), list[tuple[Interval, float]]()
    for seed in range(rounds):
        launches = np.exp(world(np.random.default_rng([seed, count]), count))
        modes = find_modes([np.full(8, one) for one in launches])
        if len(modes) > 1:
            values.append((mode_interval(modes[0]), 1.0))
            shares.append((Interval(modes[-1].share, *share_interval(modes[-1].shares)), SLOW))
    return len(values) / rounds, held_by(values if ratio > 1 else ()), held_by(shares if ratio > 1 else ())


def inside_row(world: World, truth: float, count: int, rounds: int, p: float = 0.5) -> Held:
    """Intervals of one launch of so many samples, of its median or another quantile."""
    return held_by(
        (block_interval(world(np.random.default_rng([seed, count]), count), p=p).estimate, truth)
        for seed in range(rounds)
    )


def seen_row(world: World, count: int, rounds: int) -> tuple[float, float, Held, Held]:
    """Regimes inside one launch of so many samples: how many see both, and how many of these have modes.

    Seen is what has a tenth of the samples. The values of fast and slow are of launches with modes.
    """
    both, fast, slow = 0, list[tuple[Estimate, float]](), list[tuple[Estimate, float]]()
    for seed in range(rounds):
        values = world(np.random.default_rng([seed, count]), count)
        if not LEAST_SEEN <= float(np.mean(values > 1.5)) <= 1 - LEAST_SEEN:
            continue
        both += 1
        modes = find_modes([values])
        if len(modes) > 1:
            fast.append((mode_interval(modes[0]), 1.0))
            slow.append((mode_interval(modes[-1]), 2.0))
    return both / rounds, len(fast) / max(both, 1), held_by(fast), held_by(slow)


def over_row(world: World, truth: float, count: int, rounds: int) -> Held:
    """Intervals over `count` launches."""
    return held_by(
        (launch_interval(world(np.random.default_rng([seed, count]), count)), truth) for seed in range(rounds)
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often the intervals hold the truth")
    parser.add_argument("--rounds", type=int, default=2000)
    rounds = parser.parse_args().rounds
    counts = tuple(map(str, (LONG, SHORT)))
    rows = []
    for name, (world, truth) in INSIDE.items():
        found = [inside_row(world, truth, count, rounds) for count in (LONG, SHORT)]
        name, *entries, off = row_of(name, counts, found)
        given = [f"{100 * one.given:.0f} %" for one in found]
        rows.append([name, *(cell for pair in zip(entries, given, strict=True) for cell in pair), off])
    heads = [cell for count in counts for cell in (count, f"{count}: given")]
    states = ["states", *("95.0" if i % 2 == 0 else "" for i in range(len(heads))), ""]
    print(table(["one launch, samples", *heads, LAST], [states, *rows]), flush=True)
    print()
    rows = []
    for name, (world, _) in INSIDE.items():
        for count in (LONG, SHORT) if name.startswith("regimes") else ():
            seen, found, *values = seen_row(world, count, rounds)
            name_, *entries, off = row_of(f"{name}; {count} samples", ["fast", "slow"], values)
            rows.append([name_, f"{100 * seen:.0f} %", f"{100 * found:.0f} %", *entries, off])
    heads = ["launches that see both", "modes found in these", "fast", "slow"]
    print(table(["regimes inside one launch", *heads, LAST], [["states", "", "", "95.0", "95.0", ""], *rows]))
    print()
    rows = []
    for name, (world, truth) in P99.items():
        found = [inside_row(world, truth, count, rounds, 0.99) for count in SAMPLES]
        rows.append(row_of(name, list(map(str, SAMPLES)), found))
    states = states_row([Held(0.95, 0.95, 0, 1)] * len(SAMPLES))
    print(table(["p99 of one launch, samples", *map(str, SAMPLES), LAST], [states, *rows]), flush=True)
    print()
    heads, rows = list(map(str, LAUNCHES)), []
    for name, (world, truth) in OVER.items():
        found = [over_row(world, truth, n, rounds) for n in LAUNCHES]
        rows += [states_row(found)] if not rows else []
        rows.append(row_of(name, heads, found))
    print(table(["over launches", *heads, LAST], rows), flush=True)
    print()
    heads = list(map(str, MODE_LAUNCHES))
    modes = {
        name: [mode_row(world, ratio, n, rounds) for n in MODE_LAUNCHES]
        for name, (world, ratio) in MODES.items()
    }
    rows = [[name, *(f"{100 * one[0]:.1f} %" for one in found)] for name, found in modes.items()]
    print(table(["modes found, launches", *heads], rows), flush=True)
    print()
    rows = []
    for place, what in ((1, "value of the fast one"), (2, "share of the slow one")):
        for name, (_, ratio) in MODES.items():
            if ratio > 1:
                entries = [one[place] for one in modes[name]]
                rows += [states_row(entries), row_of(f"{name}: {what}", heads, entries)]
    print(table(["where modes were found, launches", *heads, LAST], rows))


if __name__ == "__main__":
    main()
