"""Every one-sided op in every way to synchronise: how many answers are right, by ranks and threads.

    python benchmarks/onesided_ranks.py [--mpi CHOICE] [--ranks 1,2,3,4,5,8] [--threads 1,2,4] [--limit 60]

Each call, alone, in windows one way and both ways, and among many ranks in layouts and halos; by one thread
of each rank, and by all of them (`mpi.mt.*`). Epochs are closed, flushed, and waited for by request. Kinds of
windows, layouts and threads' windows are given in turn. Four calls of a test case are timed, each of them
checked, as a repetition before and after them is. Ranks and threads share the cores that there are. A launch
that takes more than `--limit` seconds is ended, and what it had done is counted: test cases are in random
order. What is printed is a table; each sentence of what failed or cannot be goes to standard error.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from launch_ends import measure_ends
from turns import numbers

from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.records.schema import End

_CALLS = ("put", "get", "accumulate", "get_accumulate")
_REQUESTS = ("rput", "rget", "raccumulate", "rget_accumulate")
_SINGLES = ("fetch_and_op", "compare_and_swap")
_LOCKS = ("lock", "lock_shared", "lock_all")
_WHO = ("bisection", "neighbours", "first_last", "ring", "fan_in", "fan_out", "all")
_WINDOWS = ("allocate", "create", "shared", "dynamic")
_SHORT = "method=batch reps=2 rule=fixed count=2 check=sample warm_up=brief"
_SEED = 1


def ways_of(call: str) -> Sequence[tuple[str, str]]:
    """The pairs of `sync` and `complete` of a call, flushes but one left out: rma-mt has them all."""
    last = "request" if call in _REQUESTS else "flush"
    ways = list(itertools.product(_LOCKS, ("close", last)))
    return ways if call in _REQUESTS else [*ways, ("fence", "close"), ("pscw", "close")]


def lines_of(threads: int) -> list[str]:
    """All test cases of ranks of so many threads, in random order."""
    windows, whose = itertools.cycle(_WINDOWS), itertools.cycle(("one", "thread"))
    layouts, neighbours = itertools.cycle(_WHO), itertools.cycle((1, 2, 6))
    lines = []
    for call in (*_CALLS, *_REQUESTS, *_SINGLES):
        places = ("",) if call in _SINGLES else ("", ".bandwidth calls=3", ".bibandwidth calls=3")
        for sync, complete in ways_of(call):
            # A swap of 8 bytes ends Open MPI 4.1 where the library has the window's memory.
            window = "create" if call == "compare_and_swap" else next(windows)
            words = f"sync={sync} complete={complete} window={window}"
            words += "" if call in _SINGLES else " bytes=40"
            lines += [f"op=mpi.mt.{call}{form} windows={next(whose)} {words}" for form in places]
            if threads == 1:
                lines += [f"op=mpi.{call}{form} {words}" for form in places]
                lines += [f"op=mpi.{call}.pattern who={next(layouts)} calls=3 {words}"]
                lines += [f"op=mpi.{call}.halo neighbours={next(neighbours)} calls=3 {words}"]
    random.Random(_SEED).shuffle(lines)
    return [f"{line} threads={threads} {_SHORT}" for line in lines]


def told(lines: Sequence[str], ends: Sequence[End]) -> Iterator[str]:
    """What failed, and what cannot be, by its sentence."""
    reasons: dict[str, list[str]] = {}
    for end in ends:
        if end.status == "skipped":
            reasons.setdefault(end.why or "", []).append(lines[end.point])
        elif end.status != "ok":
            yield f"  {end.status}: {lines[end.point]}: {end.why}"
    for why, whose in reasons.items():
        yield f"  skipped, {len(whose)} as {whose[0].split()[0].removeprefix('op=')}: {why}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi")
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 3, 4, 5, 8])
    parser.add_argument("--threads", type=numbers, default=[1, 2, 4])
    parser.add_argument("--limit", type=float, default=60.0)
    options = parser.parse_args()
    engine = mpi_engine(choose_mpi(options.mpi))
    name = engine.mpi.name if engine.mpi else ""
    print("| library | ranks | threads | test cases | passed | unsupported | failed | not reached | s |")
    print("| --- " + "| ---: " * 8 + "|")
    for ranks in options.ranks:
        for threads in options.threads:
            lines = lines_of(threads)
            begin = time.monotonic()
            ends = measure_ends(engine, ranks, threads, lines, options.limit)
            took = time.monotonic() - begin
            by = Counter(end.status for end in ends)
            failed = len(ends) - by["ok"] - by["skipped"]
            counts = (len(lines), by["ok"], by["skipped"], failed, len(lines) - len(ends))
            print(
                f"| {name} | {ranks} | {threads} | {' | '.join(map(str, counts))} | {took:.0f} |", flush=True
            )
            for sentence in told(lines, ends):
                print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
