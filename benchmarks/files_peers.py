"""Files beside IMB-IO and IOR: the same MPI, ranks, folder and pieces, by turns, launch after launch.

    python benchmarks/files_peers.py --imb IMB-IO --ior ior --files /dev/shm [--mpi NAME] [--launches 10]
                                     [--bytes 4Ki,64Ki,1Mi] [--only 'IOR*'] [--steps]

Both are programs that a user built for that MPI; nothing is built here. What is compared is what each says of
pages that it has moved before, and of writes of IOR what it says of new ones, for IOR empties its file before
it writes:

- IMB-IO runs its mode NON-AGGREGATE: 50 calls, each behind the one before. It divides a size among its ranks,
  so it is given so many times ours. A size is listed 40 times, and the lines from the third on count: its
  second pass over a file in memory is the one in which Linux makes each page an active one. Its buffer is
  malloc's, 16 bytes behind the start of a page; so is ours beside it.
- IOR writes alone, or reads alone what a command before has written: 16 MiB of each rank. In a shorter file
  its barriers are most of its time. Of 22 repetitions that write the third to the last count, of 80 that read
  the 31st to the last: ten passes over a file become faster, and ours has made 30 before it counts.

Ours begins after a barrier of the library, as theirs do. A line has the medians over launches of the time of
a piece (IMB-IO: the median of its lines of the slowest rank; IOR: of its repetitions; ours: of its samples),
and the median of the ratios of launches that are neighbours, with its interval. With `--steps` there are
further lines that show each difference: theirs without such words, and ours by another call or method.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import random
import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from steelyard.base.units import format_bytes, parse_bytes
from steelyard.engines.build import mpi_engine
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.like import find_like
from steelyard.stats import launch_interval
from steelyard.system.machine import read_machine
from steelyard.system.process import run

SECONDS = 120.0  # more than any of these commands takes
IOR_BYTES = 1 << 24  # of each rank in a repetition, beside IOR
SAMPLES = 50  # also the calls of IMB-IO, and of a repetition of ours beside it
LINES = 40  # of IMB-IO
EARLY = 2  # of them, in which pages are new or become active ones
REPETITIONS = {"write": (22, EARLY), "read": (80, 30)}  # of IOR, and the early ones of them
_IMB = (
    "P_Write_Expl",
    "P_Read_Expl",
    "P_Write_Priv",
    "P_Read_Priv",
    "P_Write_Indv",
    "C_Write_Expl",
    "C_Read_Expl",
)
_IOR = ("file=own", "pattern=strided")  # its easy and its hard way
_IOR_MEMORY = "memory=one"  # it moves all from and to one buffer, at the start of a page
_IMB_MEMORY = "align=16"  # malloc's: so far behind the start of a page
_LEAST = 2  # launches of which an interval can be made
_STARTS_AS_THEIRS = "library-barrier"


@dataclass(frozen=True)
class Setting:
    """What all commands share; `prefix` is the launcher's words."""

    mpi: str
    ranks: int
    files: Path
    prefix: Sequence[str]
    environment: dict[str, str]


@dataclass(frozen=True)
class Pair:
    """A line of the table: two commands that give the time of a piece in us."""

    name: str
    size: int
    ours: Callable[[], float]
    theirs: Callable[[], float]


