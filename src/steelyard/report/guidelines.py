"""The guidelines of a report: the violated ones, and all cases below, if a folder has mock-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.errors import InputError
from steelyard.judges.guidelines.table import MOCK
from steelyard.judges.guidelines.tables import case_table, guideline_sentences, guideline_tables
from steelyard.judges.guidelines.verdicts import Asked, check_guidelines
from steelyard.render.sections import Part, Section, untitled
from steelyard.results.row import Row


def guideline_section(rows: Sequence[Row], folder: str) -> Iterator[Section]:
    """Make the section of a folder that measured a mock-up; none if no guideline can be judged."""
    if not any(row.op.startswith(MOCK) for row in rows):
        return
    try:
        found = check_guidelines(rows, Asked())
    except InputError:
        return
    whole = untitled(case_table("all", found, found.points))
    yield Section(
        title="Guidelines" + (f", {folder}" if folder else ""),
        explained=" ".join(guideline_sentences(found)),
        tables=tuple(guideline_tables(found)),
        more=(Part("All cases", tables=(whole,)),),
    )
