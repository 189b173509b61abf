"""Overheads beside EPCC's syncbench and schedbench: same threads on the same cores, taken in turn.

    python benchmarks/epcc.py [--syncbench PATH] [--schedbench PATH] [--threads 2] [--figures 10] [--test T]
                              [--launches 10] [--out FILE]

PATH is an executable of EPCC's OpenMP micro-benchmarks (version 4), built by its user. A figure of theirs is
what a process of theirs prints of one test, one of ours the overhead over so many launches of our construct
and its reference, as many as by default. They are taken in pairs, in random order.

What two threads take to hand a cache line to and fro (`atomic.pingpong`) is measured before, between and
behind the two. Where it has modes, as on a virtual machine whose cores are near each other at one time
and far at another, a construct of some 0.2 us has them too, and figures of different modes say nothing of a
tool. So pairs are taken until as many as asked for lie in one mode of the canary, three times so many at
most, and these are compared. The choice rests on the canary alone; FILE gets all pairs, as JSON.

Printed are both overheads, in us: the median figure, the least and the greatest, which are the spread, and
the uncertainty that theirs states (the median of its "+/-"); the ratio of ours to theirs with its interval;
how wide the spread and its middle half are; and the canary's mode. Their reference is one thread and ours
all, so on cores that run faster alone theirs is larger. The last lines count, over all tests of the run, how
often our median figure lies inside their spread, or within what theirs states, and how often ours is the
narrower, and say who else ran on the cores.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from steelyard.campaign.folder import open_folder
from steelyard.campaign.jobs import CampaignSetup
from steelyard.campaign.run import run_campaign
from steelyard.diagnostics.results.interference import neighbour_words
from steelyard.engines.build import describe, solo_engine
from steelyard.engines.description import ops_of
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.like import find_like
from steelyard.plan.plan import Measure, Plan, Value
from steelyard.plan.resolve import resolve
from steelyard.results.facets.overhead import ReferenceOverhead
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.rows import results
from steelyard.stats import find_modes, launch_interval
from steelyard.stats.modes import MODE_GAP
from steelyard.system.machine import read_machine
from steelyard.system.process import run

SECONDS = 600.0  # more than any of these commands takes
DELAY_US = "0.1"
MOST_SHOWN = 20  # sentences about who else ran


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


def measured(
    op: str, params: Mapping[str, Value], threads: int, launches: int, seed: int
) -> tuple[Row, list[str]]:
    """A row of ours, and who else was seen on its cores."""
    engine, machine = solo_engine(), read_machine()
    ops = ops_of(describe(engine), None)
    measure = Measure(ops=(op,), threads=threads, params=dict(params))
    plan = Plan(measure=(measure,), launches=launches, name="epcc", seed=seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "r"
        campaign = open_folder(folder, plan, resolve(plan, ops, [], len(machine.cores)), machine)
        run_campaign(folder, plan, campaign, CampaignSetup({None: engine}, ops, machine), lambda _: None)
        row = results(folder)[0]
        return row, neighbour_words(load(folder).files)


def ours(pair: Pair, threads: int, seed: int, launches: int) -> tuple[float, list[str]]:
    """A figure of our construct less its reference, in us, and who else was seen on its cores."""
    like = find_like(pair.like)
    chunk = {} if pair.chunk is None else {"chunk": float(pair.chunk)}
    row, seen = measured(like.op, {**like.params, **chunk}, threads, launches, seed)
    overhead = row.get(ReferenceOverhead).corrected
    if overhead is None:
        raise SystemExit(f"{like.op} was not measured: {row.why}")
    return overhead / 1e3 / (threads if pair.per_thread else 1), seen


def canary(threads: int, seed: int) -> float:
    """What a cache line takes from one thread to the other now, in ns; 1 where there is one thread."""
    if threads < 2:
        return 1.0
    row, _ = measured("atomic.pingpong", {}, 2, 1, seed)
    if row.median is None:
        raise SystemExit(f"atomic.pingpong was not measured: {row.why}")
    return row.median


def full_width(values: Sequence[float]) -> float:
    """How far apart the least and the greatest are."""
    return max(values) - min(values)


def spread(values: Sequence[float]) -> str:
    """`0.123 us (0.120 to 0.131)`."""
    return f"{np.median(values):.3f} us ({min(values):.3f} to {max(values):.3f})"


def middle_half(values: Sequence[float]) -> float:
    """How far apart the quartiles are."""
    low, high = np.quantile(values, (0.25, 0.75))
    return float(high - low)


class Figures(Struct, frozen=True):
    """A pair: both tools' figures in us, what theirs states, the canary before, between and behind, in ns."""

    test: str
    theirs: float
    stated: float
    ours: float
    canary: tuple[float, ...]
    neighbours: tuple[str, ...]  # a sentence for each that was seen beside ours


