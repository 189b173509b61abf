"""Join the first columns of a table, for paper that has no room for them side by side.

Values that are many, or numbers, are unclear without their names, so each then has its own, `nx=20`. What all
lines of an op share is written once, below the table. Where also that has no room, they are a line of their
own, above the lines that they hold for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from steelyard.render.table import NOTHING, NUMBER, REMARK, WORDS, Column, Line, Table

MOST_NAMELESS = 3  # adjacent values that are clear without their names
LEAST_ALIKE = 3  # lines of an op, below which shared values stay in each line
_OP, _SIZE, _CASE = "op", "bytes", "case"


def counts_to_join(table: Table) -> tuple[int, ...]:
    """Count the first columns that may be joined: those of words before any number.

    If these are not enough, all columns up to the last one of words before the first strong figure. If there
    are many, or these are not enough either, all columns before that figure, except the size.
    """
    body = [column for column in table.columns if column.kind != REMARK]
    kinds = [column.kind for column in body]
    figure = next((i for i, column in enumerate(body) if column.strong), 0)
    first = next((i for i, kind in enumerate(kinds) if kind != WORDS), len(kinds))
    all_words = max((i + 1 for i in range(figure) if kinds[i] == WORDS), default=0)
    unsized = figure - (figure > 0 and body[figure - 1].name == _SIZE)
    if all_words > MOST_NAMELESS:
        all_words = unsized
    return tuple(count for count in (first, all_words, unsized) if count > 1)


def first_columns_joined(table: Table, count: int) -> Table:
    """Join the first `count` columns into one of words."""
    names = [column.name for column in table.columns[:count]]
    notes: tuple[str, ...] = ()
    if all(column.kind == NUMBER for column in table.columns[:count]):
        heading, lines = _CASE, [_all_named(line, names) for line in table.lines]
    elif count <= MOST_NAMELESS:
        heading, lines = _together(names), [_joined(line, count) for line in table.lines]
    else:
        shared = _shared_by_op(table.lines, names) if names[0] == _OP else {}
        heading = names[0]
        lines = [_named(line, names, shared.get(line.cells[0], {})) for line in table.lines]
        notes = _shared_words(shared)
    return replace(
        table,
        columns=(Column(heading, WORDS), *table.columns[count:]),
        lines=tuple(lines),
        notes=(*notes, *table.notes),
        grouped=min(table.grouped, 1),
    )


def first_columns_above(table: Table) -> Table:
    """Write the columns of the group, or the first one, above the lines that share them; the title of a group
    spans all columns.
    """
    count = max(1, table.grouped)
    lines, above = [], ""
    for line in table.lines:
        first = min(count, len(line.cells) - 1)
        subject = _together(line.cells[:first])
        if subject and subject != above:
            lines.append(Line((subject,)))
            above = subject
        lines.append(Line(line.cells[first:], line.tone))
    return replace(table, columns=table.columns[count:], lines=tuple(lines), grouped=0)


def _joined(line: Line, count: int) -> Line:
    """Join cells; a last cell that spans stays separate."""
    first = min(count, len(line.cells) - 1)
    return Line((_together(line.cells[:first]), *line.cells[first:]), line.tone) if first > 1 else line


def _named(line: Line, names: Sequence[str], shared: dict[str, str]) -> Line:
    """Write the first cell, then each other one with its name, without those that the op's lines share."""
    first = min(len(names), len(line.cells) - 1)
    if first < 1:
        return line
    cells = list(zip(names[:first], line.cells[:first], strict=True))[1:]
    said = [_pair(name, text) for name, text in cells if text not in ("", NOTHING) and name not in shared]
    return Line((_together([line.cells[0], *said]), *line.cells[first:]), line.tone)


def _all_named(line: Line, names: Sequence[str]) -> Line:
    """Write each cell with its name; a last cell that spans stays separate."""
    named = _named(Line(("", *line.cells), line.tone), ("", *names), {})
    return Line((named.cells[0] or NOTHING, *named.cells[1:]), line.tone)


def _shared_by_op(lines: Sequence[Line], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Map op -> name -> text, for columns whose text is the same in all lines of the op."""
    by_op: dict[str, list[Line]] = {}
    for line in lines:
        if len(line.cells) > len(names):
            by_op.setdefault(line.cells[0], []).append(line)
    found = {}
    for op, members in by_op.items():
        texts = {name: {line.cells[i] for line in members} for i, name in enumerate(names) if i > 0}
        alike = {name: each.pop() for name, each in texts.items() if len(each) == 1}
        told = {name: text for name, text in alike.items() if text not in ("", NOTHING)}
        if told and len(members) >= LEAST_ALIKE:
            found[op] = told
    return found


def _shared_words(shared: dict[str, dict[str, str]]) -> tuple[str, ...]:
    """`a, b: nx=20 ny=20 in all rows`: ops that share the same values share a sentence."""
    ops: dict[str, list[str]] = {}
    for op, texts in shared.items():
        ops.setdefault(_together(_pair(*one) for one in texts.items()), []).append(op)
    return tuple(f"{', '.join(names)}: {told} in all rows." for told, names in ops.items())


def _pair(name: str, text: str) -> str:
    return f"{'_'.join(name.split())}={text}"


def _together(texts: Iterable[str]) -> str:
    return " ".join(text for text in texts if text)
