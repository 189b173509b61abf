"""Which options to choose: the best way to call each one-sided op, and all ways in their order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from steelyard.analyses.ranking.model import Ranking, Way
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_time
from steelyard.records.campaign_file import UNSET
from steelyard.render.sections import Part, untitled
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.results.row_kinds import ORIGIN
from steelyard.rows.labels import (
    Fact,
    Facts,
    VaryingFact,
    count_fact,
    differing,
    labels_of,
    param_facts,
    set_facts,
)

_EXPLAINED = (
    ", if it is faster than all others (error level 5 % for the table; by 2 % or more); slower by: the time "
    "of the next distinguishable way over that of the fastest"
)
_SETTING = "which setting to choose"
_TOO_FEW = "too few launches to tell"
_UNSET = "unset: the library's own choice, over the fastest"


def ranking_tables(rankings: Sequence[Ranking]) -> tuple[Table, ...]:
    """Make a line for each op that can be called in several ways; none without one."""
    return _best_tables(rankings, "which options to choose", f"the fastest way to call each op{_EXPLAINED}")


def choice_tables(rankings: Sequence[Ranking]) -> tuple[Table, ...]:
    """Make a line for each pattern that several ops can make; none without one."""
    explained = f"the fastest call and way to call it for each pattern{_EXPLAINED}"
    return _best_tables(rankings, "which call to choose", explained)


def setting_tables(rankings: Sequence[Ranking]) -> tuple[Table, ...]:
    """Make a line for each op and size that was measured under several settings; none without one."""
    if not any(ranking.tells for ranking in rankings):
        return _best_tables(rankings, _SETTING, "")
    explained = f"the fastest setting for each op and size{_EXPLAINED}; {_UNSET}"
    names = _SettingNames([way for ranking in rankings for way in ranking.ways])
    (table,) = _best_tables(rankings, _SETTING, explained, names)
    lines = zip(table.lines, rankings, strict=True)
    return (
        replace(
            table,
            columns=(*table.columns, number("unset")),
            lines=tuple(replace(line, cells=(*line.cells, _unset_words(one))) for line, one in lines),
        ),
    )


def _unset_words(ranking: Ranking) -> str:
    """Give the time of the library's own choice over the fastest, if both are known well enough."""
    told = {name for name, values in _values_of(ranking.ways).items() if len(values) > 1}
    unset = [way for way in ranking.ways if all(way.options.get(name) == UNSET for name in told)]
    is_told = bool(unset) and unset[0].is_sure and ranking.ways[0].is_sure
    return f"{unset[0].time / ranking.ways[0].time:.2f}x" if is_told else NOTHING


def _values_of(ways: Sequence[Way]) -> dict[str, set[object]]:
    names = {name for way in ways for name in way.options}
    return {name: {way.options.get(name) for way in ways} for name in names}


def _best_tables(
    rankings: Sequence[Ranking], title: str, explained: str, names: _WayNames | None = None
) -> tuple[Table, ...]:
    if not rankings:
        return ()
    if not any(ranking.tells for ranking in rankings):
        return (Table(title, f"{_TOO_FEW} for any of {counted(len(rankings), 'test case')}", (), ()),)
    things = labels_of(_facts(rankings))
    names = names or _WayNames([way for ranking in rankings for way in ranking.ways])
    common = ", ".join(part for part in (*things.common.values(), names.common) if part)
    return (
        Table(
            title=title,
            explained=f"{explained}; {common}" if common else explained,
            columns=(
                *(axis.column for axis in things.varying),
                words("best"),
                *map(number, ("time", "ways", "slower by")),
            ),
            lines=plain_lines(
                (
                    *things.cells(i),
                    _best_words(one, names),
                    format_time(one.ways[0].time),
                    str(len(one.ways)),
                    _lead_words(one),
                )
                for i, one in enumerate(rankings)
            ),
            grouped=len(things.varying) - 1,
        ),
    )


