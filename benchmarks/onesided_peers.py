"""Our one-sided ops beside OSU's and RMA-MT's tests: same MPI and cores, launches by turns.

    python benchmarks/onesided_peers.py [--osu FOLDER] [--rmamt FOLDER] [--tests NAME,...] [--sync WORD,...]
                                        [--bytes 8,64Ki,1Mi] [--calls 1000,...] [--mpi NAME]
                                        [--launches 20] [--minutes N] [--stores]

FOLDER holds programs that their user has built for that MPI: `osu_put_latency` and so on, `rmamt_lat`,
`rmamt_bw`, `rmamt_bibw`. OSU prints two digits of a microsecond, 5 ns at best: build it with
CFLAGS=-DFLOAT_PRECISION=5. What is printed is the ratio of ours to theirs, of latencies (less is faster) and
of bandwidths (more is faster): the median over pairs of launches, with its order-statistic interval. Means
are compared with means. Launches are short and many, for one differs from the next, and some are slow on
machines that have slow modes: so the quartiles of the fast launches are compared, too, with an interval from
launches that are drawn again. Tests take turns. Those for which that interval is as narrow as what is asked
of them (5 %, of bandwidths of 64 KiB and more 3 %) take no more; so do all after `--launches` pairs or
`--minutes`. A test that fails is named at the end.

Ours is what `--like` runs. RMA-MT differs in ways that ours is corrected for by what it measures in the same
launch, or that theirs is told:

- `rmamt_lat` reads the clock around each call, and a reading is in each time: ours has it added.
- `rmamt_lat -s fence` has one fence for each call, ours has two: half of `mpi.win.fence` is taken off.
- `rmamt_bw` and `rmamt_bibw` make their calls at one place and complete them once. Ours has a place for each
  call, for each byte is checked: up to 1 KiB `--calls` of them with a completion, beyond one, so that their
  memory is as small as theirs. The synchronisation alone is taken off.
- Theirs times its calls once: up to 1 KiB it is told to make 100,000, which takes ms instead of 30 us.

With --stores MPI_Put and MPI_Get of 8 bytes are a store and a load, and a flush is nothing
(onesided_stores.c, preloaded): what is left of a latency is what a suite adds itself.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from turns import Pairing, numbers, print_mean, run_original, run_rows, take_turns

from steelyard.base.units import format_bytes, parse_sizes
from steelyard.engines.build import Engine, mpi_engine
from steelyard.engines.clocks import gauge_clocks
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.system.machine import read_machine
from steelyard.system.process import run

LATENCY, BANDWIDTH = "ns", "bytes/s"
# How a table of theirs is read: a number in a column beside the size, times a factor, is ns or bytes/s.
US, MB, MIB = 1e3, 1e6, 2.0**20
NUMBER_BYTES = 8  # of a test that moves one number
THEIR_CLOCK = "monotonic"  # RMA-MT's

BUILD_SECONDS = 60.0
SMALL = 1024  # up to so many bytes RMA-MT's calls are over before a clock can tell
SMALL_CALLS = "100000"  # which it then makes

# The word of an epoch of theirs -> the words of ours, the op that is its synchronisation alone, its words.
EPOCHS: Mapping[str, tuple[str, str, str]] = {
    "flush": ("sync=lock_shared,complete=flush", "mpi.win.flush", ""),
    "lock": ("sync=lock_shared,complete=close", "mpi.win.lock", "lock=shared"),
    "lock_all": ("sync=lock_all,complete=close", "mpi.win.lock_all", ""),
    "fence": ("sync=fence,complete=close", "mpi.win.fence", ""),
}


@dataclass(frozen=True)
class Case:
    """A test of theirs by the words of its command, and ours by those of our command.

    `column` and `factor` are of their table; `sizes` are those of one launch. `less` has an op of ours that
    is measured beside -> the share of its time that is in ours alone; `readings` are those of the clock that
    are in theirs alone.
    """

    words: Sequence[str]
    ours: Sequence[str]
    unit: str
    column: int
    factor: float
    sizes: Sequence[int]
    is_sized: bool = True
    less: Mapping[str, float] = field(default_factory=dict)
    readings: int = 0

    @property
    def program(self) -> str:
        """Its name, by which its user has built it."""
        return self.words[0]

    @property
    def within(self) -> float:
        """What is asked: the same within this share."""
        return 0.03 if self.unit == BANDWIDTH and min(self.sizes) > SMALL else 0.05


def osu_cases(sizes: Sequence[int]) -> Iterator[Case]:
    """OSU's tests; swaps of 8 bytes end Open MPI 4.1 where the window's memory is the library's."""

    def case(name: str, unit: str, factor: float, *, is_sized: bool = True, window: str = "allocate") -> Case:
        ours = ["--like", name, "--param", f"window={window}"]
        asked = sizes if is_sized else [NUMBER_BYTES]
        return Case([name, "-w", window], ours, unit, 1, factor, asked, is_sized)

    for call in ("put", "get", "acc", "get_acc"):
        yield case(f"osu_{call}_latency", LATENCY, US)
    yield case("osu_fop_latency", LATENCY, US, is_sized=False)
    yield case("osu_cas_latency", LATENCY, US, is_sized=False, window="create")
    for call in ("put_bw", "get_bw", "put_bibw"):
        yield case(f"osu_{call}", BANDWIDTH, MB)


