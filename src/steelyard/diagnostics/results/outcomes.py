"""Checks of how test cases ended: wrong answers, failures, skipped cases."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.base.diagnostic import ERROR, NOTE, check
from steelyard.base.plural import counted, joined
from steelyard.diagnostics.results.evidence import Evidence, listed, sentences
from steelyard.records.command_line import alone, launcher_alone, secrets_of
from steelyard.records.failure_kinds import remedies
from steelyard.results.load import is_damaged
from steelyard.results.row import Row


@check(
    "wrong-answer",
    ERROR,
    "Wrong answers",
    why="A wrong answer may take any time, so these test cases have no numbers to compare.",
    remedy="Report it to the makers of that MPI. The records name the first wrong byte.",
)
def wrong(evidence: Evidence) -> str | None:
    """Find test cases of an MPI with a wrong answer."""
    return _wrong(row for row in evidence.rows if row.mpi is not None)


@check(
    "wrong-answer-solo",
    ERROR,
    "Wrong answers without MPI",
    why="A wrong answer may take any time, so these test cases have no numbers to compare.",
    remedy="Measure the test case alone and without OMP_ variables. If it is still wrong, report it to us "
    "and to the makers of the compiler. The records say what was wrong first.",
)
def wrong_solo(evidence: Evidence) -> str | None:
    """Find test cases without an MPI with a wrong answer."""
    return _wrong(row for row in evidence.rows if row.mpi is None)


def _wrong(rows: Iterator[Row]) -> str | None:
    return listed(
        (row for row in rows if row.status == "failed" and _is_wrong(row)),
        lambda row: row.why or "wrong",
        " gave wrong answers",
    )


def _is_wrong(row: Row) -> bool:
    return (row.why or "").startswith("wrong")


def _alone(evidence: Evidence) -> str:
    """Write the command that measures only the first one that failed."""
    rows = _failed(evidence)
    point = evidence.measured.points[evidence.rows.index(rows[0])]
    job = next((cell.job for cell in point.cells if cell.status == "failed"), point.cells[0].job)
    more = " ".join(remedies((row.why or "" for row in rows), launcher_alone(job)))
    names = secrets_of(point.plan)
    begin = f"set {joined(names)} in the environment, and measure it alone" if names else "measure it alone"
    begin = begin if more.endswith(";") else begin[0].upper() + begin[1:]
    return f"{more} {begin}: {alone(evidence.measured.campaign, point.plan, job.mpi)}".lstrip()


@check(
    "failed",
    ERROR,
    "Failed test cases",
    why="What is missing cannot be compared, and a launch that died may have disturbed its neighbours.",
    remedy=_alone,
)
def failed(evidence: Evidence) -> str | None:
    """Find test cases that failed in another way."""
    return listed(_failed(evidence), lambda row: row.why or "no reason given", " failed")


def _failed(evidence: Evidence) -> list[Row]:
    return [
        row
        for row in evidence.rows
        if row.status == "failed" and not _is_wrong(row) and not any(map(is_damaged, row.launches))
    ]


@check(
    "closing",
    ERROR,
    "Launches that did not end well",
    why="All test cases were measured, and then a rank died, hung or gave an exit code, as in MPI_Finalize. "
    "The numbers stand; what a program writes at its end would be lost.",
    remedy="Look at what the launch said. If another MPI ends well, report it to the makers of this one.",
)
def unclosed(evidence: Evidence) -> str | None:
    """Find launches that ended badly after their last test case."""
    endings: dict[str, list[str]] = {}
    for file in evidence.measured.files:
        for watch in file.watches:
            if watch.ending is not None:
                endings.setdefault(watch.ending, []).append(file.job.job)
    return sentences(f"{', '.join(jobs)}: {ending}" for ending, jobs in endings.items())


@check(
    "finalize",
    NOTE,
    "The library crashed in its last call, as it always does",
    why="All test cases were measured before. The OpenSHMEM of Open MPI 4.1 ends so whatever a program did: "
    "its component uct leaves a hook behind when it is unloaded.",
    remedy="Nothing has to be done: the numbers stand. Under Open MPI --env OMPI_MCA_btl=^uct avoids it.",
)
def finalize(evidence: Evidence) -> str | None:
    """Find launches of a library that is known to crash when it is closed."""
    remarks: dict[str, list[str]] = {}
    for file in evidence.measured.files:
        for watch in file.watches:
            if watch.remark is not None and file.job.mpi is not None:
                remarks.setdefault(file.job.mpi.name, []).append(watch.remark)
    return sentences(
        f"{name}, in {counted(len(said), 'launch')}: {said[0]}" for name, said in remarks.items()
    )


@check(
    "skipped",
    NOTE,
    "Skipped test cases",
    why="They are no failures, but the table has gaps.",
    remedy="See steelyard list for what an op needs.",
)
def skipped(evidence: Evidence) -> str | None:
    """Find test cases that were not measured."""
    by_reason: dict[str, list[Row]] = {}
    for row in evidence.rows:
        if row.status == "skipped":
            by_reason.setdefault(row.why or "no reason given", []).append(row)
    return sentences(
        f"{counted(len(rows), 'test case')} of {', '.join(dict.fromkeys(row.op for row in rows))} ({why})"
        for why, rows in by_reason.items()
    )


@check(
    "retried",
    NOTE,
    "Failures that were measured again",
    why="The table shows the last measurement. A test case that fails at times may fail again.",
    remedy="Look at the first failure in the records before you trust the second measurement.",
)
def retried(evidence: Evidence) -> str | None:
    """Find test cases that first failed in a launch and were then measured in it, with the first reason."""
    failures = {
        (file.job.launch, run.index): run.end.why or "no reason given"
        for file in reversed(evidence.measured.files)
        for run in file.points
        if run.end is not None and run.end.status == "failed"
    }
    reasons: dict[int, str] = {}
    for row in evidence.rows:
        for launch in row.launches:
            if launch.status == "ok" and (why := failures.get((launch.launch, row.point))):
                reasons.setdefault(row.point, why)
    rows = (row for row in evidence.rows if row.point in reasons)
    return listed(rows, lambda row: reasons[row.point], " failed before")
