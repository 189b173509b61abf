"""Files beside IMB-IO and IOR: the same MPI, ranks, folder and pieces, by turns, launch after launch.

    python benchmarks/files_peers.py --imb IMB-IO --ior ior --files /dev/shm [--mpi NAME] [--launches 10]

Both are programs that a user built for that MPI; nothing is built here. IMB-IO runs its mode NON-AGGREGATE
and divides a size among its ranks, so it is given so many times ours: 50 calls, each behind the one before,
into a file that is new where it is written. IOR writes and reads 16 MiB of each rank in a file that it keeps,
so that pages are there from its second repetition on, as ours are; in a shorter file its barriers are most of
its time. A line has the medians over launches of the time of a piece (IMB-IO: the mean of the slowest rank,
and ours; IOR: the median over its repetitions but the first, and ours), and the median of the ratios of
launches that are neighbours, with its interval.
"""

from __future__ import annotations

import argparse
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
_IOR_MEMORY = "memory=one"  # it moves all from and to one buffer
_LEAST = 2  # launches of which an interval can be made


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


def measured_here(setting: Setting, words: Sequence[str], column: str, pieces: int) -> float:
    """One launch of ours: a column of its row, in us for a piece."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(scripts_folder() / "steelyard"), "run", *words, "-n", str(setting.ranks)]
        command += ["--mpi", setting.mpi, "--files", str(setting.files), "--launches", "1"]
        command += [
            "--rule",
            "fixed",
            "--param",
            f"count={SAMPLES}",
            "--to",
            "json",
            "--out",
            f"{folder}/out",
        ]
        done = run(command, timeout=SECONDS)
        rows = msgspec.json.decode((Path(folder) / "out" / "results.json").read_bytes())["points"]
    if done.code != 0 or len(rows) != 1 or rows[0][column] is None:
        raise SystemExit(f"{' '.join(command)} gave no number: {done.err}")
    return float(rows[0][column]) / 1e3 / pieces


def imb_of(setting: Setting, program: Path, test: str, size: int) -> float:
    """The time of a call of the slowest rank, us."""
    with tempfile.TemporaryDirectory(dir=setting.files) as folder:
        lengths = Path(folder) / "lengths"
        lengths.write_text(f"{size * setting.ranks}\n")
        words = [
            test,
            "-npmin",
            str(setting.ranks),
            "-msglen",
            str(lengths),
            "-iter",
            f"{SAMPLES},1024,{SAMPLES}",
            "-iter_policy",
            "off",
        ]
        text = run(
            [*setting.prefix, str(program), *words], env=setting.environment, timeout=SECONDS, cwd=folder
        ).out
    number = r"\s+([\d.]+)"
    found = re.findall(
        rf"^\s+{size * setting.ranks}\s+\d+{number}{number}{number}",
        text[text.find("NON-AGGREGATE") + 1 :],
        re.M,
    )
    if not found:
        raise SystemExit(f"{test} printed no number: {text[-500:]}")
    return float(found[0][1])


def ior_of(setting: Setting, program: Path, way: str, size: int, access: str) -> float:
    """The time of a piece by MPI-IO, us: its own median but the first, which takes pages."""
    calls = IOR_BYTES // size
    with tempfile.TemporaryDirectory(dir=setting.files) as folder:
        own = ["-F", "-b", str(IOR_BYTES)] if way == "file=own" else ["-s", str(calls), "-b", str(size)]
        words = [
            "-a",
            "MPIIO",
            "-w",
            "-r",
            "-k",
            "-E",
            "-i",
            "10",
            "-t",
            str(size),
            *own,
            "-o",
            f"{folder}/ior",
        ]
        text = run([*setting.prefix, str(program), *words], env=setting.environment, timeout=SECONDS).out
    lines = [line.split() for line in text.splitlines() if line.startswith(access)]
    times = [float(words[7]) for words in lines if len(words) == 11][1:]
    if not times:
        raise SystemExit(f"IOR printed no time of {access}: {text[-500:]}")
    return statistics.median(times) / calls * 1e6


def imb_pairs(setting: Setting, program: Path, size: int) -> Iterator[Pair]:
    """The tests of IMB-IO of a size.

    Without a policy of its own it warms up by so many calls as it times, in the same places: what it times
    writes over them, and is no write into a new file.
    """
    for test in _IMB:
        row = find_like(test)
        given = [row.op.removesuffix(".new"), "--bytes", str(size)]
        for name, value in row.params.items():
            given += ["--param", f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"]
        ours = partial(measured_here, setting, given, "mean", SAMPLES)
        yield Pair(test, size, ours, partial(imb_of, setting, program, test, size))


def ior_pairs(setting: Setting, program: Path, size: int) -> Iterator[Pair]:
    """IOR's easy and hard way to write and to read."""
    calls = IOR_BYTES // size
    for way in _IOR:
        for access in ("write", "read"):
            given = [f"mpi.io.{access}_at", "--bytes", str(size)]
            for word in (f"calls={calls}", way, _IOR_MEMORY):
                given += ["--param", word]
            ours = partial(measured_here, setting, given, "median", calls)
            yield Pair(
                f"IOR {access}, {way}", size, ours, partial(ior_of, setting, program, way, size, access)
            )


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
    imb = [pair for size in sizes for pair in imb_pairs(setting, given.imb, size)] if given.imb else []
    ior = [pair for size in sizes for pair in ior_pairs(setting, given.ior, size)] if given.ior else []
    for pair in (*imb, *ior):
        ours, theirs = list[float](), list[float]()
        for _ in range(given.launches):
            for is_ours in random.sample((True, False), 2):
                (ours if is_ours else theirs).append((pair.ours if is_ours else pair.theirs)())
        print(line_of(pair, ours, theirs), flush=True)


if __name__ == "__main__":
    main()