def measured_here(setting: Setting, words: Sequence[str], pieces: int, method: str) -> float:
    """The median of one launch of ours, in us for a piece."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(scripts_folder() / "steelyard"), "run", *words, "-n", str(setting.ranks)]
        command += ["--mpi", setting.mpi, "--files", str(setting.files), "--launches", "1"]
        command += ["--method", method, "--rule", "fixed", "--param", f"count={SAMPLES}"]
        command += ["--to", "json", "--out", f"{folder}/out"]
        done = run(command, timeout=SECONDS)
        rows = msgspec.json.decode((Path(folder) / "out" / "results.json").read_bytes())["points"]
    if done.code != 0 or len(rows) != 1 or rows[0]["median"] is None:
        raise SystemExit(f"{' '.join(command)} gave no number: {done.err}")
    return float(rows[0]["median"]) / 1e3 / pieces


def started(setting: Setting, words: Sequence[str], folder: str) -> str:
    """What a program of theirs prints."""
    return run([*setting.prefix, *words], env=setting.environment, timeout=SECONDS, cwd=folder).out


def imb_of(setting: Setting, program: Path, test: str, size: int, lines: int) -> float:
    """The time of a call of the slowest rank, us: the median of its lines, or of one line that."""
    whole = size * setting.ranks
    with tempfile.TemporaryDirectory(dir=setting.files) as folder:
        lengths = Path(folder) / "lengths"
        lengths.write_text(f"{whole}\n" * lines)
        words = [str(program), test, "-npmin", str(setting.ranks), "-msglen", str(lengths)]
        words += ["-iter", f"{SAMPLES},1000000,{SAMPLES}", "-aggregate_mode", "non_aggregate"]
        text = started(setting, words, folder)
    number = r"\s+([\d.]+)"
    found = re.findall(rf"^\s+{whole}\s+{SAMPLES}{number}{number}{number}", text, re.M)
    if len(found) != lines:
        raise SystemExit(f"{test} printed {len(found)} lines of {lines}: {text[-500:]}")
    return statistics.median(float(line[1]) for line in found[EARLY if lines > EARLY else 0 :])


def ior_of(setting: Setting, program: Path, way: str, size: int, access: str, *, alone: bool) -> float:
    """The time of a piece by MPI-IO, us; `alone`: it does nothing else between its repetitions."""
    calls = IOR_BYTES // size
    with tempfile.TemporaryDirectory(dir=setting.files) as folder:
        own = ["-F", "-b", str(IOR_BYTES)] if way == "file=own" else ["-s", str(calls), "-b", str(size)]
        words = [str(program), "-a", "MPIIO", "-k", "-E", "-t", str(size), *own, "-o", f"{folder}/ior"]
        if alone and access == "read":
            started(setting, [*words, "-w"], folder)
        asked = [f"-{access[0]}"] if alone else ["-w", "-r"]
        count, early = REPETITIONS[access if alone else "write"]
        text = started(setting, [*words, *asked, "-i", str(count)], folder)
    lines = [line.split() for line in text.splitlines() if line.startswith(access)]
    times = [float(words[7]) for words in lines if len(words) == 11][early:]
    if not times:
        raise SystemExit(f"IOR printed no time of {access}: {text[-500:]}")
    return statistics.median(times) / calls * 1e6


def imb_pairs(setting: Setting, program: Path, size: int, *, steps: bool) -> Iterator[Pair]:
    """The tests of IMB-IO of a size: over pages that are there, and as it is asked for one size."""
    for test in _IMB:
        row = find_like(test)
        call = row.op.removesuffix(".new")
        given = ["--bytes", str(size)]
        for name, value in row.params.items():
            given += ["--param", f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"]
        alike = [call, *given, "--param", _IMB_MEMORY]
        ours = partial(measured_here, setting, alike, SAMPLES, _STARTS_AS_THEIRS)
        theirs = partial(imb_of, setting, program, test, size)
        yield Pair(test, size, ours, partial(theirs, LINES))
        if not steps:
            continue
        yield Pair(f"{test}, listed once", size, ours, partial(theirs, 1))
        paged = partial(measured_here, setting, [call, *given], SAMPLES, _STARTS_AS_THEIRS)
        yield Pair(f"{test}, ours at the start of a page", size, paged, partial(theirs, LINES))
        late = partial(measured_here, setting, alike, SAMPLES, "epoch")
        yield Pair(f"{test}, ours by epoch", size, late, partial(theirs, LINES))


def ior_pairs(setting: Setting, program: Path, size: int, *, steps: bool) -> Iterator[Pair]:
    """IOR's easy and hard way to write and to read."""
    calls = IOR_BYTES // size
    for way in _IOR:
        for access in ("write", "read"):
            given = ["--bytes", str(size)]
            for word in (f"calls={calls}", way, _IOR_MEMORY):
                given += ["--param", word]
            over, new = f"mpi.io.{access}_at", f"mpi.io.{access}_at" + (".new" if access == "write" else "")
            ours = {
                op: partial(measured_here, setting, [op, *given], calls, _STARTS_AS_THEIRS)
                for op in (over, new)
            }
            theirs = partial(ior_of, setting, program, way, size, access)
            name = f"IOR {access}, {way}"
            yield Pair(name, size, ours[new], partial(theirs, alone=True))
            if steps and access == "write":
                yield Pair(
                    f"{name}, ours over pages that are there", size, ours[over], partial(theirs, alone=True)
                )
            elif steps:
                yield Pair(f"{name}, after each write", size, ours[over], partial(theirs, alone=False))


def line_of(pair: Pair, ours: Sequence[float], theirs: Sequence[float]) -> str:
    """A row of the table: medians over launches, the ratio with its interval."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    told = f"{ratios[0]:.3f}"
    if len(ratios) >= _LEAST:
        of = launch_interval(ratios)
        told = f"{of.value:.3f} [{of.low:.3f}, {of.high:.3f}]"
    here, there = statistics.median(ours), statistics.median(theirs)
    return f"| {pair.name} | {format_bytes(pair.size)} | {here:.2f} | {there:.2f} | {told} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--imb", type=Path, help="the program IMB-IO")
    parser.add_argument("--ior", type=Path, help="the program ior")
    parser.add_argument("--files", type=Path, required=True, help="a folder, as /dev/shm")
    parser.add_argument("--mpi", default=None)
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--bytes", default="4Ki,64Ki,1Mi", help="of a piece of a rank, at most 16Mi")
    parser.add_argument("--only", default="*", help="a pattern of tests, as 'IOR*'")
    parser.add_argument("--steps", action="store_true", help="further lines that show each difference")
    given = parser.parse_args()
    mpi = choose_mpi(given.mpi)
    launch = plan_launch(mpi_engine(mpi), read_machine(), LaunchRequest(given.n))
    setting = Setting(
        mpi.name, given.n, given.files, launch.argv_prefix, {**os.environ, **launch.environment}
    )
    sizes = [parse_bytes(word) for word in given.bytes.split(",")]
    head = f"{mpi.name}, {given.n} ranks, {given.launches} launches, files in {given.files}"
    print(f"{head}; us for a piece of each rank")
    print("| test | bytes | ours | theirs | ours / theirs |\n| --- | --- | --- | --- | --- |")
    pairs = list[Pair]()
    for size in sizes:
        pairs += imb_pairs(setting, given.imb, size, steps=given.steps) if given.imb else ()
        pairs += ior_pairs(setting, given.ior, size, steps=given.steps) if given.ior else ()
    for pair in pairs:
        if not fnmatch.fnmatchcase(pair.name, given.only):
            continue
        ours, theirs = list[float](), list[float]()
        for _ in range(given.launches):
            for is_ours in random.sample((True, False), 2):
                (ours if is_ours else theirs).append((pair.ours if is_ours else pair.theirs)())
        print(line_of(pair, ours, theirs), flush=True)


if __name__ == "__main__":
    main()
