"""Checks of the records themselves: what was changed or lost after it was written, what was never written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.base.diagnostic import ERROR, NOTE, WARNING, check
from steelyard.base.plural import plural
from steelyard.diagnostics.results.evidence import Evidence, going_on, listed, sentences
from steelyard.results.load import is_damaged
from steelyard.results.precision import asked_of
from steelyard.results.row import Row


def _again(evidence: Evidence) -> str:
    """A launch whose test cases are all there is not measured again as long as its file is there."""
    has_lost = any(any(map(is_damaged, row.launches)) for row in evidence.rows)
    more = "what is damaged" if has_lost else "their launches, once they are deleted"
    return going_on(f"Restore the files, or measure again {more}")(evidence)


@check(
    "damaged",
    ERROR,
    "Damaged records",
    why="Records were changed, lost or doubled after they were written, or contradict each other. A launch "
    "whose records of a test case cannot be believed has no numbers of it.",
    remedy=_again,
)
def damaged(evidence: Evidence) -> str | None:
    """Find test cases with damaged records, and damage of files that spoils no test case."""
    rows = [row for row in evidence.rows if row.status == "failed" and any(map(is_damaged, row.launches))]
    files = [what for file in evidence.measured.files for what in file.damage]
    found = [
        listed(rows, lambda row: row.why or "damaged", " with damaged records"),
        sentences([*evidence.measured.lost, *files, *_unclosed(evidence)]),
    ]
    return " ".join(one for one in found if one is not None) or None


def _unclosed(evidence: Evidence) -> Iterator[str]:
    """Name records with which a launch ends, and which are not there. Older files do not say what was to be
    measured, and lack some of them.
    """
    for file in evidence.measured.files:
        ended = {run.index for run in file.points if run.end is not None}
        if not file.job.points or file.launch is None or not ended.issuperset(file.job.points):
            continue
        host = next((place.host for place in file.launch.places if place.rank == 0), None)
        here = {place.rank for place in file.launch.places if place.host == host}
        if not file.watches:
            yield f"{file.path.name} has no record 'watch'"
        ended_badly = any(watch.ending is not None or watch.stopped for watch in file.watches) or any(
            run.end is not None and run.end.is_of_the_dead for run in file.points
        )
        if (
            file.launch.mpi is not None
            and not ended_badly
            and (gone := here - {close.rank for close in file.closes})
        ):
            ranks = f"{plural('rank', len(gone))} {', '.join(map(str, sorted(gone)[:4]))}"
            yield f"{file.path.name} has no record 'close' of {ranks}"


@check(
    "missing",
    WARNING,
    "Missing launches",
    why="Later launches of the test cases were measured, so these were, too, and their records are lost; or "
    "a run was stopped when it went back to them.",
    remedy=going_on("Restore the files, or measure what is missing"),
)
def missing(evidence: Evidence) -> str | None:
    """Find launches in which test cases have no end, although later launches have."""
    return _without(evidence, {row.point: set(range(1, _last(row))) for row in evidence.rows})


@check(
    "not-measured",
    NOTE,
    "Launches that were not measured",
    why="The run was stopped, or its time budget was over.",
    remedy=going_on("Measure what is missing"),
)
def not_measured(evidence: Evidence) -> str | None:
    """Find the launches that the plan has after the last one in which a test case has an end."""
    planned = evidence.measured.campaign.plan.get("launches")
    if asked_of(evidence.measured.campaign) is not None:
        return None  # the plan has the most launches, and rows say what they need
    last = min(planned, _MOST_LAUNCHES) if isinstance(planned, int) else 0
    return _without(evidence, {row.point: set(range(_last(row) + 1, last + 1)) for row in evidence.rows})


_MOST_LAUNCHES = 100_000  # that are looked for: more is damage of the plan


def _last(row: Row) -> int:
    """Find the last launch with an end. Test cases that were added later, as by --refine, lack others."""
    return min(max(_ended(row), default=0), _MOST_LAUNCHES)


def _without(evidence: Evidence, wanted: Mapping[int, set[int]]) -> str | None:
    """Find test cases that lack some of the `wanted` launches, by point; a row without any says so itself."""
    gone = {row.point: sorted(wanted[row.point] - _ended(row)) for row in evidence.rows}
    rows: list[Row] = [row for row in evidence.rows if gone[row.point] and row.launches]
    return listed(rows, lambda row: _launches(gone[row.point]), " without some launches")


def _ended(row: Row) -> set[int]:
    return {launch.launch for launch in row.launches if launch.status != "unfinished"}


def _launches(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:4]))
    more = f" and {len(numbers) - 4} more" if len(numbers) > 4 else ""
    return f"{plural('launch', len(numbers))} {shown}{more}"


@check(
    "cut-line",
    NOTE,
    "Cut records",
    why="The engine or the machine was stopped while it wrote. That chunk of samples is lost, the rest is "
    "kept.",
    remedy=going_on("Measure what is missing"),
)
def cut(evidence: Evidence) -> str | None:
    """Find files whose writer died in the middle of a line."""
    names = [file.path.name for file in evidence.measured.files if file.cut_line]
    return f"The last line of {', '.join(names)} is cut off." if names else None
