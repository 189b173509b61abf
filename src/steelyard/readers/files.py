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
from steelyard.readers.printed_numbers import PrintedNumber, SuiteTable, TextLine
from steelyard.readers.programs import netpipe_begins, netpipe_file
from steelyard.readers.suites import TABLES, Reader

_MOST_BYTES = 64 * 2**20  # of a file; logs are shorter
_MOST_LINES = 1_000_000
_FIVE_FIELDS = re.compile(r"\s*\d\S*(?:\s+\S+){4}\s*")
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
        found = [one for reader, section in sections for one in reader(section)]
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


def _sections(lines: Sequence[TextLine]) -> Iterator[tuple[Reader, SuiteTable]]:
    """Cut a text where tables begin. np.out has no headings: it begins with the first of its lines."""
    begins: list[tuple[int, Reader, re.Match[str]]] = []
    for i, line in enumerate(lines):
        found = next(((TABLES[told], match) for told in TABLES if (match := told.match(line.text))), None)
        if found:
            begins.append((i, *found))
        elif (match := netpipe_begins(line.text)) and (not begins or begins[-1][1] is not netpipe_file):
            begins.append((i, netpipe_file, match))
    ends = [*(i for i, _, _ in begins[1:]), len(lines)]
    for (i, reader, match), end in zip(begins, ends, strict=False):
        yield reader, SuiteTable(match, lines[i], lines[i + 1 : end])


def _netpipe(lines: Sequence[TextLine]) -> Iterator[PrintedNumber]:
    """Read np.out whose first line is cut or of another locale, so that it is refused with its line."""
    told = [line for line in lines if line.text.strip() and not line.text.startswith("#")]
    match = _FIVE_FIELDS.fullmatch(told[0].text) if told else None
    if match:
        yield from netpipe_file(SuiteTable(match, told[0], told[1:]))
