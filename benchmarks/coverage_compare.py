"""How often the intervals of `steelyard compare` and `steelyard check` hold the truth, in simulated worlds.

    .venv/bin/python benchmarks/coverage_compare.py [--rounds 400]

Tables as Markdown, beside those of `coverage.py`. A comparison has 20 test cases of which four are 10 %
slower in the second arm; its intervals are simultaneous, so that one is held where all 20 hold. What is
called is what the two commands call.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from coverage_derived import Floats, alike
from coverage_table import LAST, Held, row_of, states_row, table

from steelyard.stats.change_points import find_changes
from steelyard.stats.next_night import screen_tonight
from steelyard.stats.paired_permutation import compare_arms
from steelyard.stats.unpaired import compare_sittings

CASES, SLOWED, SLOWER = 20, 4, 1.1
TRUTH = np.where(np.arange(CASES) < SLOWED, math.log(SLOWER), 0.0)
PAIRS = (8, 12, 20)
NIGHTS = (6, 12, 30)
HISTORIES = (18, 30, 60)  # nights, with a change a third of them ago
NIGHT = 0.01  # what a night adds to a test case

# (generator, pairs) -> what a pair adds to all its launches, and the launches of both arms: (n, P) each
World = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


def _launches(rng: np.random.Generator, n: int, sd: float = 0.03) -> Floats:
    """Launches that scatter by 3 %, of which 2 % are of the launch and the same for all test cases."""
    return np.asarray(0.02 * rng.standard_normal((n, 1)) + sd * rng.standard_normal((n, CASES)))


def _modes(rng: np.random.Generator, n: int, ratio: float) -> Floats:
    return np.asarray(_launches(rng, n) + math.log(ratio) * (rng.random((n, CASES)) < 0.3))


def _drifting(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """A random walk that both arms of a pair share."""
    walk = np.cumsum(0.05 * rng.standard_normal((n, CASES)), axis=0)
    return walk + _launches(rng, n), walk + _launches(rng, n)


def _tails(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(_launches(rng, n) + 0.03 * rng.pareto(1.5, (n, CASES)))


ARMS: dict[str, World] = {
    "launches scatter by 3 %": lambda rng, n: (_launches(rng, n), _launches(rng, n)),
    "and modes 70/30 x 2": lambda rng, n: (_modes(rng, n, 2.0), _modes(rng, n, 2.0)),
    "and modes 70/30 x 1.3": lambda rng, n: (_modes(rng, n, 1.3), _modes(rng, n, 1.3)),
    "and a drift of 5 % from pair to pair": _drifting,
    "and heavy tails, Pareto 1.5": lambda rng, n: (_tails(rng, n), _tails(rng, n)),
}


def _hours(rng: np.random.Generator, n: int, hour: float) -> tuple[Floats, Floats]:
    """Two sittings, to each of which its hour adds so much."""
    added = hour * rng.standard_normal((2, 1, CASES))
    return _launches(rng, n) + added[0], _launches(rng, n) + added[1]


FOLDERS: dict[str, World] = {
    "an hour adds nothing": lambda rng, n: _hours(rng, n, 0.0),
    "an hour adds 3 %": lambda rng, n: _hours(rng, n, 0.03),
    "an hour adds 10 %": lambda rng, n: _hours(rng, n, 0.1),
}


def _all_held(found: Iterable[tuple[Floats, Floats, Floats]]) -> Held:
    """Simultaneous intervals of 99 %, each as value, low, high: where all hold, and the median half-width."""
    held, halves = [], []
    for value, low, high in found:
        held.append(bool(((low <= TRUTH) & (high >= TRUTH)).all()))
        halves.append(np.median(np.maximum(high - value, value - low)))
    return Held(float(np.mean(held)), 0.99, float(np.median(halves)), 1.0)


def arms_held(world: World, pairs: int, rounds: int, by_turns: bool = True) -> Held:
    """Comparisons of two arms of so many launches."""

    def compared(seed: int) -> tuple[Floats, Floats, Floats]:
        first, second = world(np.random.default_rng([seed, pairs]), pairs)
        both = (first, second + TRUTH)
        found = compare_arms(*both, seed=seed) if by_turns else compare_sittings(*both)
        return found.estimate, found.low, found.high

    return _all_held(map(compared, range(rounds)))


def _nights(rng: np.random.Generator, count: int, phi: float) -> Floats:
    """Nights before and tonight, (count + 1, P); a night is like the one before by `phi`."""
    return np.stack([NIGHT * alike(rng, count + 1, phi) for _ in range(CASES)], axis=1)


def tonight_held(count: int, rounds: int, phi: float = 0.0) -> Held:
    """Tonight over `count` nights before."""

    def screened(seed: int) -> tuple[Floats, Floats, Floats]:
        values = _nights(np.random.default_rng([seed, count]), count, phi)
        values[-1] += TRUTH
        found = screen_tonight(values, [(0,)] * CASES)
        return found.estimate, found.low, found.high

    return _all_held(map(screened, range(rounds)))


def changes_held(count: int, rounds: int, phi: float = 0.0) -> tuple[float, float, float]:
    """Changes by 10 %, a third of the nights ago: found, dated by the range, ratio inside the interval."""
    found, dated, inside = 0, 0, 0
    at = count - count // 3
    for seed in range(rounds):
        values = _nights(np.random.default_rng([seed, count]), count, phi)
        values[at:] += TRUTH
        for one in find_changes(values, seed=seed):
            if one.column < SLOWED:
                found += 1
                dated += one.earliest <= at <= one.latest
                inside += one.low <= TRUTH[0] <= one.high
    return found / rounds / SLOWED, dated / max(found, 1), inside / max(found, 1)


def _percents(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.0f} %" for value in values]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often intervals of comparisons hold the truth")
    parser.add_argument("--rounds", type=int, default=400)
    rounds = parser.parse_args().rounds
    heads = list(map(str, PAIRS))
    for title, worlds, by_turns in (("arms by turns", ARMS, True), ("folders", FOLDERS, False)):
        rows = []
        for name, world in worlds.items():
            found = [arms_held(world, n, rounds, by_turns) for n in PAIRS]
            rows += [states_row(found)] if not rows else []
            rows.append(row_of(name, heads, found))
        print(
            table([f"{title}, all 20 intervals: launches of each", *heads, LAST], rows),
            end="\n\n",
            flush=True,
        )
    worlds = (("nights independent", 0.0), ("nights correlated 0.5", 0.5))
    heads, rows = list(map(str, NIGHTS)), []
    for name, phi in worlds:
        found = [tonight_held(n, rounds, phi) for n in NIGHTS]
        rows += [states_row(found)] if not rows else []
        rows.append(row_of(name, heads, found))
    print(table(["tonight, all 20 intervals: nights before", *heads, LAST], rows), end="\n\n", flush=True)
    rows = []
    for name, phi in worlds:
        changes = [changes_held(n, max(1, rounds // 10), phi) for n in HISTORIES]
        for place, what in enumerate(("found", "date in its range, 95 %", "ratio in its interval, 99 %")):
            rows.append([f"{name}: {what}", *_percents([one[place] for one in changes])])
    print(table(["a change by 10 %, four test cases: nights", *map(str, HISTORIES)], rows))


if __name__ == "__main__":
    main()
