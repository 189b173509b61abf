"""What a launch costs by the number of ranks: each simulated, with each word of --keep; and a model of it.

    .venv/bin/python benchmarks/ranks_cost.py [--ranks 16,64,256,1024] [--keep default,ranks,sampled,slowest]
        [--out FILE.json]
    .venv/bin/python benchmarks/ranks_cost.py --fit FILE.json [--at 4096,32768,1048576]

A launch has 264 samples of mpi.bcast on one host a rank, 256 of them by `epoch`, with noise. A line for each:
bytes of records for a sample (chunks and what ranks say of themselves), for a synchronisation, of the launch
record, and of all; the largest memory of the simulator, all ranks together; simulated ms of the dearest
synchronisation; what share of the test case by `epoch` went into synchronising, and into agreeing on a start,
reducing, gathering and writing; the latency and the truth in us; the seconds that the simulation took.

--fit fits the lines of FILE whose ranks are at most 1024 (`--keep default`), prints the model at --at, and
beside it what was simulated there, if it was. Lines of a FILE that is there are kept, and added to.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.records.read import read_job
from steelyard.results.load import PointLaunch, cell_of
from steelyard.validate.design import TRUTH, Simulation, flat_machine
from steelyard.validate.simulator import find_simulator, simulate

Line = dict[str, Any]
LIMIT_SECONDS = 3600.0
SAMPLES = ("obs", "reduced", "ranks")  # records of samples
SYNCS = ("sync", "sync_reduced")
ALGORITHM = "smpi/bcast:binomial_tree"  # selectors begin with an exchange of ranks^2 messages
FITTED_MOST = 1024  # ranks
ALL_KEPT = 64  # ranks up to which all are kept, and records are of another form


def measure(ranks: int, keep: str) -> Line:
    """One launch, in this process, which then has no other child but compilers."""
    simulation = Simulation(
        "mpi.bcast", ranks, 1, flat_machine(1), "default", None, (8,), ("epoch",), 1, (ALGORITHM,)
    )
    words = () if keep == "default" else ("--keep", keep)
    simulator = find_simulator()
    cells: list[PointLaunch] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "launch.jsonl"
        began = time.monotonic()
        ran = simulate(simulator, simulation, path, LIMIT_SECONDS, threading.Event(), words)
        seconds = time.monotonic() - began
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        if ran.why:
            raise SystemExit(ran.why)
        lines = path.read_bytes().splitlines()
        read_job(path, lambda file, run: cells.append(cell_of(file, run)))
    records = [json.loads(line) for line in lines]
    sizes: dict[str, int] = {}
    for line, record in zip(lines, records, strict=True):
        sizes[record["record"]] = sizes.get(record["record"], 0) + len(line) + 1
    syncs = [record["cost_ns"] for record in records if record["record"] in SYNCS]
    truths, epochs = ([cell for cell in cells if is_truth(cell) == what] for what in (True, False))
    synchronising, telling = shares(records)
    return {
        "ranks": ranks,
        "keep": keep,
        "samples": sum(record["count"] for record in records if record["record"] == "end"),
        "bytes_of_samples": sum(sizes.get(name, 0) for name in SAMPLES),
        "bytes_of_syncs": sum(sizes.get(name, 0) for name in SYNCS),
        "bytes_of_launch": sizes.get("launch", 0),
        "bytes": sum(sizes.values()) - sizes["job"],
        "syncs": len(syncs),
        "sync_ms": max(syncs) / 1e6,
        "synchronising": synchronising,
        "telling": telling,
        "latency_us": float(np.median(epochs[0].values)) / 1e3,
        "truth_us": float(np.median(np.concatenate([cell.values for cell in truths]))) / 1e3,
        "memory_mb": memory,
        "seconds": seconds,
    }


def is_truth(cell: PointLaunch) -> bool:
    """Whether a point is by the simulator's own time."""
    return cell.point is not None and cell.point.method == TRUTH