def take(asked: argparse.Namespace, pair: Pair, path: str, environment: dict[str, str], seed: int) -> Figures:
    """One figure of each tool, in random order."""
    found: dict[str, tuple[Any, ...]] = {}
    steps = [
        lambda: found.update(theirs=theirs(path, pair, environment)),
        lambda: found.update(ours=ours(pair, asked.threads, seed, asked.launches)),
    ]
    random.shuffle(steps)
    canaries = [canary(asked.threads, seed)]
    for step in steps:
        step()
        canaries.append(canary(asked.threads, seed))
    figure, seen = found["ours"]
    return Figures(pair.name, *found["theirs"], figure, tuple(canaries), tuple(seen))


def largest_mode(pairs: Sequence[Figures]) -> list[Figures]:
    """The pairs whose canaries all lie in one mode of the canary, of the mode that has most of them."""
    modes = find_modes([[value] for pair in pairs for value in pair.canary])
    steady = (
        [pair for pair in pairs if all(1 / MODE_GAP < value / mode.value < MODE_GAP for value in pair.canary)]
        for mode in modes
    )
    return max(steady, key=len, default=[])


WIDTHS = (full_width, middle_half)


@dataclass(frozen=True)
class Compared:
    """What both tools said of one test, in us."""

    theirs: tuple[float, ...]
    stated: float  # by theirs, of its median figure
    ours: tuple[float, ...]

    @property
    def is_inside(self) -> bool:
        """Does the median figure of ours lie in their spread?"""
        return bool(min(self.theirs) <= np.median(self.ours) <= max(self.theirs))

    @property
    def agrees(self) -> bool:
        """Does it lie there, or no further from their median than theirs states?"""
        return self.is_inside or bool(abs(np.median(self.ours) - np.median(self.theirs)) <= self.stated)

    def is_narrower(self, width: Callable[[Sequence[float]], float]) -> bool:
        """Are ours nearer to each other?"""
        return width(self.ours) < width(self.theirs)


def compare(pairs: Sequence[Figures]) -> Compared:
    """Print the line of a test, of which all pairs are given."""
    kept = largest_mode(pairs)
    found = Compared(
        theirs=tuple(pair.theirs for pair in kept),
        stated=float(np.median([pair.stated for pair in kept])),
        ours=tuple(pair.ours for pair in kept),
    )
    line = f"{pairs[0].test:<16} EPCC {spread(found.theirs)} +/- {found.stated:.3f}; "
    line += f"Steelyard {spread(found.ours)};"
    ratios = [mine / other for mine, other in zip(found.ours, found.theirs, strict=True) if other > 0]
    if len(ratios) > 1:
        ratio = launch_interval(ratios)
        line += f" ratio {ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f}, {100 * ratio.level:.0f} %);"
    wide = [f"{1e3 * width(who):.1f}" for width in WIDTHS for who in (found.theirs, found.ours)]
    lines = np.median([value for pair in kept for value in pair.canary])
    print(
        f"{line} spread {wide[0]} and {wide[1]} ns, middle half {wide[2]} and {wide[3]}; "
        f"canary {lines:.0f} ns, {len(kept)} of {len(pairs)} pairs",
        flush=True,
    )
    return found


def main() -> None:
    """Compare each test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--syncbench")
    parser.add_argument("--schedbench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--figures", type=int, default=10)
    parser.add_argument("--launches", type=int, default=10, help="that make a figure of ours")
    parser.add_argument("--out", type=Path, help="a file for all pairs")
    parser.add_argument("--test", action="append", help='PARALLEL, "DYNAMIC 8", ...; all if not given')
    asked = parser.parse_args()
    launch = plan_launch(solo_engine(), read_machine(), LaunchRequest(1, asked.threads))
    environment = {**os.environ, **launch.environment, "OMP_NUM_THREADS": str(asked.threads)}
    everything, found = list[Figures](), list[Compared]()
    for pair in PAIRS:
        path = asked.schedbench if pair.asked else asked.syncbench
        if not path or (asked.test is not None and pair.name not in asked.test):
            continue
        pairs: list[Figures] = []
        while len(largest_mode(pairs)) < asked.figures and len(pairs) < 3 * asked.figures:
            pairs.append(take(asked, pair, path, environment, len(pairs)))
            everything.append(pairs[-1])
            if asked.out:
                asked.out.write_bytes(msgspec.json.encode(everything))
        if len(largest_mode(pairs)) < 2:
            print(f"{pair.name:<16} the canary was never steady: nothing to compare")
            continue
        found.append(compare(pairs))
    narrower = [sum(one.is_narrower(width) for one in found) for width in WIDTHS]
    print(
        f"of {len(found)} tests: {sum(one.is_inside for one in found)} inside their spread, "
        f"{sum(one.agrees for one in found)} there or within what theirs states; ours narrower in "
        f"{narrower[0]} by the spread, in {narrower[1]} by its middle half"
    )
    seen = [sentence for one in everything for sentence in one.neighbours]
    print(f"others on the cores of {len(everything)} figures of ours: {len(seen)}")
    for sentence in sorted(set(seen))[:MOST_SHOWN]:
        print(f"  {sentence}")


if __name__ == "__main__":
    main()
