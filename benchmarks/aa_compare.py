"""How often `steelyard compare` calls equals slower or faster: real comparisons of a thing with itself.

    python benchmarks/aa_compare.py OUT [--comparisons 200] [--seconds 60] [--launches 8] [--ops OP,...]

Each comparison is a campaign of two arms that differ in an environment variable that nobody reads. Its
folder and its verdicts stay in OUT, so that the same command goes on where it was; `--seconds` ends a slice.
Prints the comparisons with an alarm, and their rate with Clopper's and Pearson's interval of 95 %. At most
1 % of comparisons may have one, whatever else the machine does meanwhile.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
from scipy.stats import binomtest

from steelyard.base.files import write_whole
from steelyard.compare.answer import FASTER, SLOWER, Question
from steelyard.compare.arms import rivals_by
from steelyard.compare.verdicts import Verdicts, compare
from steelyard.results.rows import results
from steelyard.system.process import run

FACTOR = "env.STEELYARD_NOTHING"
SAMPLES = 200  # of a launch: enough for a median, and short beside the start of a launch
MOST_SECONDS = 600.0  # of a campaign: far more than it takes


def main() -> None:
    """Measure until there are so many comparisons, or the time is over; print what all of them say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--ops", default="mpi.pingpong,mpi.bcast")
    parser.add_argument("--mpi")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    words = [*options.ops.split(","), "--launches", str(options.launches)]
    words += ["--mpi", options.mpi] if options.mpi else []
    for number in range(1, options.comparisons + 1):
        kept = options.out / f"{number:04}.json"
        if not kept.exists():
            if time.monotonic() > end:
                break
            write_whole(kept, msgspec.json.encode(measure(options.out / f"{number:04}", number, words)))
    report(
        [msgspec.json.decode(kept.read_bytes(), type=Verdicts) for kept in sorted(options.out.glob("*.json"))]
    )


def measure(folder: Path, seed: int, words: Sequence[str]) -> Verdicts:
    """Run one campaign, or the rest of it, and compare its arms."""
    steelyard = Path(sys.executable).with_name("steelyard")
    done = run(
        [
            *(
                str(steelyard),
                "run",
                *words,
                "--bytes",
                "8",
                "--rule",
                "fixed",
                "--param",
                f"count={SAMPLES}",
            ),
            *("--arms", f"{FACTOR}=1,2", "--seed", str(seed), "--out", str(folder)),
        ],
        timeout=MOST_SECONDS,
    )
    if done.code != 0:
        sys.exit(done.err)
    return compare(rivals_by(results(folder), FACTOR), True, Question(), seed)


def report(found: Sequence[Verdicts]) -> None:
    """A line for each alarm, and the rate."""
    alarms = 0
    for number, verdicts in enumerate(found, 1):
        said = [one for one in (*verdicts.points, *verdicts.ops) if one.verdict in (SLOWER, FASTER)]
        alarms += bool(said)
        for one in said:
            print(f"{number:04}: {one.op} {one.verdict}, ratio {one.ratio:.3f}, p {one.p:.4f}")
    if not found:
        sys.exit("no comparison was made")
    rate = binomtest(alarms, len(found)).proportion_ci(0.95, "exact")
    kinds = Counter(one.verdict for verdicts in found for one in verdicts.points)
    print(", ".join(f"{count} test cases {verdict}" for verdict, count in kinds.most_common()))
    print(
        f"{alarms} of {len(found)} comparisons have an alarm: {100 * alarms / len(found):.2f} % "
        f"[{100 * rate.low:.2f}, {100 * rate.high:.2f}]"
    )


if __name__ == "__main__":
    main()
