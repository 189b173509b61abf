"""A file of another suite: its tables, of one suite or several, whatever stands between them."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular
from steelyard.readers.documents import numbers_of_json
from steelyard.readers.printed_numbers import (
    PrintedNumber,
    SuiteTable,
    TextLine,
    fields_below,
    number_in,
    whole_in,
)
from steelyard.readers.programs import NETPIPE
from steelyard.readers.suites import TABLES

_MOST_BYTES = 64 * 2**20  # of a file; logs are shorter
_MOST_LINES = 1_000_000
_NETPIPE_COLUMNS = ("Gbit/s", "Gbit/s, least", "Gbit/s, most", "us")
_ENDS = ("\n", "\r")
_JSON = re.compile(r"^[ \t]*\{", re.MULTILINE)  # behind warnings, where both went into one file
_KNOWN = "OSU, IMB, NetPIPE, NPB, IOR, mdtest, STREAM, HPL, HPCG or Google Benchmark"


def read_printed(path: Path) -> tuple[PrintedNumber, ...]:
    """Read the numbers of a file. Raises InputError for a line that cannot be read, or without a number."""
    read = read_regular(path, _MOST_BYTES)
    try:
        return numbers_of_text(_decoded(read))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _decoded(read: bytes) -> str:
    """Decode a file. What PowerShell redirects is UTF-16 behind a mark; others may have one of UTF-8."""
    is_wide = read.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return read.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")


def numbers_of_text(text: str) -> tuple[PrintedNumber, ...]:
    """Read the numbers of a text. Raises InputError."""
    if text.count("\n") > _MOST_LINES:
        raise InputError(f"it has more than {_MOST_LINES} lines; cut the tables out")
    lines = [
        TextLine(i, line.rstrip("\r\n"), line.endswith(_ENDS))
        for i, line in enumerate(text.splitlines(keepends=True), 1)
    ]
    sections = list(_sections(lines))
    json = _JSON.search(text)
    if sections:
        found = [one for begins, section in sections for one in TABLES[begins](section)]
    elif json is not None:
        found = list(numbers_of_json(text[json.start() :]))
    else:
        found = list(_netpipe(lines))
    if not found:
        raise InputError(
            f"there is no table of {_KNOWN} with a number; give a file that one of these printed"
        )
    if unknown := next((one for one in found if not math.isfinite(one.value)), None):
        raise InputError(
            f"line {unknown.line} has a number that is none; mend the file, or cut that table out"
        )
    return tuple(found)


def _sections(lines: Sequence[TextLine]) -> Iterator[tuple[re.Pattern[str], SuiteTable]]:
    begins = [
        (line, pattern, match) for line in lines for pattern in TABLES if (match := pattern.match(line.text))
    ]
    ends = [*(line.number - 1 for line, _, _ in begins[1:]), len(lines)]
    for (line, pattern, match), end in zip(begins, ends, strict=False):
        yield pattern, SuiteTable(match, line, lines[line.number : end])


def _netpipe(lines: Sequence[TextLine]) -> Iterator[PrintedNumber]:
    """Read np.out of NetPIPE 5, which has no headings: nothing but lines of bytes and four numbers."""
    told = [line for line in lines if line.text.strip() and not line.text.startswith("#")]
    if not told or any(len(line.text.split()) != len(_NETPIPE_COLUMNS) + 1 for line in told[:1]):
        return
    for line, fields in fields_below(told, len(_NETPIPE_COLUMNS) + 1):
        for column, field in zip(_NETPIPE_COLUMNS, fields[1:], strict=True):
            yield PrintedNumber(
                suite=NETPIPE,
                test="netpipe",
                column=column,
                bytes=whole_in(line, fields[0]),
                value=number_in(line, field),
                line=line.number,
            )
