"""What synchronising costs in truth: windows of two ranks whose clocks are 1000 s apart, beside windows of
two ranks that share one clock, in interleaved launches.

    python benchmarks/far_clocks.py [--mpi openmpi] [--ops mpi.barrier,mpi.bcast] [--bytes 8] [--launches 20]

Rank 1 of every other launch lives in a time namespace of its own (Linux, root), so its CLOCK_MONOTONIC is off
by 1000 s while its messages go the same way. Prints, for each op and size, the ratio of the medians over
launches with its interval; what the same stamps give with the offset that is known; and by how much the
offsets were wrong and stated to be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from steelyard.base.units import format_bytes, format_time
from steelyard.engines.mpi import choose_mpi
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.read import read_points
from steelyard.results.load import cell_of
from steelyard.stats import launch_interval, median
from steelyard.system.process import run

_SECONDS = 3600.0  # more than it takes
_APART_S = 1000

# Stands where an mpiexec would: the same, but rank 1's program runs in a time namespace of its own.
_LAUNCHER = """#!/bin/sh
for word; do
    case $word in
    */steelyard-mpi) set -- "$@" "{apart}" ;;
    esac
    set -- "$@" "$word"
    shift
done
exec "{mpiexec}" "$@"
"""
_APART = """#!/bin/sh
case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in
1) exec unshare --time --monotonic {apart_s} --fork --kill-child "$@" ;;
*) exec "$@" ;;
esac
"""


def main() -> None:
    """Measure into a temporary folder and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--ops", default="mpi.barrier,mpi.allreduce,mpi.bcast")
    parser.add_argument("--bytes", default="8")
    parser.add_argument("--launches", default="20")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        near = choose_mpi(options.mpi)
        far = Path(scratch) / "far" / "mpiexec"
        write_launcher(far, near.mpiexec, near.mpicc)
        folder = Path(scratch) / "out"
        words = ["run", *options.ops.split(","), "--method", "window", "--bytes", options.bytes]
        words += ["--clock", "monotonic", "--mpi", near.name, "--mpi", str(far)]
        words += ["--launches", options.launches, "--out", str(folder)]
        steelyard = Path(sys.executable).with_name("steelyard")
        done = run([str(steelyard), *words], timeout=_SECONDS)
        if done.code != 0:
            sys.exit(done.err)
        report(folder, near.mpiexec)


def write_launcher(path: Path, mpiexec: str, mpicc: str | None) -> None:
    """An mpiexec at `path` whose ranks 1 are 1000 s ahead; the mpicc beside it is the real one."""
    path.parent.mkdir()
    apart = path.with_name("apart")
    apart.write_text(_APART.format(apart_s=_APART_S))
    path.write_text(_LAUNCHER.format(apart=apart, mpiexec=mpiexec))
    for script in (apart, path):
        script.chmod(0o755)
    if mpicc is not None:
        path.with_name("mpicc").symlink_to(mpicc)


def report(folder: Path, mpiexec: str) -> None:
    """A line for each op and size."""
    found: dict[str, Found] = {}

    def visit(file: JobFile, run: PointRun) -> None:
        cell = cell_of(file, run)
        if cell.values.size == 0 or run.point is None or file.launch is None or file.job.mpi is None:
            return
        value = median(cell.values, cell.taken.tick)
        of_point = found.setdefault(f"{run.point.op} {format_bytes(run.point.bytes)}", Found())
        if file.job.mpi.mpiexec == mpiexec:
            of_point.shared.append(value)
            return
        bases = [place.clock_base_ns for place in file.launch.places]
        truth = float(_APART_S * 10**9 - (bases[1] - bases[0]))
        known = cell_of(
            file, replace(run, syncs=tuple(replace(s, offset_ns=(0.0, truth)) for s in run.syncs))
        )
        of_point.apart.append(value)
        of_point.known.append(value / median(known.values, known.taken.tick))
        of_point.stated += [sync.error_ns[1] for sync in run.syncs]
        of_point.wrong += [abs(sync.offset_ns[1] - truth) for sync in run.syncs]

    read_points(folder, visit)
    for name, point in found.items():
        launches = _ratio([a / b for a, b in zip(point.apart, point.shared, strict=False)])
        inside = sum(wrong <= stated for wrong, stated in zip(point.wrong, point.stated, strict=True))
        print(
            f"{name:>18}: shared {format_time(np.median(point.shared))}, apart "
            f"{format_time(np.median(point.apart))}, launch by launch {launches}; "
            f"the same stamps, synchronised over known offset {_ratio(point.known)}; offsets stated to "
            f"{np.median(point.stated):.0f} ns (most {max(point.stated):.0f}), wrong by "
            f"{np.median(point.wrong):.0f} ns (most {max(point.wrong):.0f}), "
            f"{inside} of {len(point.wrong)} inside"
        )


@dataclass
class Found:
    """For one op and size: medians in ns launch by launch, and what each synchronisation said."""

    shared: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)  # ratios to what the known offset gives
    stated: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)


def _ratio(ratios: list[float]) -> str:
    interval = launch_interval(ratios, 0.95)
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


if __name__ == "__main__":
    main()
