"""Rows of placements of two, as one table: from where to where, how long, and what to know of the pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steelyard.base.units import format_bytes
from steelyard.results.row import Row
from steelyard.show.labels import rows_facts
from steelyard.show.row_words import value_words
from steelyard.show.words import interval_words, pair_words

MOST_LINES = 16  # placements of a point that a picture of lines can tell apart

_APART = "other-host"  # its CPUs are of two machines and have no place in a matrix of one


@dataclass(frozen=True, slots=True)
class PairTable:
    """One point on pairs of CPUs, and wherever else it was placed. `title` names it; rows with a number.

    `rows` are unplaced ones first, then pairs by their numbers.
    """

    title: str
    rows: tuple[Row, ...]

    @property
    def pairs(self) -> dict[tuple[int, int], Row]:
        """The rows of one machine's pairs, by what rank or thread 0 was on and what the other."""
        rows = (row for row in self.rows if (row.time or 0) > 0 and _kind(row) != _APART)
        return {pair: row for row in rows if (pair := _pair(row))}

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


def _pair(row: Row) -> tuple[int, int] | None:
    cpus = row.placed.cpus if row.placed else ()
    return (cpus[0], cpus[1]) if len(cpus) == 2 else None


def _kind(row: Row) -> str:
    return row.placed.kind if row.placed else ""


def _name(row: Row) -> str:
    pair = _pair(row)
    return f"{pair[0]} – {pair[1]}" if pair else _kind(row) or "default"


def pair_tables(rows: Iterable[Row]) -> tuple[PairTable, ...]:
    """A table for each point of which pairs were measured; of many sizes the smallest and the largest."""
    tables: list[PairTable] = []
    for title, members in _points([row for row in rows if row.time is not None]):
        sizes = {row.bytes for row in members if _pair(row)}
        for size in sorted({min(sizes), max(sizes)}) if sizes else ():
            same = [row for row in members if row.bytes == size]
            same.sort(key=lambda row: (_pair(row) or (-1, -1), _kind(row)))
            words = [title[0], format_bytes(size) if same[0].sized else "", *title[1:]]
            tables.append(PairTable(", ".join(word for word in words if word), tuple(same)))
    return tuple(tables)


def _points(rows: Sequence[Row]) -> list[tuple[list[str], list[Row]]]:
    """The rows that differ in size and placement alone, with all else that tells of them."""
    found: dict[tuple[str, ...], tuple[list[str], list[Row]]] = {}
    for row, facts in zip(rows, rows_facts(rows, without=("bytes", "placement")), strict=True):
        said = [row.op, *(fact.said for fact in facts.values() if not fact.is_usual)]
        key = tuple(f"{name} {fact.value}" for name, fact in facts.items())
        found.setdefault(key, (said, []))[1].append(row)
    return list(found.values())


def pictured(rows: Sequence[Row]) -> frozenset[int]:
    """The points that pictures of lines show: of more than `MOST_LINES` pairs, the first of each class."""
    chosen: set[int] = set()
    for _, alike in _points(rows):
        for size in {row.bytes for row in alike}:
            chosen |= _first_ones([row for row in alike if row.bytes == size])
    return frozenset(chosen)


def _first_ones(members: Sequence[Row]) -> set[int]:
    pairs = sorted((row for row in members if _pair(row)), key=lambda row: _pair(row) or ())
    if len(pairs) <= MOST_LINES:
        return {row.point for row in members}
    first: dict[tuple[str, bool], Row] = {}
    for row in pairs:
        first.setdefault((_kind(row), bool(row.placed and row.placed.interrupts)), row)
    return {row.point for row in (*first.values(), *(one for one in members if not _pair(one)))}
