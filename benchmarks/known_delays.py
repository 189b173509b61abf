"""Known delays inside every construct: do they come out?

    python benchmarks/known_delays.py [OP ...] [--threads 1,2] [--spin-ns 100000] [--launches 20]

Each op that takes `spin_ns` (pthread.*, atomic.*, omp.*; all of them, or those that a pattern names) is
measured with that delay inside and without it, in the same launches, in an order that each launch shuffles.
Prints, for each op and number of threads, the median over launches of what the delay added in one launch,
divided by what it should have: the delay, as many times as its row says that delays follow each other. With
the interval of that ratio over launches, and whether value and truth are within 2 % or 20 ns of each other,
whichever is more.

More threads than cores cannot be held to this: their delays pass while they wait for a core. Where threads
sleep and are woken, or are made and ended, a delay changes how deep they sleep and what passes unseen during
it: some 10 us for each. There the delay is a hundred times as long.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.base.units import parse_sizes
from steelyard.engines.build import describe, solo_engine
from steelyard.engines.description import Op
from steelyard.records.campaign_file import PlannedPoint
from steelyard.results.load import load
from steelyard.stats import Estimate, launch_interval, median
from steelyard.system.process import run

SECONDS = 6 * 3600.0  # more than it takes
SHARE, LEAST_NS = 0.02, 20.0  # how far from the truth a value may be
# Readers of a lock wait for nobody: what the row says is said of writers.
# An inner region has the cores of the threads around it, so one thread.
SETTINGS: Mapping[str, Mapping[str, Any]] = {"pthread.rwlock": {"read_share": 0}, "omp.nested": {"inner": 1}}
# Whose threads sleep and are woken, or are made and ended: a delay changes for how long, by some 10 us.
SLEEPERS = (
    *(
        "pthread.barrier",
        "pthread.cond.*",
        "pthread.mutex",
        "pthread.rwlock",
        "pthread.migrate",
        "pthread.*.pingpong",
    ),
    *("omp.nested", "omp.target", "omp.fresh_thread", "omp.first_parallel"),
)
SLEEPERS_FACTOR = 100.0
# Who does a task is the library's choice: the delays of all threads follow each other, or none, or some do.
CHOSEN = ("omp.task_barrier",)
Key = tuple[str, int]  # op and threads


def constructs(patterns: list[str]) -> dict[str, Op]:
    """Ops that take a delay."""
    ops = {op.name: op for op in describe(solo_engine()).ops if op.delays != "none"}
    named = {name: op for name, op in ops.items() if any(fnmatch.fnmatch(name, p) for p in patterns)}
    return named if patterns else ops


def delay_ns(name: str, spin_ns: float) -> float:
    """What an op is given."""
    sleeps = any(fnmatch.fnmatch(name, pattern) for pattern in SLEEPERS)
    return spin_ns * (SLEEPERS_FACTOR if sleeps else 1)


def plan_text(ops: Mapping[str, Op], threads: list[int], spin_ns: float) -> str:
    """A plan in TOML: each op with and without the delay, at its smallest size."""
    text = 'name = "known-delays"\n'
    for name, op in ops.items():
        least, most = op.min_threads, op.max_threads or max(threads)
        suited = [count for count in threads if least <= count <= most]
        params = {"spin_ns": [0, delay_ns(name, spin_ns)]} | dict(SETTINGS.get(name, {}))
        words = ", ".join(f"{key} = {json.dumps(value)}" for key, value in params.items())
        if suited:
            text += f'[[measure]]\nops = ["{name}"]\nthreads = "{",".join(map(str, suited))}"\n'
            text += f"bytes = {min(parse_sizes(op.default_bytes))}\n" if op.default_bytes else ""
            text += f"params = {{ {words} }}\n"
    return text


def serial(delays: str, threads: int) -> int:
    """How many delays follow each other."""
    return {"one": 1, "threads": threads, "others": threads - 1}[delays]


def measure(plan: str, launches: str, folder: Path) -> None:
    """Run the plan into a folder; exits where that fails."""
    path = folder.with_suffix(".toml")
    path.write_text(plan)
    steelyard = Path(sys.executable).with_name("steelyard")
    words = ["run", str(path), "--launches", launches, "--out", str(folder), "--oversubscribe"]
    done = run([str(steelyard), *words], timeout=SECONDS)
    if done.code != 0:
        sys.exit(done.err)


def values(folder: Path, ops: Mapping[str, Op], spin: float) -> dict[Key, dict[bool, dict[int, float]]]:
    """The median of each launch in ns, of each op and number of threads, with the delay and without."""
    found: dict[Key, dict[bool, dict[int, float]]] = {}
    for point in load(folder).points:
        plan: PlannedPoint = point.plan
        if plan.op not in ops or plan.params.get("spin_ns") not in (0.0, delay_ns(plan.op, spin)):
            continue  # a reference of some op
        medians = {
            cell.launch: median(cell.values, cell.taken.tick) for cell in point.cells if cell.values.size
        }
        delayed = float(plan.params["spin_ns"]) > 0
        found.setdefault((plan.op, plan.threads), {})[delayed] = medians
    return found


def added(delayed: Mapping[int, float], plain: Mapping[int, float]) -> Estimate | None:
    """What the delay added, in ns, over launches that have both; None where too few have."""
    differences = [delayed[launch] - plain[launch] for launch in sorted(delayed.keys() & plain.keys())]
    return launch_interval(differences, 0.95) if len(differences) > 1 else None


def report(
    found: Mapping[Key, Mapping[bool, Mapping[int, float]]], ops: Mapping[str, Op], spin: float
) -> int:
    """A line for each; how many are off."""
    off = 0
    for (op, threads), pair in sorted(found.items()):
        delays, ns = serial(ops[op].delays, threads), delay_ns(op, spin)
        truth = delays * ns
        estimate = added(pair.get(True, {}), pair.get(False, {}))
        if estimate is None:
            print(f"{op:28} {threads} threads: not measured")
            continue
        error = estimate.value - truth
        right = abs(error) <= max(SHARE * truth, LEAST_NS)
        if op in CHOSEN:
            right = (1 - SHARE) * ns <= estimate.value <= (1 + SHARE) * threads * ns
        off += not right
        print(
            f"{op:28} {threads} threads, {delays} x {ns:g} ns: ratio {estimate.value / truth:.4f} "
            f"[{estimate.low / truth:.4f}, {estimate.high / truth:.4f}], {error:+.1f} ns, "
            f"{estimate.n} launches: {'yes' if right else 'NO'}"
        )
    return off


def main() -> None:
    """Measure into a temporary folder and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ops", nargs="*", metavar="OP")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--spin-ns", type=float, default=100_000)
    parser.add_argument("--launches", default="20")
    options = parser.parse_args()
    ops = constructs(options.ops)
    if not ops:
        sys.exit("no op that takes a delay has such a name")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        threads = [int(word) for word in options.threads.split(",")]
        measure(plan_text(ops, threads, options.spin_ns), options.launches, folder)
        off = report(values(folder, ops, options.spin_ns), ops, options.spin_ns)
    print(f"{off} are off" if off else "all are within 2 % or 20 ns")


if __name__ == "__main__":
    main()