def rmamt_cases(sizes: Sequence[int], epochs: Sequence[str], calls: Sequence[int]) -> Iterator[Case]:
    """RMA-MT's, of one thread with a window of its own; small messages and large ones apart."""
    small = [size for size in sizes if size <= SMALL]
    large = [size for size in sizes if size > SMALL]
    for call in ("put", "get"):
        for sync in epochs:
            for asked in filter(None, (small, large)):
                yield from _rmamt_cases(call, sync, asked, calls if asked is small else [1])


def _rmamt_cases(call: str, sync: str, sizes: Sequence[int], calls: Sequence[int]) -> Iterator[Case]:
    given, alone, words = EPOCHS[sync]
    params = [word for param in given.split(",") for word in ("--param", param)]
    level = ["--thread-level", "multiple"]
    theirs = ["-o", call, "-s", sync, "-w", "-t", "1", "-l", str(min(sizes)), "-m", str(max(sizes))]
    theirs += ["-i", SMALL_CALLS] if max(sizes) <= SMALL else []
    fence = {alone: 0.5} if sync == "fence" else {}
    ours = [f"mpi.{call}", *fence, *params, *level]
    yield Case(["rmamt_lat", *theirs], ours, LATENCY, 2, US, sizes, less=fence, readings=1)
    params += ["--param", words] if words else []
    for program, form in (("rmamt_bw", "bandwidth"), ("rmamt_bibw", "bibandwidth")):
        for count in calls:
            ours = [f"mpi.{call}.{form}", alone, *params, "--param", f"calls={count}", *level]
            yield Case([program, *theirs], ours, BANDWIDTH, 2, MIB, sizes, less={alone: 1.0})


def measure_theirs(case: Case, folder: Path, launch: LaunchCommand) -> Sequence[float]:
    """What one launch of the original prints, for each size."""
    said = run_original(launch, [folder / case.program, *case.words[1:]])
    table = {}
    for line in said.splitlines():
        if re.fullmatch(r"\s*\d+(\s+[\d.]+)+\s*", line):
            values = line.split()
            table[int(values[0])] = float(values[case.column]) * case.factor
    if missing := [size for size in case.sizes if not table.get(size)]:
        raise SystemExit(f"{case.program} printed nothing of {missing[0]} bytes: {said.strip()[-300:]}")
    return [table[size] for size in case.sizes]


