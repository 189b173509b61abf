"""Each default row of --like beside the original: the same MPI and cores, by turns, launch after launch.

    python benchmarks/peers_like.py --osu DIR --imb DIR [--mpi NAME] [-n 2] [--launches 10]
        [--only osu_bw,'osu_a*'] [--ours=--method=library-barrier] [--theirs='-c'] [--time-budget 170]
        [--record FILE [--undecided]]

DIR is where a user built or installed the suite for that MPI; programs are looked for below it by their
names, and nothing is built here. Steelyard prints the text of the original (--to osu-plain, --to imb), so one
reader reads both: a mean. A line has the medians over launches, and the median of the ratios of launches that
are neighbours, with its interval. A ratio far from 1 says that the two do not measure the same, or not in the
same way. `--ours` and `--theirs` give either side further options, to show by which way they agree.

Tests take turns: each has one launch of both before any has the next, so they all meet the same minutes.
FILE keeps each line as JSON, with its launches, and is replaced after each pair: the command may be stopped
and given again. Launches are added to those that the same programs made before on the same machine; those of
another one stay until as many, or six, are made here. With `--undecided` only those tests go on of which a
size cannot tell at its 6, 12, 24, ... launches, a few by turns: first those that may tell of most sizes with
the fewest launches. With `--time-budget SECONDS` no launch begins later, nor one that would take longer than
what is left, as that test took before. benchmarks/peers_page.py makes docs/results/peers.md of
docs/results/peers.jsonl.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import math
import os
import random
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers_record import (
    Compared,
    Place,
    Way,
    added,
    compare,
    most_launches,
    next_look,
    read_record,
    write_record,
)

from steelyard import __version__
from steelyard.base.plural import counted
from steelyard.base.units import parse_sizes
from steelyard.engines.build import mpi_engine
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import choose_mpi
from steelyard.export.suite_tests import IMB, OSU
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.suites import SUITES, Like
from steelyard.system.machine import read_machine
from steelyard.system.process import run

SECONDS = 600.0  # more than any of these commands takes
NO_SIZE = 0
# Samples of ours. Theirs are 20 to 1000 of large messages, up to 10,000 of small ones. A mean over as many
# meets as many rare stalls: one of a millisecond makes the mean of 100 calls of 300 ns 34 times as large. A
# window of 64 messages is a sample that lasts, and stalls are a small part of it.
_SAMPLES, _SAMPLES_OF_WINDOWS = 1000, 100
_WINDOWS = ("*bw*", "*band")
_LAUNCHES = 10  # of each test; with --undecided as many as tell, or as the time allows
_BY_TURNS = 6  # tests of --undecided: neighbours in time, and finished one after the other
_WORDS = ("Pass", "passed", "Fail")  # that stand among the numbers: sums of MPI_CHAR fail in the original
_IN_SYMMETRIC_MEMORY = ("shmem.put", "shmem.get", "shmem.atomic")  # OSU's programs of these ask where
_PRINTED = ("IMB-MPI1", "IMB-NBC", "IMB-MPI4")
_VERSION = re.compile(r"^# (OSU) .* v([\d.]+)|MPI Benchmarks ([\d.]+\d)", re.MULTILINE)

_Table = Mapping[int, float]  # size -> number


@dataclass(frozen=True)
class Peer:
    """A row of --like, the original's words after the launcher, and where its number stands in a line."""

    row: Like
    words: tuple[str, ...]
    to: str
    column: int  # after the size; of a test without sizes, in the line
    name: str = ""  # with which its line begins, where a program has several

    @property
    def samples(self) -> int:
        """How many samples of ours are a mean."""
        is_window = any(fnmatch.fnmatchcase(self.row.name, pattern) for pattern in _WINDOWS)
        return _SAMPLES_OF_WINDOWS if is_window else _SAMPLES

    def read(self, text: str) -> dict[int, float]:
        """Its numbers in what either side prints."""
        return table_of(text, self.column, self.row.bytes is not None, self.name)


def table_of(text: str, column: int, sized: bool, name: str = "") -> dict[int, float]:
    """The number of each size in a suite's text; a test without sizes has one, of size 0.

    OSU's atomics have no sizes to choose, and print that of their type all the same. Those of OpenSHMEM are
    one program: their lines begin with a `name`, and the time stands behind the rate.
    """
    found: dict[int, float] = {}
    for line in text.splitlines():
        words = line.split()
        if name and words and words.pop(0) != name:
            continue
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
        if (program := program_below(osu, row.program or row.name)) is not None:
            where = ("heap",) if row.op.startswith(_IN_SYMMETRIC_MEMORY) else ()
            column, name = 3 if overlaps else 1, row.name if row.program else ""
            yield Peer(row, (str(program), *where), "osu-plain", column, name)
    for row in SUITES[IMB]:
        program = program_below(imb, row.program) if row.program in _PRINTED else None
        if program is not None and (row.program == "IMB-MPI1" or row.name.endswith("_pure")):
            # size, repetitions, and t, Mbytes/sec, or t_min and t_max: theirs is the slowest rank
            column = 2 if row.name.startswith(("Ping", "Uni", "Bi")) else 3
            yield Peer(row, (str(program), row.name), "imb", column)


