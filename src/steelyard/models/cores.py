"""Threads or processes: streams of messages between as many cores, by threads and by processes.

A stream has a pair of cores for every two: each core of one half sends to one of the other, so many messages
in flight, one way. One-sided and two-sided calls, threads of few ranks and many ranks of one thread move the
same bytes between the same cores then, and their rates may be compared:

    ratio = messages a second / those of two-sided calls of processes on as many cores

Below 1 they are slower. Launches are paired, as those of arms are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.models.ratios import ratio_of
from steelyard.records.fields import Params
from steelyard.records.kinds import LATENCY
from steelyard.results.facets import Rate
from steelyard.results.row import Row

_THREADED = "mpi.mt."  # how ops of several threads begin; one thread of them pays for the thread level, too
_EPOCHS = "sync"  # a parameter of one-sided ops
_ALIKE = 1e-6  # between what a row moves, which is made from its bandwidth, and what streams move


class Stream(Struct, frozen=True, kw_only=True):
    """A way to move messages of `bytes` between `cores` cores.

    `rate` is in messages/s of all, `in_flight` how many of a pair are at once. `ratio` is the rate over that
    of `base`, the two-sided op of processes on `against` cores, with its interval where several launches
    tell; `is_base`: this is that op. A line of one pair alone stands among those of more cores, too: `cores`
    is 2 of it, and `against` theirs.
    """

    mpi: str
    bytes: int
    in_flight: int
    against: int
    cores: int
    op: str
    ranks: int
    threads: int
    params: Params
    rate: float
    base: str
    is_base: bool
    ratio: float
    low: float | None
    high: float | None


def streams_of(rows: Sequence[Row]) -> tuple[Stream, ...]:
    """The streams of each size and number of cores, the fastest first, where threads are among them."""
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in rows:
        if (count := _in_flight(row)) is not None:
            groups.setdefault((row.mpi, row.bytes, count, row.method), {}).setdefault(_cores(row), []).append(
                row
            )
    return tuple(one for by_cores in groups.values() for one in _streams(by_cores))


def _streams(by_cores: dict[int, list[Row]]) -> Iterator[Stream]:
    pair = _base(by_cores.get(2, []))
    for cores, rows in sorted(by_cores.items()):
        base = _base(rows)
        if base is None or not any(row.threads > 1 or row.op.startswith(_THREADED) for row in rows):
            continue
        others = [pair] if pair is not None and cores > 2 else []
        found = [_stream(row, base, cores) for row in (*rows, *others)]
        yield from sorted((one for one in found if one is not None), key=lambda one: -one.rate)


def _stream(row: Row, base: Row, against: int) -> Stream | None:
    """None where a ratio cannot be made."""
    ratio, count = ratio_of(base, row), _in_flight(row)
    if ratio is None or count is None:
        return None
    fewer = _cores(row) / against  # it moves so much less
    return Stream(
        mpi=row.mpi or "",
        bytes=row.bytes,
        in_flight=count,
        against=against,
        cores=_cores(row),
        op=row.op,
        ranks=row.ranks,
        threads=row.threads,
        params=row.params,
        rate=count * _cores(row) / 2 / (row.time or 0.0) * 1e9,
        base=base.op,
        is_base=row is base,
        ratio=ratio.value * fewer,
        low=None if ratio.low is None or row is base else ratio.low * fewer,
        high=None if ratio.high is None or row is base else ratio.high * fewer,
    )


def _base(rows: Sequence[Row]) -> Row | None:
    """The first two-sided op of processes."""
    plain = (
        row
        for row in rows
        if row.threads == 1 and _EPOCHS not in row.params and not row.op.startswith(_THREADED)
    )
    return next(plain, None)


def _cores(row: Row) -> int:
    return row.ranks * row.threads


def _in_flight(row: Row) -> int | None:
    """How many messages a pair has in flight; None of what is no stream of pairs, or was not measured."""
    if row.mpi is None or row.status != "ok" or not row.time or not row.bytes or _cores(row) % 2:
        return None
    asked = row.params.get("calls", row.params.get("window"))
    count = int(asked) if isinstance(asked, int | float) else 1
    moved = (row.get(Rate).bandwidth or 0.0) * row.time / 1e9
    pairs = moved / (count * row.bytes)
    return count if abs(pairs - _cores(row) / 2) < _ALIKE * pairs and row.role != LATENCY else None
