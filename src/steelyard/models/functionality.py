"""Does it work: what became of each one-sided test case in each launch, counted by what it was.

A one-sided op is known by its parameters: it has epochs, which `sync` opens and closes, and `complete` says
what completes a call in them. An application whose halos can be moved in several ways is held beside them,
and so is a halo alone: the back end stands where `sync` does, and their own verification says whether the
data were right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.results.row import Row, RowLaunch

PASSED, WRONG, SIGNAL, ABORT, HANG, UNSUPPORTED = OUTCOMES = (
    "passed",
    "wrong",
    "signal",
    "abort",
    "hang",
    "unsupported",
)
BROKEN = (WRONG, SIGNAL, ABORT, HANG)
_EPOCHS = ("sync", "complete")  # parameters of one-sided ops
# Parameters that tell ways apart -> what goes for an op that has not the parameter.
_WORDS = {"sync": "", "complete": "", "window": "", "windows": "one"}
_MOVERS = "movers"  # the parameter of an op whose threads may move halos
_BACKS = ("backend", "back")  # how an application and a halo call what such an op has, too
_Way = tuple[str, str, str, str, str, str, int]  # MPI, op, the words, threads
_START_UP = "start-up: "  # before what ended a launch that never measured
# How the reason of a failed or skipped test case begins -> what became of it. Others say nothing of the MPI:
# a clock that jumped, no memory, a test case that was spared for an earlier hang.
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
    """What became of the runs of an op in one way to synchronise, complete and lay out, under one MPI.

    A run is a test case in a launch; sizes and other parameters are counted together. `runs` is the sum of
    all others: `passed` with each check of the data; `wrong`: data were; `signal`, `abort`, `hang`: what
    ended it, or a call returned an error; `unsupported`: MPI does not define it, or the library lacks it.
    Of an exchange `threads` are those that move, and `windows` goes for communicators, too.
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
        """Runs that should have passed and did not."""
        return sum(getattr(self, outcome) for outcome in BROKEN)


def is_one_sided(row: Row) -> bool:
    """Is a row one of one-sided calls: does its op have epochs?"""
    return row.mpi is not None and all(name in row.params for name in _EPOCHS)


def is_exchange(row: Row) -> bool:
    """Is a row one of an application, or a halo, which can be moved in several ways?"""
    return row.mpi is not None and _MOVERS in row.params and any(name in row.params for name in _BACKS)


def functionality_of(rows: Sequence[Row]) -> tuple[Functionality, ...]:
    """A line for each op and way under each MPI, in the order of the rows; nothing without such ops."""
    ways: dict[_Way, list[str]] = {}
    for row in rows:
        if is_one_sided(row) or is_exchange(row):
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
    sync, complete, window, windows = (str(row.params.get(name, usual)) for name, usual in _WORDS.items())
    return row.mpi or "", row.op, sync, complete, window, windows, row.threads


def _outcomes(row: Row) -> Iterator[str]:
    for launch in row.launches:
        if (outcome := outcome_of(launch)) is not None:
            yield outcome


def outcome_of(launch: RowLaunch) -> str | None:
    """One of `OUTCOMES`; None of a launch that says nothing of whether the MPI works."""
    if launch.status == "ok":
        return PASSED
    why = (launch.why or "").removeprefix(_START_UP)
    found = _BEGINNINGS.get(why.partition(" ")[0].rstrip(":"))
    return ABORT if found is None and (launch.why or "").startswith(_START_UP) else found
