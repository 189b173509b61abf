"""Arrival patterns from a file: when each rank came to each repetition of a collective, to be replayed.

A line is a repetition. It holds a number for each rank: by how many microseconds it comes after the first,
from 0 to 1,000,000, with blanks, tabs or commas between. Text after a `#` is a comment; an empty line is no
repetition. After the last line the first one follows again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular

Delays = tuple[tuple[float, ...], ...]  # [repetition][rank], in us

MOST_US = 1e6  # the limit of the parameter `delay_us`
MOST_LINES = 100_000


def read_arrivals(path: Path) -> Delays:
    """Read the delays in a file. Raises InputError: which file and line, what is wrong, what to do."""
    try:
        text = read_regular(path).decode()
    except UnicodeDecodeError:
        raise InputError(f"the arrivals in {path} are no text; write a line for each repetition") from None
    delays: list[tuple[float, ...]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        row = tuple(_delay(path, number, word) for word in words)
        if delays and len(row) != len(delays[0]):
            raise InputError(
                f"line {number} of the arrivals in {path} has {len(row)} ranks, those before it have "
                f"{len(delays[0])}; give one delay per rank in each line"
            )
        delays.append(row)
    if not 0 < len(delays) <= MOST_LINES:
        raise InputError(
            f"the arrivals in {path} have {len(delays)} lines; give a line for each repetition, "
            f"{MOST_LINES} at most"
        )
    return tuple(delays)


def _delay(path: Path, number: int, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MOST_US:
        raise InputError(
            f"line {number} of the arrivals in {path} has '{word}', which is not a delay; give microseconds "
            f"from 0 to {MOST_US:g}"
        )
    return value


def check_arrivals(delays: Delays | None, points: Sequence[tuple[str, int]]) -> None:
    """Check that these ops with so many ranks can replay the delays, and that one does. Raises InputError."""
    if delays is not None and not points:
        raise InputError("no op replays the arrivals; add --param arrival=file")
    for op, ranks in points:
        if delays is None:
            raise InputError(f"arrival=file of {op} needs a file of delays; give it with --arrivals FILE")
        if len(delays[0]) != ranks:
            raise InputError(
                f"the file of arrivals has {len(delays[0])} ranks and cannot be replayed by {op} on "
                f"{ranks}; give -n {len(delays[0])}"
            )


def arrival_lines(delays: Sequence[Sequence[float]]) -> str:
    """Write the delays for the engine, in whole nanoseconds."""
    return "".join(" ".join(str(round(value * 1000)) for value in row) + "\n" for row in delays)
