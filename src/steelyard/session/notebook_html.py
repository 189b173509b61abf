"""Results as HTML for a notebook: the headline, the tables of the terminal, the warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from steelyard.analyses.overview import (
    ReadFolder,
    as_shown,
    header_lines,
    overview_tables,
    shared_facts,
    shown_items,
    skipped_cases,
    unmeasured_words,
)
from steelyard.base.printable import visible
from steelyard.judges.compare.default_comparisons import Comparisons
from steelyard.render.table import NUMBER, Line, Table, with_signs

_RIGHT = "text-align:right"
_LEFT = "text-align:left"


def results_html(read: ReadFolder, warnings: Sequence[str]) -> str:
    """Write a part of a page, which has no style sheet and no script; what is foreign is escaped."""
    folders = as_shown([read])
    compared = Comparisons(folders)
    items = shown_items(folders)
    known = [*shared_facts(items), *(["mpi"] if len({item.row.mpi for item in items} - {None}) == 1 else [])]
    skipped = [f"{what}: skipped: {why}" for what, why in skipped_cases(items)]
    lines = [f"<p><b>{_text(sentence)}</b></p>" for sentence in compared.headline]
    lines += [f"<p>{_text(line)}</p>" for line in header_lines(folders, items)]
    tables = overview_tables(folders, items, known, compared.ratios_by)
    lines += [line for table in tables for line in table_html(table)]
    lines += [f"<p>{_text(line)}</p>" for line in (*skipped, *unmeasured_words(folders), *warnings)]
    return "\n".join(lines)


def table_html(table: Table) -> Iterator[str]:
    """Write a table in lines of HTML; a last cell that spans the rest does so here, too."""
    table = with_signs(table)
    yield "<table>"
    title = ": ".join(filter(None, (table.title, table.explained)))
    yield f"<caption style='{_LEFT}'>{_text(title)}</caption>"
    yield f"<tr>{''.join(f'<th>{_text(column.name)}</th>' for column in table.columns)}</tr>"
    for line in table.lines:
        yield f"<tr>{''.join(_cells(table, line))}</tr>"
    yield "</table>"
    yield from (f"<p>{_text(note)}</p>" for note in table.notes)


def _cells(table: Table, line: Line) -> Iterator[str]:
    last, rest = len(line.cells) - 1, len(table.columns) - len(line.cells) + 1
    for i, (text, column) in enumerate(zip(line.cells, table.columns, strict=False)):
        spans = f" colspan='{rest}'" if i == last and rest > 1 else ""
        side = _RIGHT if column.kind == NUMBER and not spans else _LEFT
        yield f"<td style='{side}'{spans}>{_text(text)}</td>"


def _text(text: str) -> str:
    return escape(visible(text))
