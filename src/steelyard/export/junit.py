"""Results as JUnit XML: a test case of ours is a test case there.

Failures and wrong answers fail; skipped ones are skipped; those that did not converge have passed.
"""

from __future__ import annotations

from steelyard.base.junit import Case, Suite, junit_xml
from steelyard.base.printable import visible
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.results.row import Row
from steelyard.rows.labels import Labels, row_labels, told_by_op
from steelyard.rows.words import interval_words, time_words


def results_xml(what: Export) -> bytes:
    """A suite for each folder."""
    return junit_xml([_suite(folder) for folder in what.folders])


def _suite(folder: ExportedFolder) -> Suite:
    labels = row_labels(folder.rows, without=told_by_op(folder.rows), sizes=True)
    cases = tuple(_case(row, labels, i) for i, row in enumerate(folder.rows))
    return Suite(f"steelyard {visible(str(folder.folder))}", cases)


def _case(row: Row, labels: Labels, i: int) -> Case:
    name = ", ".join(part for part in (row.op, labels.label(i)) if part)
    why = visible(row.why or row.status)
    if row.status == "failed":
        return Case(row.op, name, failure=why)
    if row.verified is False:
        return Case(row.op, name, failure="the answers are wrong")
    if row.status == "skipped":
        return Case(row.op, name, skipped=why)
    return Case(row.op, name, told=_told(row))


def _told(row: Row) -> str:
    if row.time is None:
        return ""
    interval = interval_words(row.time_low, row.time_high, row.time)
    return f"{time_words(row.time)} ({interval}), {' '.join(row.flags)}"
