"""Tables as text: for a terminal of some width, or for a pipe.

On a terminal numbers are never cut. Words are wrapped in their columns; the first columns of words are joined
if there is no room for all, and stand above what they hold for if they would be many lines high. A remark is
wrapped in the rest of the line, or stands below it if that is narrow. In a pipe each line of a table is one
line of text, and `awk` sees its columns as fields: a field holds no blank, a dash stands for a missing value,
and a remark comes last. Titles, headings and notes begin with `#` there.
"""

from __future__ import annotations

import codecs
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from steelyard.base.printable import visible
from steelyard.render.joined_columns import counts_to_join, first_columns_above, first_columns_joined
from steelyard.render.table import (
    BAD,
    DIM,
    NOTHING,
    NUMBER,
    REMARK,
    WARN,
    WORDS,
    Column,
    Line,
    Table,
    with_signs,
)

GAP = 2  # blanks between columns
LEAST_WORDS = 12  # letters that a column of words keeps, if its longest part has so many
LEAST_REMARK = 24  # letters beside a line; with fewer, a remark stands below it
MOST_HIGH = 3  # lines of text of a first column; with more it stands above what it holds for
INDENT = 4  # of a remark below a line
FOLD = "  "  # before each line of a message but the first
GLUE = "\u00a0"  # a blank at which lines do not break
# Between a number and its unit: no variable's value is one, and no long word a unit.
_UNIT = re.compile(r"(?<!\S)([^\s\w]*\d[\d.,]*) (?=\S{1,12}(?!\S))")
_QUOTED = re.compile(r"(?<!\w)'[^']*'")  # a command, a name or a path; not from `core's` to `core's`
_WORD = r"""(?:[^\s;'"]|'[^']*'|"[^"]*")+"""  # of a command
# What people are to type stands behind a colon, up to a semicolon or the end; two lines are two commands.
_COMMAND = re.compile(rf"(?<=: )steelyard(?: {_WORD})+|(?<=alone: ){_WORD}(?: {_WORD})* hostname(?=;)")
_OP_NAME = re.compile(r"[a-z]+(\.\w+)+")

