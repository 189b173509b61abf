"""How often `steelyard check` alarms, and what it finds, on nights that are alike: simulated to the end.

    .venv/bin/python benchmarks/coverage_nights.py [--rounds 200] [--nights 12,20,30]

Tables as Markdown, beside those of `coverage_compare.py`. Each round makes the rows of a store of nights, and
calls what `steelyard check` calls, then what `--baseline` calls: the suspected test cases again tonight, 12
pairs of launches by turns. A history in which nothing was changed has an alarm where any test case is slower
or faster; in another one tonight's first test case is 5 % slower, its second 10 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from coverage_derived import Floats, alike, launches_of
from coverage_table import table

from steelyard.judges.compare.arms import Rivals
from steelyard.judges.compare.scale import FASTER, SLOWER, Question
from steelyard.judges.compare.verdicts import CaseVerdict, compare
from steelyard.judges.history.store import Night, Pool
from steelyard.judges.history.verdicts import Checked, check_tonight, with_confirmed
from steelyard.results.row import Row

CASES, LAUNCHES = 20, 5
SLOWED = (1.05, 1.10)  # the first two test cases of tonight, where anything is slower
PAIRS = 12  # of the confirmation
OWN = 0.01  # what a night adds to a test case
LAUNCH = 0.01  # scatter of the launches of a night

# (generator, nights) -> what a night adds to each test case: (nights, CASES), logarithms
World = Callable[[np.random.Generator, int], Floats]


def _independent(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(OWN * rng.standard_normal((n, CASES)))


def _alike(rng: np.random.Generator, n: int, phi: float) -> Floats:
    """A night is like the one before, each test case by itself."""
    return np.stack([OWN * alike(rng, n, phi) for _ in range(CASES)], axis=1)


def _walk(rng: np.random.Generator, n: int, step: float) -> Floats:
    """Each test case goes a step of its own each night, and never comes back."""
    return np.asarray(_independent(rng, n) + np.cumsum(step * rng.standard_normal((n, CASES)), axis=0))


def _drift(rng: np.random.Generator, n: int, slope: float) -> Floats:
    """All test cases become slower by so much each night."""
    return np.asarray(_independent(rng, n) + slope * np.arange(n)[:, None])


def _bad_night(rng: np.random.Generator, n: int, which: int | None) -> Floats:
    """All of one night was 20 % slower: night `which`, or one before tonight by chance."""
    values = _independent(rng, n)
    values[rng.integers(n - 1) if which is None else which] += np.log(1.2)
    return values


def _common(rng: np.random.Generator, n: int) -> Floats:
    """What all test cases share scatters by 3 %, and a night has half of the one before."""
    return np.asarray(_independent(rng, n) + 0.03 * alike(rng, n, 0.5)[:, None])


WORLDS: dict[str, World] = {
    "independent": _independent,
    "correlated 0.5": lambda rng, n: _alike(rng, n, 0.5),
    "correlated 0.8": lambda rng, n: _alike(rng, n, 0.8),
    "a walk of 0.3 % a night": lambda rng, n: _walk(rng, n, 0.003),
    "a walk of 1 % a night": lambda rng, n: _walk(rng, n, 0.01),
    "a drift of 0.1 % a night": lambda rng, n: _drift(rng, n, 0.001),
    "a drift of 0.3 % a night": lambda rng, n: _drift(rng, n, 0.003),
    "a bad night before": lambda rng, n: _bad_night(rng, n, None),
    "tonight is a bad night": lambda rng, n: _bad_night(rng, n, -1),
    "3 % that all share, correlated 0.5": _common,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check said of each test case, shape (CASES,), 0 or 1.

    `called`: slower or faster tonight; `dated`: slower or faster since an earlier night; `suspected`: worth a
    confirmation; `confirmed`: slower or faster after it.
    """

    called: Floats
    dated: Floats
    suspected: Floats
    confirmed: Floats


