"""Tables as Markdown, as GitHub, GitLab and chats lay it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from steelyard.base.printable import visible
from steelyard.render.table import BAD, NUMBER, WARN, Line, Table, with_signs

_MARKS = {BAD: "**", WARN: "*"}  # around the cells of a line that is wrong or odd
# What Markdown or HTML would take for its own.
_MEANT = re.compile(r"([\\`*_\[\]<>|~#&@!])")


def table_markdown(table: Table) -> str:
    """Write a table with its title and its notes. A cell that spans the rest stands in the last column."""
    return "\n".join(_lines(with_signs(table))) + "\n"


def page_markdown(title: str, sentences: Sequence[str], tables: Sequence[Table]) -> str:
    """Write a page that begins with its answer: a title, sentences, tables."""
    said = "".join(f"{markdown_text(sentence)}\n\n" for sentence in sentences)
    return f"## {markdown_text(title)}\n\n{said}" + "\n".join(map(table_markdown, tables))


def markdown_text(text: str) -> str:
    """Make a text that Markdown shows as it is."""
    return _MEANT.sub(r"\\\1", visible(text))


def _lines(table: Table) -> Iterator[str]:
    yield f"### {markdown_text(table.title)}"
    yield ""
    if table.explained:
        yield markdown_text(table.explained)
        yield ""
    yield _row([markdown_text(column.name) for column in table.columns])
    yield _row(["---:" if column.kind == NUMBER else ":---" for column in table.columns])
    for line in table.lines:
        yield _row(list(_cells(line, len(table.columns))))
    for note in table.notes:
        yield ""
        yield markdown_text(note)


def _cells(line: Line, count: int) -> Iterator[str]:
    mark = _MARKS.get(line.tone, "")
    missing = count - len(line.cells)
    for cell in (*line.cells[:-1], *[""] * missing, line.cells[-1]):
        text = markdown_text(cell)
        yield f"{mark}{text}{mark}" if text.strip() else text


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
