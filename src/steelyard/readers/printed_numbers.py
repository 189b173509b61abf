"""A number of another suite, and how lines of its texts are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import shortened, visible

_MOST_QUOTED = 40  # letters of a field in a sentence
_BEGINS_AS_NUMBER = re.compile(r"\s*[-+]?[.,]?\d")
_NUMBER = re.compile(r"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_NOT_MEASURED = ("out-of-mem", "int-overflow")  # IMB's words in place of the numbers of a size


class PrintedNumber(Struct, frozen=True, kw_only=True):
    """A number that a suite has printed: `column` with its unit, as the suite names it. It has no interval.

    `bytes` and `ranks` are None where the text does not tell them; `line` is counted from 1.
    """

    suite: str
    test: str
    column: str
    bytes: int | None = None
    ranks: int | None = None
    value: float
    line: int


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a text, counted from 1. The last one of a file that was cut has no end."""

    number: int
    text: str
    has_end: bool = True


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """A table: the match of the line that begins it, that line, and the lines up to the next table."""

    match: re.Match[str]
    first: TextLine
    lines: Sequence[TextLine]


def refused(line: TextLine, why: str) -> InputError:
    """Make the error of a line that cannot be read."""
    return InputError(f"line {line.number} {why}; mend the file, or cut that table out")


def number_in(line: TextLine, field: str) -> float:
    """Read a number. Raises InputError, which names the line, also for a decimal comma."""
    if _NUMBER.fullmatch(field):
        return float(field)
    quoted = shortened(visible(field), _MOST_QUOTED)
    hint = ", whose decimal sign is a comma" if re.fullmatch(r"[-+]?[\d.]+,\d+", field) else ""
    raise refused(line, f"has '{quoted}' where a number belongs{hint}")


def whole_in(line: TextLine, field: str) -> int:
    """Read a count of bytes or ranks. Raises InputError, which names the line."""
    if not re.fullmatch(r"\d{1,18}", field, re.ASCII):
        raise refused(line, f"has '{shortened(visible(field), _MOST_QUOTED)}' where a whole number belongs")
    return int(field)


def fields_below(
    lines: Sequence[TextLine], columns: int, most: int = 0
) -> Iterator[tuple[TextLine, list[str]]]:
    """List the fields of lines that begin with a number; whatever else stands between them is left out.

    Raises InputError for a line that was cut: it has not as many fields as columns, or ends amid a number.
    """
    above: list[str] = []
    for line in lines:
        if _BEGINS_AS_NUMBER.match(line.text) and not any(word in line.text for word in _NOT_MEASURED):
            fields = line.text.split()
            if not columns <= len(fields) <= max(columns, most):
                raise refused(line, f"has {counted(len(fields), 'field')} below {columns} columns")
            beside = [field for field in fields[-2:-1] if "." in field]  # a line has one number of decimals
            _check_end(line, fields, above or beside)
            yield line, fields
            above = fields


def named_rows(
    lines: Sequence[TextLine], name: str, columns: int, most: int = 0
) -> Iterator[tuple[TextLine, str, list[str]]]:
    """List the names (a pattern with one group) and the fields of lines that begin with a name and a number.

    Raises InputError for a line that was cut, as `fields_below` does.
    """
    pattern = re.compile(rf"\s*{name}\s+(?=[-+.\d])")
    above: list[str] = []
    for line in lines:
        if match := pattern.match(line.text):
            fields = line.text[match.end() :].split()
            if len(fields) not in (columns, most):
                raise refused(line, f"has {counted(len(fields), 'number')} below {columns} columns")
            _check_end(line, fields, above)
            yield line, match[1], fields
            above = fields


def check_whole(line: TextLine, field: str, above: str | None = None) -> None:
    """Raise InputError for a number that the end of a file may have cut: that above has more decimals."""
    if line.has_end or not _BEGINS_AS_NUMBER.match(field):
        return
    if above is None and line.text.endswith(field):
        raise refused(line, f"may end amid the number {field}, for the file has no end of this line")
    if above is not None and _decimals(field) < _decimals(above):
        raise refused(line, f"ends amid a number, for {above} has more decimals")


def _check_end(line: TextLine, fields: Sequence[str], above: Sequence[str]) -> None:
    """Raise InputError for a last line that was cut amid a number, or before it."""
    if not above:
        check_whole(line, fields[-1])
    for field, decimal in zip(reversed(fields), reversed(above), strict=False):
        check_whole(line, field, decimal)


def rows_below(
    lines: Sequence[TextLine], columns: int, is_sized: bool
) -> Iterator[tuple[TextLine, int | None, list[str]]]:
    """List the lines of a table, their sizes apart. Raises InputError where a size comes again.

    IMB has no heading for the sizes of a barrier, but prints them from the second line on.
    """
    seen: dict[int, int] = {}
    for line, fields in fields_below(lines, columns, columns if is_sized else columns + 1):
        size = whole_in(line, fields[0]) if is_sized or len(fields) > columns else None
        if size in seen:
            raise refused(line, f"has {size} bytes again, as line {seen[size]}: two outputs are mixed")
        if size is not None:
            seen[size] = line.number
        yield line, size, fields[len(fields) - columns + is_sized :]


def _decimals(field: str) -> int:
    return len(field.partition(".")[2])
