"""Overheads beside EPCC's syncbench and schedbench: same threads on the same cores, launches interleaved.

    python benchmarks/epcc.py [--syncbench PATH] [--schedbench PATH] [--threads 2] [--launches 8] [--test T]
                              [--ours 1]

PATH is an executable of EPCC's OpenMP micro-benchmarks (version 4), built by its user. Each launch runs
one test of theirs in a process, as theirs is run, and our construct and its reference in another, in random
order; --ours 10 makes our figure of ten launches, as it is by default. Printed are both overheads, in us,
with their spread over launches and the uncertainty that theirs states (the median of its "+/-"), the ratio of
ours to theirs with its interval, and how wide the middle half of each tool's figures is. Their reference is
one thread and ours all, so on cores that run faster alone theirs is larger.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.campaign import run_campaign
from steelyard.engine import describe, solo_engine
from steelyard.folder import open_folder
from steelyard.jobs import Setup
from steelyard.launch import plan_launch
from steelyard.like import find_like
from steelyard.machine import read_machine
from steelyard.plan import Measure, Plan
from steelyard.process import run
from steelyard.resolve import ops_of, resolve
from steelyard.results import results
from steelyard.stats import launch_interval

SECONDS = 600.0  # more than any of these commands takes
DELAY_US = "0.1"


@dataclass(frozen=True)
class Pair:
    """A test of theirs, as its line of overhead names it; what of ours is like it."""

    like: str
    name: str
    asked: str = ""  # how schedbench is asked for it; "": it is of syncbench, by its name
    per_thread: bool = False  # ours is by every thread, theirs by any
    chunk: int | None = None  # instead of the default of what is like it


PAIRS = (
    Pair("epcc_parallel", "PARALLEL"),
    Pair("epcc_for", "FOR"),
    Pair("epcc_parallel_for", "PARALLEL_FOR"),
    Pair("epcc_barrier", "BARRIER"),
    Pair("epcc_single", "SINGLE"),
    Pair("epcc_critical", "CRITICAL"),
    Pair("epcc_lock_contended", "LOCK_CONTENDED"),
    Pair("epcc_lock_uncontended", "LOCK_UNCONTENDED"),
    Pair("epcc_ordered", "ORDERED"),
    Pair("epcc_atomic", "ATOMIC", per_thread=True),
    Pair("epcc_reduction", "REDUCTION"),
    Pair("epcc_sched_static", "STATIC", "STATIC"),
    *(
        Pair(f"epcc_sched_{kind}_n", f"{kind.upper()} {chunk}", asked, chunk=chunk)
        for kind, asked in (("static", "STATICN"), ("dynamic", "DYNAMIC"), ("guided", "GUIDED"))
        for chunk in (1, 8, 128)
    ),
)


def overhead_us(text: str, name: str) -> tuple[float, float]:
    """Their overhead and its uncertainty, in us.

    `BARRIER median_ovrhd = 0.123 microseconds`; else that of means, `BARRIER overhead = 0.12 microseconds +/-
    0.01`, which has the uncertainty.
    """
    printed, number = name.replace("_", "[_ ]"), r"(-?[\d.eE+-]+)"
    mean = re.search(rf"^\s*{printed}\s+overhead\s*=\s*{number}\D+{number}", text, re.MULTILINE)
    median = re.search(rf"^\s*{printed}\s+median_ovrhd\s*=\s*{number}", text, re.MULTILINE)
    if mean is None:
        raise SystemExit(f"there is no overhead of {name} in what it printed:\n{text[-500:]}")
    return float((median or mean)[1]), float(mean[2])


def theirs(path: str, pair: Pair, environment: dict[str, str]) -> tuple[float, float]:
    """One launch of one of their tests: the overhead and its uncertainty, in us."""
    argv = [path, "--outer-repetitions", "20", "--delay-time", DELAY_US, "--measureonly"]
    argv += [pair.asked or pair.name]
    done = run(argv, env=environment, timeout=SECONDS)
    if done.code != 0:
        raise SystemExit(f"{path} failed: {(done.err or done.out).strip()[-300:]}")
    return overhead_us(done.out, pair.name)


def ours(pair: Pair, threads: int, seed: int, launches: int) -> float:
    """A figure of our construct less its reference, of so many launches. In us."""
    row, engine, machine = find_like(pair.like), solo_engine(), read_machine()
    ops = ops_of(describe(engine), None)
    chunk = {} if pair.chunk is None else {"chunk": float(pair.chunk)}
    measure = Measure(ops=(row.op,), threads=threads, params={**row.params, **chunk})
    plan = Plan(measure=(measure,), launches=launches, name="epcc", seed=seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "r"
        campaign = open_folder(folder, plan, resolve(plan, ops, [], len(machine.cores)), machine)
        run_campaign(folder, plan, campaign, Setup({None: engine}, ops, machine), lambda _: None)
        found = results(folder)[0]
    if found.corrected is None:
        raise SystemExit(f"{row.op} was not measured: {found.why}")
    return found.corrected / 1e3


def spread(values: Sequence[float]) -> str:
    """`0.123 us (0.120 to 0.131)`."""
    return f"{np.median(values):.3f} us ({min(values):.3f} to {max(values):.3f})"


def middle_half(values: Sequence[float]) -> float:
    """How far apart the quartiles are."""
    low, high = np.quantile(values, (0.25, 0.75))
    return float(high - low)


def compare(
    pair: Pair, path: str, threads: int, launches: int, of_ours: int, environment: dict[str, str]
) -> None:
    """Measure a pair and print its line."""
    stated, our_us = list[tuple[float, float]](), list[float]()
    for launch in range(launches):
        steps = [
            lambda: stated.append(theirs(path, pair, environment)),
            lambda launch=launch: our_us.append(
                ours(pair, threads, launch, of_ours) / (threads if pair.per_thread else 1)
            ),
        ]
        random.shuffle(steps)
        for step in steps:
            step()
    their_us = [overhead for overhead, _ in stated]
    uncertain = float(np.median([uncertainty for _, uncertainty in stated]))
    line = f"{pair.name:<16} EPCC {spread(their_us)} +/- {uncertain:.3f}; Steelyard {spread(our_us)};"
    ratios = [mine / other for mine, other in zip(our_us, their_us, strict=True) if other > 0]
    if len(ratios) > 1:
        ratio = launch_interval(ratios)
        line += f" ratio {ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f}, {100 * ratio.level:.0f} %);"
    line += f" middle half {1e3 * middle_half(their_us):.1f} and {1e3 * middle_half(our_us):.1f} ns"
    print(line, flush=True)


def main() -> None:
    """Compare each test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--syncbench")
    parser.add_argument("--schedbench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--ours", type=int, default=1, help="launches that make a figure of ours")
    parser.add_argument("--test", action="append", help='PARALLEL, "DYNAMIC 8", ...; all if not given')
    asked = parser.parse_args()
    launch = plan_launch(solo_engine(), 1, asked.threads, read_machine())
    environment = {**os.environ, **launch.environment, "OMP_NUM_THREADS": str(asked.threads)}
    for pair in PAIRS:
        path = asked.schedbench if pair.asked else asked.syncbench
        if path and (asked.test is None or pair.name in asked.test):
            compare(pair, path, asked.threads, asked.launches, asked.ours, environment)


if __name__ == "__main__":
    main()
