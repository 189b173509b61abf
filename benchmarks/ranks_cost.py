"""What records and memory cost by the number of ranks: each launch simulated, with each word of --keep.

    .venv/bin/python benchmarks/ranks_cost.py [--ranks 16,64,256,1024] [--keep default,ranks,sampled,slowest]
        [--out FILE.json]

A launch has 768 samples of mpi.bcast on one host a rank, 256 of them by `epoch`, with noise. A line for each:
bytes of records for a sample (chunks and what ranks say of themselves), for a synchronisation, and of the
launch; the largest memory of the simulator, all ranks together; simulated seconds of the dearest
synchronisation and of the launch, and the seconds that the simulation took.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from steelyard.validate.design import Simulation, flat_machine
from steelyard.validate.simulator import find_simulator, simulate

LIMIT_SECONDS = 3600.0
SAMPLES = ("obs", "reduced", "ranks")  # records of samples
SYNCS = ("sync", "sync_reduced")
ALGORITHM = "smpi/bcast:binomial_tree"  # selectors begin with an exchange of ranks^2 messages


def measure(ranks: int, keep: str) -> dict[str, float | int | str]:
    """One launch, in this process, which then has no other child."""
    simulation = Simulation(
        "mpi.bcast", ranks, 1, flat_machine(1), "default", None, (8,), ("epoch",), 1, (ALGORITHM,)
    )
    words = () if keep == "default" else ("--keep", keep)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "launch.jsonl"
        began = time.monotonic()
        ran = simulate(find_simulator(), simulation, path, LIMIT_SECONDS, threading.Event(), words)
        seconds = time.monotonic() - began
        if ran.why:
            raise SystemExit(ran.why)
        lines = path.read_bytes().splitlines()
    records = [json.loads(line) for line in lines]
    sizes: dict[str, int] = {}
    for line, record in zip(lines, records, strict=True):
        sizes[record["record"]] = sizes.get(record["record"], 0) + len(line) + 1
    ends = [record for record in records if record["record"] == "end"]
    began_ns = min(record["start_ns"] for record in records if record["record"] == "point")
    syncs = [record["cost_ns"] / 1e9 for record in records if record["record"] in SYNCS]
    return {
        "ranks": ranks,
        "keep": keep,
        "samples": sum(end["count"] for end in ends),
        "bytes_of_samples": sum(sizes.get(name, 0) for name in SAMPLES),
        "bytes_of_syncs": sum(sizes.get(name, 0) for name in SYNCS),
        "bytes_of_launch": sizes.get("launch", 0),
        "bytes": sum(sizes.values()) - sizes["job"],
        "syncs": len(syncs),
        "sync_s": max(syncs),
        "simulated_s": (max(end["stop_ns"] for end in ends) - began_ns) / 1e9,
        "memory_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3,
        "seconds": seconds,
    }


def main() -> None:
    """A process for each launch, a line for each."""
    parser = argparse.ArgumentParser(description="what records and memory cost by the number of ranks")
    parser.add_argument("--ranks", default="16,64,256,1024")
    parser.add_argument("--keep", default="default,ranks,sampled,slowest")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(int(given.ranks), given.keep)))
        return
    print(
        f"{'ranks':>6} {'keep':8} {'bytes/sample':>12} {'bytes/sync':>10} {'launch':>9} {'all bytes':>10}",
        end="",
    )
    print(f" {'MB':>7} {'sync, s':>8} {'simulated, s':>12} {'took, s':>8}")
    found = []
    for ranks in given.ranks.split(","):
        for keep in given.keep.split(","):
            words = [sys.executable, __file__, "--one", "--ranks", ranks, "--keep", keep]
            done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
            one = json.loads(done.stdout)
            found.append(one)
            print(
                f"{one['ranks']:6} {one['keep']:8} {one['bytes_of_samples'] / one['samples']:12.1f}"
                f" {one['bytes_of_syncs'] / one['syncs']:10.0f} {one['bytes_of_launch']:9} {one['bytes']:10}"
                f" {one['memory_mb']:7.0f} {one['sync_s']:8.4f} {one['simulated_s']:12.3f}"
                f" {one['seconds']:8.1f}",
                flush=True,
            )
            if given.out:
                given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
