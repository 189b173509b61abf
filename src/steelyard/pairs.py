"""Rows of placements of two, as one table: from where to where, how long, and what to know of the pair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from steelyard.row import Row
from steelyard.units import format_bytes, format_values
from steelyard.wording import interval_words, pair_words, value_words

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
        rows = (row for row in self.rows if (row.median or 0) > 0 and _kind(row) != _APART)
        return {pair: row for row in rows if (pair := _pair(row))}

    @property
    def lines(self) -> tuple[tuple[str, str, str, str], ...]:
        """Pair, median, interval and note of each row, in words."""
        return tuple(
            (
                _name(row),
                value_words(row),
                interval_words(row.ci_low, row.ci_high, row.median),
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
    points: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.median is not None:
            points.setdefault(_words(row), []).append(row)
    tables: list[PairTable] = []
    for words, members in points.items():
        sizes = {row.bytes for row in members if _pair(row)}
        for size in sorted({min(sizes), max(sizes)}) if sizes else ():
            same = [row for row in members if row.bytes == size]
            same.sort(key=lambda row: (_pair(row) or (-1, -1), _kind(row)))
            named = (words[0], format_bytes(size) if size else "", *words[1:])
            title = ", ".join(word for word in named if word)
            tables.append(PairTable(title, tuple(same)))
    return tuple(tables)


def _words(row: Row) -> tuple[str, ...]:
    """All that tells a point from others, save its size and its placement."""
    return (
        row.op,
        row.mpi or "",
        f"{row.ranks} ranks" if row.ranks > 1 else "",
        f"{row.threads} threads" if row.threads > 1 else "",
        f"thread level {row.thread_level}" if row.thread_level else "",
        format_values(row.params),
        row.method,
        format_values({**row.method_params, **row.rule_params}),
    )


def pictured(rows: Iterable[Row]) -> frozenset[int]:
    """The points that pictures of lines show: of more than `MOST_LINES` pairs, the first of each class."""
    points: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        points.setdefault((*_words(row), str(row.bytes)), []).append(row)
    chosen: set[int] = set()
    for members in points.values():
        pairs = sorted((row for row in members if _pair(row)), key=lambda row: _pair(row) or ())
        if len(pairs) <= MOST_LINES:
            chosen |= {row.point for row in members}
            continue
        first: dict[tuple[str, bool], Row] = {}
        for row in pairs:
            first.setdefault((_kind(row), bool(row.placed and row.placed.interrupts)), row)
        chosen |= {row.point for row in (*first.values(), *(one for one in members if not _pair(one)))}
    return frozenset(chosen)
