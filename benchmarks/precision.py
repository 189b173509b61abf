"""What looks at a campaign that grows cost, and whether what is said of launches to come is true.

    .venv/bin/python benchmarks/precision.py rows|folders|alarms|advice [--rounds 400]

Prints tables as Markdown, of simulated launches.

rows: launches are added until the ± of a row is narrow enough (`stats.looks.looks_until`). An entry is how
often the interval that is printed then holds the truth, in %, and how many launches it took in the mean.
Beside the looks that are in use stand others: each launch, and a share of 5 % for each look.
folders: the same for each of 20 test cases of a folder, whose launches show together how alike they are.
alarms: comparisons of equals that are looked at up to 17 times, in % of campaigns with any alarm.
advice: how often a comparison that cannot tell decides with as many launches as it asks for.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from coverage_derived import Floats, alike
from coverage_table import table
from numpy.typing import NDArray
from scipy.stats import norm

from steelyard.judges.compare.contrasts import answers_of
from steelyard.judges.compare.scale import CANNOT_TELL, Answer, Question
from steelyard.stats import Estimate, launch_interval
from steelyard.stats.autocorrelation import common_likeness
from steelyard.stats.interim_looks import compare_looks, looks_until
from steelyard.stats.paired_permutation import compare_arms

SCATTER = 0.03  # of launches
MOST = 137  # launches, the twelfth look
ASKED = (0.04, 0.03, 0.02, 0.015, 0.01)
TOGETHER = 20  # test cases of a folder
SLOW = 0.3  # share of the slow mode
MODE = 2.0  # times as slow
MOST_PAIRS = 4000  # that advice is followed to
Draw = Callable[[np.random.Generator, int], Floats]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class World:
    """How launch medians scatter, and their median; launch i is of the group `group(i)`, if there are groups.

    A group, as a sitting or a host, adds 3 % to all of its launches.
    """

    draw: Draw
    median: float = 1.0
    group: Callable[[Counts], Counts] | None = None

    def launches(self, rng: np.random.Generator, count: int) -> tuple[Floats, list[list[int]]]:
        """The medians of launches in time, and the ways in which they are grouped."""
        medians = self.draw(rng, count)
        if self.group is None:
            return medians, []
        labels = self.group(np.arange(count))
        return medians * np.exp(SCATTER * rng.standard_normal(count))[labels], [labels.tolist()]


def _modes(rng: np.random.Generator, count: int) -> Floats:
    return np.asarray(_normal(rng, count) * np.where(rng.random(count) < SLOW, MODE, 1.0))


def _alike(phi: float) -> Draw:
    return lambda rng, count: np.exp(SCATTER * alike(rng, count, phi))


def _normal(rng: np.random.Generator, count: int) -> Floats:
    return 1 + SCATTER * rng.standard_normal(count)


WORLDS = {
    "normal": World(_normal),
    "lognormal": World(lambda rng, count: np.exp(SCATTER * rng.standard_normal(count))),
    "t with 4 degrees": World(
        lambda rng, count: np.exp(SCATTER / math.sqrt(2) * rng.standard_t(4, count)),
    ),
    "exponential": World(lambda rng, count: 1 + SCATTER * (rng.exponential(1, count) - math.log(2))),
    "launches alike, AR(1) of 0.2": World(_alike(0.2)),
    "launches alike, AR(1) of 0.4": World(_alike(0.4)),
    "launches alike, AR(1) of 0.8": World(_alike(0.8)),
    "sittings of four launches, 3 %": World(_normal, group=lambda launch: launch // 4),
    "five hosts by turns, 3 %": World(_normal, group=lambda launch: launch % 5),
    "modes 70/30 x 2": World(_modes, 1 + SCATTER * float(norm.ppf(0.5 / (1 - SLOW)))),
}


@dataclass(frozen=True, slots=True)
class Looks:
    """When a row is looked at, and the level of the k-th look, from 0."""

    at: Sequence[int]
    level: Callable[[int], float] = lambda _: 0.95


PLANS = {
    "in use: 8, 10, 13, 17, ...": Looks(tuple(looks_until(MOST))),
    "each launch from 6 on": Looks(tuple(range(6, MOST + 1))),
    "in use, and 6/(pi k)^2 of 5 %": Looks(
        tuple(looks_until(MOST)), lambda k: 1 - 0.05 * 6 / (math.pi * (k + 1)) ** 2
    ),
}


def stopped(
    medians: Floats, looks: Looks, asked: float, groups: Sequence[Sequence[int]] = ()
) -> tuple[Estimate, int]:
    """Look until the interval is narrow enough, or there are no more launches."""
    for k, count in enumerate(looks.at):
        labels = [one[:count] for one in groups]
        found = launch_interval(medians[:count].tolist(), looks.level(k), groups=labels)
        if max(found.high - found.value, found.value - found.low) <= asked * found.value:
            break
    return found, count


def row_tables(rounds: int, seed: int) -> Iterator[str]:
    """A table for each plan of looks."""
    for name, looks in PLANS.items():
        rows = []
        for words, world in WORLDS.items():
            cells = [words]
            for asked in ASKED:
                rng = np.random.default_rng([seed, round(1e4 * asked)])
                held = took = 0
                for _ in range(rounds):
                    medians, groups = world.launches(rng, MOST)
                    found, count = stopped(medians, looks, asked, groups)
                    held += found.low <= world.median <= found.high
                    took += count
                cells.append(f"{100 * held / rounds:.1f} in {took / rounds:.0f}")
            rows.append(cells)
        yield table([name, *(f"±{100 * asked:g} %" for asked in ASKED)], rows)


def stopped_together(folder: Floats, asked: float) -> list[tuple[Estimate, int]]:
    """Look at the test cases of a folder, (P, launches), until each is narrow enough: then it drops out.

    As in `show`, each takes from all how alike launches are.
    """
    found: dict[int, tuple[Estimate, int]] = {}
    for count in looks_until(folder.shape[1]):
        alike_by = common_likeness(
            own[: found[k][1] if k in found else count] for k, own in enumerate(folder)
        )
        for k in set(range(len(folder))) - set(found):
            said = launch_interval(folder[k, :count].tolist(), alike=alike_by)
            wide = max(said.high - said.value, said.value - said.low) > asked * said.value
            if not wide or count == folder.shape[1]:
                found[k] = said, count
    return [found[k] for k in range(len(folder))]


def folder_tables(rounds: int, seed: int) -> Iterator[str]:
    """Stopping in folders of `TOGETHER` test cases; a round is a folder."""
    rows = []
    for words, world in WORLDS.items():
        if world.group is not None:
            continue
        cells = [words]
        for asked in ASKED:
            rng = np.random.default_rng([seed, round(1e4 * asked), TOGETHER])
            said = [
                one
                for _ in range(rounds)
                for one in stopped_together(np.array([world.draw(rng, MOST) for _ in range(TOGETHER)]), asked)
            ]
            held = [found.low <= world.median <= found.high for found, _ in said]
            cells.append(f"{100 * np.mean(held):.1f} in {np.mean([count for _, count in said]):.0f}")
        rows.append(cells)
    yield table([f"{TOGETHER} test cases of a folder", *(f"±{100 * asked:g} %" for asked in ASKED)], rows)


def alarm_tables(rounds: int, first_seed: int) -> Iterator[str]:
    """Equals that are looked at from 8 to 40 pairs, at every second, and at those in use."""
    rows = []
    for words, looks in (
        ("8, 10, ..., 40", tuple(range(8, 41, 2))),
        ("8, 10, 13, ..., 40", tuple(looks_until(40))),
    ):
        for points in (1, 5):
            alarms = each = 0
            for seed in range(rounds):
                rng = np.random.default_rng([first_seed, seed, points])
                first, second = SCATTER * rng.standard_normal((2, 40, points))
                alarms += bool((compare_looks(first, second, looks, seed=seed).p <= 0.01).any())
                each += any((compare_arms(first[:n], second[:n], seed=seed).p <= 0.01).any() for n in looks)
            rows.append([words, str(points), f"{100 * alarms / rounds:.1f}", f"{100 * each / rounds:.1f}"])
    yield table(["looks at pairs", "test cases", "alarms, in %", "if each look had 1 %"], rows)


@dataclass(frozen=True, slots=True)
class Noise:
    """How launches scatter, and whether they have modes."""

    scatter: float
    modes: bool = False


NOISES = {
    "1 %": Noise(0.01),
    "3 %": Noise(0.03),
    "6 %": Noise(0.06),
    "3 %, modes 70/30 x 2": Noise(0.03, modes=True),
}


def said(arms: Floats, looks: tuple[int, ...], seed: int) -> Answer:
    """What `compare` says of the first test case of two arms, (2, n, P)."""
    found = compare_looks(arms[0], arms[1], looks, seed=seed)
    return answers_of(found, arms[0], arms[1], Question(), looks=looks)[0]


def arms_of(rng: np.random.Generator, pairs: int, points: int, noise: Noise, truth: float) -> Floats:
    """Both arms, (2, pairs, points); the second takes so much longer in all test cases."""
    shape = (2, pairs, points)
    values = noise.scatter * rng.standard_normal(shape) + [[[0.0]], [[math.log1p(truth)]]]
    return np.asarray(values + (math.log(MODE) * (rng.random(shape) < SLOW) if noise.modes else 0.0))


def advised(
    rounds: int, points: int, noise: Noise, truth: float, pairs: int = 8, first_seed: int = 34
) -> tuple[list[int], int, int]:
    """Return what is named, and how often it decides: in the campaign that grows, and in a new one."""
    named: list[int] = []
    grown = fresh = 0
    for seed in range(rounds):
        rng = np.random.default_rng([first_seed, seed, points, round(1e4 * truth)])
        arms = arms_of(rng, MOST_PAIRS, points, noise, truth)
        needed = said(arms[:, :pairs], (), seed).launches_needed
        if needed is not None and needed <= arms.shape[1]:
            named.append(needed)
            grown += said(arms[:, :needed], (pairs,), seed).verdict != CANNOT_TELL
            fresh += said(arms_of(rng, needed, points, noise, truth), (), seed).verdict != CANNOT_TELL
    return named, grown, fresh


def advice_tables(rounds: int, first_seed: int) -> Iterator[str]:
    """For each true difference: how many launches are named, and how often these decide."""
    truths = (0.0, 0.01, 0.03, 0.05, 0.1)
    rows = []
    for words, noise in NOISES.items():
        for points in (1, 20):
            cells = [words, str(points)]
            for truth in truths:
                named, grown, fresh = advised(rounds, points, noise, truth, first_seed=first_seed)
                count = len(named)
                if count < rounds / 10:
                    cells.append("")
                    continue
                cells.append(
                    f"{np.median(named):.0f}: {100 * grown / count:.0f}, {100 * fresh / count:.0f} of {count}"
                )
            rows.append(cells)
    yield table(["scatter", "test cases", *(f"+{100 * truth:g} %" for truth in truths)], rows)


KINDS = {"rows": row_tables, "folders": folder_tables, "alarms": alarm_tables, "advice": advice_tables}


def main() -> None:
    """Print the tables of a kind."""
    parser = argparse.ArgumentParser(description="what looks cost, and whether advice is true")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seed", type=int, default=34)
    given = parser.parse_args()
    for text in KINDS[given.kind](given.rounds, given.seed):
        print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