def compared_of(
    peer: Peer, ours: Sequence[_Table], theirs: Sequence[_Table], way: Way, place: Place
) -> Iterator[Compared]:
    """Compare each size that both have, launch by launch."""
    for size in sorted({size for one in ours for size in one} & {size for one in theirs for size in one}):
        both = [(a[size], b[size]) for a, b in zip(ours, theirs, strict=True) if a.get(size) and b.get(size)]
        if both:
            yield compare(peer.row.name, size if peer.row.bytes is not None else None, both, way, place)


def nothing_line(peer: Peer, theirs: Sequence[_Table], said: str) -> str:
    """The line of a test that has no size in both; `said` is what the original wrote on stderr."""
    why = "no size in both" if any(theirs) else f"the original prints no number: {_reason(said)}"
    return f"| {peer.row.name} | {why} | | | |"


def version_of(text: str) -> str:
    """The suite and the version that its text names: `OSU 7.4`, `IMB 2021.10`; else nothing."""
    found = _VERSION.search(text)
    return "" if found is None else f"OSU {found[2]}" if found[1] else f"IMB {found[3]}"


def _reason(said: str) -> str:
    """The line in which a program says why it ends, without its file and line; else the first line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = (line for line in lines if re.search("error", line, re.IGNORECASE))
    line = next(errors, lines[0] if lines else "no word why")
    return re.sub(r"^\[\S+:\d+\] ", "", line).replace("|", "/")


def measure_ours(
    peer: Peer, mpi: str, ranks: int, sizes: str | None, more: Sequence[str] = ()
) -> dict[int, float]:
    """One launch of ours with further options, as the original prints it."""
    given = [*(["--bytes", sizes] if sizes and peer.row.bytes is not None else []), *more]
    with tempfile.TemporaryDirectory() as folder:
        library = [] if peer.row.op.startswith("shmem.") else ["--mpi", mpi]
        words = ["run", "--like", peer.row.name, "-n", str(ranks), *library, "--launches", "1", *given]
        fixed = ["--rule", "fixed", "--param", f"count={peer.samples}"]
        command = [str(scripts_folder() / "steelyard"), *words, *fixed]
        command += ["--to", peer.to, "--out", f"{folder}/out"]
        done = run(command, timeout=SECONDS)
    return peer.read(done.out)


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--osu", type=Path, help="a folder with osu_latency somewhere below it")
    parser.add_argument("--imb", type=Path, help="a folder with IMB-MPI1 somewhere below it")
    parser.add_argument("--mpi", default=None)
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--launches", type=int, default=None, help=f"default: {_LAUNCHES}")
    parser.add_argument("--only", default="*", help="names or patterns, with commas")
    parser.add_argument("--bytes", default=None, help="of ours, such as 8,1Ki,1Mi; default: the original's")
    parser.add_argument("--ours", default="", help="further options of ours, in quotes")
    parser.add_argument("--theirs", default="", help="further options of the original, in quotes")
    parser.add_argument(
        *("--time-budget", "--seconds"),
        type=float,
        default=math.inf,
        metavar="SECONDS",
        help="after these no launch begins",
    )
    parser.add_argument("--record", type=Path, help="a file that keeps each line")
    parser.add_argument(
        "--undecided", action="store_true", help="only tests that the record does not tell of"
    )
    given = parser.parse_args()
    if given.undecided and given.record is None:
        parser.error("--undecided asks what --record FILE tells")
    if given.bytes:
        parse_sizes(given.bytes)
    return given


@dataclass(frozen=True)
class Bench:
    """How either side is launched: the original's words before it, its environment, and ours."""

    mpi: str
    ranks: int
    prefix: tuple[str, ...]
    environment: Mapping[str, str]
    sizes: str | None
    way: Way
    cores: str

    def pair(self, peer: Peer) -> tuple[list[Compared], str]:
        """One launch of both: a line for each size that both have; else why there is none."""
        ours: dict[int, float] = {}
        alone = ("-npmin", str(self.ranks)) if peer.to == "imb" else ()  # not on fewer ranks first
        command = [*self.prefix, *peer.words, *alone, *shlex.split(self.way.theirs)]
        for is_ours in random.sample((True, False), 2):
            if is_ours:
                ours = measure_ours(peer, self.mpi, self.ranks, self.sizes, shlex.split(self.way.ours))
            else:
                done = run(command, env=self.environment, timeout=SECONDS)
        theirs = peer.read(done.out)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        where = (version_of(done.out), self.mpi, self.ranks, self.cores, today, __version__)
        place = Place(*where, peer.samples)
        found = list(compared_of(peer, [ours], [theirs], self.way, place))
        return found, "" if found else nothing_line(peer, [theirs], done.err)


