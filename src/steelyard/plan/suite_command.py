"""Command lines of OSU and IMB as hands know them: `mpirun -n 2 osu_latency -m 8:1024`, and the same here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from steelyard.base.element_types import ELEMENT_BYTES
from steelyard.base.errors import InputError
from steelyard.base.files import read_regular
from steelyard.base.printable import shortened
from steelyard.base.units import parse_sizes
from steelyard.plan.like import THEIR_OPTIONS, find_like, known_as
from steelyard.plan.suites import Like, groups

_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "aprun", "jsrun")
_NUMBERS_OF_RANKS = ("-n", "-np", "--np", "--ntasks")  # of a launcher
_CORES_OF_A_RANK = "-c"  # of srun; of the others it is one more number of ranks
_TWO_VALUES = ("--mca", "-mca", "-genv", "-env")
_ONE_VALUE = (
    *("-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "-f", "-N", "-ppn", "--map-by"),
    *("--bind-to", "-bind-to", "-map-by", "--rank-by", "-wdir", "-p", "--partition", "-x"),
)
# Options of the suites with no value; each other one has a value.
_FLAGS = ("-c", "--validation", "-f", "--full", "-z", "--tail-lat", "-G", "--graph", "-h", "-v")
_SYNCS: Mapping[str, tuple[str, str]] = {  # osu_put_latency -s
    "lock": ("lock_shared", "close"),
    "lock_all": ("lock_all", "close"),
    "flush": ("lock_shared", "flush"),
    "flush_local": ("lock_shared", "flush_local"),
    "pscw": ("pscw", "close"),
    "fence": ("fence", "close"),
}
_PAIRS = re.compile(
    r"mpi\.(pingpong|pingping|put|get|accumulate|get_accumulate|fetch_and_op|compare_and_swap)"
)
_LEVELS = ("single", "funneled", "serialized", "multiple")
_MOST_LOG = 40  # 1 TiB
_LENGTH = re.compile(r"(\d{1,12})\s*([kKmM]?)\w*", re.ASCII)  # of IMB's file: 8, 64K, 4 M
_MOST_LENGTHS, _MOST_QUOTED = 1 << 16, 60  # bytes of that file, letters of a line of it in a sentence


@dataclass
class SuiteCommand:
    """What a command line of another suite asks for, in options of `steelyard run`, in the order of typing;
    `untold` are those of its options that have no counterpart, each with what is to be said of it.
    """

    tests: list[Like] = field(default_factory=list)
    options: dict[str, str | bool] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    env: list[str] = field(default_factory=list)
    untold: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    ranks: int | None = None
    least_ranks: int | None = None

    def leave(self, word: str) -> None:
        """Leave an option out, and say what does the same here."""
        self.untold.setdefault(word, THEIR_OPTIONS.get(word, "see steelyard run --help"))


def read_suite_command(
    words: Sequence[str], ours: Mapping[str, bool], ranks: int | None = None
) -> SuiteCommand | None:
    """Read a command line of another suite; None if its first word that is no option names none of its tests.

    `ours` are options of `steelyard run`, which stay as they are: whether each takes a value. `ranks` are
    those that a launcher started already. Raises InputError for a program of IMB without a test.
    """
    asked = SuiteCommand(ranks=ranks)
    rest = _launched(list(words), asked)
    program = _name(rest[0]) if rest else ""
    of_program = groups().get(program) if program.startswith("imb-") else None
    is_imb = of_program is not None
    if is_imb:
        rest = rest[1:]
    while rest:
        word = rest.pop(0)
        if (row := None if word.startswith("-") else known_as(PurePath(word).name)) is not None:
            asked.tests.append(row)
            is_imb |= row.program.startswith("IMB")
        elif not word.startswith("-"):
            if not (asked.tests or is_imb):
                return None
            asked.untold.setdefault(word, "leave it out" if word != "D" else THEIR_OPTIONS["-d"])
        elif word.partition("=")[0] in ours:
            takes = ours[word.partition("=")[0]] and "=" not in word
            asked.kept += [word, *(rest[:1] if takes else ())]
            rest = rest[1:] if takes else rest
        else:
            _take(asked, word, rest, is_imb=is_imb)
    if not asked.tests and of_program is not None:
        find_like(program)  # a suite; it says so
    if not asked.tests:
        return None
    _count_ranks(asked, is_imb=is_imb)
    return asked


def _name(word: str) -> str:
    return PurePath(word).name.lower()


def _launched(words: list[str], asked: SuiteCommand) -> list[str]:
    """Take a launcher and its options off, and keep its number of ranks and its variables."""
    if not words or _name(words[0]) not in _LAUNCHERS:
        return words
    rest, is_srun = words[1:], _name(words[0]) == "srun"
    while rest and rest[0].startswith("-"):
        word, _, value = rest.pop(0).partition("=")
        joined = re.fullmatch(r"(-np?|-c)(\d+)", word)
        if is_srun and word.startswith(_CORES_OF_A_RANK):
            asked.untold[word] = "cores of a rank are --placement"
            rest = rest if value or joined else rest[1:]
        elif word in (*_NUMBERS_OF_RANKS, _CORES_OF_A_RANK) or joined:
            number = joined[2] if joined else value or (rest.pop(0) if rest else "")
            asked.ranks = int(number) if number.isascii() and number.isdecimal() else asked.ranks
        elif word in _TWO_VALUES and len(rest) > 1:
            name = f"OMPI_MCA_{rest[0]}" if "mca" in word else rest[0]
            asked.env.append(f"{name}={rest[1]}")
            rest = rest[2:]
        elif word == "-x" and rest and "=" in rest[0]:
            asked.env.append(rest.pop(0))
        elif word == "--oversubscribe":
            asked.options["oversubscribe"] = True
        else:
            asked.untold[word] = "places are --placement, and hosts --hosts"
            rest = rest[1:] if word in _ONE_VALUE and not value else rest
    return rest


def _take(asked: SuiteCommand, word: str, rest: list[str], *, is_imb: bool) -> None:
    """Take one option of a suite, and its value from `rest`."""
    if word in _FLAGS:
        asked.leave(word)
        return
    if not rest or (rest[0].startswith("-") and not rest[0][1:].isdecimal()):
        asked.leave(word)
        return
    value = rest.pop(0)
    take = (_OF_IMB if is_imb else _OF_OSU).get(word) or _OF_BOTH.get(word)
    if take is None or not take(asked, value):
        asked.leave(word)


def _whole(option: str) -> Callable[[SuiteCommand, str], bool]:
    def take(asked: SuiteCommand, value: str) -> bool:
        number = value.partition(",")[0]  # of IMB's -iter, with what bounds it
        if not (number.isascii() and number.isdecimal()):
            return False
        asked.options[option] = number
        return True

    return take


def _param(name: str, words: Mapping[str, str] | None = None) -> Callable[[SuiteCommand, str], bool]:
    def take(asked: SuiteCommand, value: str) -> bool:
        word = value if words is None else words.get(value.lower(), "")
        if not re.fullmatch(r"[a-z0-9_.]+", word):
            return False
        asked.params[name] = word
        return True

    return take


def _counted(asked: SuiteCommand, value: str) -> bool:
    number = value.partition(",")[0]
    if not (number.isascii() and number.isdecimal()):
        return False
    asked.options["rule"] = "fixed"
    asked.params["count"] = number
    return True


def _typed(asked: SuiteCommand, value: str) -> bool:
    """OSU's -T mpi_float: MPI_CHAR is the default of each test."""
    word = value.lower().removeprefix("mpi_")
    if word == "char":
        return True
    if word not in ELEMENT_BYTES:
        return False
    asked.params["type"] = word
    return True


