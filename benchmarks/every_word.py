"""All of OpenSHMEM's ops, or of MPI-IO's, in each word of their parameters: what is right under a library.

    python benchmarks/every_word.py --shmem oshmem,/opt/sos --threads 1,2,4 --record FILE
    python benchmarks/every_word.py --mpi openmpi,mpich --files /tmp,/dev/shm --ranks 1,2,4 --record FILE

It goes on for `--seconds` and then prints a table of all that FILE has, so a table of hours is made in parts:
type it again. A launch measures `--batch` test cases and is ended after `--limit` seconds; what it did not
come to is measured by the next. A test case that takes longer alone hung; one at which the ranks died is told
with what they said. Each reason to skip and each failure stands below the table.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from launch_ends import measure_launch
from turns import numbers

from steelyard.engines.build import Engine, describe, mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.engines.shmem import choose_shmem

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

from library_cases import io_lines, io_patterns, shmem_lines

VERIFIED, SKIPPED = "verified", "skipped"
_LONGEST_REASON = 160  # letters below the table
_SHORT = "warm_up=brief"


@dataclass(frozen=True)
class Setting:
    """A line of the table; `files` is a folder, or empty."""

    library: str
    ranks: int
    threads: int
    files: str


@dataclass(frozen=True)
class Outcome:
    """What became of a test case: verified, skipped, failed, died or hung, and why."""

    setting: Setting
    line: str
    word: str
    why: str


def read(record: Path) -> Iterator[Outcome]:
    """What earlier parts have found."""
    for text in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
        known = json.loads(text)
        yield Outcome(**known | {"setting": Setting(**known["setting"])})


def batch_of(engine: Engine, setting: Setting, lines: Sequence[str], limit: float) -> Iterator[Outcome]:
    """One launch: what became of the test cases that it came to, and of the one at which it died or hung."""
    short = [f"{line} {_SHORT}" for line in lines]
    with tempfile.TemporaryDirectory(prefix="every-word-", dir=setting.files or None) as folder:
        words = ("--files", f"{folder}/own") if setting.files else ()
        ended = measure_launch(engine, setting.ranks, setting.threads, short, limit, words)
        if setting.files and not ended.said and [*Path(folder).iterdir()]:
            raise SystemExit(f"{folder} is not empty after {lines}")
    for end in ended.ends:
        word = VERIFIED if end.status == "ok" and end.verified else end.status
        yield Outcome(setting, lines[end.point], word, end.why or "")
    next_one = max((end.point for end in ended.ends), default=-1) + 1
    if next_one < len(lines) and (not ended.is_late or next_one == 0):
        word = "hung" if ended.is_late else "died"
        yield Outcome(setting, lines[next_one], word, ended.said)


def table(recorded: Sequence[Outcome], asked: Mapping[Setting, Sequence[str]]) -> Iterator[str]:
    """A line for each setting, then each reason; what is not asked for any more is left out."""
    last = {(one.setting, one.line): one for one in recorded}
    outcomes = [last[key] for key in ((s, line) for s in asked for line in asked[s]) if key in last]
    yield "| library | ranks | threads | files | test cases | verified | skipped | failed | not reached |"
    yield "| --- | ---: | ---: | --- " + "| ---: " * 5 + "|"
    for setting, lines in asked.items():
        by = Counter(one.word for one in outcomes if one.setting == setting)
        failed = by.total() - by[VERIFIED] - by[SKIPPED]
        counts = (len(lines), by[VERIFIED], by[SKIPPED], failed, len(lines) - by.total())
        cells = (*asdict(setting).values(), *counts)
        yield f"| {' | '.join(map(str, cells))} |"
    reasons = Counter(
        (one.setting.library, one.word, one.line.split()[0].removeprefix("op="), _plain(one.why))
        for one in outcomes
        if one.word != VERIFIED
    )
    for (library, word, op, why), times in sorted(reasons.items()):
        yield f"{library}, {word}, {times} x {op}: {why}"


def _plain(why: str) -> str:
    """A reason without what differs from rank to rank."""
    return re.sub(r"rank \d+: |0x[0-9a-f]+", "", " ".join(why.split()))[-_LONGEST_REASON:]


def settings_of(given: argparse.Namespace) -> Iterator[tuple[Setting, Engine, list[str]]]:
    """All lines of the table with their test cases."""
    libraries = (given.shmem or given.mpi or "").split(",")
    for choice in libraries:
        engine = mpi_engine(choose_shmem(choice or None) if given.shmem else choose_mpi(choice or None))
        ops = describe(engine).ops
        name = Path(choice).parent.name if "/" in choice else choice
        for files, threads, ranks in itertools.product(given.files.split(","), given.threads, given.ranks):
            files_lines = [*io_lines(ops), *io_patterns()]
            lines = files_lines if files else [*shmem_lines(ops, ranks, threads, given.words)]
            yield Setting(name, ranks, threads, files), engine, lines


def main() -> None:
    """Measure a part and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shmem", help="libraries, by name or prefix")
    parser.add_argument("--mpi", help="libraries, by name or prefix, for MPI-IO")
    parser.add_argument("--files", default="", help="folders, for MPI-IO")
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 3, 4, 8])
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--words", type=int, default=99, help="of a parameter of OpenSHMEM's ops, at most")
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--limit", type=float, default=100.0)
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    outcomes = list(read(given.record))
    asked = {}
    for setting, engine, lines in settings_of(given):
        asked[setting] = lines
        known = {one.line for one in outcomes if one.setting == setting}
        left = [line for line in lines if line not in known]
        while left and (seconds := min(given.limit, until - time.monotonic())) > 0:
            ended = list(batch_of(engine, setting, left[: given.batch], seconds))
            if seconds < given.limit:
                ended = [one for one in ended if one.word != "hung"]
            with given.record.open("a", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(asdict(one))}\n" for one in ended)
            outcomes += ended
            left = [line for line in left if line not in {one.line for one in ended}]
            if not ended and seconds < given.limit:
                break
    for text in table(outcomes, asked):
        print(text)


if __name__ == "__main__":
    main()
