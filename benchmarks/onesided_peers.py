"""Our one-sided ops beside OSU's and RMA-MT's tests: same MPI and cores, launches by turns.

    python benchmarks/onesided_peers.py [--osu FOLDER] [--rmamt FOLDER] [--tests NAME,...]
                                        [--bytes 8,1Ki,64Ki,1Mi] [--launches 5] [--mpi NAME]

FOLDER holds programs that their user has built for that MPI: `osu_put_latency` and so on, `rmamt_lat`,
`rmamt_bw`, `rmamt_bibw`. OSU prints two digits of a microsecond, 5 ns at best: build it with
CFLAGS=-DFLOAT_PRECISION=5. What is printed is the ratio of ours to theirs, of latencies (less is faster) and
of bandwidths (more is faster): the median over pairs of launches, with its order-statistic interval. Means
are compared with means. A launch of ours whose data are wrong ends the comparison.

Ours is what `--like` runs. RMA-MT differs in three ways, which ours is corrected for by what it measures in
the same turn:

- `rmamt_lat` reads the clock around each call, and a reading is in each time: ours has it added.
- `rmamt_lat -s fence` has one fence for each call, ours has two: half of `mpi.win.fence` is taken off.
- `rmamt_bw` and `rmamt_bibw` make a thousand calls at one place and complete them once. Ours makes one call
  at one place and completes it, for each byte of it is checked: the synchronisation alone is taken off.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from turns import compare_all, print_mean, run_original, run_rows

from steelyard.base.units import format_bytes, parse_sizes
from steelyard.engines.build import Engine, mpi_engine
from steelyard.engines.clocks import gauge_clocks
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.system.machine import read_machine

LATENCY, BANDWIDTH = "ns", "bytes/s"
# How a table of theirs is read: a number in a column beside the size, times a factor, is ns or bytes/s.
US, MB, MIB = 1e3, 1e6, 2.0**20
NUMBER_BYTES = 8  # of a test that moves one number
THEIR_CLOCK = "monotonic"  # RMA-MT's

# The word of an epoch of theirs -> the words of ours, and those of the op that is its synchronisation alone.
EPOCHS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "flush": ("sync=lock_shared,complete=flush", ("mpi.win.flush",)),
    "lock": ("sync=lock_shared,complete=close", ("mpi.win.lock", "--param", "lock=shared")),
    "lock_all": ("sync=lock_all,complete=close", ("mpi.win.lock_all",)),
    "fence": ("sync=fence,complete=close", ("mpi.win.fence",)),
}


@dataclass(frozen=True)
class Case:
    """A test of theirs by the words of its command, and ours by those of our command.

    `column` and `factor` are of their table; `is_sized` unless it is of one number. `less` has the words of a
    command of ours -> the share of its time that is in ours alone; `readings` are those of the clock that are
    in theirs alone.
    """

    words: Sequence[str]
    ours: Sequence[str]
    unit: str
    column: int
    factor: float
    is_sized: bool = True
    less: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    readings: int = 0

    @property
    def program(self) -> str:
        """Its name, by which its user has built it."""
        return self.words[0]


def osu_cases() -> Sequence[Case]:
    """OSU's tests; swaps of 8 bytes end Open MPI 4.1 where the window's memory is the library's."""

    def case(name: str, unit: str, factor: float, *, is_sized: bool = True, window: str = "allocate") -> Case:
        ours = ["--like", name, "--param", f"window={window}"]
        return Case([name, "-w", window], ours, unit, 1, factor, is_sized)

    latencies = ("put", "get", "acc", "get_acc")
    return [
        *(case(f"osu_{call}_latency", LATENCY, US) for call in latencies),
        case("osu_fop_latency", LATENCY, US, is_sized=False),
        case("osu_cas_latency", LATENCY, US, is_sized=False, window="create"),
        *(case(f"osu_{call}", BANDWIDTH, MB) for call in ("put_bw", "get_bw", "put_bibw")),
    ]


