"""How often does a check of guidelines blame a library that is right by construction, and what does it find?

Simulated launches of an MPI whose calls take exactly as long as they may, or as long as what they could be
composed of: every collective with its mock-ups and other forms at several sizes. Launches drift, test cases
fall into modes, and tails are heavy. 'violated' is then a false alarm; with one call planted slower, a find.

    .venv/bin/python benchmarks/aa_guidelines.py --checks 200
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from rates import rate_words

from steelyard.judges.guidelines.table import COMPOSITION, GUIDELINES, IRREGULAR
from steelyard.judges.guidelines.verdicts import (
    HOLDS,
    TOLERANCE,
    VIOLATED,
    Asked,
    CheckedGuidelines,
    check_guidelines,
)
from steelyard.results.row import Row, RowLaunch

SIZES = (8, 1024, 65536)
MODE, IN_MODE = 1.3, 0.3  # a slow mode, and the share of points of a launch that are in it
DRIFT = 0.2  # by so much more the last launch takes than the first
TAILED = 0.05  # share of medians that others made longer, by a factor of up to some


def simulated_rows(
    seed: int, launches: int, scatter: float, left: float, planted: Mapping[str, float] | None = None
) -> list[Row]:
    """Rows of all collectives and their mock-ups; a left side takes `left` times as long as a right one.

    What is on both sides takes as long as a right one. planted: op -> by how much longer it takes.
    """
    chosen = [row for row in GUIDELINES if row.kind in (COMPOSITION, IRREGULAR)]
    rights = {row.right.op for row in chosen}
    ops = dict.fromkeys(side.op for row in chosen for side in (row.left, row.right))
    coin = np.random.default_rng(seed)
    rows = list[Row]()
    for op in ops:
        for size in SIZES:
            usual = (1.0 if op in rights else left) * (planted or {}).get(op, 1.0) * 1000.0 * math.sqrt(size)
            noise = np.exp(scatter * coin.standard_normal(launches))
            noise *= np.where(coin.random(launches) < IN_MODE, MODE, 1.0)
            noise *= np.where(coin.random(launches) < TAILED, 1 + coin.pareto(1.0, launches), 1.0)
            times = usual * noise * np.linspace(1.0, 1.0 + DRIFT, launches)
            rows.append(_row(len(rows), op, size, times))
    return rows


def _row(point: int, op: str, size: int, times: NDArray[np.float64]) -> Row:
    launches = tuple(
        RowLaunch(
            launch=number,
            status="ok",
            why=None,
            flag="SETTLED",
            count=10,
            rejected=0,
            reps=1,
            median=float(time),
            ci_low=None,
            ci_high=None,
            lag1=None,
            drift=False,
        )
        for number, time in enumerate(times, 1)
    )
    return Row(
        point=point,
        op=op,
        method="epoch",
        bytes=size,
        sized=True,
        ranks=4,
        threads=1,
        params={},
        placement=None,
        mpi="mpich-4.0.2",
        launch_count=len(launches),
        count=10 * len(launches),
        rejected=0,
        launches=launches,
    )


def checks(
    count: int, launches: int, scatter: float, left: float, planted: Mapping[str, float] | None = None
) -> list[CheckedGuidelines]:
    """So many checks of simulated launches, each with a seed of its own."""
    return [
        check_guidelines(simulated_rows(seed, launches, scatter, left, planted), Asked())
        for seed in range(count)
    ]


def alarms(found: list[CheckedGuidelines]) -> int:
    """How many checks call anything violated."""
    return sum(one.verdict == VIOLATED for one in found)


def main() -> None:
    """Print rates of alarms, and how often a slow call is found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--launches", type=int, default=18)
    options = parser.parse_args()
    for scatter in (0.01, 0.05, 0.2):
        for left, name in ((1.0, "as long as the right side"), (1 + TOLERANCE, "as long as it may")):
            found = checks(options.checks, options.launches, scatter, left)
            rate = rate_words(alarms(found), len(found))
            print(f"scatter {100 * scatter:g} %, each call {name}: alarms in {rate} checks", end="")
            print(f" of {found[0].family} verdicts, {_share(found, HOLDS)} of which are that it holds")
    for slower in (1.2, 1.5, 2.0):
        found = checks(max(1, options.checks // 10), options.launches, 0.05, 1.0, {"mpi.gather": slower})
        mine = [one for said in found for one in said.points if one.left == "mpi.gather" != one.right]
        hit = sum(one.verdict == VIOLATED for one in mine)
        print(
            f"scatter 5 %, MPI_Gather {slower:g} times as slow: found in {rate_words(hit, len(mine))} cases"
        )


def _share(found: list[CheckedGuidelines], verdict: str) -> str:
    said = [one.verdict for checked in found for one in checked.points]
    return f"{100 * said.count(verdict) / len(said):.0f} %"


if __name__ == "__main__":
    main()
