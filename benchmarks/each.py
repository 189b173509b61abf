"""What a clock pair a message costs: mpi.pingpong under `each` beside `batch`, in the same launches.

    python benchmarks/each.py [--mpi NAME] [--bytes 0,8] [--launches 20] [--clock NAME]

Prints, for each size, half the round trip under both and by how much `each` adds to it one way: the median
over launches of the difference of the medians in one launch, with its interval. The cost of a reading is
not taken off: it is what is asked for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from steelyard.base.units import format_bytes, format_time
from steelyard.results.load import PointLaunch, load
from steelyard.stats import launch_interval, median
from steelyard.system.process import run

SECONDS = 3600.0  # more than it takes


def half_round_trip(cell: PointLaunch) -> float:
    """Half a round trip in ns, the median, the readings of the clock in it."""
    values, taken = cell.values, cell.taken
    if cell.point is not None and cell.point.report == "message":  # there and back, of one exchange
        pairs = values.size // 2
        values = (values[0 : 2 * pairs : 2] + values[1 : 2 * pairs : 2]) / 2
    return median(values, taken.tick) + taken.overhead


def main() -> None:
    """Measure into a temporary folder and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--bytes", default="0,8")
    parser.add_argument("--launches", default="20")
    parser.add_argument("--clock")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        words = ["run", "mpi.pingpong", "--method", "each,batch", "--bytes", options.bytes]
        words += ["--mpi", options.mpi, "--launches", options.launches, "--out", str(folder)]
        words += ["--clock", options.clock] if options.clock else []
        steelyard = Path(sys.executable).with_name("steelyard")
        done = run([str(steelyard), *words], timeout=SECONDS)
        if done.code != 0:
            sys.exit(done.err)
        report(folder)


def report(folder: Path) -> None:
    """A line for each size."""
    cells: dict[tuple[int, str], dict[int, float]] = {}
    for point in load(folder).points:
        found = {cell.launch: half_round_trip(cell) for cell in point.cells if cell.values.size}
        cells[point.plan.bytes, point.plan.method] = found
    for size in sorted({size for size, _ in cells}):
        each, batch = cells[size, "each"], cells[size, "batch"]
        added = [each[launch] - batch[launch] for launch in each.keys() & batch.keys()]
        interval = launch_interval(np.exp(np.asarray(added) / 1e3), 0.95)  # differences may be negative
        low, value, high = (1e3 * np.log(x) for x in (interval.low, interval.value, interval.high))
        print(
            f"{format_bytes(size):>8}  batch {format_time(np.median(list(batch.values())))}  "
            f"each {format_time(np.median(list(each.values())))}  "
            f"adds {value:+.1f} ns one way [{low:+.1f}, {high:+.1f}], {len(added)} launches"
        )


if __name__ == "__main__":
    main()
