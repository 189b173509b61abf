"""Where large messages of OSU's tests and ours differ: pages of the buffers, data never written, starts.

    python benchmarks/large_messages.py --osu DIR [--mpi NAME] [--launches 10] [--tests osu_bcast,...]

DIR is where a user built OSU Micro-Benchmarks for that MPI. Each way of a test is a launch, all in random
order again and again, for one size (1 MiB). The system's own settings stay as they are: glibc's malloc asks
for huge pages in their place (`GLIBC_TUNABLES=glibc.malloc.hugetlb=1`, glibc 2.35), where the system's
transparent_hugepage is `madvise` or `always`. What was found is in docs/results/large-messages.md.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from peers_like import SECONDS, Peer, measure_ours, peers_of, table_of

from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.stats import launch_interval
from steelyard.system.machine import read_machine
from steelyard.system.process import run

RANKS = 2
LEAST = 2  # launches
SIZE = 1 << 20
LARGEST = 1 << 22  # of the longer sweep, whose buffers are as large
_HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
_TESTS = "osu_bcast,osu_allreduce,osu_alltoall,osu_allgatherv,osu_bw,osu_mbw_mr"


@dataclass(frozen=True)
class Way:
    """One way to measure: the original's words and variables, or options of ours."""

    name: str
    words: tuple[str, ...]
    ours: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    collective: bool = False  # of collectives only


WAYS = (
    Way("the original, buffers of 1 MiB", ("-m", f"{SIZE}:{SIZE}")),
    Way("the original, buffers of 4 MiB", ("-m", f"{SIZE}:{LARGEST}")),
    Way("the original, 4 MiB, huge pages", ("-m", f"{SIZE}:{LARGEST}"), variables=_HUGE),
    Way("the original with -c", ("-m", f"{SIZE}:{SIZE}", "-c")),
    Way("ours", (), ours=True),
    Way("ours, pages=small", ("--param", "pages=small"), ours=True),
    Way("ours, pages=huge", ("--param", "pages=huge"), ours=True),
    Way("ours, library-barrier", ("--method", "library-barrier"), ours=True, collective=True),
)


def ways_of(peer: Peer) -> Sequence[Way]:
    """The ways in which a test can be measured: those of its kind."""
    collective = not peer.row.op.startswith(("mpi.bandwidth", "mpi.pattern", "mpi.pingpong"))
    return [way for way in WAYS if collective or not way.collective]


def measure(peer: Peer, way: Way, mpi: str, launch: LaunchCommand) -> float:
    """What one launch prints for the size. Raises SystemExit if it prints nothing."""
    if way.ours:
        table = measure_ours(peer, mpi, RANKS, str(SIZE), way.words)
    else:
        environment = {**os.environ, **launch.environment, **way.variables}
        done = run([*launch.argv_prefix, *peer.words, *way.words], env=environment, timeout=SECONDS)
        table = table_of(done.out, peer.column, sized=True)
    if SIZE not in table:
        raise SystemExit(f"{peer.row.name}, {way.name}: nothing was printed for {SIZE} bytes")
    return table[SIZE]


def lines_of(name: str, found: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """A line of a table for each way: the median over launches, and its ratio to the first way."""
    first = next(iter(found.values()))
    for way, values in found.items():
        ratios = [value / other for value, other in zip(values, first, strict=True)]
        yield f"| {name} | {way} | {launch_interval(values):.4g} | {launch_interval(ratios):.4g} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--osu", type=Path, required=True, help="a folder with osu_bcast somewhere below it")
    parser.add_argument("--mpi", default=None)
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--tests", default=_TESTS)
    given = parser.parse_args()
    if given.launches < LEAST:
        parser.error(f"--launches is {LEAST} or more: the numbers have intervals over launches")
    peers = {peer.row.name: peer for peer in peers_of(given.osu, None)}
    mpi = choose_mpi(given.mpi)
    launch = plan_launch(mpi_engine(mpi), read_machine(), LaunchRequest(RANKS))
    print(f"{mpi.name}, {given.launches} launches of each; transparent_hugepage: {read_machine().thp}")
    print("| test | way | us, or MB/s of osu_bw and osu_mbw_mr | over the first |\n| --- | --- | --- | --- |")
    for name in given.tests.split(","):
        if name not in peers:
            raise SystemExit(f"{name} was not found below {given.osu}")
        ways = ways_of(peers[name])
        found: dict[str, list[float]] = {way.name: [] for way in ways}
        for _ in range(given.launches):
            for way in random.sample(ways, len(ways)):
                found[way.name].append(measure(peers[name], way, mpi.name, launch))
        print("\n".join(lines_of(name, found)), flush=True)


if __name__ == "__main__":
    main()
