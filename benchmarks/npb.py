"""Our NAS kernels beside the originals: same MPI and cores, launches interleaved, Mop/s by the same formula.

    python benchmarks/npb.py --bin FOLDER [--class A] [--ranks 1,2] [--kernels cg,mg] [--launches 5]

FOLDER holds originals built by their user for that MPI, named as NPB names them: `cg.A.x`. What is printed is
the ratio of ours to theirs, above 1 where ours is faster: the median over pairs of launches, with its
order-statistic interval. A launch that does not verify ends the comparison.
"""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from turns import compare, numbers, print_mean, run_original, run_ours

from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.system.machine import read_machine

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
    said = run_original(launch, [path])
    found = re.search(r"Mop/s total\s*=\s*([\d.]+)", said)
    if found is None or not re.search(r"Verification\s*=\s*SUCCESSFUL", said):
        raise SystemExit(f"{path.name} did not verify: {said.strip()[-300:]}")
    return float(found[1])


def measure_ours(case: Case, mpi: str | None) -> float:
    """Mop/s of one launch of ours."""
    words = [f"npb.{case.kernel}", "--class", case.problem, "-n", str(case.ranks)]
    return float(run_ours(words, mpi)["mops"])


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
            name = f"{kernel.upper()}.{options.problem} {ranks} ranks"
            if kernel in _SQUARES and math.isqrt(ranks) ** 2 != ranks:
                print(f"{name}: the original wants a square", flush=True)
                continue
            launch = plan_launch(engine, read_machine(), LaunchRequest(ranks))
            case = Case(kernel, options.problem, ranks)
            ours = partial(measure_ours, case, options.mpi)
            theirs = partial(measure_original, case, options.bin, launch)
            ratios.append(compare(name, "Mop/s", ours, theirs, options.launches))
    print_mean(ratios)


if __name__ == "__main__":
    main()
