"""Tables whose long cells repeat: each text stands once, below."""

from __future__ import annotations

import itertools
import string
from collections import Counter
from collections.abc import Iterator, Sequence

LEAST_WORDS = 5  # of a cell that becomes a note; a shorter one is read faster than looked up
LEAST_TIMES = 2


def with_notes(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """Replace long cells that stand in several rows by a letter: the rows, and each letter with its text.

    Code is typed, so it stays where it stands.
    """
    long = (cell for row in rows for cell in row if len(cell.split()) >= LEAST_WORDS)
    times = Counter(cell for cell in long if not cell.startswith("`"))
    repeated = [cell for cell, count in times.items() if count >= LEAST_TIMES]
    letters = dict(zip(repeated, _letters(), strict=False))
    lines = [[letters.get(cell, cell) for cell in row] for row in rows]
    return lines, [(letter, text) for text, letter in letters.items()]


def _letters() -> Iterator[str]:
    """List a, b, ..., z, aa, ab, ..."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))