def outcome(world: World, nights: int, seed: int, slowed: Sequence[float] = ()) -> Outcome:
    """One history of so many nights before tonight, checked, suspected test cases confirmed."""
    rng = np.random.default_rng([seed, nights, len(slowed)])
    effects = world(rng, nights + 1)
    factor = np.zeros(CASES)
    factor[: len(slowed)] = np.log(slowed)
    effects[-1] += factor
    launches = effects[:, :, None] + LAUNCH * rng.standard_normal((nights + 1, CASES, LAUNCHES))
    checked, _ = check_tonight(pool_of(launches), Question(), seed)
    suspects = np.array([bool(one.suspected) for one in checked.points])
    after = confirmed(checked, suspects, factor, rng, seed) if suspects.any() else checked
    return Outcome(
        called=_slower_or_faster(checked.points) * [not one.why for one in checked.points],
        dated=_slower_or_faster(checked.points) * [bool(one.why) for one in checked.points],
        suspected=suspects.astype(np.float64),
        confirmed=_slower_or_faster(after.points),
    )


def confirmed(
    checked: Checked, suspects: np.ndarray, factor: Floats, rng: np.random.Generator, seed: int
) -> Checked:
    """The check after pairs of launches of the suspects: both arms are of tonight, whatever night it is."""
    both = LAUNCH * rng.standard_normal((2, CASES, PAIRS))
    both[1] += factor[:, None]
    cases = tuple((_row(j, both[0, j]), _row(j, both[1, j])) for j in np.flatnonzero(suspects).tolist())
    said = compare(Rivals(("before", "now"), cases, 0, "mpi"), True, Question(), seed)
    return with_confirmed(
        checked, said.promise, {one.point_b: one for one in said.points if one.point_b is not None}
    )


def _slower_or_faster(points: Sequence[CaseVerdict]) -> Floats:
    return np.array([float(one.verdict in (SLOWER, FASTER)) for one in points])


def pool_of(launches: Floats) -> Pool:
    """A store of nights from logarithms of the medians of launches, shape (nights, CASES, launches)."""
    nights = tuple(
        Night(Path(f"night-{number:02}"), number + 1, (), {}, {}, ()) for number in range(launches.shape[0])
    )
    cases = tuple(
        tuple(_row(case, night) for night in launches[:, case]) for case in range(launches.shape[1])
    )
    return Pool(nights, cases, (), 0)


def _row(case: int, launches: Floats) -> Row:
    """A test case of a night, of 1000 ns."""
    medians = (1000 * np.exp(launches)).tolist()
    return Row(
        point=case,
        op="mpi.allreduce",
        method="epoch",
        bytes=8 * (case + 1),
        ranks=2,
        threads=1,
        params={},
        placement=None,
        mpi="mpi-1",
        launch_count=len(medians),
        count=len(medians),
        rejected=0,
        median=float(np.median(medians)),
        launches=launches_of(np.asarray(medians), 1),
    )


def nothing_changed(world: World, nights: int, rounds: int) -> dict[str, float]:
    """What fractions of histories without a change alarm, and what fraction of test cases is suspected."""
    seen = [outcome(world, nights, seed) for seed in range(rounds)]
    return {
        "slower or faster tonight": float(np.mean([one.called.any() for one in seen])),
        "slower or faster since a night": float(np.mean([one.dated.any() for one in seen])),
        "test cases suspected": float(np.mean([one.suspected.mean() for one in seen])),
        "after the confirmation": float(np.mean([one.confirmed.any() for one in seen])),
    }


def tonight_slower(world: World, nights: int, rounds: int) -> dict[str, float]:
    """What fractions of tonight's slow-downs are found, alone and with the confirmation."""
    seen = [outcome(world, nights, seed, SLOWED) for seed in range(rounds)]
    found = {}
    for case, factor in enumerate(SLOWED):
        words = f"{100 * (factor - 1):.0f} % slower"
        found[f"{words}: found"] = float(np.mean([one.called[case] for one in seen]))
        found[f"{words}: confirmed"] = float(np.mean([one.confirmed[case] for one in seen]))
    return found


def main() -> None:
    """Print a table for each number of nights, and what was found."""
    parser = argparse.ArgumentParser(description="what `steelyard check` says of nights that are alike")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--nights", default="12,20,30")
    given = parser.parse_args()
    for nights in map(int, given.nights.split(",")):
        for what in (nothing_changed, tonight_slower):
            rows, names = [], []
            for name, world in WORLDS.items():
                told = what(world, nights, given.rounds)
                names = list(told)
                rows.append([name, *(f"{100 * value:.1f} %" for value in told.values())])
                print(".", end="", file=sys.stderr, flush=True)
            print(table([f"{nights} nights before", *names], rows))
            print(flush=True)


if __name__ == "__main__":
    main()
