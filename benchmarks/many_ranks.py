"""Collectives of very many simulated ranks, all in one launch: each by `epoch`, beside the truth.

    .venv/bin/python benchmarks/many_ranks.py [--ranks 1024] [--ops bcast,allreduce,barrier,reduce]
        [--bytes 8] [--out FOLDER] [--read]

One rank a host, all hosts on one switch, no noise, algorithms by name. `steelyard validate` simulates each
op by itself, and the beginning alone takes minutes of 4096 ranks. A line for each op: the truth, the latency
by `epoch`, by how much it is off, and the error that it states. FOLDER keeps the records: --read prints the
lines of those that are there, also of a launch that was stopped.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from steelyard.records.read import read_job
from steelyard.results.load import PointLaunch, cell_of
from steelyard.validate.design import BY_NAME, TRUTH, Simulation, flat_machine
from steelyard.validate.rows import row_of
from steelyard.validate.simulator import Ran, find_simulator, simulate

LIMIT_SECONDS = 4 * 3600.0
COUNTS = {TRUTH: 4, "epoch": 16}  # samples: without noise each is like the other


def lines_of(ops: Sequence[str], size: int) -> list[str]:
    """The engine's test cases, an op after the other."""
    lines: list[str] = []
    for op in ops:
        for method, count in COUNTS.items():
            sized = f"bytes={size}" if op != "barrier" else ""
            words = f"point={len(lines)} op=mpi.{op} method={method} rule=fixed count={count} {sized}"
            lines.append(f"{words} most_seconds=86400")
    return lines


def show(path: Path, simulation: Simulation) -> None:
    """A line for each op of the records whose two test cases have ended."""
    cells: list[PointLaunch] = []
    read_job(path, lambda file, run: cells.append(cell_of(file, run)))
    by_op: dict[str, dict[str, PointLaunch]] = {}
    for cell in cells:
        if cell.point is not None:
            by_op.setdefault(cell.point.op, {})[cell.point.method] = cell
    for op, found in by_op.items():
        if TRUTH in found and "epoch" in found:
            row = row_of(simulation, "epoch", 0, found["epoch"], found[TRUTH], None)
            if isinstance(row, str):
                raise SystemExit(f"{op}: {row}")
            print(
                f"{op:16} truth {row.truth_ns / 1e3:8.4f} us  epoch {row.estimate_ns / 1e3:8.4f} us"
                f"  {row.error_pct:+.3f} %  states {row.stated_error_ns:.1f} ns"
            )


def main() -> None:
    """One launch."""
    parser = argparse.ArgumentParser(description="collectives of very many simulated ranks")
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--ops", default="bcast,allreduce,barrier,reduce")
    parser.add_argument("--bytes", type=int, default=8)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", action="store_true", help="print what FOLDER has, and simulate nothing")
    given = parser.parse_args()
    ops = given.ops.split(",")
    algorithms = tuple(f"smpi/{op}:{BY_NAME[op]}" for op in ops)
    simulation = Simulation(
        "mpi.*", given.ranks, 1, flat_machine(), "default", None, (given.bytes,), ("epoch",), 1, algorithms
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"n{given.ranks}.jsonl"
        if not given.read:
            began = time.monotonic()
            lines = lines_of(ops, given.bytes)
            ran: Ran = simulate(
                find_simulator(), simulation, path, LIMIT_SECONDS, threading.Event(), lines=lines
            )
            print(f"{given.ranks} ranks: {time.monotonic() - began:.0f} s {ran.why or ''}")
        show(path, simulation)


if __name__ == "__main__":
    main()
