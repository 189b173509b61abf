"""How often `steelyard compare` finds a slow-down: in simulated launches, and in launches that were recorded.

    .venv/bin/python benchmarks/power_compare.py [--rounds 40]
    .venv/bin/python benchmarks/power_compare.py --recorded OUT [--first 88]

Prints tables as Markdown. Simulated arms have so much noise, so many test cases, and the launches with which
the method was designed to find a slow-down with 90 %: an entry is what was found, in %. Simulated folders are
two sittings, to each of which its hour adds nothing, or 3 %. Where most test cases change at once, the width
of the intervals and how often all of them hold stand beside; where a mode comes more often, the verdicts.

OUT is a folder of `aa_compare.py`: real comparisons of equals, `--first` the number of the first that counts.
Its pairs of launches, in their order, are cut into windows, and in one test case after the other the second
arm is multiplied by what is to be found. Folders are the first arm of a window against that of the next.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from coverage_derived import Floats
from coverage_table import table

from steelyard.judges.compare.arms import Rivals, rivals_by
from steelyard.judges.compare.contrasts import answers_of
from steelyard.judges.compare.scale import FASTER, SAME, SLOWER, Answer, Question
from steelyard.results.row import has_time
from steelyard.results.rows import results
from steelyard.stats.paired_permutation import compare_arms
from steelyard.stats.unpaired import compare_sittings

EFFECTS = (0.05, 0.10)
LARGER = (0.05, 0.10, 0.20, 0.50)  # folders want more
POINTS = {
    1: (5, 1),
    100: (1, 5),
    1000: (0.5, 10),
}  # test cases: how many times the rounds, and how many slowed
LAUNCHES = (8, 12, 20, 30)
MODE = 2.0  # times as slow, in 30 % of the launches


@dataclass(frozen=True, slots=True)
class Noise:
    """How launches scatter, and with how many 90 % were to be found: by effect, for each of `POINTS`."""

    scatter: float
    modes: bool
    designed: Mapping[float, tuple[int, ...]]


NOISES = {
    "scatter 1 %": Noise(0.01, False, {0.05: (8, 8, 9), 0.10: (8, 8, 9)}),
    "scatter 3 %": Noise(0.03, False, {0.05: (17, 25, 30), 0.10: (8, 12, 14)}),
    "scatter 1 %, modes 70/30 x 2": Noise(0.01, True, {0.05: (10, 14, 17), 0.10: (12, 14, 17)}),
    "scatter 3 %, modes 70/30 x 2": Noise(0.03, True, {0.05: (20, 30, 40), 0.10: (12, 14, 17)}),
}
Arms = tuple[Floats, Floats]  # logarithms, (n, P) each


def launches_of(rng: np.random.Generator, noise: Noise, count: int, points: int) -> Floats:
    """Logarithms of launch medians, (count, points); half of the test cases have the modes."""
    values = noise.scatter * rng.standard_normal((count, points))
    if noise.modes:
        has_modes = np.arange(points) < max(1, points // 2)
        values += math.log(MODE) * ((rng.random(values.shape) < 0.3) & has_modes)
    return np.asarray(values)


def answered(arms: Arms, by_turns: bool, seed: int = 0) -> list[Answer]:
    """What `compare` says of two arms, or of two folders."""
    found = compare_arms(*arms, seed=seed) if by_turns else compare_sittings(*arms)
    return answers_of(found, *arms, Question())


def slowed(arms: Arms, columns: Sequence[int], effect: float) -> Arms:
    """The second arm so much slower in some test cases."""
    second = arms[1].copy()
    second[:, list(columns)] += math.log1p(effect)
    return arms[0], second


def arms_found(noise: Noise, effect: float, launches: int, points: int, rounds: int) -> float:
    """The fraction of slowed test cases that are called slower."""
    which, verdicts = range(POINTS[points][1]), []
    for seed in range(rounds):
        rng = np.random.default_rng([seed, launches, points])
        arms = launches_of(rng, noise, launches, points), launches_of(rng, noise, launches, points)
        said = answered(slowed(arms, which, effect), True, seed)
        verdicts += [said[j].verdict for j in which]
    return verdicts.count(SLOWER) / len(verdicts)


def folders_said(hour: float, effect: float, launches: int, rounds: int, points: int = 20) -> list[str]:
    """The verdicts on slowed test cases of two sittings."""
    verdicts, which = [], range(points // 4)
    for seed in range(rounds):
        rng = np.random.default_rng([seed, launches])
        noise = NOISES["scatter 3 %"]
        arms = launches_of(rng, noise, launches, points), launches_of(rng, noise, launches, points)
        added = hour * rng.standard_normal((2, 1, points))
        said = answered(slowed((arms[0] + added[0], arms[1] + added[1]), which, effect), False)
        verdicts += [said[j].verdict for j in which]
    return verdicts


@dataclass(frozen=True, slots=True)
class Recorded:
    """Pairs of launches in the order in which they ran: names of test cases, and both arms, (pairs, P)."""

    names: tuple[str, ...]
    arms: Arms

    @property
    def ratios(self) -> Floats:
        """Logarithms, (pairs, P)."""
        return np.asarray(self.arms[1] - self.arms[0])

    def windows(self, count: int) -> list[Arms]:
        """One after the other, of so many pairs."""
        first, second = self.arms
        starts = range(0, len(first) - count + 1, count)
        return [(first[at : at + count], second[at : at + count]) for at in starts]


def read_recorded(folders: Sequence[Path]) -> Recorded:
    """The pairs of comparisons; those that lack a time of some test case are left out."""
    tables: list[Floats] = []
    names: tuple[str, ...] = ()
    for folder in folders:
        cases = _medians(rivals_by(results(folder), "env.NOTHING_READS_THIS"))
        names = names or tuple(cases)
        shared = sorted(set.intersection(*(set(cases.get(name, {})) for name in names)))
        tables += [np.array([[cases[name][number] for name in names] for number in shared])] if shared else []
    whole = np.log(np.concatenate(tables))  # (pairs, P, 2)
    return Recorded(names, (whole[:, :, 0], whole[:, :, 1]))


def _medians(rivals: Rivals) -> dict[str, dict[int, tuple[float, float]]]:
    """By test case and launch, the medians of both arms."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    for case in rivals.cases:
        first, second = (
            {one.launch: one.median or 0.0 for one in row.launches if has_time(one)} for row in case
        )
        name = f"{case[0].op} {case[0].bytes} B"
        found[name] = {number: (first[number], second[number]) for number in first.keys() & second.keys()}
    return found


