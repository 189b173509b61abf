"""Each default row of --like beside the original: the same MPI and cores, by turns, launch after launch.

    python benchmarks/peers_like.py --osu DIR --imb DIR [--mpi NAME] [-n 2] [--launches 10] [--only 'osu_a*']

DIR is where a user built or installed the suite for that MPI; programs are looked for below it by their
names, and nothing is built here. Steelyard prints the text of the original (--to osu-plain, --to imb), so one
reader reads both: a mean. A line has the medians over launches, and the median of the ratios of launches that
are neighbours, with its interval. A ratio far from 1 says that the two do not measure the same, or not in the
same way: docs/reference/like.md and docs/results/large-messages.md have what is known to differ.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import random
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.base.units import format_bytes, parse_sizes
from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi, scripts_folder
from steelyard.export.suite_tests import IMB, OSU
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.suites import SUITES, Like
from steelyard.stats import launch_interval
from steelyard.system.machine import read_machine
from steelyard.system.process import run

SECONDS = 600.0  # more than any of these commands takes
NO_SIZE = 0
_AS_MANY = ("--rule", "fixed", "--param", "count=1000")  # samples, as theirs: as many rare stalls in a mean
_LEAST = 2  # launches of which an interval can be made
_WORDS = ("Pass", "passed", "Fail")  # that stand among the numbers: sums of MPI_CHAR fail in the original
_PRINTED = ("IMB-MPI1", "IMB-NBC", "IMB-MPI4")


_Table = Mapping[int, float]  # size -> number


@dataclass(frozen=True)
class Peer:
    """A row of --like, the original's words after the launcher, and where its number stands in a line."""

    row: Like
    words: tuple[str, ...]
    to: str
    column: int  # after the size; of a test without sizes, in the line


def table_of(text: str, column: int, sized: bool) -> dict[int, float]:
    """The number of each size in a suite's text; a test without sizes has one, of size 0.

    OSU's atomics have no sizes to choose, and print that of their type all the same.
    """
    found: dict[int, float] = {}
    for line in text.splitlines():
        words = line.split()
        try:
            numbers = [float(word) for word in words if word not in _WORDS]
        except ValueError:
            continue
        at = column if sized or (column == 1 and len(numbers) > 1) else column - 1
        if len(numbers) > at and not line.startswith("#"):
            found[int(numbers[0]) if sized else NO_SIZE] = numbers[at]
    return found


def program_below(folder: Path | None, name: str) -> Path | None:
    """The executable of that name below a folder."""
    if folder is None:
        return None
    found = (path for path in sorted(folder.rglob(name)) if path.is_file() and os.access(path, os.X_OK))
    return next(found, None)


def peers_of(osu: Path | None, imb: Path | None) -> Iterator[Peer]:
    """The rows whose originals are installed."""
    for row in SUITES[OSU]:
        overlaps = row.op.startswith(("mpi.i", "mpi.ineighbor"))  # Pure Comm. is the third column
        if (program := program_below(osu, row.name)) is not None:
            yield Peer(row, (str(program),), "osu-plain", 3 if overlaps else 1)
    for row in SUITES[IMB]:
        program = program_below(imb, row.program) if row.program in _PRINTED else None
        if program is not None and (row.program == "IMB-MPI1" or row.name.endswith("_pure")):
            # size, repetitions, and t, Mbytes/sec, or t_min and t_max: theirs is the slowest rank
            column = 2 if row.name.startswith(("Ping", "Uni", "Bi")) else 3
            yield Peer(row, (str(program), row.name), "imb", column)


