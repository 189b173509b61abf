"""What the driver itself costs: a campaign of many test cases without MPI, and a file of more that are made.

    .venv/bin/python benchmarks/driver_cost.py [--points 1000] [--launches 1] [--held 100000]

First what it holds when so many made test cases have ended, and what each took to follow. Then by how much a
campaign takes longer than its launches, for importing and planning, and for reading, judging and printing at
the end; and the CPU time of this process, which is the driver, while launches ran.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from steelyard.cli.main import app
from steelyard.records.follow import Tail
from steelyard.session import measure as measuring


@dataclass(frozen=True)
class Instant:
    """What the clock says, and what CPU time this process has used, and those whose end it has seen, in s."""

    clock: float
    own: float
    others: float


def now() -> Instant:
    """This instant."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Instant(time.monotonic(), *(one.ru_utime + one.ru_stime for one in used))


def campaign(points: int, launches: int) -> None:
    """Launches of test cases of mem.copy, driven by this process."""
    marks: list[Instant] = []  # when launches began and ended
    real = measuring.run_campaign

    def marked(*words: Any, **more: Any) -> None:
        marks.append(now())
        real(*words, **more)
        marks.append(now())

    sizes = ",".join(str(8 * (index + 1)) for index in range(points))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        first = now()
        words = ["--bytes", sizes, "--launches", str(launches), "--out", f"{folder}/out"]
        with contextlib.suppress(SystemExit), mock.patch.object(measuring, "run_campaign", marked):
            app(["run", "mem.copy", *words])
        last = now()
    began, ended = marks
    whole, beside = last.clock - first.clock, began.clock - first.clock + last.clock - ended.clock
    used = began.own - first.own + last.own - ended.own
    print(f"{points} test cases in {launches} launches, {whole:.1f} s:")
    print(f"  before and after launches: {beside:.2f} s, {100 * beside / whole:.2f} %")
    print(f"    CPU time: {used:.2f} s of the driver, {last.others - ended.others:.2f} s of its forks")
    driving = ended.own - began.own
    print(f"  CPU time of the driver while launches ran: {driving:.2f} s, {100 * driving / whole:.2f} %")


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
        began = now()
        with path.open("a") as file:
            for index in range(points):
                for line in made_point(index):
                    file.write(json.dumps(line) + "\n")
                file.flush()
                tail.advance()
                if index + 1 in marks:
                    took = (now().own - began.own) / (index + 1)
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
