"""Tests of other suites by name: `steelyard run --like osu_latency`, and the page docs/reference/like.md."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from steelyard.base.errors import InputError
from steelyard.base.footnotes import with_notes
from steelyard.base.units import format_values
from steelyard.plan.suites import EVERY_CORE, KERNELS, SUITES, Like, groups
from steelyard.records.command_line import command

_SIZES, _RANKS = "sizes are --bytes 1..1Ki", "the number of ranks is -n 4, or several: -n 2,4"
_LAUNCHES = "each start of the program is a launch: --launches 10"
_WARM_UP = "warm-up ends when samples no longer become faster"
_BUDGET = "an end in time is --time-budget 1m"
_COUNT = "--rule fixed --param count=N takes N samples; without, the stop rule takes as many as it needs"
# Option of ours, as Python spells it -> what people call it, and what to tell them.
OTHER_NAMES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ranks": (_RANKS, ("np", "nprocs", "procs", "processes", "ntasks")),
    "bytes": (_SIZES, ("size", "sizes", "nbytes", "message-size")),
    "launches": (_LAUNCHES, ("runs", "repeat", "repeats", "repetitions", "trials")),
    "time_budget": (_BUDGET, ("timeout", "duration", "budget")),
}
# Options of other suites, and names that people try; what does the same here.
THEIR_OPTIONS: Mapping[str, str] = {
    "-np": _RANKS,
    "-m": _SIZES,
    "-i": _COUNT,
    "-iter": _COUNT,
    "-x": _WARM_UP,
    **dict.fromkeys(
        ("-W", "--window-size", "-window_size"), "the window of a bandwidth test is --param window=64"
    ),
    "-t": "the number of threads is --threads 2",
    **dict.fromkeys(("-f", "--full"), "the report has all columns; --like osu_allreduce prints OSU's"),
    **dict.fromkeys(("-c", "--validation"), "each answer is always checked"),
    **dict.fromkeys(
        ("-z", "--tail-lat"),
        "the report and results.csv have p99; --rule quantile measures until it is known",
    ),
    **dict.fromkeys(("-G", "--graph"), "the report has pictures; steelyard plot DIR draws them for papers"),
    **dict.fromkeys(
        ("-M", "--mem-limit"), "sizes are --bytes 0,8,1Ki, and buffers have the room that they need"
    ),
    "--root-rank": "the root is --param root=1",
    "-npmin": "the numbers of ranks are -n 2,4",
    "-msglog": "sizes are --bytes 0,1..4Mi",
    "-msglen": "sizes are --bytes 0,8,1Ki",
    "-npmax": "the numbers of ranks are -n 2,4",
    "-d": "buffers are in the memory of the host; there is no option for others",
    **dict.fromkeys(("-T", "--type"), "the type of data is --param type=float"),
    "-map": "places are --placement",
    "-time": "the time of a test case is --param most_seconds=1, that of the run --time-budget 1m",
    **{f"--{name}": said for said, names in OTHER_NAMES.values() for name in names},
    "-s": _SIZES,
    "-r": _LAUNCHES,
    **dict.fromkeys(("--iterations", "--iters", "--samples", "--count"), _COUNT),
    **dict.fromkeys(("--warmup", "--warm-up"), _WARM_UP),
    **dict.fromkeys(("-o", "--output", "--outdir"), "the results folder is --out DIR"),
    "--csv": "a table of it is in results.csv; steelyard show DIR --csv prints it",
}

_PAGE = "docs/reference/like.md"
_MOST_NAMES, _SOME_NAMES = 50, 6  # tests that a sentence names: all of a suite, or the first

# Tests of other suites without an op here, by parts of their names.
_NOT_YET = (
    (r"oshm|shmem", "OpenSHMEM of another kind"),
    (r"upc", "UPC"),
    (r"(^|_)(put|get|acc|fop|cas)(_|$)|(^|_)rma|one_?sided", "one-sided operations of another kind"),
)


def known_as(word: str) -> Like | None:
    """Find the row of that name, in any case."""
    rows = (row for suite in SUITES.values() for row in suite)
    return next((row for row in rows if row.name.lower() == word.lower()), None)


def find_like(name: str) -> Like:
    """Find the row of that name, in any case. Raises InputError that names those of a suite, or near ones."""
    if (row := known_as(name)) is not None:
        return row
    test, *options = name.split() or [name]
    if options and known_as(test) is not None:
        raise InputError(f"--like names a test, '{test}', without its options: {_our_options(options)}")
    if (theirs := groups().get(name.lower())) is not None:
        raise InputError(f"'{name}' is a suite of {len(theirs)} tests; {_named_tests(theirs)}")
    if (runs_all := KERNELS.get(name.lower())) is not None:
        raise InputError(f"'{name}' is a suite whose programs are ops here; type: {runs_all}")
    rows = [row for suite in SUITES.values() for row in suite]
    for pattern, subject in _NOT_YET:
        if re.search(pattern, name.lower()):
            raise InputError(f"'{name}' is a test of {subject}, and there is no such op; see {_PAGE}")
    close = _near(name, (row.name for row in rows))
    hint = f"did you mean {close}? See" if close else "see"
    raise InputError(f"no test of another suite is called '{name}'; {hint} {_PAGE}")


def _named_tests(rows: Sequence[Like]) -> str:
    """Name the tests of a suite; of a large one its programs, or what lists the tests."""
    if len(rows) <= _MOST_NAMES:
        return f"give --like one or several: {', '.join(row.name for row in rows)}"
    programs = Counter(row.program for row in rows)
    if all(programs) and len(programs) > 1:
        parts = ", ".join(f"{program} ({count})" for program, count in programs.items())
        return f"a program of it names its own, such as --like {rows[0].program}: {parts}"
    names = ", ".join(row.name for row in rows[:_SOME_NAMES])
    start = f"{rows[0].name.partition('_')[0]}_"
    is_usual = 2 * sum(row.name.startswith(start) for row in rows) > len(rows)
    where = f"{command('list', f'{start}*')} lists them" if is_usual else f"{_PAGE} has all"
    return f"give --like one or several, such as {names}; {where}"


def _our_options(words: Sequence[str]) -> str:
    """Say which options here do what those of another suite do there."""
    told = list[str]()
    for i, word in enumerate(words):
        if not word.startswith("-"):
            continue
        if word == "-m" and (sizes := re.fullmatch(r"(\d+):(\d+)", "".join(words[i + 1 : i + 2]), re.ASCII)):
            told.append(f"for {word}, sizes are --bytes {sizes[1]}..{sizes[2]}")
        else:
            told.append(f"for {word}, {THEIR_OPTIONS.get(word, 'see steelyard run --help')}")
    return "; ".join(told) or f"leave {words[0]} out"


def _near(name: str, known: Iterable[str]) -> str:
    lower = {word.lower(): word for word in known}
    return " or ".join(lower[word] for word in difflib.get_close_matches(name.lower(), lower, n=2))


def like_page() -> str:
    """Write docs/reference/like.md."""
    lines = ["# What other suites call it", "", _INTRODUCTION, ""]
    for suite, rows in SUITES.items():
        has_theirs = any(row.theirs for row in rows)
        heads = [
            "test",
            "op here",
            "sizes",
            *(["the original, by default"] if has_theirs else []),
            "difference",
        ]
        lines += [f"## {suite}", "", *(_table_line(line) for line in (heads, ["---"] * len(heads)))]
        cells = []
        for row in rows:
            given = f" `{format_values(row.params)}`" if row.params else ""
            given += f" `--threads {row.threads}`" if row.threads > 1 else ""
            given += " on all cores" if row.threads == EVERY_CORE else ""
            sizes = f"`{row.bytes}`" if row.bytes else "none"
            theirs = [row.theirs] if has_theirs else []
            cells.append([row.name, f"`{row.op}`{given}", sizes, *theirs, row.differs])
        short, notes = with_notes(cells)
        lines += [*map(_table_line, short), "", *(f"- {letter}: {text}" for letter, text in notes)]
        lines += [""] if notes else []
    return "\n".join(lines)


def _table_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_INTRODUCTION = """`steelyard run --like NAME` runs the op that is nearest to a test of another suite,
with the sizes and defaults of that suite. The *measurement* is Steelyard's. `--to osu` or `--to imb` prints
[their text](export.md). A command line of OSU or IMB behind `steelyard`, with or without `mpirun`, is
answered by the command to type here. `--like IMB-MPI1` and other names of suites list tests. Tests of files
need `--files DIR`. How the numbers compare: [peers](../results/peers.md), [large
messages](../results/large-messages.md), [small ones](../results/small-messages.md).

`docs/generate.py` makes this page from `src/steelyard/plan/suites/`, which was written from the sources of
OSU Micro-Benchmarks 7.4, Intel MPI Benchmarks 2021, IOR 4, EPCC's OpenMP micro-benchmarks 4.0 and SKaMPI's
OpenSHMEM extension, and the manuals of the others. A letter stands for a text below its table. EPCC's
BARRIER_VAR, STATIC_MONOTONIC, nested tasks and locks with a hint have no row yet."""
