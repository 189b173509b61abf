"""The input of checks, and the words for what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from steelyard.base.plural import capital, counted
from steelyard.records.command_line import Given, resumed
from steelyard.records.kinds import INSTRUMENT
from steelyard.records.schema import Job
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.rows.labels import row_labels
from steelyard.rows.words import row_name

MOST_NAMED = 2  # examples; the table has all


@dataclass(frozen=True, slots=True)
class Evidence:
    """A folder and its rows, in the same order as its points."""

    measured: Measured
    rows: tuple[Row, ...]


def going_on(text: str, **changes: Given) -> Callable[[Evidence], str]:
    """Make the remedy `text: ` and the command that goes on in the folder, with `changes`; without a plan in
    the folder there is none.
    """

    def remedy(evidence: Evidence) -> str:
        if not evidence.measured.campaign.plan:
            return f"{text}, by the command of the run: the folder holds no plan to go on by."
        return f"{text}: {resumed(evidence.measured.folder, **changes)}"

    return remedy


def listed(rows: Iterable[Row], detail: Callable[[Row], str], verb: str = "") -> str | None:
    """Write `3 test cases failed: name and name (detail); name (detail); and 1 more.`; None without rows."""
    alike: dict[str, list[Row]] = {}
    for row in rows:
        alike.setdefault(detail(row), []).append(row)
    if not alike:
        return None
    shown = list(alike.items())[:MOST_NAMED]
    among = [row for _, own in shown for row in own[:MOST_NAMED]]
    named = [f"{_names(own, among)} ({said})" for said, own in shown]
    count = sum(map(len, alike.values()))
    left = count - sum(len(own) for _, own in shown)
    return f"{counted(count, 'test case')}{verb}: {_examples(named, left)}"


def sentences(findings: Iterable[str]) -> str | None:
    """Join findings without repeats into one sentence: the first in full, the others counted; None without
    any.
    """
    found = list(dict.fromkeys(findings))
    return capital(_examples(found[:MOST_NAMED], len(found[MOST_NAMED:]))) if found else None


def _examples(shown: Sequence[str], left: int) -> str:
    more = f"; and {left} more" if left else ""
    return "; ".join(shown) + more + "."


def _names(rows: Sequence[Row], among: Sequence[Row]) -> str:
    """`name and name and 3 more`."""
    names = [_name(row, among) for row in rows[:MOST_NAMED]]
    return " and ".join([*names, *([f"{len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else [])])


def _name(row: Row, among: Sequence[Row]) -> str:
    """Name a row: `mpi.bcast 8 B, root=1, method barrier`, with all that distinguishes it from
    its namesakes.
    """
    namesakes = [one for one in among if row_name(one) == row_name(row)]
    own = next(i for i, one in enumerate(namesakes) if one is row)
    return ", ".join(part for part in (row_name(row), row_labels(namesakes).label(own)) if part)


def valued(rows: Iterable[Row]) -> Iterator[tuple[Row, float]]:
    """List rows with a positive time, and the time; without ops on the timer itself, which may take almost
    nothing.
    """
    for row in rows:
        if row.time is not None and row.time > 0 and row.role != INSTRUMENT:
            yield row, row.time


def mpi_name(job: Job) -> str:
    """Name the MPI: `openmpi-4.1.4`, or say that there was none."""
    return job.mpi.name if job.mpi else "a launch without MPI"
