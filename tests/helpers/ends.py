"""How the test cases of one launch ended, and what tests of ops assert of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from points import engine_of, measure
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End, Record


def ends_of(records: Sequence[Record], count: int) -> list[End]:
    """All of so many test cases, in their order."""
    ends = sorted((record for record in records if isinstance(record, End)), key=lambda end: end.point)
    assert [end.point for end in ends] == list(range(count))
    return ends


def measured(mpi: Mpi, ranks: int, lines: Sequence[str], words: str, out: Path) -> list[End]:
    """One launch of one thread a rank; `words` are added to each line."""
    records = measure(engine_of(mpi), ranks, 1, [f"{line} {words}" for line in lines], out)
    return ends_of(records, len(lines))


def all_are_right(lines: Sequence[str], ends: Sequence[End]) -> None:
    for line, end in zip(lines, ends, strict=True):
        assert (end.status, end.why, end.verified) == ("ok", None, True), line


def all_are_refused(refused: Mapping[str, str], ends: Sequence[End]) -> None:
    """Each with words of its own; a test case after them, if there is one, is measured."""
    for (line, words), end in zip(refused.items(), ends, strict=False):
        assert (end.status, end.verified) == ("skipped", False), line
        assert words in (end.why or ""), (line, end.why)
    assert [end.status for end in ends[len(refused) :]] == ["ok"] * (len(ends) - len(refused))
