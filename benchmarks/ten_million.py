"""What 10 million samples cost to analyse: writes a results folder of so many, and times what reads it.

    .venv/bin/python benchmarks/ten_million.py [--samples 10000000] [--folder DIR]

Prints the time and the largest memory of `steelyard show` and of `steelyard report`, each in a process of its
own. The folder is kept where it is named, and used again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from make_records import FakePoint, steady, write_folder

LAUNCHES, EACH = 10, 20_000  # launches, and samples of a test case in each
SAMPLES = 10_000_000
CHUNK_NS = (
    1_000_000_000  # from one chunk to the next: timestamps have ten digits and more, as in a real launch
)


def write(folder: Path, samples: int) -> None:
    """Test cases of ping-pong whose samples are so many together."""
    points = [
        FakePoint(
            "mpi.pingpong",
            steady(200.0 + size, count=EACH),
            bytes=size,
            report="message",
            parts=2,
            at_ns=CHUNK_NS,
        )
        for size in range(1, 1 + samples // (LAUNCHES * EACH))
    ]
    write_folder(folder, points, launches=LAUNCHES)


def measured(words: list[str]) -> tuple[float, float, float, int]:
    """Seconds, those of CPU, largest memory in MB, and the exit code of a command; its words go nowhere."""
    began = time.monotonic()
    started = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    cpu = used.ru_utime + used.ru_stime
    return time.monotonic() - began, cpu, used.ru_maxrss / 1e3, os.waitstatus_to_exitcode(status)


def main() -> None:
    """Write the folder where there is none, and print what its analysis takes."""
    parser = argparse.ArgumentParser(description="what 10 million samples cost to analyse")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        folder = given.folder or Path(kept) / "samples"
        if not folder.exists():
            write(folder, given.samples)
        size = sum(path.stat().st_size for path in (folder / "records").iterdir())
        print(f"{given.samples} samples, {size / 1e6:.0f} MB of records")
        for words in (["show", str(folder)], ["report", str(folder), "-o", str(Path(kept) / "report.html")]):
            program = str(Path(sys.executable).with_name("steelyard"))
            seconds, cpu, memory, code = measured([program, *words])
            print(f"steelyard {words[0]}: {seconds:.1f} s, {cpu:.1f} s of CPU, {memory:.0f} MB, exit {code}")


if __name__ == "__main__":
    main()
