"""A/A: does the overhead of a reference against itself cover zero as often as its interval says?

    python benchmarks/omp_aa.py [--threads 2] [--runs 200] [--launches 10] [--op omp.barrier]

A run is what a user would do: launches of the engine, each of which measures the same point twice, in random
order; the overhead of one over the other is estimated from it. The runs follow each other in one campaign,
whose launches are cut into groups. Without --op the pair is omp.reference with copy=0 and copy=1. With --op,
it is that op twice, with limits of time that differ by a ten-thousandth. Wants a quiet machine; 200 runs of
10 launches take some 25 minutes.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import msgspec
import numpy as np

from steelyard.base.units import format_time
from steelyard.campaign.folder import open_folder
from steelyard.campaign.jobs import CampaignSetup
from steelyard.campaign.run import run_campaign
from steelyard.engines.build import describe, solo_engine
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.results.overhead import overhead
from steelyard.results.row import Row
from steelyard.results.rows import results
from steelyard.system.machine import read_machine


def measured(folder: Path, op: str | None, threads: int, launches: int, seconds: float) -> tuple[Row, Row]:
    """Both rows over all launches."""
    engine, machine = solo_engine(), read_machine()
    ops = ops_of(describe(engine), None)
    few = {"most_seconds": seconds}
    if op is None:
        pair = (Measure(ops=("omp.reference",), threads=threads, params={**few, "copy": (0.0, 1.0)}),)
    else:
        limits = (few, {"most_seconds": 1.0001 * seconds})
        pair = tuple(Measure(ops=(op,), threads=threads, params=limit) for limit in limits)
    plan = Plan(measure=pair, launches=launches, name="aa", seed=random.SystemRandom().randrange(2**31))
    points = [point for point in resolve(plan, ops, [], len(machine.cores)) if op in (None, point.op)]
    alone = tuple(
        msgspec.structs.replace(point, point=number, reference=None) for number, point in enumerate(points)
    )
    campaign = open_folder(folder, plan, alone, machine)
    run_campaign(folder, plan, campaign, CampaignSetup({None: engine}, ops, machine), lambda _: None)
    one, two = results(folder)
    return one, two


def grouped(row: Row, first: int, count: int) -> Row:
    """The row as if only those launches had been."""
    wanted = range(first, first + count)
    return msgspec.structs.replace(row, launches=tuple(one for one in row.launches if one.launch in wanted))


def main() -> None:
    """Measure, and say how often zero was covered."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--op")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--launches", type=int, default=10, help="of each run")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a point in a launch")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        both = measured(
            Path(folder) / "aa", asked.op, asked.threads, asked.runs * asked.launches, asked.seconds
        )
    covered, widths = 0, []
    for run in range(asked.runs):
        one, two = (grouped(row, 1 + run * asked.launches, asked.launches) for row in both)
        found = overhead(one, two)
        if found is not None:
            covered += found.low <= 0 <= found.high
            widths.append(found.high - found.low)
    share, half = 100 * covered / asked.runs, format_time(float(np.median(widths)) / 2)
    print(
        f"{both[0].op} with {asked.threads} threads, {format_time(both[0].median or 0)}: zero covered in "
        f"{covered} of {asked.runs} runs, {share:.1f} %; half-width {half}"
    )


if __name__ == "__main__":
    main()
