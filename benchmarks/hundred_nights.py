"""What a check of many nights costs: writes a store of them, and times `steelyard check` twice.

    .venv/bin/python benchmarks/hundred_nights.py [--nights 100] [--cases 20] [--samples 2000] [--folder DIR]

Prints the time and the largest memory of the first check, which reads the records of all nights, of the
second, which reads none, and of one after another night. The store is kept where it is named, and used again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from ten_million import measured

from make_records import BEGAN_NS, FakePoint, steady, write_folder

LAUNCHES = 5
DAY_NS = 86_400 * 10**9


def write_night(store: Path, number: int, cases: int, samples: int) -> None:
    """A night of ping-pongs of so many sizes, each with so many samples in all launches."""
    points = [
        FakePoint("mpi.pingpong", steady(500.0 + size, count=samples // LAUNCHES), bytes=size)
        for size in range(1, cases + 1)
    ]
    folder = store / f"night-{number:03}"
    write_folder(folder, points, LAUNCHES, number, began_ns=BEGAN_NS + number * DAY_NS)


def main() -> None:
    """Write the store where there is none, and print what checking it takes."""
    parser = argparse.ArgumentParser(description="what a check of many nights costs")
    parser.add_argument("--nights", type=int, default=100)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2000, help="of a test case in a night")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        store = given.folder or Path(kept) / "nights"
        store.mkdir(exist_ok=True)
        for number in range(len(list(store.iterdir())), given.nights):
            write_night(store, number, given.cases, given.samples)
        for path in store.glob("*/.night.json"):
            path.unlink()
        size = sum(path.stat().st_size for path in store.rglob("*.jsonl"))
        print(f"{given.nights} nights, {size / 1e6:.0f} MB of records")
        for what in ("all nights new", "no night new", "one night new"):
            if what == "one night new":
                (max(store.iterdir()) / ".night.json").unlink()
            program = str(Path(sys.executable).with_name("steelyard"))
            seconds, cpu, memory, code = measured([program, "check", "--history", str(store)])
            print(f"{what}: {seconds:.1f} s, {cpu:.1f} s of CPU, {memory:.0f} MB, exit {code}")
        size = sum(path.stat().st_size for path in store.glob("*/.night.json"))
        print(f"kept of them: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
