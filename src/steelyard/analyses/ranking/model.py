"""Which options to choose: ways to call a one-sided op, by the time of a call.

A way is how an op synchronises, completes and lays out its windows. Ways are ranked among those with the same
effect under one MPI: the same op, size and operands, completed at the target or only at the origin. Ops with
the same effect are ranked together, too: a put by one rank equals a get by the other, and both have a form
with a request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from steelyard.analyses.best_arms import Best, leaders_of
from steelyard.records.fields import Params
from steelyard.results.facets import Rate
from steelyard.results.row import Row, half_of
from steelyard.results.row_kinds import CALL_OPTIONS, done_at, is_one_sided
from steelyard.rows.row_words import NOISY

_LEAST_LAUNCHES = 2  # fewer rank nothing; of settings they say that they are too few
# Calls by their effect. An op is `mpi.CALL`, or `mpi.mt.CALL` by several threads, and may have a
# form: `mpi.mt.put.bandwidth`.
_PREFIXES = ("mpi.mt.", "mpi.")
_ALIKE = {
    **dict.fromkeys(("put", "rput", "get", "rget"), "put or get"),
    **dict.fromkeys(("accumulate", "raccumulate"), "accumulate"),
    **dict.fromkeys(("get_accumulate", "rget_accumulate"), "get_accumulate"),
}
# An option of several threads that one thread lacks -> its value for one thread.
_OF_THREADS = {"target": "disjoint", "phases": "off"}


class Way(Struct, frozen=True, kw_only=True):
    """One way: its options, and the time of a call in ns, the median over launches with its interval.

    With several threads it is the time of all over the calls of all: the remaining cost of a call.
    """

    options: Params
    time: float
    low: float | None
    high: float | None

    @property
    def is_sure(self) -> bool:
        """Is its interval narrow enough for a ratio to be told?"""
        half = half_of(self.time, self.low, self.high)
        return half is not None and half <= NOISY


class Ranking(Struct, frozen=True, kw_only=True):
    """The ways to do one thing, the fastest first; the first `alike` of them cannot be distinguished.

    `best` exists if `alike` is 1. `tells`: the launches are enough to show a difference. `done_at`: `target`
    or `origin`, empty if no call is one-sided. If several ops are ranked, `op` is their common effect, and
    each way has its `op` among its options.
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
    """Rank the ways of each op that was measured in two ways or more, in two launches or more."""
    return _rankings(rows, _Question(is_one_sided, lambda row: row.op, _options, len, _thing, _others))


def choices_of(rows: Sequence[Row]) -> tuple[Ranking, ...]:
    """Rank ops with the same effect together, if two of them or more were measured."""
    question = _Question(
        concerns=is_one_sided,
        name=pattern_of,
        options=_options_and_op,
        choices=lambda ways: len({row.op for row in ways.values()}),
        thing=_thing,
        others=_others,
    )
    return _rankings(rows, question)


def settings_ranked(rows: Sequence[Row]) -> tuple[Ranking, ...]:
    """Rank the settings of a launch, variables of MPI and OpenMP, as ways to do the same op.

    All else is the same among them: MPI, size, ranks, threads and parameters; `done_at` is empty.
    """
    question = _Question(
        concerns=lambda row: bool(_settings(row)),
        name=lambda row: row.op,
        options=_settings,
        choices=len,
        thing=_all_but_settings,
        others=_beside_settings,
        least_launches=1,
    )
    return _rankings(rows, question)


def _settings(row: Row) -> Params:
    return {**row.omp, **row.env}


def _all_but_settings(row: Row) -> tuple[object, ...]:
    return (row.mpi, row.bytes, row.ranks, _words(row.method_params), _words(_beside_settings(row)))


def _beside_settings(row: Row) -> Params:
    where: Params = {"hosts": row.hosts or 1, "threads": row.threads, "method": row.method}
    where["thread level"] = row.thread_level or "default"
    where["placement"] = row.placed_text or "default"
    return where | row.params


