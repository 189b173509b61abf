"""Answers of ops, kernels and applications: were all of them right?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from steelyard.analyses.rma_support.model import BROKEN, outcome_of
from steelyard.base.plural import counted, joined
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.accept.summary import never_began_words
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.command_line import resumed
from steelyard.records.failure_kinds import is_slow_start
from steelyard.records.kinds import FAULT, KERNEL
from steelyard.results.row import NOT_YET, Row
from steelyard.rows.words import row_name

_MOST_NAMED = 3  # test cases
_REMEDY = "If it stays, report it to the makers of that MPI; the records say what was wrong first."


@criterion("answers", "Did every operation give the right answer?", remedy=_REMEDY)
def answers(candidate: Candidate) -> Finding:
    """Judge all that is no kernel."""
    return _found(candidate, [row for row in candidate.weighed.rows if row.role not in (KERNEL, FAULT)])


@criterion("kernels", "Did kernels and applications solve their problems?", remedy=_REMEDY)
def kernels(candidate: Candidate) -> Finding:
    """Judge NAS kernels and proxy applications, by their own verification."""
    return _found(candidate, [row for row in candidate.weighed.rows if row.role == KERNEL])


def _found(candidate: Candidate, rows: Sequence[Row]) -> Finding:
    """Count a failure in any launch as a fault; test cases that were skipped, are missing or never began are
    none.
    """
    failed = [(row, launch) for row in rows for launch in row.launches if launch.status == "failed"]
    slow = [row for row, launch in failed if is_slow_start(launch.why)]
    bad = [
        (row, launch.why or "no reason given", outcome_of(launch))
        for row, launch in failed
        if not is_slow_start(launch.why)
    ]
    ran = sum(launch.status in ("ok", "failed") for row in rows for launch in row.launches)
    again = resumed(candidate.weighed.measured.folder, retry="failed")
    if bad:
        kinds = Counter(outcome if outcome in BROKEN else "failed otherwise" for _, _, outcome in bad)
        words = joined(f"{count} {kind}" for kind, count in kinds.items())
        named = _named((row, why) for row, why, _ in bad)
        return Finding(
            NOT_WELL,
            f"{len(bad)} of {counted(ran, 'run')} failed ({words}): {named}.",
            f"{_REMEDY} To measure again what failed: {again}",
            brief=f"{len(bad)} of {counted(ran, 'run')} failed ({words}) in {_ops([row for row, *_ in bad])}",
        )
    if slow:
        return Finding(
            CANNOT_TELL,
            f"{never_began_words(rows)}, as in {row_name(slow[0])}.",
            f"To measure again what never began, when the machine is less busy: {again}",
            brief=f"{len(slow)} of {counted(ran, 'run')} never began",
        )
    good = [row for row in rows if row.status == "ok"]
    unsure = [row for row in good if not row.verified]
    if not good:
        return Finding(CANNOT_TELL, "None was measured.", candidate.weighed.measure_it())
    if unsure:
        return Finding(
            CANNOT_TELL,
            f"{counted(len(unsure), 'test case')} of {len(good)} did not check its answer: "
            f"{row_name(unsure[0])}.",
        )
    skipped = sum(row.status == "skipped" and row.why != NOT_YET for row in rows)
    rest = f"; {counted(skipped, 'test case')} skipped" if skipped else ""
    return Finding(
        WELL,
        f"All {counted(ran, 'run')} of {counted(len(good), 'test case')} were verified, before and after "
        f"they were timed{rest}.",
    )


def _named(failures: Iterable[tuple[Row, str]]) -> str:
    """Name the first test cases, each with its reason."""
    named = list(dict.fromkeys(f"{row_name(row)} ({why.rstrip('.')})" for row, why in failures))
    more = [f"and {len(named) - _MOST_NAMED} more"] if len(named) > _MOST_NAMED else []
    return "; ".join([*named[:_MOST_NAMED], *more])


def _ops(rows: Sequence[Row]) -> str:
    """Write `mpi.put and mpi.get`, the ops of some rows."""
    ops = list(dict.fromkeys(row.op for row in rows))
    more = [f"{len(ops) - _MOST_NAMED} more"] if len(ops) > _MOST_NAMED else []
    return joined([*ops[:_MOST_NAMED], *more])