def shares(records: Sequence[Line]) -> tuple[float, float]:
    """Of the time of the point by `epoch`: in synchronisations, and neither in them nor in windows."""
    point = next(one for one in records if one["record"] == "point" and one["method"] == "epoch")
    own = [one for one in records if one.get("point") == point["point"]]
    chunks = [one for one in own if "target_ns" in one]
    whole = own[-1]["stop_ns"] - point["start_ns"]
    costs = {one["index"]: one["cost_ns"] for one in records if one["record"] in SYNCS}
    synchronising = sum(costs[one["sync_after"]] for one in chunks)
    windows = sum(one["target_ns"][-1] + one["window_ns"] - one["target_ns"][0] for one in chunks)
    return synchronising / whole, max(0.0, 1 - (synchronising + windows) / whole)


Terms = Sequence[Callable[[float], float]]
LOG: Terms = (lambda _: 1.0, math.log2)
LINE: Terms = (lambda _: 1.0, float)
# What is modelled, with which terms, in words.
MODELS: Sequence[tuple[str, Terms, str]] = (
    ("bytes", LOG, "bytes of records of the launch"),
    ("sync_ms", LOG, "ms for a synchronisation"),
    ("latency_us", LOG, "us, latency of mpi.bcast by epoch"),
    ("memory_mb", LINE, "MB of the simulator"),
)


def fit(lines: Sequence[Line], at: Sequence[int]) -> None:
    """Least squares of relative errors; a line for each quantity and number of ranks."""
    seen = [one for one in lines if one["keep"] == "default"]
    for name, terms, words in MODELS:
        least = ALL_KEPT if name == "bytes" else 0
        few = [one for one in seen if least < one["ranks"] <= FITTED_MOST]
        rows = np.array([[term(one["ranks"]) / one[name] for term in terms] for one in few])
        found, *_ = np.linalg.lstsq(rows, np.ones(len(few)), rcond=None)
        for ranks in at:
            model = float(sum(c * term(ranks) for c, term in zip(found, terms, strict=True)))
            there = next((one[name] for one in seen if one["ranks"] == ranks), None)
            beside = f"  simulated {there:.5g}: {100 * (model / there - 1):+.1f} %" if there else ""
            print(f"{ranks:8} {words:36} {model:12.5g}{beside}")


def show(one: Line) -> None:
    """A line of the table."""
    cells = (
        one["bytes_of_samples"] / one["samples"],
        one["bytes_of_syncs"] / one["syncs"],
        *(one[name] for name in ("bytes_of_launch", "bytes", "memory_mb", "sync_ms")),
        100 * one["synchronising"],
        100 * one["telling"],
        *(one[name] for name in ("latency_us", "truth_us", "seconds")),
    )
    print(f"{one['ranks']:5} {one['keep']:8}", *(f"{cell:12.6g}" for cell in cells), flush=True)


HEADS = ("bytes/sample", "bytes/sync", "launch", "all bytes", "MB", "sync, ms", "sync %", "tell %")


def main() -> None:
    """A process for each launch, a line for each."""
    parser = argparse.ArgumentParser(description="what a launch costs by the number of ranks")
    parser.add_argument("--ranks", default="16,64,256,1024")
    parser.add_argument("--keep", default="default,ranks,sampled,slowest")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--fit", type=Path)
    parser.add_argument("--at", default="4096,32768,1048576")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit(json.loads(given.fit.read_text()), [int(one) for one in given.at.split(",")])
        return
    if given.one:
        print(json.dumps(measure(int(given.ranks), given.keep)))
        return
    print("ranks keep    ", *(f"{head:>12}" for head in (*HEADS, "epoch, us", "truth, us", "took, s")))
    found = json.loads(given.out.read_text()) if given.out and given.out.exists() else []
    for ranks in given.ranks.split(","):
        for keep in given.keep.split(","):
            words = [sys.executable, __file__, "--one", "--ranks", ranks, "--keep", keep]
            done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
            found.append(json.loads(done.stdout))
            show(found[-1])
            if given.out:
                given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
