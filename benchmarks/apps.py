"""Our proxy applications beside the originals: same MPI and cores, launches by turns, the same formulas.

    python benchmarks/apps.py [--hpccg PATH] [--minife PATH] [--minimd PATH] [--ranks 1,2] [--launches 5]
                              [--cells 64] [--elements 100] [--unit-cells 32]

The paths are programs that their user has built for that MPI: `test_HPCCG`, `miniFE.x`, `miniMD_openmpi`, the
last one with its inputs (`in.*`, `*.eam`) beside it. What is printed is the ratio of ours to theirs, above 1
where ours is faster: the median over pairs of launches, with its order-statistic interval. A launch of either
that fails ends the comparison; a wrong answer of ours fails.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from turns import compare, numbers, print_mean, run_original, run_ours

from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.system.machine import read_machine

STEPS = 100  # of MiniMD, for which its original's inputs have the same laws and lists


@dataclass(frozen=True)
class Case:
    """A problem: ours by its parameters, theirs by the words of its command, and where that prints its rate.

    `scale` makes their rate millions a second, `printed` is in what they print or in the files they leave.
    """

    name: str
    params: Sequence[str]
    words: Sequence[str]
    printed: str
    unit: str = "Mop/s"
    scale: float = 1.0


def cases(program: str, size: int) -> Sequence[Case]:
    """What is compared of one original, at one size along each axis."""
    cube = [f"n{axis}={size}" for axis in "xyz"]
    if program == "hpccg":
        return [Case("hpccg", cube, [str(size)] * 3, r"MFLOPS Summary:\s+Total\s*: ([\d.e+]+)")]
    if program == "minife":
        ours = [f"nx={size}", "timed=solver"]
        return [Case("minife", ours, cube, r"Total CG Mflops: ([\d.e+]+)")]
    rate = r"^(?:\S+ ){9}(\S+) \S+ PERF_SUMMARY"
    return [
        Case(
            f"minimd {law}",
            [*cube, f"steps={STEPS}", f"potential={law}"],
            ["-i", f"in.{law}.miniMD", "-s", str(size), "-n", str(STEPS), "--half_neigh", "1"],
            rate,
            "M atom-steps/s",
            1e-6,
        )
        for law in ("lj", "eam")
    ]


def measure_original(case: Case, path: Path, launch: LaunchCommand) -> float:
    """The rate of one launch, from what it prints and the files that it leaves where it runs."""
    with tempfile.TemporaryDirectory() as folder:
        for pattern in ("in.*", "*.eam"):
            for one in path.resolve().parent.glob(pattern):
                (Path(folder) / one.name).symlink_to(one)
        said = run_original(launch, [path.resolve(), *case.words], Path(folder))
        said += "".join(one.read_text() for one in Path(folder).glob("*.yaml"))
    found = re.search(case.printed, said, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{path.name} prints no rate: {said.strip()[-300:]}")
    return float(found[1]) * case.scale


def measure_ours(case: Case, ranks: int, mpi: str | None) -> float:
    """The rate of one launch of ours."""
    words = [word for param in case.params for word in ("--param", param)]
    return float(run_ours([f"app.{case.name.split()[0]}", *words, "-n", str(ranks)], mpi)["mops"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = {"hpccg": ("--cells", 64), "minife": ("--elements", 100), "minimd": ("--unit-cells", 32)}
    for program, (option, usual) in sizes.items():
        parser.add_argument(f"--{program}", type=Path, metavar="PATH")
        parser.add_argument(option, type=int, default=usual, dest=f"{program}_size")
    parser.add_argument("--ranks", type=numbers, default=[1, 2])
    parser.add_argument("--mpi")
    parser.add_argument("--launches", type=int, default=5)
    options = parser.parse_args()
    given = {program: path for program in sizes if (path := getattr(options, program)) is not None}
    if not given:
        parser.error("nothing to compare with: give --hpccg, --minife or --minimd and a path")
    engine = mpi_engine(choose_mpi(options.mpi))
    ratios = []
    for program, path in given.items():
        for case in cases(program, getattr(options, f"{program}_size")):
            for ranks in options.ranks:
                launch = plan_launch(engine, read_machine(), LaunchRequest(ranks))
                ours: Callable[[], float] = partial(measure_ours, case, ranks, options.mpi)
                theirs: Callable[[], float] = partial(measure_original, case, path, launch)
                ratios.append(
                    compare(f"{case.name} {ranks} ranks", case.unit, ours, theirs, options.launches)
                )
    print_mean(ratios)


if __name__ == "__main__":
    main()