def open_bench(given: argparse.Namespace) -> Bench:
    """Ask this machine and its MPI."""
    mpi, machine = choose_mpi(given.mpi), read_machine()
    launch = plan_launch(mpi_engine(mpi), machine, LaunchRequest(given.n))
    cores = f"{machine.cpu_model}, {len(machine.cores)} cores"
    environment = {**os.environ, **launch.environment}
    way = Way(given.ours, given.theirs)
    return Bench(mpi.name, given.n, tuple(launch.argv_prefix), environment, given.bytes, way, cores)


@dataclass
class Progress:
    """What is recorded, and what is still to be measured of it."""

    bench: Bench
    record: list[Compared]
    is_undecided: bool  # are only those tests asked for that cannot tell?

    def lines(self, peer: Peer) -> list[Compared]:
        """The lines of a test in this way, each size once: with most launches, wherever they were made."""
        here = (peer.row.name, self.bench.way, self.bench.mpi)
        found: list[Compared] = most_launches(
            one for one in self.record if (one.test, one.way, one.place.mpi) == here
        )
        return found

    def launches(self, peer: Peer) -> int:
        """The launches that may be added to: of this machine, and of as many samples."""
        own = (self.bench.cores, peer.samples, __version__)
        made = [
            one.launches
            for one in self.record
            if (one.test, one.way, one.place.mpi) == (peer.row.name, self.bench.way, self.bench.mpi)
            and (one.place.machine, one.place.samples, one.place.steelyard) == own
        ]
        return min(made, default=0)

    def is_left(self, peer: Peer) -> bool:
        """Is a test to be measured further?"""
        lines = self.lines(peer)
        return not (self.is_undecided and lines and all(one.is_settled for one in lines))

    def worth(self, peer: Peer) -> float:
        """How many sizes may be told for each launch until the next look."""
        lines, made = self.lines(peer), self.launches(peer)
        sizes = sum(one.is_open for one in lines) if lines else 1
        return float(sizes / (next_look(made) - made))

    def words(self, peer: Peer) -> str:
        """Say how far a test is: `osu_bcast: 7 launches, 2 of 5 sizes cannot be told`."""
        lines = self.lines(peer)
        sizes = f"{sum(one.is_open for one in lines)} of {counted(len(lines), 'size')} cannot be told"
        return f"{peer.row.name}: {counted(self.launches(peer), 'launch')} here, {sizes}"


def measure(peers: Sequence[Peer], bench: Bench, given: argparse.Namespace) -> Iterator[str]:
    """Measure by turns; what was found is recorded after each pair. The lines of what was measured."""
    ends = time.monotonic() + given.time_budget
    progress = Progress(bench, read_record(given.record) if given.record is not None else [], given.undecided)
    most = given.launches or (sys.maxsize if given.undecided else _LAUNCHES)
    rounds = dict.fromkeys((peer.row.name for peer in peers), 0)
    nothing: dict[str, str] = {}  # by test: why there is no number
    took = dict.fromkeys(rounds, 0.0)  # seconds of its last pair

    def may_begin(peer: Peer) -> bool:
        return time.monotonic() + took[peer.row.name] <= ends

    while True:
        left = [
            peer
            for peer in peers
            if rounds[peer.row.name] < most and peer.row.name not in nothing and progress.is_left(peer)
        ]
        left = [peer for peer in left if may_begin(peer)]
        if not left:
            break
        turn = sorted(left, key=progress.worth, reverse=True)[:_BY_TURNS] if given.undecided else left
        for peer in filter(may_begin, turn):
            rounds[peer.row.name] += 1
            began = time.monotonic()
            found, why = bench.pair(peer)
            took[peer.row.name] = time.monotonic() - began
            nothing |= {peer.row.name: why} if why else {}
            progress.record = added(progress.record, found)
            if given.record is not None:
                write_record(given.record, progress.record)
            told = f"{progress.words(peer)}; {counted(len(left), 'test')} to go"
            print(why or told, file=sys.stderr, flush=True)
    for peer in peers:
        if rounds[peer.row.name]:
            yield from (f"{one.line} {one.launches} | {one.verdict} |" for one in progress.lines(peer))
        if peer.row.name in nothing:
            yield nothing[peer.row.name]


def main() -> None:
    """Print the table."""
    given = parse_options()
    chosen = given.only.split(",")
    peers = [
        one
        for one in peers_of(given.osu, given.imb)
        if any(fnmatch.fnmatchcase(one.row.name, pattern) for pattern in chosen)
    ]
    if not peers:
        raise SystemExit("no original was found; give --osu or --imb a folder that has their programs")
    bench = open_bench(given)
    print(f"{bench.mpi}, {given.n} ranks; the numbers of the text: us, or MB/s")
    print("| test | bytes | ours | theirs | ours / theirs | launches | verdict |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    print("\n".join(measure(peers, bench, given)))


if __name__ == "__main__":
    main()