def all_ways_ranked(rankings: Sequence[Ranking]) -> Table:
    """List every way of every op or pattern, the fastest first."""
    things = labels_of(_facts(rankings))
    names = _WayNames([way for ranking in rankings for way in ranking.ways])
    return Table(
        title="all ways",
        explained="the fastest first; alike: not distinguishable from the fastest",
        columns=(
            *(axis.column for axis in things.varying),
            *(axis.column for axis in names.varying),
            *map(number, ("time", "interval")),
            words(""),
        ),
        lines=plain_lines(
            (
                *things.cells(i),
                *names.cells(way),
                format_time(way.time),
                _interval_words(way),
                "best" if one.alike == 1 and not place else "alike" if place < one.alike else "",
            )
            for i, one in enumerate(rankings)
            for place, way in enumerate(one.ways)
        ),
        grouped=len(things.varying),
    )


class _WayNames:
    """Names of ways by what differs among all of them; `common` is what they share."""

    def __init__(self, ways: Sequence[Way]) -> None:
        labels = labels_of([self._facts(way) for way in ways])
        self._places = {id(way): i for i, way in enumerate(ways)}
        self.varying: tuple[VaryingFact, ...] = labels.varying
        self.common = ", ".join(labels.common.values())

    def _facts(self, way: Way) -> Facts:
        return param_facts(way.options)

    def cells(self, way: Way) -> tuple[str, ...]:
        return tuple(axis.facts[self._places[id(way)]].value for axis in self.varying)

    def __call__(self, way: Way) -> str:
        """`lock_all flush allocate`; a number of threads has its name."""
        return self._words(way, self.varying)

    def shared(self, some: Sequence[Way], ways: Sequence[Way]) -> str:
        """Name what `some` ways have in common and others have not."""
        told = [
            axis
            for axis in self.varying
            if len(self._values(axis, some)) == 1 < len(self._values(axis, ways))
        ]
        return self._words(some[0], told)

    def _values(self, axis: VaryingFact, ways: Sequence[Way]) -> set[str]:
        return {axis.facts[self._places[id(way)]].value for way in ways}

    def _words(self, way: Way, axes: Sequence[VaryingFact]) -> str:
        facts = (axis.facts[self._places[id(way)]] for axis in axes)
        return " ".join(
            fact.said if fact.heading == "threads" else fact.value for fact in facts if fact.value
        )


class _SettingNames(_WayNames):
    """Names of settings, with their variables: `UCX_TLS=tcp`."""

    def _facts(self, way: Way) -> Facts:
        return set_facts("setting", {name: str(value) for name, value in way.options.items()})

    def _words(self, way: Way, axes: Sequence[VaryingFact]) -> str:
        facts = (axis.facts[self._places[id(way)]] for axis in axes)
        return " ".join(fact.said for fact in facts if fact.said)


def _facts(rankings: Sequence[Ranking]) -> list[Facts]:
    told = differing((ranking.op, ranking.params) for ranking in rankings)
    return [_thing_facts(ranking, told) for ranking in rankings]


def _thing_facts(ranking: Ranking, told: Collection[str]) -> Facts:
    size = format_bytes(ranking.bytes)
    return {
        "mpi": Fact("MPI", ranking.mpi, ranking.mpi),
        "op": Fact("pattern" if "op" in ranking.ways[0].options else "op", ranking.op, ranking.op),
        "bytes": Fact("bytes", size, size),
        "done": Fact(
            "done at", ranking.done_at, "done at the origin alone" if ranking.done_at == ORIGIN else "", True
        ),
        "ranks": count_fact("rank", ranking.ranks),
        **param_facts({name: value for name, value in ranking.params.items() if name in told}, is_usual=True),
    }


def _best_words(ranking: Ranking, names: _WayNames) -> str:
    if ranking.best is not None:
        return names(ranking.best)
    if not ranking.tells:
        return _TOO_FEW
    if ranking.alike == len(ranking.ways):
        return "none is clearly best"
    shared = names.shared(ranking.ways[: ranking.alike], ranking.ways)
    return f"one of {ranking.alike} with {shared}" if shared else f"none: the first {ranking.alike} are alike"


def _lead_words(ranking: Ranking) -> str:
    if ranking.alike == len(ranking.ways):
        return NOTHING
    return f"{ranking.ways[ranking.alike].time / ranking.ways[0].time:.2f}x"


def _interval_words(way: Way) -> str:
    if way.low is None or way.high is None:
        return NOTHING
    return f"{format_time(way.low)} – {format_time(way.high)}"


def all_ways(ranked: Sequence[Ranking]) -> Part:
    """Make the folded part: each way, whichever is the fastest."""
    return Part("All ways", tables=(untitled(all_ways_ranked(ranked)),))
