"""Our NAS kernels beside the originals: same MPI and cores, launches interleaved, Mop/s by the same formula.

    python benchmarks/npb.py --bin FOLDER [--class A] [--ranks 1,2] [--kernels cg,mg] [--launches 5]

FOLDER holds originals built by their user for that MPI, named as NPB names them: `cg.A.x`. What is printed is
the ratio of ours to theirs, above 1 where ours is faster: the median over pairs of launches, with its
order-statistic interval. A launch that does not verify ends the comparison.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.stats import launch_interval
from steelyard.system.machine import read_machine
from steelyard.system.process import run

SECONDS = 1800.0  # more than any of these commands takes
KERNELS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
_SQUARES = ("bt", "sp")  # the originals leave ranks idle unless their number is a square


@dataclass(frozen=True)
class Case:
    """One kernel on a number of ranks."""

    kernel: str
    problem: str
    ranks: int


def measure_original(case: Case, folder: Path, launch: LaunchCommand) -> float:
    """Mop/s that one launch of the original prints."""
    path = folder / f"{case.kernel}.{case.problem}.x"
    done = run([*launch.argv_prefix, str(path)], env={**os.environ, **launch.environment}, timeout=SECONDS)
    found = re.search(r"Mop/s total\s*=\s*([\d.]+)", done.out)
    if done.code != 0 or found is None or not re.search(r"Verification\s*=\s*SUCCESSFUL", done.out):
        raise SystemExit(f"{path.name} failed or did not verify: {(done.err or done.out).strip()[-300:]}")
    return float(found[1])


def measure_ours(case: Case, mpi: str | None) -> float:
    """Mop/s of one launch of ours, by the command that a user types."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from steelyard.cli.main import main; main()", "run"]
        command += [f"npb.{case.kernel}", "--class", case.problem, "-n", str(case.ranks), "--launches", "1"]
        command += ["--json", "--out", f"{folder}/out"] + (["--mpi", mpi] if mpi else [])
        done = run(command, timeout=SECONDS)
        rows = msgspec.json.decode(done.out)["points"] if done.code == 0 else []
    if not rows or rows[0]["status"] != "ok" or not rows[0]["verified"]:
        why = rows[0]["why"] if rows else done.err.strip()[-300:]
        raise SystemExit(f"npb.{case.kernel} failed: {why}")
    return float(rows[0]["mops"])


def compare(case: Case, folder: Path, mpi: str | None, launch: LaunchCommand, launches: int) -> float:
    """Measure pairs of launches in random order and print a line; the median ratio."""
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(launches):
        for own in random.sample((True, False), 2):
            if own:
                ours.append(measure_ours(case, mpi))
            else:
                theirs.append(measure_original(case, folder, launch))
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    interval = launch_interval(ratios) if launches > 1 else None
    bounds = f"[{interval.low:.3f}, {interval.high:.3f}]" if interval else "(one launch)"
    ratio = float(np.median(ratios))
    print(
        f"{case.kernel.upper()}.{case.problem} {case.ranks} ranks: {np.median(ours):8.0f} of ours, "
        f"{np.median(theirs):8.0f} Mop/s of theirs, ratio {ratio:.3f} {bounds}",
        flush=True,
    )
    return ratio


def numbers(text: str) -> Sequence[int]:
    """Numbers with commas between."""
    return [int(word) for word in text.split(",")]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bin", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--class", dest="problem", default="A")
    parser.add_argument("--ranks", type=numbers, default=[1, 2])
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=list(KERNELS))
    parser.add_argument("--mpi")
    parser.add_argument("--launches", type=int, default=5)
    options = parser.parse_args()
    engine = mpi_engine(choose_mpi(options.mpi))
    ratios = []
    for kernel in options.kernels:
        for ranks in options.ranks:
            if kernel in _SQUARES and math.isqrt(ranks) ** 2 != ranks:
                print(
                    f"{kernel.upper()}.{options.problem} {ranks} ranks: the original wants a square",
                    flush=True,
                )
                continue
            launch = plan_launch(engine, read_machine(), LaunchRequest(ranks))
            case = Case(kernel, options.problem, ranks)
            ratios.append(compare(case, options.bin, options.mpi, launch, options.launches))
    if ratios:
        print(f"geometric mean of {len(ratios)} ratios: {math.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main()