def recorded_said(windows: Sequence[Arms], effect: float, column: int, by_turns: bool) -> list[str]:
    """The verdicts on one test case that is made so much slower, the others as they were."""
    return [answered(slowed(arms, [column], effect), by_turns)[column].verdict for arms in windows]


def folders_of(windows: Sequence[Arms]) -> list[Arms]:
    """The first arm of each window against that of the next: two sittings."""
    return [(one[0], other[0]) for one, other in pairwise(windows)]


def alarms(windows: Sequence[Arms], by_turns: bool) -> int:
    """How many comparisons of equals call something slower or faster."""
    return sum(
        any(one.verdict in (SLOWER, FASTER) for one in answered(arms, by_turns, seed))
        for seed, arms in enumerate(windows)
    )


@dataclass(frozen=True, slots=True)
class Majority:
    """So many of the test cases change by `effect`; launches scatter by 3 %, or 1 %, and as `more` adds."""

    changed: int
    cases: int
    effect: float
    pairs: int
    scatter: float = 0.03
    more: Callable[[np.random.Generator, tuple[int, int]], Floats] | None = None


def _pareto(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray(0.03 * rng.pareto(1.2, shape))


def _moded(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray(math.log(MODE) * (rng.random(shape) < 0.3))


MAJORITIES = {
    "20 of 20 +50 %, scatter 1 %, 8 pairs": Majority(20, 20, 0.5, 8, 0.01),
    "15 of 20 +10 %, 3 %, 8": Majority(15, 20, 0.1, 8),
    "3 of 4 +10 %, 3 %, 8": Majority(3, 4, 0.1, 8),
    "15 of 20 +50 %, 3 %, 12": Majority(15, 20, 0.5, 12),
    "15 of 20 +10 %, 3 % and Pareto 1.2, 12": Majority(15, 20, 0.1, 12, more=_pareto),
    "3 of 4 +10 %, 3 % and modes 70/30 x 2, 12": Majority(3, 4, 0.1, 12, more=_moded),
}


def majority_said(one: Majority, rounds: int) -> tuple[float, float, float]:
    """Half of an interval, in the median; the fraction of changed test cases that are found, and of rounds in
    which all intervals hold.
    """
    halves, found, held = [], [], []
    truth = np.where(np.arange(one.cases) < one.changed, math.log1p(one.effect), 0.0)
    for seed in range(rounds):
        rng = np.random.default_rng([seed, one.pairs, one.cases])
        shape = (one.pairs, one.cases)
        arms = [one.scatter * rng.standard_normal(shape) for _ in range(2)]
        arms = [arm + one.more(rng, shape) for arm in arms] if one.more else arms
        said = answered((arms[0], arms[1] + truth), True, seed)
        ends = np.log([[end or math.nan for end in (each.low, each.high)] for each in said])
        halves.append(float(np.median(ends[:, 1] - ends[:, 0])) / 2)
        found += [each.verdict == SLOWER for each in said[: one.changed]]
        held.append(bool(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all()))
    return float(np.median(halves)), float(np.mean(found)), float(np.mean(held))


def majority_tables(rounds: int) -> Iterator[str]:
    """Most test cases change at once, or a mode comes more often, or both."""
    rows = []
    for name, one in MAJORITIES.items():
        half, found, held = majority_said(one, rounds)
        rows.append([name, f"{100 * half:.1f} %", f"{100 * found:.0f}", f"{100 * held:.0f}"])
    yield table(["most test cases change", "±", "found, in %", "all intervals hold, in %"], rows)
    rows = []
    for shares, effect in (((0.45, 0.6), 0.0), ((0.3, 0.8), 0.0), ((0.45, 0.6), 0.1)):
        for pairs in (12, 30):
            found = [more_often_said(shares, effect, pairs, seed) for seed in range(rounds)]
            counts = [sum(one.verdict == verdict for one in found) for verdict in (SLOWER, SAME)]
            counts.append(sum("often" in one.why for one in found))
            cells = [f"{100 * count / rounds:.0f}" for count in counts]
            name = " to ".join(f"{100 * share:.0f}" for share in shares)
            rows.append([f"{name} %, all launches +{100 * effect:.0f} %, {pairs} pairs", *cells])
    heads = ("slower, in %", "same, in %", "the slow mode comes more often, in %")
    yield table(["share of the slow mode (x 2)", *heads], rows)


def more_often_said(shares: Sequence[float], effect: float, pairs: int, seed: int) -> Answer:
    """What is said of one of four test cases whose slow mode has another share of launches in each arm."""
    rng = np.random.default_rng([seed, pairs])
    arms = []
    for share in shares:
        values = 0.03 * rng.standard_normal((pairs, 4))
        values[:, 0] += math.log(MODE) * (rng.random(pairs) < share)
        arms.append(values)
    return answered(slowed((arms[0], arms[1]), [0], effect), True, seed)[0]


def _shares(verdicts: Sequence[str]) -> str:
    """`45`: found, in %; what is called the same of it stands behind."""
    same = verdicts.count(SAME)
    found = f"{100 * verdicts.count(SLOWER) / len(verdicts):.0f}"
    return f"{found} (same: {same})" if same else found


def simulated_tables(rounds: int) -> Iterator[str]:
    """Arms with the launches that are designed to do, and folders."""
    heads = [f"+{100 * effect:.0f} %, {points} test cases" for effect in EFFECTS for points in POINTS]
    rows = []
    for name, noise in NOISES.items():
        cells = [name]
        for effect in EFFECTS:
            for (points, (times, _)), launches in zip(POINTS.items(), noise.designed[effect], strict=True):
                power = arms_found(noise, effect, launches, points, max(1, round(rounds * times)))
                cells.append(f"{launches}: {100 * power:.0f}")
        rows.append(cells)
    yield table(["arms; launches of each: found, in %", *heads], rows)
    heads = [f"+{100 * effect:.0f} %" for effect in LARGER]
    rows = [
        [
            f"{words}, {launches}",
            *(_shares(folders_said(hour, effect, launches, rounds)) for effect in LARGER),
        ]
        for words, hour in (("an hour adds nothing", 0.0), ("an hour adds 3 %", 0.03))
        for launches in (8, 20)
    ]
    yield table(["folders, launches of each: found, in %", *heads], rows)


def recorded_tables(seen: Recorded) -> Iterator[str]:
    """How pairs scatter, and what is found in windows of them, in arms and in folders."""
    off = seen.ratios - np.median(seen.ratios, axis=0)
    rows = [
        [name, f"{100 * 1.4826 * np.median(np.abs(own)):.1f} %", f"{100 * own.std():.1f} %"]
        for name, own in zip(seen.names, off.T, strict=True)
    ]
    yield table([f"{len(off)} pairs: their ratios scatter by", "1.48 MAD", "sd"], rows)
    kinds: tuple[tuple[str, bool, Callable[[Sequence[Arms]], Sequence[Arms]], Sequence[float]], ...] = (
        ("arms", True, lambda windows: windows, EFFECTS),
        ("folders", False, folders_of, LARGER),
    )
    for kind, by_turns, made, effects in kinds:
        heads = [f"{name} +{100 * effect:.0f} %" for name in seen.names for effect in effects]
        rows = []
        for launches in LAUNCHES:
            windows = made(seen.windows(launches))
            cells = [
                _shares(recorded_said(windows, effect, column, by_turns))
                for column in range(len(seen.names))
                for effect in effects
            ]
            rows.append([str(launches), str(len(windows)), *cells, str(alarms(windows, by_turns))])
        yield table([f"{kind}: launches of each", "windows", *heads, "equal: alarms"], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often compare finds a slow-down")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--recorded", type=Path, metavar="OUT")
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    if given.recorded is None:
        tables = chain(simulated_tables(given.rounds), majority_tables(given.rounds))
    else:
        folders = sorted(one for one in given.recorded.iterdir() if one.is_dir() and one.name.isdigit())
        tables = recorded_tables(read_recorded([one for one in folders if int(one.name) >= given.first]))
    for text in tables:
        print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
