"""The model of a table for terminal, pipe and report: pure data, which knows none of them.

    Table(
        "mpi.pingpong",
        "one way",
        (number("bytes"), number("time", strong=True), number("±"), remark()),
        (
            Line(("8 B", "154 ns", "3 %", "")),
            Line(("64 KiB", "7.11 us", "10 %", "drifts"), WARN),
            Line(("1 MiB", "failed in 3 of 10 launches: wrong data on rank 1"), BAD),
        ),
    )

The kind of a column says how it looks everywhere. `WORDS` are left-aligned and may be wrapped. A `NUMBER`,
also a size or a time, is right-aligned and never cut or wrapped. A `REMARK` is the last column, without a
heading: a few words on what is wrong or odd with this line, or nothing. If a line has fewer cells than there
are columns, its last cell spans the rest: a failed case says so in place of its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

ColumnKind = Literal["words", "number", "remark"]
Tone = Literal["", "warn", "bad", "dim"]
WORDS: ColumnKind = "words"
NUMBER: ColumnKind = "number"
REMARK: ColumnKind = "remark"
PLAIN: Tone = ""
WARN: Tone = "warn"
BAD: Tone = "bad"
DIM: Tone = "dim"
NOTHING = "-"  # the cell of a missing number


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and a kind; a `strong` column holds the subject of the table."""

    name: str
    kind: ColumnKind = NUMBER
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A cell for each column, or fewer: then the last one spans the rest."""

    cells: tuple[str, ...]
    tone: Tone = PLAIN


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `explained`: the title in a sentence, or nothing; `notes` stand below, a sentence each.

    Lines of a group share their first `grouped` cells, which are shown once. `explained_signs` are those of
    `SIGNS` that somebody else explains.
    """

    title: str
    explained: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    grouped: int = 0
    explained_signs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for a line with no cell or too many, and for a remark that is not last."""
        if any(not 0 < len(line.cells) <= len(self.columns) for line in self.lines):
            raise ValueError(f"a line of '{self.title}' has no cell, or more cells than there are columns")
        if any(column.kind == REMARK for column in self.columns[:-1]):
            raise ValueError(f"the remark of '{self.title}' is not its last column")


def words(name: str) -> Column:
    """Make a column of words."""
    return Column(name, WORDS)


def number(name: str, strong: bool = False) -> Column:
    """Make a column of numbers, sizes or times."""
    return Column(name, NUMBER, strong)


def remark() -> Column:
    """Make the last column, which says what is wrong or odd with a line."""
    return Column("", REMARK)


def plain_lines(lines: Iterable[Sequence[str]]) -> tuple[Line, ...]:
    """Make lines of which none is wrong or odd."""
    return tuple(Line(tuple(cells)) for cells in lines)


# How a cell begins or what it holds -> what that means; told below each table that has one.
SIGNS = {
    "> 10x": "> 10x: the interval reaches beyond ten times the value, so nothing is known yet; add launches.",
    "≤ ": "≤: only this upper bound is known.",
    "≥ ": "≥: only this lower bound is known.",
}


def signs_of(table: Table) -> tuple[str, ...]:
    """List the signs in the cells that nobody else explains."""
    cells = [cell for line in table.lines for cell in line.cells]
    return tuple(
        sign for sign in SIGNS if sign not in table.explained_signs and any(sign in cell for cell in cells)
    )


def with_signs(table: Table) -> Table:
    """Add a note for each sign in the cells."""
    told = signs_of(table)
    return replace(table, notes=(*table.notes, *(SIGNS[sign] for sign in told))) if told else table


def without_empty(table: Table) -> Table:
    """Remove columns that are empty in all lines; cells that span do not count."""
    count = len(table.columns)
    spans = any(len(line.cells) < count for line in table.lines)
    kept = [
        i
        for i, column in enumerate(table.columns)
        if (spans and column.kind == REMARK) or any(_says(line, i, count) for line in table.lines)
    ]
    columns = tuple(table.columns[i] for i in kept)
    lines = tuple(Line(_kept(line, kept, count), line.tone) for line in table.lines)
    grouped = sum(1 for i in kept if i < table.grouped)
    return Table(table.title, table.explained, columns, lines, table.notes, grouped)


def _says(line: Line, i: int, count: int) -> bool:
    own = len(line.cells) if len(line.cells) == count else len(line.cells) - 1
    return i < own and line.cells[i] not in ("", NOTHING)


def _kept(line: Line, kept: list[int], count: int) -> tuple[str, ...]:
    """Keep the cells of some columns; one that spans stays the last."""
    last = len(line.cells) - 1
    if len(line.cells) == count:
        return tuple(line.cells[i] for i in kept)
    return (*(line.cells[i] for i in kept if i < last), line.cells[last])
