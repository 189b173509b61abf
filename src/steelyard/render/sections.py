"""The parts of a page: sections with pictures and tables, and folded parts with more of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steelyard.render.chart import Chart, Key
from steelyard.render.table import NUMBER, WORDS, Column, Line, Table, without_empty

MOST_WHOLE = 20  # letters of a name that is never broken
MOST_OPEN = 40  # lines of a table; longer ones are folded
MOST_SECTIONS = 16  # of a page; later ones are folded
PAGE_LETTERS = 120  # of a table that fits the page


@dataclass(frozen=True, slots=True)
class View:
    """Pictures of one kind; if a part has several views, a reader sees one at a time."""

    name: str
    explained: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the folded part of a section: views, a table, or both."""

    title: str
    views: tuple[View, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with a sentence, pictures with their legend, tables, and a folded part."""

    title: str
    explained: str
    legend: tuple[Key, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    more: tuple[Part, ...] = ()

    @property
    def folded(self) -> str:
        """The name of the folded part: `Distributions, launches, ranks`."""
        first, *others = (part.title for part in self.more)
        return ", ".join([first, *(title[0].lower() + title[1:] for title in others)])


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a table on the page: cells with their classes and the number of columns that they span."""

    tone: str
    is_first: bool  # of its group
    cells: tuple[tuple[str, str, int], ...]


def shown_lines(table: Table) -> Iterator[ShownLine]:
    """Make the lines of a table; cells that repeat those of the line before are marked `again`."""
    before: tuple[str, ...] = ()
    for line in table.lines:
        same = 0
        while (
            same < min(table.grouped, len(line.cells) - 1, len(before)) and line.cells[same] == before[same]
        ):
            same += 1
        cells = []
        for i, text in enumerate(line.cells):
            spans = len(table.columns) - i if i == len(line.cells) - 1 else 1
            column = table.columns[i]
            kind = WORDS if spans > 1 else column.kind
            looks = {
                kind: True,
                "strong": column.strong and spans == 1,
                "again": i < same,
                "whole": kind == WORDS and len(text) <= MOST_WHOLE and " " not in text,
            }
            cells.append((text, " ".join(look for look, has in looks.items() if has), spans))
        yield ShownLine(line.tone, bool(before) and table.grouped > 0 and same == 0, tuple(cells))
        before = line.cells


def untitled(table: Table) -> Table:
    """Remove the title, because a heading above the table has it."""
    return replace(table, title="", explained="")


def facts(pairs: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Table:
    """Make a table of names and texts, without a heading."""
    return Table("", "", (Column("", WORDS), Column("", WORDS)), tuple(Line(pair) for pair in pairs))


def plain_table(
    title: str, columns: tuple[str, ...], lines: tuple[tuple[str, ...], ...], words: tuple[str, ...] = ()
) -> Table:
    """Make a table of texts: the columns named in `words` are words, the others numbers."""
    kinds = tuple(Column(name, WORDS if name in words else NUMBER) for name in columns)
    return without_empty(Table(title, "", kinds, tuple(Line(line) for line in lines)))
