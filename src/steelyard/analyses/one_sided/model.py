"""One-sided everywhere: the same question to MPI, OpenSHMEM, UCX, libfabric and plain memory.

A question is an op of each library that does the same: data until the other rank sees them, a put until it is
done there, a get, a fetch-and-add, puts in flight. The fastest way of each library counts (kinds of windows,
ways to synchronise):

    ratio = its time / that of the fastest library

1 is the fastest. Launches are paired, as those of arms are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.row import Row
from steelyard.results.row_kinds import ORIGIN, done_at
from steelyard.rows.ratios import ratio_of

_SEEN, _PUT, _GET, _ADD, _RATE = "put until it is seen", "put", "get", "fetch and add", "puts in flight"
# The end of an op's name, behind its library and `mt.` -> its question.
_DIRECT = {"put.pingpong": _SEEN, "put": _PUT, "get": _GET, "fetch_add": _ADD, "put.bandwidth": _RATE}
_QUESTIONS = {
    "mpi": {
        "put.pingpong": _SEEN,
        "put": _PUT,
        "get": _GET,
        "fetch_and_op": _ADD,
        "put.bandwidth": _RATE,
    },
    "shmem": {
        "pingpong": _SEEN,
        "put": _PUT,
        "get": _GET,
        "atomic_fetch_add": _ADD,
        "put_nbi.bandwidth": _RATE,
        "put.bandwidth": _RATE,
    },
    "ucx": _DIRECT,
    "ofi": _DIRECT,
    "shm": _DIRECT,
}
QUESTIONS = (_SEEN, _PUT, _GET, _ADD, _RATE)
_NAMES = {"shm": "stores to shared memory", "ucx": "UCX", "ofi": "libfabric"}
_FLIGHT = "calls"  # a parameter: calls that are in flight together

# A question, bytes, ranks, their placement, threads of a rank, calls in flight.
_Key = tuple[str, int, int, str, int, int]


class LibraryAnswer(Struct, frozen=True, kw_only=True):
    """What one library takes: `time` in ns, the ratio to the fastest with its interval, None without one.

    `params` are those of its fastest way, `ways` the number of ways that were measured. `library` is the name
    of an MPI or OpenSHMEM, or words for what needs neither.
    """

    library: str
    op: str
    params: Params
    ways: int
    time: float
    ratio: float
    low: float | None
    high: float | None
    transport: str | None


class OneSidedQuestion(Struct, frozen=True, kw_only=True):
    """One question at one size, with `threads` of rank 0 that call at once; the answers, the fastest first.

    `calls` are in flight in each thread. `placement` is the one that was asked for, None for the default.
    """

    name: str
    bytes: int
    ranks: int
    placement: str | None
    threads: int
    calls: int
    answers: tuple[LibraryAnswer, ...]


def questions_of(rows: Sequence[Row]) -> tuple[OneSidedQuestion, ...]:
    """List the questions that libraries of several kinds answer, on as many ranks at the same places."""
    groups: dict[_Key, list[Row]] = {}
    for row in rows:
        name = _name(row)
        if name is not None and row.status == "ok" and row.time:
            where = row.placed_text or ""
            key = (name, _size(row), row.ranks, where, row.threads, _calls(row))
            groups.setdefault(key, []).append(row)
    ordered = sorted(groups.items(), key=lambda item: (QUESTIONS.index(item[0][0]), *item[0][1:]))
    return tuple(question for key, members in ordered for question in _question(key, members))


def question_name(op: str) -> str | None:
    """Find the question of an op; None: it answers none."""
    library, _, name = op.partition(".")
    return _QUESTIONS.get(library, {}).get(name.removeprefix("mt."))


def _name(row: Row) -> str | None:
    """Find the question of a row; none for a put that is done at the origin alone."""
    name = question_name(row.op)
    return None if name in (_PUT, _RATE) and done_at(row) == ORIGIN else name


def _question(key: _Key, rows: Sequence[Row]) -> Iterator[OneSidedQuestion]:
    libraries: dict[str, list[Row]] = {}
    for row in rows:
        libraries.setdefault(_library(row), []).append(row)
    if len({row.op.partition(".")[0] for row in rows}) < 2:
        return
    best = {name: min(ways, key=lambda row: row.time or 0.0) for name, ways in libraries.items()}
    base = min(best.values(), key=lambda row: row.time or 0.0)
    maybe = (_answer(name, best[name], base, len(ways)) for name, ways in libraries.items())
    answers = sorted((answer for answer in maybe if answer is not None), key=lambda answer: answer.time)
    name, size, ranks, where, threads, calls = key
    yield OneSidedQuestion(
        name=name,
        bytes=size,
        ranks=ranks,
        placement=where or None,
        threads=threads,
        calls=calls,
        answers=tuple(answers),
    )


def _answer(library: str, row: Row, base: Row, ways: int) -> LibraryAnswer | None:
    ratio = ratio_of(row, base)
    if ratio is None:
        return None
    return LibraryAnswer(
        library=library,
        op=row.op,
        params=row.params,
        ways=ways,
        time=row.time or 0.0,
        ratio=ratio.value,
        low=None if row is base else ratio.low,
        high=None if row is base else ratio.high,
        transport=row.transport,
    )


def _library(row: Row) -> str:
    kind = row.op.partition(".")[0]
    return _NAMES.get(kind, row.mpi or kind)


def _size(row: Row) -> int:
    """Count the bytes; those of one number have no axis."""
    return row.bytes if row.sized else 0


def _calls(row: Row) -> int:
    asked = row.params.get(_FLIGHT, 1)
    return int(asked) if isinstance(asked, int | float) else 1
