"""The guidelines of a report: the violated ones, and all cases below, if a folder has mock-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.errors import InputError
from steelyard.judges.guidelines.table import MOCK
from steelyard.judges.guidelines.tables import case_sheet, guideline_sentences, guideline_sheets
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
    whole = untitled(case_sheet("all", found, found.points))
    yield Section(
        title="Guidelines" + (f", {folder}" if folder else ""),
        explained=" ".join(guideline_sentences(found)),
        sheets=tuple(guideline_sheets(found)),
        more=(Part("All cases", sheets=(whole,)),),
    )