def lines_of(peer: Peer, ours: Sequence[_Table], theirs: Sequence[_Table], said: str = "") -> Iterator[str]:
    """A row of a table for each size that both have: medians over launches, the ratio with its interval.

    `said` is what the original wrote on stderr: where it prints no number, its reason is there.
    """
    sizes = sorted({size for one in ours for size in one} & {size for one in theirs for size in one})
    for size in sizes:
        pairs = [(a[size], b[size]) for a, b in zip(ours, theirs, strict=True) if size in a and size in b]
        here, there = (statistics.median(values) for values in zip(*pairs, strict=True))
        told = format_bytes(size) if peer.row.bytes is not None else "-"
        ratio = _ratio_words([a / b for a, b in pairs if b])
        yield f"| {peer.row.name} | {told} | {here:.2f} | {there:.2f} | {ratio} |"
    if not sizes:
        why = "no size in both" if any(theirs) else f"the original prints no number: {_reason(said)}"
        yield f"| {peer.row.name} | {why} | | | |"


def _reason(said: str) -> str:
    """The line in which a program says why it ends, without its file and line; else the first line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = (line for line in lines if re.search("error", line, re.IGNORECASE))
    line = next(errors, lines[0] if lines else "no word why")
    return re.sub(r"^\[\S+:\d+\] ", "", line).replace("|", "/")


def _ratio_words(ratios: Sequence[float]) -> str:
    """The median and its interval; of one pair the ratio alone."""
    if len(ratios) < _LEAST:
        return " ".join(f"{ratio:.3f}" for ratio in ratios) or "-"
    of = launch_interval(ratios)
    return f"{of.value:.3f} [{of.low:.3f}, {of.high:.3f}]"


def measure_ours(
    peer: Peer, mpi: str, ranks: int, sizes: str | None, more: Sequence[str] = ()
) -> dict[int, float]:
    """One launch of ours with further options, as the original prints it."""
    given = [*(["--bytes", sizes] if sizes and peer.row.bytes is not None else []), *more]
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--like", peer.row.name, "-n", str(ranks), "--mpi", mpi, "--launches", "1", *given]
        command = [str(scripts_folder() / "steelyard"), *words, *_AS_MANY]
        command += ["--to", peer.to, "--out", f"{folder}/out"]
        done = run(command, timeout=SECONDS)
    return table_of(done.out, peer.column, peer.row.bytes is not None)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--osu", type=Path, help="a folder with osu_latency somewhere below it")
    parser.add_argument("--imb", type=Path, help="a folder with IMB-MPI1 somewhere below it")
    parser.add_argument("--mpi", default=None)
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--only", default="*", help="a pattern of names")
    parser.add_argument("--bytes", default=None, help="of ours, such as 8,1Ki,1Mi; default: the original's")
    given = parser.parse_args()
    peers = [one for one in peers_of(given.osu, given.imb) if fnmatch.fnmatchcase(one.row.name, given.only)]
    if not peers:
        raise SystemExit("no original was found; give --osu or --imb a folder that has their programs")
    if given.bytes:
        parse_sizes(given.bytes)
    mpi = choose_mpi(given.mpi)
    launch = plan_launch(mpi_engine(mpi), read_machine(), LaunchRequest(given.n))
    environment = {**os.environ, **launch.environment}
    alone = {"imb": ("-npmin", str(given.n))}  # not on fewer ranks first
    print(f"{mpi.name}, {given.n} ranks, {given.launches} launches; the numbers of the text: us, or MB/s")
    print("| test | bytes | ours | theirs | ours / theirs |\n| --- | --- | --- | --- | --- |")
    for peer in peers:
        ours: list[dict[int, float]] = []
        theirs: list[dict[int, float]] = []
        said = ""
        for _ in range(given.launches):
            for is_ours in random.sample((True, False), 2):
                if is_ours:
                    ours.append(measure_ours(peer, mpi.name, given.n, given.bytes))
                    continue
                done = run(
                    [*launch.argv_prefix, *peer.words, *alone.get(peer.to, ())],
                    env=environment,
                    timeout=SECONDS,
                )
                theirs.append(table_of(done.out, peer.column, peer.row.bytes is not None))
                said = done.err
        print("\n".join(lines_of(peer, ours, theirs, said)), flush=True)


if __name__ == "__main__":
    main()
