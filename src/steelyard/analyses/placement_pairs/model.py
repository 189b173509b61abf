"""Rows of placements of two ranks or threads, as one table: the pair, the time, and remarks.

A place is a CPU of one machine, or a host of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steelyard.base.units import format_bytes
from steelyard.records.campaign_file import OTHER_HOST
from steelyard.results.row import Row
from steelyard.rows.labels import rows_facts
from steelyard.rows.row_words import value_words
from steelyard.rows.words import interval_words, pair_words

MOST_LINES = 16  # placements of a point whose lines a reader can still distinguish in one picture

PlacePair = tuple[int, int] | tuple[str, str]  # of CPUs, or of hosts


@dataclass(frozen=True, slots=True)
class PairTable:
    """One point on pairs of CPUs or of hosts (`level`), and its other placements.

    `title` names it. `rows` are numbered: unplaced ones first, then pairs in order.
    """

    title: str
    rows: tuple[Row, ...]
    level: str

    @property
    def pairs(self) -> dict[PlacePair, Row]:
        """The rows of pairs on one machine, or of hosts, by the place of rank or thread 0 and of
        the other.
        """
        rows = (row for row in self.rows if (row.time or 0) > 0 and _is_in_matrix(row))
        return {pair: row for row in rows if (pair := _pair(row))}

    @property
    def spots(self) -> tuple[int | str, ...]:
        """The CPUs or hosts of `pairs`, in order; `n10` comes after `n9`."""
        return tuple(sorted({spot for pair in self.pairs for spot in pair}, key=_in_order))

    @property
    def lines(self) -> tuple[tuple[str, str, str, str], ...]:
        """Pair, median, interval and note of each row, in words."""
        return tuple(
            (
                _name(row),
                value_words(row),
                interval_words(row.time_low, row.time_high, row.time),
                pair_words(row),
            )
            for row in self.rows
        )


def _pair(row: Row) -> PlacePair | None:
    if row.placed is None:
        return None
    hosts, cpus = row.placed.hosts, row.placed.cpus
    if len(hosts) == 2:
        return hosts[0], hosts[1]
    return (cpus[0], cpus[1]) if len(cpus) == 2 else None


def _in_order(spot: int | str) -> tuple[tuple[int, str], ...]:
    """Sort numbers in a name as numbers."""
    parts = re.split(r"([0-9]+)", str(spot))
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def _is_in_matrix(row: Row) -> bool:
    """Exclude pairs of CPUs on two machines: they have no place in the matrix of one machine."""
    return row.placed is not None and (bool(row.placed.hosts) or _kind(row) != OTHER_HOST)


def _level(row: Row) -> str:
    return "host" if row.placed is not None and row.placed.hosts else "CPU"


def _kind(row: Row) -> str:
    return row.placed.kind if row.placed else ""


def _name(row: Row) -> str:
    pair = _pair(row)
    return f"{pair[0]} – {pair[1]}" if pair else _kind(row) or "default"


def pair_tables(rows: Iterable[Row]) -> tuple[PairTable, ...]:
    """Make a table for each point whose pairs were measured; if it has many sizes, for the least and the
    largest.
    """
    timed = [row for row in rows if row.time is not None]
    if not any(map(_pair, timed)):
        return ()
    tables: list[PairTable] = []
    for title, members in _points(timed):
        sizes = {row.bytes for row in members if _pair(row)}
        for size in sorted({min(sizes), max(sizes)}) if sizes else ():
            same = [row for row in members if row.bytes == size]
            same.sort(key=lambda row: (tuple(map(_in_order, _pair(row) or ())), _kind(row)))
            words = [title[0], format_bytes(size) if same[0].sized else "", *title[1:]]
            name = ", ".join(word for word in words if word)
            for level in dict.fromkeys(_level(row) for row in same if _pair(row)):
                own = tuple(row for row in same if not _pair(row) or _level(row) == level)
                if len(own) > 1 or _is_in_matrix(own[0]):  # else its row in the table of rows is all
                    tables.append(PairTable(name, own, level))
    return tuple(tables)


def _points(rows: Sequence[Row]) -> list[tuple[list[str], list[Row]]]:
    """Group rows that differ only in size and placement, with the facts that describe each group."""
    found: dict[tuple[str, ...], tuple[list[str], list[Row]]] = {}
    for row, all_facts in zip(rows, rows_facts(rows, without=("bytes", "placement")), strict=True):
        is_told = row.placed is not None and bool(
            row.placed.hosts
        )  # the placement says how many hosts there are
        facts = {key: fact for key, fact in all_facts.items() if not (key == "hosts" and is_told)}
        said = [row.op, *(fact.said for fact in facts.values() if not fact.is_usual)]
        key = tuple(f"{name} {fact.value}" for name, fact in facts.items())
        found.setdefault(key, (said, []))[1].append(row)
    return list(found.values())


def pictured(rows: Sequence[Row]) -> frozenset[int]:
    """Choose the points that pictures of lines show: with more than `MOST_LINES` pairs, the first of each
    class.
    """
    if sum(_pair(row) is not None for row in rows) <= MOST_LINES:
        return frozenset(row.point for row in rows)
    chosen: set[int] = set()
    for _, alike in _points(rows):
        for size in {row.bytes for row in alike}:
            chosen |= _first_ones([row for row in alike if row.bytes == size])
    return frozenset(chosen)


def _first_ones(members: Sequence[Row]) -> set[int]:
    pairs = sorted(
        (row for row in members if _pair(row)), key=lambda row: tuple(map(_in_order, _pair(row) or ()))
    )
    if len(pairs) <= MOST_LINES:
        return {row.point for row in members}
    first: dict[tuple[str, bool], Row] = {}
    for row in pairs:
        first.setdefault((_kind(row), bool(row.placed and row.placed.interrupts)), row)
    return {row.point for row in (*first.values(), *(member for member in members if not _pair(member)))}
