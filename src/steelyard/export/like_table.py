"""Results in the columns of a test of another suite: those that its text has, as the export writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from steelyard.export.imb import imb_printed
from steelyard.export.osu import osu_printed
from steelyard.export.suite_tests import IMB, OSU, Block, Theirs, blocks_of
from steelyard.export.suite_text import Printed
from steelyard.render.table import NOTHING, Line, Table, number
from steelyard.results.row import Row

_NOTE = "These are means, as theirs are; slow samples weigh more in them than in our medians."
_PRINTED: Mapping[str, Printed] = {OSU: osu_printed(full=True), IMB: imb_printed()}
_GAPS: Mapping[str, str] = {OSU: r"\s{2,}", IMB: r"\s+"}  # between headings; OSU's are of several words
_NAMED = re.compile(r"(\w+): ([^,]+)")  # in a line of a test that has no headings
_NOT_KNOWN = "nan"


def like_tables(tests: Sequence[Theirs], rows: Sequence[Row]) -> Iterator[Table]:
    """Make a table, ordered by size, for each test with known columns and each MPI."""
    for test in tests:
        printed = _PRINTED.get(test.suite)
        if printed is None or test.name not in printed.tests:
            continue
        for block in blocks_of([row for row in rows if row.status == "ok"], [test])[0]:
            first = block.rows[0]
            columns, lines = _columns_and_lines(block, printed)
            if columns and lines:
                yield Table(
                    title=f"{test.name}, as it would print it",
                    explained=f"{first.mpi or 'without MPI'}, {first.ranks} ranks",
                    columns=tuple(number(name) for name in columns),
                    lines=tuple(
                        Line(tuple(NOTHING if cell == _NOT_KNOWN else cell for cell in cells))
                        for cells in lines
                    ),
                    notes=(_NOTE,),
                )


def _columns_and_lines(block: Block, printed: Printed) -> tuple[list[str], list[list[str]]]:
    """Take the text of a block apart: the last line above the rows has the headings, or each line its own."""
    text = [line for row in block.rows if (line := printed.line(block, row)) is not None]
    *_, heading = printed.head(block)
    columns = re.split(_GAPS[block.test.suite], heading.removeprefix("# ").strip())  # IMB's `#bytes` is one
    lines = [line.split() for line in text]
    if {len(cells) for cells in lines} == {len(columns)}:
        return columns, lines
    named = [_NAMED.findall(line) for line in text]
    return (
        ([name for name, _ in named[0]], [[value for _, value in one] for one in named])
        if named
        else ([], [])
    )