BOLD = "1"
STYLES = {WARN: "33", BAD: "31", DIM: "2"}
# Letters that a terminal may lack -> what replaces them.
SPELLINGS = {
    "±": "+-",
    "×": "x",
    "µ": "u",
    "…": "...",
    "−": "-",
    "–": "-",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "∞": "inf",
}
MARK = "# "  # in a pipe, before each line that is no line of a table
ERRORS = "steelyard-spelling"


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(SPELLINGS.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error(ERRORS, _spelled)


@dataclass(frozen=True, slots=True)
class Paper:
    """The medium. `width` in letters, None for no limit; `is_pipe`: another program may read it."""

    width: int | None = None
    is_pipe: bool = True
    has_colour: bool = False
    encoding: str = "utf-8"


def paper_of(stream: TextIO, environ: Mapping[str, str], columns: int) -> Paper:
    """Describe a stream: a terminal of `columns` letters, or a pipe of the width that COLUMNS
    sets, if any.
    """
    encoding = stream.encoding or "ascii"
    if stream.isatty():
        return Paper(columns, False, "NO_COLOR" not in environ and environ.get("TERM") != "dumb", encoding)
    said = environ.get("COLUMNS", "")
    return Paper(int(said) if said.isdecimal() and int(said) > 0 else None, True, False, encoding)


def spell(text: str, encoding: str) -> str:
    """Spell the text in letters that an encoding has: `±` becomes `+-` if it is missing.

    Control characters are made visible, because names and reasons come from elsewhere.
    """
    return visible(text).encode(encoding, errors=ERRORS).decode(encoding)


def table_text(table: Table, paper: Paper) -> str:
    """Write a table as lines of text, with a line break after each."""
    table = _spell(with_signs(table), paper.encoding)
    lines = _piped(table, paper) if paper.is_pipe else _laid_out(table, paper)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def prose_text(text: str, paper: Paper, style: str = "", indent: str = "") -> str:
    """Wrap a sentence; in a pipe after `#`, because it is no line of a table. `indent` is that of all lines
    but the first.
    """
    mark = MARK if paper.is_pipe else ""
    lines = _wrapped(spell(text, paper.encoding), paper.width and paper.width - len(mark) - len(indent))
    shown = (line if i == 0 else indent + line for i, line in enumerate(lines))
    return "".join(f"{mark}{_styled(line, style, paper)}\n" for line in shown)


def _spell(table: Table, encoding: str) -> Table:
    def said(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(spell(" ".join(text.split()), encoding) for text in texts)

    columns = (Column(spell(column.name, encoding), column.kind, column.strong) for column in table.columns)
    lines = (Line(said(line.cells), line.tone) for line in table.lines)
    title, explained = said((table.title, table.explained))
    return Table(title, explained, tuple(columns), tuple(lines), said(table.notes), table.grouped)


def _titled(table: Table) -> str:
    return ": ".join(text for text in (table.title, table.explained) if text)


def _wrapped(text: str, width: int | None) -> list[str]:
    """Wrap the text at that width; a longer word is broken, after a dot or a hyphen if it has one. What is
    quoted stays on one line if it fits there, as a name in a command does, and a command always.
    """
    if width is None or len(text) <= width:
        return [text]
    whole = with_whole_commands(" ".join(text.split()))
    has_command = GLUE in whole
    words = (
        chunk for word in whole.split(" ") for chunk in ([word] if GLUE in word else _chunks(word, width))
    )
    glued = _UNIT.sub(rf"\1{GLUE}", _with_whole_quotes(" ".join(words), width))
    lines = textwrap.wrap(glued, max(1, width), break_on_hyphens=False, break_long_words=not has_command)
    return [line.replace(GLUE, " ") for line in lines]


def with_whole_commands(text: str) -> str:
    """Put GLUE in place of the blanks of commands for people to type, each behind a colon."""
    return _COMMAND.sub(lambda one: one[0].replace(" ", GLUE), text)


def _with_whole_quotes(text: str, width: int) -> str:
    return _QUOTED.sub(lambda one: one[0] if len(one[0]) > width else one[0].replace(" ", GLUE), text)


def folded(text: str, width: int | None) -> str:
    """Fold a message at its words: what is quoted stays on one line if it fits there, and a command behind a
    colon always; no word is broken.

    A text that begins with a blank, as a command on its own line does, stays one line.
    """
    if width is None or len(text) <= width or text[:1].isspace():
        return text
    glued = _with_whole_quotes(with_whole_commands(text), width - len(FOLD))
    lines = textwrap.fill(
        _UNIT.sub(rf"\1{GLUE}", glued),
        width,
        subsequent_indent=FOLD,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace(GLUE, " ")


def _chunks(word: str, width: int) -> list[str]:
    """Split a word into parts that fit, as few as its dots and hyphens allow."""
    chunks = [""]
    for piece in _pieces(word) if len(word) > width else [word]:
        if chunks[-1] and len(chunks[-1] + piece) > width:
            chunks.append("")
        chunks[-1] += piece
    return chunks


def _pieces(word: str) -> list[str]:
    """`openmpi-4.1.4` as `openmpi-`, `4.`, `1.`, `4`."""
    return re.findall(r"[^-.,=/_]*[-.,=/_]+|[^-.,=/_]+", word)


def _styled(text: str, style: str, paper: Paper) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text.strip() and paper.has_colour else text


# ---- a terminal ----------------------------------------------------------------------------------------


def _laid_out(table: Table, paper: Paper) -> Iterator[str]:
    table = narrowed(table, paper.width)
    body = _body(table)
    widths = _widths(body, _whole_lines(table), paper.width)
    title = _titled(table)
    for text in _wrapped(title, paper.width) if title else ():
        yield _styled(text, BOLD, paper)
    headings = [_wrapped(one.name, width) for one, width in zip(body, widths, strict=True)]
    most = max(map(len, headings), default=0) if any(one.name for one in body) else 0
    for i in range(-most, 0):  # headings of fewer lines are aligned at the bottom
        yield _beside([heading[i] if -i <= len(heading) else "" for heading in headings], body, widths)
    before: tuple[str, ...] = ()
    for line in table.lines:
        yield from _line(Line(_once(line.cells, before, table.grouped), line.tone), body, widths, paper)
        before = line.cells
    for note in table.notes:
        yield from _wrapped(note, paper.width)


def narrowed(table: Table, most: int | None) -> Table:
    """Join the first columns of a table if they have no room side by side, or write them above the lines."""
    narrow = table
    for count in counts_to_join(table):
        if not _has_room(narrow, most):
            narrow = first_columns_joined(table, count)
    return first_columns_above(table) if _is_high(narrow, most) else narrow


def _is_high(table: Table, most: int | None) -> bool:
    """Has the first column, of words and with others beside it, a cell of more than `MOST_HIGH` lines?"""
    body = _body(table)
    if most is None or len(body) < 2 or body[0].kind == NUMBER:
        return False
    width = _widths(body, _whole_lines(table), most)[0]
    firsts = {line.cells[0] for line in table.lines if len(line.cells) > 1}
    return any(len(_wrapped(text, width)) > MOST_HIGH for text in firsts)


def _has_room(table: Table, most: int | None) -> bool:
    """Do its columns fit side by side, with the names of ops in one piece?"""
    widths = _widths(_body(table), _whole_lines(table), most, breaks_names=False)
    return most is None or sum(widths) + GAP * (len(widths) - 1) <= most


def _whole_lines(table: Table) -> list[tuple[str, ...]]:
    """List the cells of lines in which nothing spans."""
    count = len(_body(table))
    return [line.cells for line in table.lines if len(line.cells) >= count]


def _once(cells: tuple[str, ...], before: tuple[str, ...], grouped: int) -> tuple[str, ...]:
    """Blank the group's cells if the line before has them."""
    same = 0
    while same < min(grouped, len(cells) - 1, len(before)) and cells[same] == before[same]:
        same += 1
    return ("",) * same + cells[same:]


def _line(line: Line, body: Sequence[Column], widths: Sequence[int], paper: Paper) -> Iterator[str]:
    """Write a line of a table, in as many lines of text as its longest cell needs."""
    cells, tail = _parted(line, len(body))
    style = STYLES.get(line.tone, "")
    texts = [_wrapped(text, width) for text, width in zip(cells, widths, strict=False)]
    used = sum(width + GAP for _, width in zip(cells, widths, strict=False))
    left = None if paper.width is None else paper.width - used
    is_below = left is not None and bool(tail) and left < min(len(tail), LEAST_REMARK)
    beside = _wrapped(tail, left) if tail and not is_below else []
    for i in range(max([1, len(beside), *map(len, texts)])):
        said = [text[i] if i < len(text) else "" for text in texts]
        row = _beside(said, body, widths, style if line.tone != WARN else "", paper)
        yield row + " " * (GAP if cells else 0) + _styled(beside[i], style, paper) if i < len(beside) else row
    for text in _wrapped(tail, (paper.width or 0) - INDENT) if is_below else ():
        yield " " * INDENT + _styled(text, style, paper)


def _beside(
    texts: Sequence[str],
    body: Sequence[Column],
    widths: Sequence[int],
    style: str = "",
    paper: Paper | None = None,
) -> str:
    """Write texts in their columns, padded to their widths."""
    cells = []
    for text, column, width in zip(texts, body, widths, strict=False):
        padded = text.rjust(width) if column.kind == NUMBER else text.ljust(width)
        strong = BOLD if column.strong else ""
        cells.append(_styled(padded, style or strong, paper) if paper else padded)
    return (" " * GAP).join(cells)


def _widths(
    body: Sequence[Column],
    lines: Sequence[tuple[str, ...]],
    most: int | None,
    *,
    breaks_names: bool = True,
) -> list[int]:
    """Compute the width of each column.

    If there is no room, headings of numbers are broken first, then columns of words become narrower, the
    widest first. The names of ops are broken last, and only if that is allowed. Numbers stay whole.
    """
    widths, least, broken = [], [], []
    for i, column in enumerate(body):
        cells = max((len(cells[i]) for cells in lines), default=0)
        heading = column.name.split()
        widths.append(max([cells, *map(len, heading)]))
        if column.kind == NUMBER:
            broken.append(max(cells, _longest_piece(heading)))
            least.append(broken[-1])
        else:
            words = [word for line in lines for word in line[i].split()]
            broken.append(min(_longest_piece([*words, *heading]), LEAST_WORDS))
            names = (len(word) for word in words if _OP_NAME.fullmatch(word.rstrip(",")))
            least.append(max(broken[-1], max(names, default=0)))
    steps = ((NUMBER, least), (WORDS, least), *(((WORDS, broken),) if breaks_names else ()))
    over = sum(widths) + GAP * (len(widths) - 1) - (most or 0)
    for kind, ends in steps if most is not None else ():
        chosen = [i for i, column in enumerate(body) if column.kind == kind]
        while over > 0 and any(widths[i] > ends[i] for i in chosen):
            widths[max(chosen, key=lambda i: (widths[i] > ends[i], widths[i]))] -= 1
            over -= 1
    return widths


def _longest_piece(words: Iterable[str]) -> int:
    return max((len(piece) for word in words for piece in _pieces(word)), default=0)


# ---- a pipe -------------------------------------------------------------------------------------------


def _piped(table: Table, paper: Paper) -> Iterator[str]:
    body = _body(table)
    if title := _titled(table):
        yield from prose_text(title, paper).splitlines()
    headings = ["_".join(one.name.split()) or NOTHING for one in body]
    lines = [_parted(line, len(body)) for line in table.lines]
    fields = [[_field(*one) for one in zip(cells, body, strict=False)] for cells, _ in lines]
    whole = [headings, *(field for field in fields if len(field) == len(body))]
    widths = [max(len(one[i]) for one in whole) for i in range(len(body))]
    if widths:
        widths[0] = max(widths[0], len(headings[0]) + len(MARK))
        yield MARK + _beside(headings, body, [widths[0] - len(MARK), *widths[1:]])
    for one, (_, tail) in zip(fields, lines, strict=True):
        yield _beside(one, body, widths) + " " * GAP + tail
    for note in table.notes:
        yield from prose_text(note, paper).splitlines()


def _field(text: str, column: Column) -> str:
    """Write one word: `154 ns` as `154ns`, `schedule=static chunk=8` as `schedule=static_chunk=8`."""
    return ("" if column.kind == NUMBER else "_").join(text.split()) or NOTHING


def _body(table: Table) -> list[Column]:
    """Take the columns except the remark."""
    return [column for column in table.columns if column.kind != REMARK]


def _parted(line: Line, count: int) -> tuple[tuple[str, ...], str]:
    """Split the cells: those of the first `count` columns, and the remark or the cell that spans the rest."""
    if len(line.cells) >= count:
        return line.cells[:count], "".join(line.cells[count:])
    return line.cells[:-1], line.cells[-1]
