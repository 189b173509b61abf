"""Results as Markdown: a table of each op for a page, a merge request or a chat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.files import real_path
from steelyard.base.printable import visible
from steelyard.base.units import format_bytes
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.render.markdown import markdown_text, table_markdown
from steelyard.render.table import BAD, NOTHING, PLAIN, WARN, Line, Table, number, remark, without_empty
from steelyard.results.facets import Rate, Samples
from steelyard.results.row import Row
from steelyard.rows.labels import Labels, row_labels
from steelyard.rows.row_words import remarks, value_words
from steelyard.rows.table import assumed_notes
from steelyard.rows.words import half_words, rate_words, time_words


def markdown_tables(what: Export) -> bytes:
    """Write a heading for each folder, and a table for each op that was measured or failed in it."""
    return "\n".join(part for folder in what.folders for part in _folder(folder)).encode()


def _folder(folder: ExportedFolder) -> Iterator[str]:
    yield f"## {markdown_text(visible(real_path(folder.folder).name))}\n"
    measured = [row for row in folder.rows if row.status != "skipped"]
    for op in dict.fromkeys(row.op for row in measured):
        yield table_markdown(_table(op, [row for row in measured if row.op == op]))
    if skipped := len(folder.rows) - len(measured):
        yield f"Skipped: {skipped} of {len(folder.rows)}.\n"


def _table(op: str, rows: Sequence[Row]) -> Table:
    labels = row_labels(rows, without=("op",))
    columns = (
        *(axis.column for axis in labels.varying),
        *(number("bytes"), number("time", True), number("±"), number("p99"), number("bandwidth")),
        remark(),
    )
    lines = tuple(_line(row, labels, i) for i, row in enumerate(rows))
    return without_empty(Table(op, ", ".join(labels.common.values()), columns, lines, assumed_notes(rows)))


def _line(row: Row, labels: Labels, i: int) -> Line:
    first = (
        *(cell or NOTHING for cell in labels.cells(i)),
        format_bytes(row.bytes) if row.sized else NOTHING,
    )
    said = ", ".join(one.text for one in remarks(row))
    if row.time is None:
        return Line((*first, said or row.status), BAD)
    half = half_words(row.time, row.time_low, row.time_high)
    numbers = (value_words(row), half, time_words(row.get(Samples).p99), rate_words(row.get(Rate).bandwidth))
    tone = BAD if row.status == "failed" or row.verified is False else WARN if said else PLAIN
    return Line((*first, *numbers, said), tone)