def measure_ours(case: Case, mpi: str | None, reading_ns: float) -> Sequence[float]:
    """The means of one launch of ours, less what it says is to be taken off, for each size."""
    given = ["--bytes", ",".join(map(str, case.sizes))] if case.is_sized else []
    rows = run_rows([*case.ours, "-n", "2", *given], mpi)
    alone = [row for row in rows if row["op"] in case.less]
    spent = case.readings * reading_ns - sum(case.less[row["op"]] * row["mean"] for row in alone)
    rows = sorted((row for row in rows if row not in alone), key=lambda row: int(row["bytes"] or 0))
    times = [row["mean"] + spent for row in rows]
    if case.unit == LATENCY:
        return times
    return [row["bandwidth"] * row["time"] / time for row, time in zip(rows, times, strict=True)]


def preload_stores(engine: Engine, folder: str) -> None:
    """For all launches to come: puts and gets of a word that cost nothing but a store and a load."""
    mpicc = (engine.mpi.mpicc if engine.mpi else None) or shutil.which("mpicc")
    if mpicc is None:
        raise SystemExit("--stores needs the MPI's mpicc")
    library = f"{folder}/stores.so"
    source = Path(__file__).with_name("onesided_stores.c")
    done = run([mpicc, "-O2", "-shared", "-fPIC", "-o", library, str(source)], timeout=BUILD_SECONDS)
    if done.code != 0:
        raise SystemExit(f"{source.name} cannot be built: {done.err}")
    os.environ["LD_PRELOAD"] = library


def clock_cost(engine: Engine) -> float:
    """What a reading of their clock costs here, in ns."""
    return float(next(clock["cost_ns"] for clock in gauge_clocks(engine) if clock["name"] == THEIR_CLOCK))


def name_of(case: Case) -> str:
    """Their command, and how many calls ours completes at once where that is a choice."""
    calls = next((word for word in case.ours if word.startswith("calls=")), "")
    return " ".join(case.words) + (f" ({calls} of ours)" if calls else "")


def parsed() -> argparse.Namespace:
    """The words of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--osu", type=Path, metavar="FOLDER")
    parser.add_argument("--rmamt", type=Path, metavar="FOLDER")
    parser.add_argument("--tests", type=lambda text: text.split(","), metavar="NAME,...")
    parser.add_argument("--sync", type=lambda text: text.split(","), default=list(EPOCHS), metavar="WORD,...")
    parser.add_argument("--bytes", type=parse_sizes, default=parse_sizes("8,64Ki,1Mi"))
    parser.add_argument("--calls", type=numbers, default=[1000], metavar="N,...")
    parser.add_argument("--mpi")
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--stores", action="store_true", help="calls of 8 bytes cost nothing")
    options = parser.parse_args()
    if options.osu is None and options.rmamt is None:
        parser.error("nothing to compare with: give --osu or --rmamt")
    return options


def main() -> None:
    """Measure and print."""
    options = parsed()
    sizes = sorted(options.bytes)
    engine = mpi_engine(choose_mpi(options.mpi))
    launch = plan_launch(engine, read_machine(), LaunchRequest(2))
    reading_ns = clock_cost(engine)
    suites = [
        (options.osu, osu_cases(sizes)),
        (options.rmamt, rmamt_cases(sizes, options.sync, options.calls)),
    ]
    pairings = [
        Pairing(
            [f"{name_of(case)}, {format_bytes(size)}" for size in case.sizes],
            case.unit,
            partial(measure_ours, case, options.mpi, reading_ns),
            partial(measure_theirs, case, folder, launch),
            case.within,
            less_is_fast=case.unit == LATENCY,
        )
        for folder, cases in suites
        if folder is not None
        for case in cases
        if options.tests is None or case.program in options.tests
    ]
    with tempfile.TemporaryDirectory() as folder:
        if options.stores:
            preload_stores(engine, folder)
        failed = take_turns(pairings, options.launches, time.monotonic() + 60 * options.minutes)
    ratios: dict[str, list[float]] = {LATENCY: [], BANDWIDTH: []}
    for one in pairings:
        if one.pairs:
            ratios[one.unit] += one.tell()
    for unit, values in ratios.items():
        print(f"in {unit}: ", end="" if values else "nothing\n")
        print_mean(values)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