def rmamt_cases(sizes: Sequence[int]) -> Sequence[Case]:
    """RMA-MT's, of one thread with a window of its own."""
    common = ["-w", "-t", "1", "-l", str(min(sizes)), "-m", str(max(sizes))]
    cases = []
    for call in ("put", "get"):
        for sync, (params, alone) in EPOCHS.items():
            words = ["-o", call, "-s", sync, *common]
            given = [word for param in params.split(",") for word in ("--param", param)]
            level = ["--thread-level", "multiple"]
            fence = {(*alone, *level): 0.5} if sync == "fence" else {}
            ours = [f"mpi.{call}", *given, *level]
            cases.append(Case(["rmamt_lat", *words], ours, LATENCY, 2, US, less=fence, readings=1))
            for program, form in (("rmamt_bw", "bandwidth"), ("rmamt_bibw", "bibandwidth")):
                ours = [f"mpi.{call}.{form}", *given, "--param", "calls=1", *level]
                less = {(*alone, *level): 1.0}
                cases.append(Case([program, *words], ours, BANDWIDTH, 2, MIB, less=less))
    return cases


def measure_theirs(case: Case, folder: Path, launch: LaunchCommand, sizes: Sequence[int]) -> Sequence[float]:
    """What one launch of the original prints, for each size."""
    said = run_original(launch, [folder / case.program, *case.words[1:]])
    table = {}
    for line in said.splitlines():
        if re.fullmatch(r"\s*\d+(\s+[\d.]+)+\s*", line):
            numbers = line.split()
            table[int(numbers[0])] = float(numbers[case.column]) * case.factor
    if missing := [size for size in sizes if not table.get(size)]:
        raise SystemExit(f"{case.program} printed nothing of {missing[0]} bytes: {said.strip()[-300:]}")
    return [table[size] for size in sizes]


def measure_ours(case: Case, mpi: str | None, sizes: Sequence[int], reading_ns: float) -> Sequence[float]:
    """The means of one launch of ours and of what is taken off, for each size."""
    spent = case.readings * reading_ns
    for words, share in case.less.items():
        (alone,) = run_rows([*words, "-n", "2"], mpi)
        spent -= share * alone["mean"]
    given = ["--bytes", ",".join(map(str, sizes))] if case.is_sized else []
    rows = run_rows([*case.ours, "-n", "2", *given], mpi)
    rows = sorted(rows, key=lambda row: int(row["bytes"] or 0))
    times = [row["mean"] + spent for row in rows]
    if case.unit == LATENCY:
        return times
    return [row["bandwidth"] * row["time"] / time for row, time in zip(rows, times, strict=True)]


def clock_cost(engine: Engine) -> float:
    """What a reading of their clock costs here, in ns."""
    return float(next(clock["cost_ns"] for clock in gauge_clocks(engine) if clock["name"] == THEIR_CLOCK))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--osu", type=Path, metavar="FOLDER")
    parser.add_argument("--rmamt", type=Path, metavar="FOLDER")
    parser.add_argument("--tests", type=lambda text: text.split(","), metavar="NAME,...")
    parser.add_argument("--bytes", type=parse_sizes, default=parse_sizes("8,1Ki,64Ki,1Mi"))
    parser.add_argument("--mpi")
    parser.add_argument("--launches", type=int, default=5)
    options = parser.parse_args()
    sizes = sorted(options.bytes)
    suites = [(options.osu, osu_cases()), (options.rmamt, rmamt_cases(sizes))]
    chosen = [(folder, case) for folder, cases in suites if folder is not None for case in cases]
    chosen = [one for one in chosen if options.tests is None or one[1].program in options.tests]
    if not chosen:
        parser.error("nothing to compare with: give --osu or --rmamt, and tests that are in them")
    engine = mpi_engine(choose_mpi(options.mpi))
    launch = plan_launch(engine, read_machine(), LaunchRequest(2))
    reading_ns = clock_cost(engine)
    ratios: dict[str, list[float]] = {LATENCY: [], BANDWIDTH: []}
    for folder, case in chosen:
        measured = sizes if case.is_sized else [NUMBER_BYTES]
        title = " ".join(case.words)
        ratios[case.unit] += compare_all(
            [f"{title}, {format_bytes(size)}" for size in measured],
            case.unit,
            partial(measure_ours, case, options.mpi, measured, reading_ns),
            partial(measure_theirs, case, folder, launch, measured),
            options.launches,
        )
    for unit, values in ratios.items():
        print(f"in {unit}: ", end="" if values else "nothing\n")
        print_mean(values)


if __name__ == "__main__":
    main()
