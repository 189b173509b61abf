"""Files over ranks: the bytes or names a second that all ranks together get, as they become more.

A curve is one op of files with all else alike: size, pattern, folder, MPI. The rate is that of all ranks over
the time of the slowest one, and its interval is that of the row's time. A file system that keeps up gives
twice the rate to twice the ranks; one that has a lock, a disk or a server behind it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.base.plural import counted
from steelyard.records.campaign_file import FILES
from steelyard.records.fields import Params
from steelyard.records.kinds import FILE
from steelyard.results.facets import Rate, Roof
from steelyard.results.key import key_of
from steelyard.results.row import Row
from steelyard.stats import Interval

BYTES, NAMES = "bytes", "names"  # what is counted
_FREE = ("ranks", "placed", "hosts")  # the keys in which rows of one curve may differ
_LEAST = 2  # numbers of ranks


class FilesPoint(Struct, frozen=True):
    """A number of ranks: bytes or names a second of all of them, and the share of the floor if known."""

    ranks: int
    rate: Interval
    of_floor: float | None


class FilesOverRanks(Struct, frozen=True, kw_only=True):
    """An op of files over ranks, ascending; `counted` is what its rates are of, `folder` where files are.

    `placement` is that of one number of ranks, if that number has several, each with a curve of its own.
    """

    op: str
    mpi: str | None
    bytes: int
    method: str
    params: Params
    folder: str | None
    placement: str | None = None
    counted: str
    points: tuple[FilesPoint, ...]

    @property
    def best(self) -> FilesPoint:
        """The point of the highest rate."""
        return max(self.points, key=lambda point: point.rate.value)


def files_over_ranks(rows: Sequence[Row]) -> tuple[FilesOverRanks, ...]:
    """Make the curves of each op of files that was measured on two numbers of ranks or more, in the order of
    the rows.
    """
    curves: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in rows:
        if row.role == FILE and row.status == "ok" and _rate(row) is not None:
            curves.setdefault(key_of(row, _FREE), {}).setdefault(row.ranks, []).append(row)
    several = (curve for curve in curves.values() if len(curve) >= _LEAST)
    return tuple(_curve(*one) for curve in several for one in _by_placement(dict(sorted(curve.items()))))


def _by_placement(curve: dict[int, list[Row]]) -> Iterator[tuple[str | None, dict[int, Row]]]:
    """List the curves with one row of each number of ranks. Each placement of a number that has several has a
    curve, with the first placements of the other numbers.
    """
    firsts = {ranks: rows[0] for ranks, rows in curve.items()}
    others = [(ranks, row) for ranks, rows in curve.items() if len(rows) > 1 for row in rows]
    if not others:
        yield None, firsts
    for ranks, row in others:
        yield _where(row), firsts | {ranks: row}


def _where(row: Row) -> str:
    return row.placed_text or counted(row.hosts or 1, "host")


def _curve(placement: str | None, rows: dict[int, Row]) -> FilesOverRanks:
    first = next(iter(rows.values()))
    rates = ((ranks, row, _rate(row)) for ranks, row in rows.items())
    return FilesOverRanks(
        op=first.op,
        mpi=first.mpi,
        bytes=first.bytes,
        method=first.method,
        params=first.params,
        folder=first.env.get(FILES),
        placement=placement,
        counted=BYTES if first.get(Rate).bandwidth else NAMES,
        points=tuple(
            FilesPoint(ranks, rate, row.get(Roof).of_roof) for ranks, row, rate in rates if rate is not None
        ),
    )


def _rate(row: Row) -> Interval | None:
    """Compute what a row moves, or the names that it handles, in a second; None if it counts neither."""
    found = row.get(Rate)
    value = found.bandwidth or 1e6 * (found.mops or 0.0)
    if not value or not row.time or row.time <= 0:
        return None
    ends = (row.time_high, row.time_low)
    low, high = (value * row.time / end if end is not None and end > 0 else None for end in ends)
    return Interval(value, low, high)
