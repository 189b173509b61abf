"""Sheets as text: for a terminal of some width, or for a pipe.

On a terminal numbers are never cut; words are wrapped in their columns, and the first columns of words become
one where there is no room for all. A remark is wrapped in what is left
of the line, or stands below it where that is little. In a pipe each line of a sheet is one line of text, and
`awk` sees its columns as fields: a field holds no blank, a dash stands for what there is not, and a remark
comes last. Titles, headings and notes begin with `#` there.
"""

from __future__ import annotations

import codecs
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from steelyard.base.foreign import visible
from steelyard.show.joined_columns import counts_to_join, first_columns_joined
from steelyard.show.sheet import BAD, DIM, NOTHING, NUMBER, REMARK, WARN, WORDS, Column, Line, Sheet

GAP = 2  # blanks between columns
LEAST_WORDS = 12  # letters that a column of words keeps, where its longest part has so many
LEAST_REMARK = 24  # letters beside a line, below which a remark stands under it
INDENT = 4  # of a remark that does
GLUE = "\u00a0"  # a blank at which no line ends

BOLD = "1"
STYLES = {WARN: "33", BAD: "31", DIM: "2"}
# What terminals without the letter are given in its place.
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
MARK = "# "  # before what is no line of a table, in a pipe
ERRORS = "steelyard-spelling"


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(SPELLINGS.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error(ERRORS, _spelled)


@dataclass(frozen=True, slots=True)
class Paper:
    """What is written on. `width` in letters, None for no end; `is_pipe`: another program may read it."""

    width: int | None = None
    is_pipe: bool = True
    has_colour: bool = False
    encoding: str = "utf-8"


def paper_of(stream: TextIO, environ: Mapping[str, str], columns: int) -> Paper:
    """What a stream is: a terminal of `columns` letters, or a pipe as wide as COLUMNS says, if it says so."""
    encoding = stream.encoding or "ascii"
    if stream.isatty():
        return Paper(columns, False, "NO_COLOR" not in environ and environ.get("TERM") != "dumb", encoding)
    said = environ.get("COLUMNS", "")
    return Paper(int(said) if said.isdecimal() and int(said) > 0 else None, True, False, encoding)


def spell(text: str, encoding: str) -> str:
    """The text in letters that an encoding has: `±` becomes `+-` where there is none.

    Control characters are shown and not obeyed, for names and reasons come from elsewhere.
    """
    return visible(text).encode(encoding, errors=ERRORS).decode(encoding)


def sheet_text(sheet: Sheet, paper: Paper) -> str:
    """A sheet as lines of text, with a line break after each."""
    sheet = _spell(sheet, paper.encoding)
    lines = _piped(sheet, paper) if paper.is_pipe else _laid_out(sheet, paper)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def prose_text(text: str, paper: Paper, style: str = "") -> str:
    """A sentence, wrapped; in a pipe after `#`, for it is no line of a table."""
    mark = MARK if paper.is_pipe else ""
    lines = _wrapped(spell(text, paper.encoding), paper.width and paper.width - len(mark))
    return "".join(f"{mark}{_styled(line, style, paper)}\n" for line in lines)


def _spell(sheet: Sheet, encoding: str) -> Sheet:
    def said(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(spell(" ".join(text.split()), encoding) for text in texts)

    columns = (Column(spell(one.name, encoding), one.kind, one.strong) for one in sheet.columns)
    lines = (Line(said(one.cells), one.tone) for one in sheet.lines)
    title, explained = said((sheet.title, sheet.explained))
    return Sheet(title, explained, tuple(columns), tuple(lines), said(sheet.notes), sheet.grouped)


def _titled(sheet: Sheet) -> str:
    return ": ".join(text for text in (sheet.title, sheet.explained) if text)


def _wrapped(text: str, width: int | None) -> list[str]:
    """The text in lines of that width; a longer word is broken, after a dot or a hyphen if it has one."""
    if width is None or len(text) <= width:
        return [text]
    words = (chunk for word in text.split() for chunk in _chunks(word, width))
    glued = re.sub(r"(?<=\d) ", GLUE, " ".join(words))  # a number and its unit stay together
    lines = textwrap.wrap(glued, max(1, width), break_on_hyphens=False)
    return [line.replace(GLUE, " ") for line in lines]


def _chunks(word: str, width: int) -> list[str]:
    """A word in parts that fit, as few as its dots and hyphens allow."""
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


def _laid_out(sheet: Sheet, paper: Paper) -> Iterator[str]:
    sheet = narrowed(sheet, paper.width)
    body = _body(sheet)
    widths = _widths(body, _whole_lines(sheet), paper.width)
    for text in _wrapped(_titled(sheet), paper.width):
        yield _styled(text, BOLD, paper)
    headings = [_wrapped(one.name, width) for one, width in zip(body, widths, strict=True)]
    most = max(map(len, headings), default=0) if any(one.name for one in body) else 0
    for i in range(-most, 0):  # those that need fewer lines stand on the last ones
        yield _beside([one[i] if -i <= len(one) else "" for one in headings], body, widths)
    before: tuple[str, ...] = ()
    for line in sheet.lines:
        yield from _line(Line(_once(line.cells, before, sheet.grouped), line.tone), body, widths, paper)
        before = line.cells
    for note in sheet.notes:
        yield from _wrapped(note, paper.width)


def narrowed(sheet: Sheet, most: int | None) -> Sheet:
    """The sheet with its first columns as one, where columns have no room beside each other."""
    narrow = sheet
    for count in counts_to_join(sheet):
        if not _has_room(narrow, most):
            narrow = first_columns_joined(sheet, count)
    return narrow


def _has_room(sheet: Sheet, most: int | None) -> bool:
    """Whether its columns fit beside each other."""
    widths = _widths(_body(sheet), _whole_lines(sheet), most)
    return most is None or sum(widths) + GAP * (len(widths) - 1) <= most


def _whole_lines(sheet: Sheet) -> list[tuple[str, ...]]:
    """The cells of lines in which nothing spans."""
    count = len(_body(sheet))
    return [line.cells for line in sheet.lines if len(line.cells) >= count]


def _once(cells: tuple[str, ...], before: tuple[str, ...], grouped: int) -> tuple[str, ...]:
    """The cells, those of the group left blank where the line before has said them."""
    same = 0
    while same < min(grouped, len(cells) - 1, len(before)) and cells[same] == before[same]:
        same += 1
    return ("",) * same + cells[same:]


def _line(line: Line, body: Sequence[Column], widths: Sequence[int], paper: Paper) -> Iterator[str]:
    """A line of a sheet, of as many lines of text as its longest cell needs."""
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
    """Texts in their columns, which are padded to their widths."""
    cells = []
    for text, column, width in zip(texts, body, widths, strict=False):
        padded = text.rjust(width) if column.kind == NUMBER else text.ljust(width)
        strong = BOLD if column.strong else ""
        cells.append(_styled(padded, style or strong, paper) if paper else padded)
    return (" " * GAP).join(cells)


def _widths(body: Sequence[Column], lines: Sequence[tuple[str, ...]], most: int | None) -> list[int]:
    """What each column needs.

    Where that is too much, headings of numbers are broken first, then columns of words give way, the widest
    first; what is left are numbers, which stay whole.
    """
    widths, least = [], []
    for i, column in enumerate(body):
        cells = max((len(cells[i]) for cells in lines), default=0)
        heading = column.name.split()
        widths.append(max([cells, *map(len, heading)]))
        if column.kind == NUMBER:
            least.append(max(cells, _longest_piece(heading)))
        else:
            words = (word for line in lines for word in line[i].split())
            least.append(min(_longest_piece([*words, *heading]), LEAST_WORDS))
    over = sum(widths) + GAP * (len(widths) - 1) - (most or 0)
    for kind in (NUMBER, WORDS) if most is not None else ():
        chosen = [i for i, column in enumerate(body) if column.kind == kind]
        while over > 0 and any(widths[i] > least[i] for i in chosen):
            widths[max(chosen, key=lambda i: (widths[i] > least[i], widths[i]))] -= 1
            over -= 1
    return widths


def _longest_piece(words: Iterable[str]) -> int:
    return max((len(piece) for word in words for piece in _pieces(word)), default=0)


# ---- a pipe -------------------------------------------------------------------------------------------


def _piped(sheet: Sheet, paper: Paper) -> Iterator[str]:
    body = _body(sheet)
    if title := _titled(sheet):
        yield from prose_text(title, paper).splitlines()
    headings = ["_".join(one.name.split()) or NOTHING for one in body]
    lines = [_parted(line, len(body)) for line in sheet.lines]
    fields = [[_field(*one) for one in zip(cells, body, strict=False)] for cells, _ in lines]
    whole = [headings, *(one for one in fields if len(one) == len(body))]
    widths = [max(len(one[i]) for one in whole) for i in range(len(body))]
    if widths:
        widths[0] = max(widths[0], len(headings[0]) + len(MARK))
        yield MARK + _beside(headings, body, [widths[0] - len(MARK), *widths[1:]])
    for one, (_, tail) in zip(fields, lines, strict=True):
        row = _beside(one, body, widths) + " " * GAP
        yield _cut(row + tail, paper, len(row))
    for note in sheet.notes:
        yield from prose_text(note, paper).splitlines()


def _field(text: str, column: Column) -> str:
    """One word: `154 ns` as `154ns`, `schedule=static chunk=8` as `schedule=static_chunk=8`."""
    return ("" if column.kind == NUMBER else "_").join(text.split()) or NOTHING


def _cut(row: str, paper: Paper, least: int) -> str:
    """A line that is as long as the paper is wide at most; its first `least` letters are kept in any case."""
    more = spell("…", paper.encoding)
    if paper.width is None or len(row) <= max(paper.width, least + len(more)):
        return row
    return row[: max(paper.width - len(more), least)] + more


def _body(sheet: Sheet) -> list[Column]:
    """The columns but for the remark."""
    return [column for column in sheet.columns if column.kind != REMARK]


def _parted(line: Line, count: int) -> tuple[tuple[str, ...], str]:
    """The cells of the first `count` columns, and what comes after: a remark, or what spans the rest."""
    if len(line.cells) >= count:
        return line.cells[:count], "".join(line.cells[count:])
    return line.cells[:-1], line.cells[-1]