def _osu_sizes(asked: SuiteCommand, value: str) -> bool:
    """OSU's -m [MIN:]MAX: powers of two times the least."""
    match = re.fullmatch(r"(?:(\d*):)?(\d*)", value, re.ASCII)
    row = asked.tests[0] if asked.tests else None
    if match is None or row is None or row.bytes is None:
        return False
    sizes = parse_sizes(row.bytes)
    first, last = int(match[1] or sizes[0]), int(match[2] or sizes[-1])
    if first > last:
        return False
    asked.options["bytes"] = _doubled(first, last)
    return True


def _imb_sizes(asked: SuiteCommand, value: str) -> bool:
    """IMB's -msglog [MIN:]MAX: nothing, and powers of two from 2^MIN to 2^MAX."""
    match = re.fullmatch(r"(?:(\d+):)?(\d+)", value, re.ASCII)
    if match is None or max(first := int(match[1] or 0), last := int(match[2])) > _MOST_LOG or first > last:
        return False
    asked.options["bytes"] = f"0,{_doubled(1 << first, 1 << last)}"
    return True


def _imb_lengths(asked: SuiteCommand, value: str) -> bool:
    """IMB's -msglen FILE: a size on each line that is neither empty nor begins with #."""
    try:
        sizes = tuple(_lengths_in(Path(value)))
    except InputError as error:
        asked.untold["-msglen"] = f"{error}; sizes are --bytes 0,8,1Ki"
        return True
    asked.options["bytes"] = ",".join(_ranged(dict.fromkeys(sizes)))
    return True


