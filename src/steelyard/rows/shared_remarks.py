"""Remarks that most rows of a table share: a note below the table replaces them, or one below all tables that
have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from steelyard.base.cpulist import cpu_set
from steelyard.base.plural import joined
from steelyard.base.units import format_factor
from steelyard.results.facets import LaunchGrouping, PrecisionGoal, Ranks, Roof, Samples
from steelyard.results.row import Row
from steelyard.rows.row_words import NOISY, Remark, ended_badly
from steelyard.rows.words import percent_words

LEAST = 3  # rows that share a remark before a note replaces it
MOST = 0.5  # ... and the least fraction of the rows
YIELDING = "yields"  # is shared by any number of rows
MOST_TITLES = 6  # of tables that a note names


@dataclass(frozen=True, slots=True)
class SharedRemark:
    """What `rows` have in common, `of` so many rows of a table, or of a rival `owner` in it.

    `is_what_if`: sched_yield did nothing in some launch, so there is no need to suggest it.
    """

    kind: str
    owner: str
    rows: tuple[Row, ...]
    of: int
    is_what_if: bool = False


@dataclass(frozen=True, slots=True)
class Remarks:
    """`texts`: the remarks on each row alone; `shared`: those that stand once, below the table."""

    texts: tuple[str, ...]
    shared: tuple[SharedRemark, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """The shared ones, a sentence each."""
        return notes_of(self.shared)


def told_once(
    rows: Sequence[Row],
    found: Sequence[Sequence[Remark]],
    owners: Sequence[str],
    is_what_if: bool = False,
) -> Remarks:
    """Move remarks that most rows of an owner share from `found` into notes.

    `owners` names the rival of each row, such as an MPI; the empty text if there are none. `is_what_if` as of
    `SharedRemark`.
    """
    left = [list(remarks) for remarks in found]
    shared = []
    for owner in dict.fromkeys(owners):
        own = [i for i, name in enumerate(owners) if name == owner]
        for kind in (*_SHARED, YIELDING):
            having = [i for i in own if any(one.kind == kind for one in left[i])]
            is_shared = kind == YIELDING or (len(having) >= LEAST and len(having) > MOST * len(own))
            if not (having and is_shared):
                continue
            for i in having:
                left[i] = [one for one in left[i] if one.kind != kind]
            shared.append(SharedRemark(kind, owner, tuple(rows[i] for i in having), len(own), is_what_if))
    return Remarks(tuple("; ".join(one.text for one in each) for each in left), tuple(shared))


def notes_of(shared: Sequence[SharedRemark]) -> tuple[str, ...]:
    """Write a sentence on each."""
    return tuple(_sentence(one, _count_words(one)) for one in shared)


def of_several(tables: Iterable[tuple[str, Sequence[SharedRemark]]]) -> dict[tuple[str, str], str]:
    """Write one sentence on what several tables share, by its kind and owner; it names the tables.

    A table is its title and what its rows share.
    """
    found: dict[tuple[str, str], list[tuple[str, SharedRemark]]] = {}
    for title, shared in tables:
        for one in shared:
            found.setdefault((one.kind, one.owner), []).append((title, one))
    return {key: _over_tables(parts) for key, parts in found.items() if len(parts) > 1}


def _over_tables(parts: Sequence[tuple[str, SharedRemark]]) -> str:
    first, shared = parts[0][1], [one for _, one in parts]
    whole = replace(
        first,
        rows=tuple(row for one in shared for row in one.rows),
        of=sum(one.of for one in shared),
        is_what_if=any(one.is_what_if for one in shared),
    )
    titles = list(dict.fromkeys(title for title, _ in parts))
    more = len(titles) - MOST_TITLES
    where = joined([*titles[:MOST_TITLES], *([f"{more} more"] if more > 0 else [])])
    return _sentence(whole, f"{_count_words(whole)} of {where}", f"in {where}")


def _count_words(one: SharedRemark) -> str:
    return "all rows" if len(one.rows) == one.of else f"{len(one.rows)} of {one.of} rows"


def _sentence(one: SharedRemark, where: str, here: str = "here") -> str:
    """`where` says in which rows, `here` in which tables."""
    if one.kind == YIELDING:
        sentence = _yields(one.rows, one.is_what_if, here)
        is_named = one.owner in ("", *(row.mpi for row in one.rows))
    else:
        sentence = _SHARED[one.kind](one.rows, where)
        is_named = not one.owner
        sentence = sentence[0].upper() + sentence[1:] if is_named else sentence
    return f"{sentence}." if is_named else f"{one.owner}: {sentence}."


def _slow(rows: Sequence[Row], where: str) -> str:
    shares = [100 * (row.get(Samples).slow_share or 0) for row in rows]
    return f"{_span(shares, lambda share: f'{share:.0f}')} % of samples took over 3 x the median in {where}"


def _fewer(rows: Sequence[Row], where: str) -> str:
    counts = _span([row.launch_count for row in rows], str)
    return f"only {'1 launch' if counts == '1' else f'{counts} launches'} in {where}"


def _few(rows: Sequence[Row], where: str) -> str:
    counts = _span([row.launch_count for row in rows], str)
    return (
        f"± is above {100 * NOISY:.0f} % in {where}: {counts} launches are too few, and more make it narrower"
    )


def _differ(_: Sequence[Row], where: str) -> str:
    return f"launches differ, and ± is above {100 * NOISY:.0f} %, in {where}"


def _unclosed(rows: Sequence[Row], where: str) -> str:
    counts, totals = [ended_badly(row) for row in rows], [row.launch_count for row in rows]
    how_many = "all" if counts == totals else f"{_span(counts, str)} of {_span(totals, str)}"
    return f"{how_many} launches ended badly, after they had measured, in {where}"


def _sittings(rows: Sequence[Row], where: str) -> str:
    counts = _span([row.get(LaunchGrouping).sittings or 0 for row in rows], str)
    return f"launches are of {counts} sittings in {where}: ± is for other sittings, too, and few make it wide"


def _hosts(rows: Sequence[Row], where: str) -> str:
    counts = _span([row.get(LaunchGrouping).host_sets or 0 for row in rows], str)
    return f"{counts} hosts took turns in {where}: ± is for other such hosts, too, and few make it wide"


def _reached(rows: Sequence[Row], where: str) -> str:
    return f"± is {percent_words(rows[0].get(PrecisionGoal).precision or 0)} or less, as asked, in {where}"


def _unseen(rows: Sequence[Row], where: str) -> str:
    counts = _span([row.launch_count for row in rows], str)
    factors = _span([row.apart or 1.0 for row in rows], format_factor)
    return (
        f"± reaches to a mode {factors}x apart in {where}: launches stay in modes, as other test cases show, "
        f"and {counts} may all be in one; more of them show it, best at other hours (--spread 2h)"
    )


def _carried(rows: Sequence[Row], where: str) -> str:
    return f"messages went by {' or '.join(dict.fromkeys(row.transport or '' for row in rows))} in {where}"


def _yields(rows: Sequence[Row], is_what_if: bool, here: str) -> str:
    counts = _span([row.get(Ranks).yields_per_op or 0 for row in rows], format_factor)
    who = ", ".join(dict.fromkeys(row.mpi for row in rows if row.mpi)) or "The op"
    often = "once" if counts == "1" else f"{counts} times"
    words = f"{who} calls sched_yield {often} per operation {here}, by all ranks together"
    return words if is_what_if or not all(map(_has_cpus, rows)) else f"{words}: try --yield none"


def _has_cpus(row: Row) -> bool:
    """Does each rank have a CPU of its own, so that none must yield?"""
    cpus = [cpu_set(text) for text in (row.placement or "").split("|")]
    return len(frozenset().union(*cpus)) >= row.ranks


def _span(values: Sequence[float], words: Callable[[float], str]) -> str:
    """`3`, or `1 to 3`."""
    return " to ".join(dict.fromkeys((words(min(values)), words(max(values)))))


# Kind of a remark -> the note on the rows that have it, and on how many they are.
_SHARED: dict[str, Callable[[Sequence[Row], str], str]] = {
    "reached": lambda rows, where: (
        f"± is {percent_words(rows[0].get(PrecisionGoal).precision or 0)} or less, as asked, in {where}"
    ),
    "slow": _slow,
    "fewer": _fewer,
    "few": _few,
    "modes unseen": _unseen,
    "differ": _differ,
    "ending": _unclosed,
    "sittings": _sittings,
    "hosts": _hosts,
    "transport": _carried,
    "roof": lambda rows, where: f"no roof in {where}: {rows[0].get(Roof).no_roof}",
}
