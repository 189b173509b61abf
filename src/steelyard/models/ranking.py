"""Which options does one choose: ways to call a one-sided op, by what a call takes in each.

A way is how an op synchronises, completes and lays out its windows. Ways are ranked among those that do the
same under one MPI: the same op, size and operands, completed at the target or at the origin alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.models.bests import leaders_of
from steelyard.models.functionality import is_one_sided
from steelyard.records.schema import Params
from steelyard.results.facets import Rate
from steelyard.results.row import Row

ORIGIN, TARGET = "origin", "target"
# Words of `complete` after which a call may still be under way at the target.
_AT_ORIGIN = ("flush_local", "flush_local_all", "request")
# Parameters that a caller is free to choose; `threads` is one, too.
OPTIONS = ("sync", "complete", "per", "window", "windows", "info")
_LEAST_LAUNCHES = 2


class Way(Struct, frozen=True, kw_only=True):
    """One way: its options, and what a call takes in ns, the median over launches with its interval.

    With several threads it is the time of all over the calls of all: what is left of a call's cost.
    """

    options: Params
    time: float
    low: float | None
    high: float | None


class Ranking(Struct, frozen=True, kw_only=True):
    """The ways to do one thing, the fastest first; the first `alike` of them are not told apart.

    `best` is there where `alike` is 1. `tells`: so many launches could have told them. `done_at`: `target`
    or `origin`.
    """

    mpi: str
    op: str
    bytes: int
    ranks: int
    done_at: str
    params: Params
    ways: tuple[Way, ...]
    alike: int
    tells: bool

    @property
    def best(self) -> Way | None:
        """The way that is faster than all others."""
        return self.ways[0] if self.alike == 1 else None


def rankings_of(rows: Sequence[Row]) -> tuple[Ranking, ...]:
    """A ranking of each thing that was measured in two ways or more, in two launches or more."""
    things: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        if is_one_sided(row) and row.status == "ok" and row.median and row.launch_count >= _LEAST_LAUNCHES:
            things.setdefault(_thing(row), {}).setdefault(_words(_options(row)), row)
    several = [ways for ways in things.values() if len(ways) > 1]
    found = leaders_of([{name: _times(row) for name, row in ways.items()} for ways in several])
    return tuple(_ranking(ways, best.best, best.tells) for ways, best in zip(several, found, strict=True))


def _thing(row: Row) -> tuple[object, ...]:
    return row.mpi, row.op, row.bytes, row.ranks, row.method, _done_at(row), _words(_others(row))


def _done_at(row: Row) -> str:
    return ORIGIN if row.params["complete"] in _AT_ORIGIN else TARGET


def _options(row: Row) -> Params:
    options = {name: row.params[name] for name in OPTIONS if name in row.params}
    return {**options, "threads": row.threads}


def _others(row: Row) -> Params:
    return {name: value for name, value in row.params.items() if name not in OPTIONS}


def _words(params: Params) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(params.items()))


def _calls(row: Row) -> float:
    """In what the row's time is of; 1 where nobody counts."""
    return (row.get(Rate).mops or 0.0) * (row.time or 0.0) / 1e3 or 1.0


def _times(row: Row) -> dict[int, float]:
    calls = _calls(row)
    return {one.launch: one.median / calls for one in row.launches if one.status == "ok" and one.median}


def _ranking(ways: Mapping[str, Row], alike: Sequence[str], tells: bool) -> Ranking:
    ranked = sorted(
        ways, key=lambda name: (name not in alike, (ways[name].median or 0.0) / _calls(ways[name]))
    )
    row = ways[ranked[0]]
    return Ranking(
        mpi=row.mpi or "",
        op=row.op,
        bytes=row.bytes,
        ranks=row.ranks,
        done_at=_done_at(row),
        params=_others(row),
        ways=tuple(_way(ways[name]) for name in ranked),
        alike=len(alike),
        tells=tells,
    )


def _way(row: Row) -> Way:
    calls = _calls(row)
    low, high = (None if end is None else end / calls for end in (row.ci_low, row.ci_high))
    return Way(options=_options(row), time=(row.median or 0.0) / calls, low=low, high=high)