def pattern_of(row: Row) -> str | None:
    """Name the effect of an op: `put or get, bandwidth`; None for calls that nothing else could replace."""
    prefix = next((one for one in _PREFIXES if row.op.startswith(one)), "")
    call, _, form = row.op.removeprefix(prefix).partition(".")
    if not prefix or call not in _ALIKE:
        return None
    return ", ".join(word for word in (_ALIKE[call], form) if word)


_Ways = Mapping[str, Row]  # by the words of their options


class _Question(Struct, frozen=True):
    """Rules of a ranking: the rows, their effect and way, the number of choices, and other facts."""

    concerns: Callable[[Row], bool]
    name: Callable[[Row], str | None]
    options: Callable[[Row], Params]
    choices: Callable[[_Ways], int]
    thing: Callable[[Row], tuple[object, ...]]
    others: Callable[[Row], Params]  # the other facts that are shown beside the op
    least_launches: int = _LEAST_LAUNCHES


def _rankings(rows: Sequence[Row], asked: _Question) -> tuple[Ranking, ...]:
    """Rank rows with the same effect by their options, if there are two choices."""
    things: dict[tuple[object, ...], tuple[str, dict[str, Row]]] = {}
    for row in rows:
        what = asked.name(row) if asked.concerns(row) else None
        if what and row.status == "ok" and row.median and row.launch_count >= asked.least_launches:
            _, ways = things.setdefault((what, *asked.thing(row)), (what, {}))
            ways.setdefault(_words(asked.options(row)), row)
    several = [(what, ways) for what, ways in things.values() if asked.choices(ways) > 1]
    found = leaders_of([{name: _times(row) for name, row in ways.items()} for _, ways in several])
    return tuple(_ranking(what, ways, best, asked) for (what, ways), best in zip(several, found, strict=True))


def _thing(row: Row) -> tuple[object, ...]:
    """Key of what is done, without the op."""
    others = {name: value for name, value in _others(row).items() if _OF_THREADS.get(name) != value}
    return row.mpi, row.bytes, row.ranks, row.method, done_at(row), _words(others)


def _options(row: Row) -> Params:
    options = {name: row.params[name] for name in CALL_OPTIONS if name in row.params}
    return {**options, "threads": row.threads}


def _options_and_op(row: Row) -> Params:
    return {"op": row.op, **_options(row)}


def _others(row: Row) -> Params:
    return {name: value for name, value in row.params.items() if name not in CALL_OPTIONS}


def _words(params: Params) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(params.items()))


def _calls(row: Row) -> float:
    """Count the calls in the row's time; 1 if they are not counted."""
    return (row.get(Rate).mops or 0.0) * (row.time or 0.0) / 1e3 or 1.0


def _times(row: Row) -> dict[int, float]:
    calls = _calls(row)
    return {
        launch.launch: launch.median / calls
        for launch in row.launches
        if launch.status == "ok" and launch.median
    }


def _ranking(what: str, ways: _Ways, best: Best, asked: _Question) -> Ranking:
    alike = best.best
    ranked = sorted(
        ways, key=lambda name: (name not in alike, (ways[name].median or 0.0) / _calls(ways[name]))
    )
    row = ways[ranked[0]]
    return Ranking(
        mpi=row.mpi or "",
        op=what,
        bytes=row.bytes,
        ranks=row.ranks,
        done_at=done_at(row),
        params=asked.others(row),
        ways=tuple(_way(ways[name], asked.options) for name in ranked),
        alike=len(alike),
        tells=best.tells,
    )


def _way(row: Row, options: Callable[[Row], Params]) -> Way:
    calls = _calls(row)
    low, high = (None if end is None else end / calls for end in (row.ci_low, row.ci_high))
    return Way(options=options(row), time=(row.median or 0.0) / calls, low=low, high=high)
