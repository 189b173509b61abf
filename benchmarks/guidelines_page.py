"""A page on the guidelines of MPIs, in Markdown, from a results folder of the plan guidelines.

    steelyard check guidelines --mpi openmpi,mpich,embedded --out results/guidelines
    python benchmarks/guidelines_page.py results/guidelines

The date, the machine, the versions and the load are read from the folder. All MPIs of the folder are one
check: its error level holds for all of them together.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from apps_page import markdown, markdown_of, place_lines

from steelyard.base.plural import counted
from steelyard.judges.guidelines.tables import case_table, guideline_sentences
from steelyard.judges.guidelines.verdicts import (
    CANNOT_TELL,
    HOLDS,
    VIOLATED,
    Asked,
    CheckedGuidelines,
    GuidelineVerdict,
    check_guidelines,
)
from steelyard.results.load import load
from steelyard.results.rows import rows_of

_ABOUT = (
    "`benchmarks/guidelines_page.py` wrote this page from a results folder of the plan "
    "[`guidelines`](../analysis/guidelines.md):\n\n"
)
_VERDICTS = (VIOLATED, HOLDS, CANNOT_TELL)


def page(folder: Path) -> Iterator[str]:
    """The parts of the page."""
    measured = load(folder)
    rows = rows_of(measured)
    found = check_guidelines(rows, Asked())
    violated = [f"{mpi} {_violated(_of(found, mpi))}" for mpi in _mpis(found)]
    total = _violated(found.points)
    yield f"# Guidelines of MPIs\n\n{total} of {found.family} cases are violated: {', '.join(violated)}.\n"
    yield f"{_ABOUT}    {shlex.join(measured.campaign.command)}\n"
    yield "\n".join(place_lines(measured, rows)) + "\n"
    yield (
        f"{found.promise[0].upper()}{found.promise[1:]}: {found.family} verdicts on {found.launches} "
        f"launches. A violation needs {found.least_launches} launches.\n"
    )
    yield "## How many\n"
    yield _counts(found)
    yield "## What is violated\n"
    yield (
        "The ratio is the time of the left side over that of the right side. The bounds *from* and *to* hold "
        "for all verdicts together.\n"
    )
    for mpi in _mpis(found):
        bad = [one for one in _of(found, mpi) if one.verdict == VIOLATED]
        yield f"### {mpi}\n"
        yield markdown_of(case_table("", found, bad)) if bad else "Nothing.\n"
    yield "## What to do\n"
    yield markdown(("guideline", "MPI", "what helps"), list(_todo(found)), [False] * 3)
    if found.missing:
        yield "## What could not be checked\n"
        yield "".join(f"- {why}: {cases}.\n" for why, cases in _by_reason(found.missing))


def _todo(found: CheckedGuidelines) -> Iterator[tuple[str, str, str]]:
    """Each violated guideline with what helps, and the MPIs of which that is said."""
    *violated, _ = guideline_sentences(found)  # the last one counts
    mpis: dict[tuple[str, str], list[str]] = {}
    for sentence in violated:
        case, _, helps = sentence.rstrip(".").partition(" times as long. To do: ")
        mpi, _, words = case.partition(" is violated")[0].rpartition(": ")
        mpis.setdefault((words, helps), []).append(mpi)
    for (words, helps), names in mpis.items():
        yield words, ", ".join(names), helps


def _by_reason(missing: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each reason once, with its cases: those of one guideline share it, with their sizes."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for words in missing:
        case, _, why = words.partition(" (")
        guideline, _, size = case.partition(", ")
        sizes = by_reason.setdefault(why.partition(": ")[2].removesuffix(")"), {}).setdefault(guideline, [])
        sizes += [size] if size else []
    for why, cases in by_reason.items():
        yield why, "; ".join(f"{one}, {', '.join(sizes)}" if sizes else one for one, sizes in cases.items())


def _counts(found: CheckedGuidelines) -> str:
    """A line for each guideline that somebody violates, a column for each MPI: how many of its cases are
    violated, hold, are undecided.
    """
    mpis = _mpis(found)
    lines = []
    whole = list(dict.fromkeys(one.words for one in found.points))
    for words in whole:
        points = [one for one in found.points if one.words == words]
        if _violated(points):
            lines.append(
                (words, *(_count([one for one in _of(found, mpi) if one in points]) for mpi in mpis))
            )
    kept = len(whole) - len(lines)
    lines.append(("all", *(_count(_of(found, mpi)) for mpi in mpis)))
    said = (
        f"Cases: violated / hold / undecided. {counted(kept, 'further guideline')} without a violation.\n\n"
    )
    return said + markdown(("guideline", *mpis), lines, [False, *(True for _ in mpis)])


def _count(points: Sequence[GuidelineVerdict]) -> str:
    said = [one.verdict for one in points]
    return " / ".join(str(said.count(verdict)) for verdict in _VERDICTS) if said else ""


def _violated(points: Sequence[GuidelineVerdict]) -> int:
    return sum(one.verdict == VIOLATED for one in points)


def _mpis(found: CheckedGuidelines) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.mpi or "without MPI" for one in found.points))


def _of(found: CheckedGuidelines, mpi: str) -> list[GuidelineVerdict]:
    return [one for one in found.points if (one.mpi or "without MPI") == mpi]


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    print("\n".join(page(parser.parse_args().folder)), end="")


if __name__ == "__main__":
    main()
