"""Does it work: outcomes of each one-sided test case in each launch, counted by way.

A one-sided op is known by its parameters: it has epochs, which `sync` opens and closes, and `complete` says
what completes a call in them. One of OpenSHMEM has no epochs, and a `context` in the place of `sync`.
Applications and halos with several ways to move a halo are counted beside them. Their back end is in the
place of `sync`, and their own verification says whether the data were right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.records.failure_kinds import is_slow_start
from steelyard.results.row import Row, RowLaunch
from steelyard.results.row_kinds import is_one_sided

PASSED, WRONG, SIGNAL, ABORT, HANG, UNSUPPORTED = OUTCOMES = (
    "passed",
    "wrong",
    "signal",
    "abort",
    "hang",
    "unsupported",
)
BROKEN = (WRONG, SIGNAL, ABORT, HANG)
_CONTEXT = "context"  # that of OpenSHMEM's
# Parameters that distinguish ways -> the value of an op without the parameter.
_WORDS = {"sync": "", "complete": "call", "window": "", "windows": "one"}
_MOVERS = "movers"  # the parameter of an op whose threads may move halos
_BACKS = ("backend", "back")  # the name of the back end's parameter in an application and in a halo
_Way = tuple[str, str, str, str, str, str, int]  # MPI, op, the words, threads
_START_UP = "start-up: "  # prefix of the reason of a launch that ended before it measured
# Prefix of the reason of a failed or skipped test case -> its outcome. Other reasons say nothing about the
# MPI: a clock that jumped, no memory, a test case that was skipped because of an earlier hang.
_BEGINNINGS = {
    "wrong": WRONG,
    "signal": SIGNAL,
    "hang": HANG,
    "abort": ABORT,
    "mpi": ABORT,  # a call returned an error
    "unsupported": UNSUPPORTED,
    "input": UNSUPPORTED,  # MPI does not define the combination
}


class Functionality(Struct, frozen=True, kw_only=True):
    """Outcomes of the runs of an op in one way to synchronise, complete and lay out, under one MPI.

    A run is a test case in a launch; sizes and other parameters are counted together. `runs` is the sum of
    all others: `passed`: each check of the data passed; `wrong`: data were wrong; `signal`, `abort`, `hang`:
    how it ended (`abort`: also a call that returned an error); `unsupported`: MPI does not define it, or the
    library lacks it. For OpenSHMEM `sync` is the kind of context, and `complete` is `call` where the call
    completes itself. For an exchange, `threads` are those that move messages, and `windows` may be
    communicators.
    """

    mpi: str
    op: str
    sync: str
    complete: str
    window: str
    windows: str
    threads: int
    runs: int
    passed: int = 0
    wrong: int = 0
    signal: int = 0
    abort: int = 0
    hang: int = 0
    unsupported: int = 0

    @property
    def is_exchange(self) -> bool:
        """Is it an application or a halo, which has no calls of its own to complete?"""
        return not self.complete

    @property
    def broken(self) -> int:
        """The runs that should have passed and did not."""
        return sum(getattr(self, outcome) for outcome in BROKEN)


def has_context(row: Row) -> bool:
    """Is it a row of one-sided calls of OpenSHMEM?"""
    return row.mpi is not None and _CONTEXT in row.params


def is_exchange(row: Row) -> bool:
    """Is it a row of an application or a halo that can be moved in several ways?"""
    return row.mpi is not None and _MOVERS in row.params and any(name in row.params for name in _BACKS)


def functionality_of(rows: Sequence[Row]) -> tuple[Functionality, ...]:
    """Count outcomes of each op and way under each MPI, in the order of the rows; nothing without
    such ops.
    """
    ways: dict[_Way, list[str]] = {}
    for row in rows:
        if is_one_sided(row) or has_context(row) or is_exchange(row):
            ways.setdefault(_way(row), []).extend(_outcomes(row))
    return tuple(
        Functionality(
            mpi=mpi,
            op=op,
            sync=sync,
            complete=complete,
            window=window,
            windows=windows,
            threads=threads,
            runs=len(ended),
            **{outcome: ended.count(outcome) for outcome in OUTCOMES},
        )
        for (mpi, op, sync, complete, window, windows, threads), ended in ways.items()
        if ended
    )


def _way(row: Row) -> _Way:
    if is_exchange(row):
        apart = "thread" if "thread" in (row.params.get("windows"), row.params.get("comms")) else "one"
        back = next(str(row.params[name]) for name in _BACKS if name in row.params)
        return row.mpi or "", row.op, back, "", "", apart, int(row.params[_MOVERS])
    usual = {**_WORDS, "sync": row.params.get(_CONTEXT, "")}
    sync, complete, window, windows = (str(row.params.get(name, word)) for name, word in usual.items())
    return row.mpi or "", row.op, sync, complete, window, windows, row.threads


def _outcomes(row: Row) -> Iterator[str]:
    for launch in row.launches:
        if (outcome := outcome_of(launch)) is not None:
            yield outcome


def outcome_of(launch: RowLaunch) -> str | None:
    """Find one of `OUTCOMES`; None if the launch does not show whether the MPI works."""
    if launch.status == "ok":
        return PASSED
    if is_slow_start(launch.why):
        return None
    why = (launch.why or "").removeprefix(_START_UP)
    found = _BEGINNINGS.get(why.partition(" ")[0].rstrip(":"))
    return ABORT if found is None and (launch.why or "").startswith(_START_UP) else found
