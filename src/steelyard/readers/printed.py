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
    """A line of a text, counted from 1."""

    number: int
    text: str


def refused(line: TextLine, why: str) -> InputError:
    """Make the error of a line that cannot be read."""
    return InputError(f"line {line.number} {why}; mend the file, or cut that table out")


def number_in(line: TextLine, field: str) -> float:
    """Read a number. Raises InputError, which names the line, also for a decimal comma."""
    try:
        return float(field)
    except ValueError:
        quoted = shortened(visible(field), _MOST_QUOTED)
        hint = ", whose decimal sign is a comma" if re.fullmatch(r"[-+]?\d+,\d+", field) else ""
        raise refused(line, f"has '{quoted}' where a number belongs{hint}") from None


def whole_in(line: TextLine, field: str) -> int:
    """Read a count of bytes or ranks. Raises InputError, which names the line."""
    if not re.fullmatch(r"\d{1,18}", field, re.ASCII):
        raise refused(line, f"has '{shortened(visible(field), _MOST_QUOTED)}' where a whole number belongs")
    return int(field)


def fields_below(lines: Sequence[TextLine], columns: int) -> Iterator[tuple[TextLine, list[str]]]:
    """List the fields of lines that begin with a number; whatever else stands between them is left out.

    Raises InputError for a line with fewer or more fields than columns: one that was cut.
    """
    for line in lines:
        if _BEGINS_AS_NUMBER.match(line.text):
            fields = line.text.split()
            if len(fields) != columns:
                raise refused(line, f"has {counted(len(fields), 'field')} below {columns} columns")
            yield line, fields
