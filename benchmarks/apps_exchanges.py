"""Every exchange of the proxy applications on small boxes: how many answers are right, by ranks and threads.

    python benchmarks/apps_exchanges.py [--mpi CHOICE] [--ranks 1,2,3,4,7,8] [--threads 1,2,4] [--limit 300]

HPCCG, MiniFE and MiniMD with both potentials, with each back end and one thread that moves messages, and with
all threads of a rank, in one window or communicator and in one each. Ranks and threads share the cores that
there are. What is printed for each number of ranks and threads: test cases that are right, those that the
library cannot do, the others by name; and whether all exchanges gave the same bits. A launch that takes more
than `--limit` seconds is ended, and what it had done is counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from launch_ends import measure_ends
from turns import numbers

from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.records.schema import End

_APPS = (
    "app.hpccg nx=4 ny=3 nz=3 iterations=4 grid=box",
    "app.minife nx=6 ny=5 nz=9 iterations=4",
    "app.minimd nx=12 ny=4 nz=2 steps=4 every=2",
    "app.minimd potential=eam nx=12 ny=4 nz=2 steps=4 every=2",
)
_TWO_SIDED = ("nonblocking", "blocking", "persistent", "partitioned")
_ONE_SIDED = ("fence", "pscw", "lock", "flush")


def ways_of(threads: int) -> list[str]:
    """The exchanges that ranks of so many threads have."""
    alone = [f"backend={back}" for back in (*_TWO_SIDED, "neighbour", *_ONE_SIDED)]
    if threads == 1:
        return alone
    together = [
        *((back, f"comms={whose}") for back in _TWO_SIDED for whose in ("one", "thread")),
        ("neighbour", "comms=thread"),
        *((back, f"windows={whose}") for back in _ONE_SIDED for whose in ("one", "thread")),
    ]
    return [*alone, *(f"backend={back} movers={threads} {whose}" for back, whose in together)]


def tell(ranks: int, threads: int, lines: Sequence[str], ends: Sequence[End], seconds: float) -> None:
    """One number of ranks and threads."""
    by = {status: [end for end in ends if end.status == status] for status in ("ok", "skipped")}
    bits: dict[str, set[str]] = {app: set() for app in _APPS}
    for end in ends:
        if end.answer is not None:
            bits[_APPS[end.point % len(_APPS)]].add(end.answer.bits)
    same = "the same bits" if all(len(found) <= 1 for found in bits.values()) else "other bits"
    print(
        f"{ranks} x {threads}: {len(by['ok'])} right, {len(by['skipped'])} not in this library, of "
        f"{len(lines)}; {same}; {seconds:.0f} s",
        flush=True,
    )
    for end in ends:
        if end.status not in by:
            print(f"  {end.status}: {lines[end.point]}: {end.why}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi")
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 3, 4, 7, 8])
    parser.add_argument("--threads", type=numbers, default=[1, 2, 4])
    parser.add_argument("--limit", type=float, default=300.0)
    options = parser.parse_args()
    engine = mpi_engine(choose_mpi(options.mpi))
    for ranks in options.ranks:
        for threads in options.threads:
            lines = [
                f"op={app} {way} threads={threads} rule=fixed count=1 warm_up=brief"
                for way in ways_of(threads)
                for app in _APPS
            ]
            begin = time.monotonic()
            ends = measure_ends(engine, ranks, threads, lines, options.limit)
            tell(ranks, threads, lines, ends, time.monotonic() - begin)


if __name__ == "__main__":
    main()
