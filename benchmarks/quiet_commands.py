"""How many warnings twenty commands of README, tutorial and how-to print on this machine, and which.

    python benchmarks/quiet_commands.py [--part 1/4] [--disturb]

On a quiet machine there should be none: a warning is for what its reader can end, or must know before a
number is quoted. With `--disturb` a busy loop runs on a CPU of the ranks meanwhile, and each command must
name it. `--part` runs a share of the commands. Each has a folder of its own, and a time budget also where its
page has none. Exit code 1: a warning on a quiet machine, or a loop that was not named.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.installed import scripts_folder
from steelyard.system.process import Child, run

SECONDS = 120.0  # more than any of these commands takes
# As on the pages; what is added is an end in time, and --out.
COMMANDS = (
    "run mpi.pingpong -n 2 --bytes 0,8,1Ki,64Ki,1Mi --mpi openmpi,embedded --time-budget 15s",
    "run self.spin self.empty self.clock --param ns=1000,10000,100000 --launches 3 --time-budget 6s",
    "run mpi.pingpong --bytes 0,8,1Ki,64Ki,1Mi --launches 6 --time-budget 10s",
    "run mpi.pingpong --bytes 0,8,1Ki,64Ki,1Mi --mpi embedded --launches 6 --time-budget 10s",
    "run mpi.allreduce mpi.iallreduce mpi.allreduce_init -n 2 --bytes 8,1Ki --launches 3 --time-budget 10s",
    "run mpi.pingpong --bytes 8 --placement each",
    "run 'pthread.*' 'atomic.*' --threads 1,2 --time-budget 15s",
    "run openmp --time-budget 20s",
    "run loggp --time-budget 15s",
    "run mpi.bcast -n 2 --bytes 8 --method epoch,bisected-ack,bounds,library-barrier --time-budget 10s",
    "run mpi.pingpong --bytes 0,8,1Ki --method each --time-budget 10s",
    "run mpi.pingpong --bytes 0 --mpi embedded --launches 3 --time-budget 10s",
    "run --like osu_latency --like osu_allreduce --time-budget 15s",
    "run --like PingPong --bytes 8,64Ki --launches 20 --time-budget 15s",
    "run mpi.allreduce --arms mpi=openmpi,mpich --bytes 8,1Ki --time-budget 15s",
    "run mpi.pingpong --bytes 512..64Ki --refine --time-budget 15s",
    "run npb.cg npb.mg --class S -n 2 --time-budget 15s",
    "run mpi.allreduce --bytes 8,64Ki --param operator=sum,user --param cache=warm,cold --time-budget 10s",
    "run mpi.pingpong --bytes 8 --param 'send=*' --param recv=recv,irecv --time-budget 15s",
    "run floor --time-budget 20s",
)
_LOOP = "while True: pass"
# Words of remarks on rows that say a number is doubtful: `rows/row_words.py` has them.
_CRIES = re.compile(r"noisy|drifts|neighbouring launches alike|over 3 x the median|ended badly|±[^.]* above")
_WARNINGS = re.compile(r"^ *(warning|error): .*", re.MULTILINE)


@dataclass(frozen=True)
class Heard:
    """What a command said: warnings on stderr, and remarks that cry on stdout, each a line."""

    command: str
    code: int
    warnings: tuple[str, ...]
    cries: tuple[str, ...]


def heard_of(command: str, code: int, out: str, err: str) -> Heard:
    """Find the warnings and the remarks that cry in what a command wrote."""
    warnings = tuple(found[0].strip() for found in _WARNINGS.finditer(err))
    return Heard(
        command,
        code,
        warnings,
        tuple(" ".join(line.split()) for line in out.splitlines() if _CRIES.search(line)),
    )


def lines_of(heard: Heard) -> Iterator[str]:
    """A line with the counts, then one for each warning and remark."""
    counts = f"{len(heard.warnings)} warnings, {len(heard.cries)} remarks"
    yield f"{counts}, exit code {heard.code}: steelyard {heard.command}"
    yield from (f"    {text}" for text in (*heard.warnings, *heard.cries))


def is_named(heard: Heard, pid: int) -> bool:
    """Does a warning name the process?"""
    return any(f"(pid {pid})" in text for text in heard.warnings)


def share_of(commands: Sequence[str], part: str) -> Sequence[str]:
    """The commands of part `2/4`. Raises ValueError."""
    which, of = (int(word) for word in part.split("/"))
    if not 1 <= which <= of:
        raise ValueError(part)
    return commands[which - 1 :: of]


@contextmanager
def disturbed(cpu: int) -> Iterator[int]:
    """A busy loop on a CPU, by its pid."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})  # which the loop inherits
    try:
        child = Child([sys.executable, "-c", _LOOP])
    finally:
        os.sched_setaffinity(0, own)
    with child:
        yield child.pid


def listen(command: str, folder: Path) -> Heard:
    """Run a command into a folder."""
    words = [str(scripts_folder() / "steelyard"), *shlex.split(command), "--out", str(folder)]
    done = run(words, timeout=SECONDS)
    return heard_of(command, done.code, done.out, done.err)


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--part", default="1/1", help="2/4: the second of four shares")
    parser.add_argument("--disturb", action="store_true", help="with a busy loop on a CPU of the ranks")
    given = parser.parse_args()
    chosen = share_of(COMMANDS, given.part)
    bad = 0
    for command in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "out"
            if given.disturb:
                with disturbed(min(os.sched_getaffinity(0))) as pid:
                    heard = listen(command, folder)
                bad += not is_named(heard, pid)
            else:
                heard = listen(command, folder)
                bad += bool(heard.warnings)
        print("\n".join(lines_of(heard)), flush=True)
    told = "did not name the busy loop" if given.disturb else "printed a warning"
    print(f"{bad} of {len(chosen)} commands {told}")
    raise SystemExit(int(bad > 0))


if __name__ == "__main__":
    main()
