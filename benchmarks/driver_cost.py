"""What the driver itself costs: a campaign of many test cases without MPI, and a file of more that are made.

    .venv/bin/python benchmarks/driver_cost.py [--points 1000] [--launches 1] [--held 100000]

First what it holds when so many made test cases have ended, and what each took to follow. Then the share of a
campaign's time that this process, which is the driver, spent: while launches ran, and in all, with importing,
planning, and at the end reading, judging and printing all.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

from steelyard.cli import run as cli_run
from steelyard.cli.main import app
from steelyard.records.follow import Tail


def cpu() -> float:
    """Seconds of CPU time of this process, without those of engines."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def campaign(points: int, launches: int) -> None:
    """Launches of test cases of mem.copy, driven by this process."""
    spent: list[tuple[float, float]] = []  # seconds of CPU time and of the wall clock while launches ran
    real = cli_run.run_campaign

    def timed(*words: Any, **more: Any) -> None:
        began, before = time.monotonic(), cpu()
        real(*words, **more)
        spent.append((cpu() - before, time.monotonic() - began))

    sizes = ",".join(str(8 * (index + 1)) for index in range(points))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        began, before = time.monotonic(), cpu()
        words = ["--bytes", sizes, "--launches", str(launches), "--out", f"{folder}/out"]
        with contextlib.suppress(SystemExit), mock.patch.object(cli_run, "run_campaign", timed):
            app(["run", "mem.copy", *words])
        spent.append((cpu() - before, time.monotonic() - began))
    print(f"{points} test cases in {launches} launches:")
    for what, (used, whole) in zip(("while launches ran", "in all"), spent, strict=True):
        print(f"  {what}: {used:.2f} s of CPU time in {whole:.1f} s, {100 * used / whole:.2f} %")


def held(points: int) -> None:
    """Follow a file of records that grows by made test cases."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "l01.jsonl"
        head = [
            {"record": "job", "schema": 1, "job": "l01", "launch": 1, "ranks": 2},
            {
                "record": "launch", "schema": 1, "engine": "solo", "version": "1", "ranks": 2,
                "clock": {"name": "tsc", "cost_ns": 20, "tick_ns": 1}, "places": [],
            },
        ]  # fmt: skip
        path.write_text("".join(json.dumps(line) + "\n" for line in head))
        tail, marks = Tail(path), {points // 100, points // 10, points}
        began = cpu()
        with path.open("a") as file:
            for index in range(points):
                for line in made_point(index):
                    file.write(json.dumps(line) + "\n")
                file.flush()
                tail.advance()
                if index + 1 in marks:
                    took = (cpu() - began) / (index + 1)
                    print(f"{index + 1:8} test cases ended: {resident_mb():.1f} MB, {1e6 * took:.0f} us each")


def made_point(index: int) -> list[dict[str, object]]:
    """A test case of 100 samples on two ranks."""
    stamps = [list(range(100))] * 2
    return [
        {
            "record": "point", "point": index, "op": "mem.copy", "bytes": index, "ranks": 2, "threads": 1,
            "method": "batch", "rule": "fixed", "reps": 1, "parts": 1, "report": "slowest",
        },
        {"record": "obs", "point": index, "first": 0, "count": 100, "start_ns": stamps, "stop_ns": stamps},
        {"record": "end", "point": index, "status": "ok", "count": 100},
        {"record": "state", "point": index, "at_ns": [index, index], "cpus": ["0", "1"]},
    ]  # fmt: skip


def resident_mb() -> float:
    """Memory of this process as it is now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description="what the driver itself costs")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--launches", type=int, default=1)
    parser.add_argument("--held", type=int, default=100_000)
    given = parser.parse_args()
    if given.held:
        held(given.held)
    if given.points:
        campaign(given.points, given.launches)


if __name__ == "__main__":
    main()