def _lengths_in(path: Path) -> Iterable[int]:
    """Read IMB's file of lengths. Raises InputError."""
    lines = read_regular(path, _MOST_LENGTHS).decode(errors="replace").splitlines()
    kept = [(k, line.strip()) for k, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    if not kept:
        raise InputError(f"{path} has no size")
    for k, line in kept:
        if (match := _LENGTH.fullmatch(line)) is None:
            raise InputError(f"line {k} of {path} is no size: '{shortened(line, _MOST_QUOTED)}'")
        yield int(match[1]) << {"": 0, "k": 10, "m": 20}[match[2].lower()]


def _doubled(first: int, last: int) -> str:
    """Write the sizes from the first on that double up to the last."""
    end = first or min(1, last)
    while 0 < 2 * end <= last:
        end *= 2
    return f"{first}..{end}" if end > first else str(first)


def _synced(asked: SuiteCommand, value: str) -> bool:
    if (words := _SYNCS.get(value.lower())) is None:
        return False
    asked.params["sync"], asked.params["complete"] = words
    return True


def _at_least(asked: SuiteCommand, value: str) -> bool:
    if not (value.isascii() and value.isdecimal()) or value == "0":
        return False
    asked.least_ranks = int(value)
    return True


def _level(asked: SuiteCommand, value: str) -> bool:
    if value.lower() not in _LEVELS:
        return False
    asked.options["thread_level"] = value.lower()
    return True


def _started(asked: SuiteCommand, value: str) -> bool:
    if not (value.isascii() and value.isdecimal()):
        return False
    asked.ranks = int(value)
    return True


_Takes = Mapping[str, Callable[[SuiteCommand, str], bool]]
_OF_BOTH: _Takes = {"-np": _started, "--np": _started, "-W": _param("window")}
_OF_OSU: _Takes = {
    **dict.fromkeys(("-m", "--message-size"), _osu_sizes),
    **dict.fromkeys(("-i", "--iterations"), _counted),
    **dict.fromkeys(("-T", "--type"), _typed),
    "--window-size": _param("window"),
    "-t": _whole("threads"),
    "-s": _synced,
    "-w": _param("window", {word: word for word in ("create", "allocate", "dynamic")}),
    "--root-rank": _param("root"),
}
_OF_IMB: _Takes = {
    "-msglog": _imb_sizes,
    "-msglen": _imb_lengths,
    "-iter": _counted,
    "-npmin": _at_least,
    "-time": _param("most_seconds"),
    "-window_size": _param("window"),
    "-root_shift": _param("roots", {"on": "rotate", "1": "rotate"}),
    "-thread_level": _level,
}


def _count_ranks(asked: SuiteCommand, *, is_imb: bool) -> None:
    """IMB measures on -npmin ranks (2), on twice as many and so on, and on all; OSU on all."""
    _fit_sizes(asked)
    if "-n" in asked.kept or "--ranks" in asked.kept or asked.ranks is None:
        asked.options |= {} if asked.least_ranks is None else {"-n": str(asked.least_ranks)}
        return
    counts = [asked.ranks]
    if is_imb and all(_PAIRS.fullmatch(row.op) for row in asked.tests):
        counts = [2]
    elif is_imb:
        least = min(asked.least_ranks or 2, asked.ranks)
        counts = [
            *(least << k for k in range(asked.ranks.bit_length()) if least << k < asked.ranks),
            asked.ranks,
        ]
    asked.options["-n"] = ",".join(map(str, counts))


def _fit_sizes(asked: SuiteCommand) -> None:
    """Leave out the sizes that hold no whole element, as both suites do."""
    types = [asked.params.get("type") or str(row.params.get("type", "byte")) for row in asked.tests]
    least = max(ELEMENT_BYTES.get(kind, 1) for kind in types)
    sizes = asked.options.get("bytes")
    if isinstance(sizes, str) and least > 1:
        whole = [size for size in parse_sizes(sizes) if size % least == 0]
        asked.options["bytes"] = ",".join(_ranged(whole)) or sizes


def _ranged(sizes: Iterable[int]) -> Iterable[str]:
    """Write sizes, each run of those that double as a range."""
    run: list[int] = []
    for size in (*sizes, None):
        if size is not None and run and run[-1] and size == 2 * run[-1]:
            run.append(size)
            continue
        if run:
            yield _doubled(run[0], run[-1])
        run = [] if size is None else [size]
