"""Our puts, gets and atomics of OpenSHMEM beside OSU's: the same library and cores, launches by turns.

    python benchmarks/shmem_peers.py --osu FOLDER [--shmem NAME] [--bytes 8,64Ki] [--calls 500]
                                     [--launches 20] [--minutes N]

FOLDER holds `osu_oshm_put` and so on, which their user has built for that library; OSU prints two digits of
a microsecond, 5 ns at best: build it with CFLAGS=-DFLOAT_PRECISION=5. A line has the ratio of ours to
theirs, as in onesided_peers.py: the median over pairs of launches with its interval, and that of the
quartiles of fast launches. Tests take turns until each is as narrow as 5 %, or `--launches` or `--minutes`
are over.

Ours is what `--like` runs. OSU times 500 atomics and no quiet behind them, once, on 500 numbers that their
owner has written just before; its clock has whole microseconds. Ours makes `--calls` atomics on one number
before its quiet: 1 is the sample of `--like`, of which a call that does not fetch has a quiet of its own.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from peers_like import table_of
from turns import Pairing, run_original, run_rows, take_turns

from steelyard.base.units import format_bytes, parse_sizes
from steelyard.engines.build import mpi_engine
from steelyard.engines.shmem import choose_shmem
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.like import find_like
from steelyard.plan.suites.openshmem import ATOMICS_OF_OSU
from steelyard.system.machine import read_machine

US = 1e3  # ns
WITHIN = 0.05
_SIZED = ("osu_oshm_put", "osu_oshm_get", "osu_oshm_put_nb", "osu_oshm_get_nb")
# Without cswap: that of int ends the program under Open MPI 4.1.
_ATOMICS = tuple(
    f"shmem_{word}_{name}"
    for word in ("int", "longlong")
    for name in ("fadd", "finc", "fetch", "swap", "add", "inc", "set")
)


@dataclass(frozen=True)
class Bench:
    """How both are launched."""

    shmem: str
    folder: Path
    launch: LaunchCommand

    def ours(self, tests: Sequence[str], words: Sequence[str], calls: int) -> Sequence[float]:
        """The means of the rows of one launch, ns a call, in the order in which they were asked for."""
        likes = [word for test in tests for word in ("--like", test)]
        rows = run_rows([*likes, *words, "-n", "2", "--shmem", self.shmem], None)
        return [row["mean"] / calls for row in rows]

    def theirs(self, program: str, keys: Sequence[tuple[str, int]]) -> Sequence[float]:
        """What one launch prints of each test and size, ns; an atomic has no size."""
        text = run_original(self.launch, [self.folder / program, "heap"])
        found = [table_of(text, 1, sized=size > 0, name=name).get(size) for name, size in keys]
        if missing := [key for key, value in zip(keys, found, strict=True) if not value]:
            raise SystemExit(f"{program} printed nothing of {missing[0]}: {text.strip()[-300:]}")
        return [value * US for value in found if value]


def pairings(bench: Bench, sizes: Sequence[int], calls: int) -> Iterator[Pairing]:
    """Puts and gets, a program each, and the atomics, which are one."""
    for test in _SIZED:
        words = ["--bytes", ",".join(map(str, sizes))]
        yield Pairing(
            [f"{test}, {format_bytes(size)}" for size in sizes],
            "ns",
            partial(bench.ours, [test], words, 1),
            partial(bench.theirs, test, [("", size) for size in sizes]),
            WITHIN,
            less_is_fast=True,
        )
    yield Pairing(
        [f"{name} ({find_like(name).op})" for name in _ATOMICS],
        "ns",
        partial(bench.ours, _ATOMICS, ["--param", f"calls={calls}"], calls),
        partial(bench.theirs, ATOMICS_OF_OSU, [(name, 0) for name in _ATOMICS]),
        WITHIN,
        less_is_fast=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--osu", type=Path, metavar="FOLDER", required=True)
    parser.add_argument("--shmem", default="oshmem")
    parser.add_argument("--bytes", type=parse_sizes, default=parse_sizes("8,64Ki"))
    parser.add_argument("--calls", type=int, default=500, help="atomics of a repetition of ours")
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    engine = mpi_engine(choose_shmem(given.shmem))
    bench = Bench(given.shmem, given.osu, plan_launch(engine, read_machine(), LaunchRequest(2)))
    asked = list(pairings(bench, sorted(given.bytes), given.calls))
    failed = take_turns(asked, given.launches, time.monotonic() + 60 * given.minutes)
    for one in asked:
        if one.pairs:
            one.tell()
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
