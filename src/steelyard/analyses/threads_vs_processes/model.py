"""Threads or processes: streams of messages between the same number of cores, by threads and by processes.

Half of the cores send, each to one core of the other half, with the same number of messages in flight, one
way. One-sided and two-sided calls, threads of few ranks and many ranks of one thread then move the same bytes
between the same cores, so their rates may be compared:

    ratio = messages per second / those of two-sided calls of processes on as many cores

Below 1 they are slower. Launches are paired, as those of arms are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.records.kinds import LATENCY
from steelyard.results.facets import Rate
from steelyard.results.row import Row
from steelyard.rows.ratios import ratio_of

_THREADED = (
    "mpi.mt."  # prefix of ops of several threads; with one thread, such an op pays for the thread level, too
)
_EPOCHS = "sync"  # a parameter of one-sided ops
_ALIKE = 1e-6  # relative, between what a row moves by its bandwidth, and what streams move


class Stream(Struct, frozen=True, kw_only=True):
    """A way to move messages of `bytes` between `cores` cores.

    `rate` is in messages/s of all, `in_flight` the number that each pair has in flight. `ratio` is the rate
    over that of the base, the two-sided op of processes on `against` cores, with its interval if there are
    several launches; `is_base`: this is that op. A stream of a single pair stands among those of more cores,
    too: its `cores` is 2, and `against` theirs.
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
    """List the streams of each size and number of cores, the fastest first, if some are by threads."""
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in rows:
        if (count := _in_flight(row)) is not None:
            groups.setdefault((row.mpi, row.bytes, count, row.method), {}).setdefault(_cores(row), []).append(
                row
            )
    return tuple(stream for by_cores in groups.values() for stream in _streams(by_cores))


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
    """Make a stream; None if a ratio cannot be made."""
    ratio, count = ratio_of(base, row), _in_flight(row)
    if ratio is None or count is None:
        return None
    fewer = _cores(row) / against  # it moves only this fraction
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
    """Find the first two-sided op of processes."""
    plain = (
        row
        for row in rows
        if row.threads == 1 and _EPOCHS not in row.params and not row.op.startswith(_THREADED)
    )
    return next(plain, None)


def _cores(row: Row) -> int:
    return row.ranks * row.threads


def _in_flight(row: Row) -> int | None:
    """Count the messages that a pair has in flight; None if the row is no stream of pairs, or was not
    measured.
    """
    if row.mpi is None or row.status != "ok" or not row.time or not row.bytes or _cores(row) % 2:
        return None
    asked = row.params.get("calls", row.params.get("window"))
    count = int(asked) if isinstance(asked, int | float) else 1
    moved = (row.get(Rate).bandwidth or 0.0) * row.time / 1e9
    pairs = moved / (count * row.bytes)
    return count if abs(pairs - _cores(row) / 2) < _ALIKE * pairs and row.role != LATENCY else None
