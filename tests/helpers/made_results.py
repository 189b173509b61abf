"""Rows of results folders that are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from make_records import FakePoint, write_folder
from record_lines import text_of
from steelyard.results.row import Row
from steelyard.results.rows import results


def rows(folder: Path, *points: FakePoint, launches: int = 5, **options: Any) -> tuple[Row, ...]:
    """Results of made-up test cases; `options` are those of `write_folder`."""
    return results(write_folder(folder / "out", points, launches=launches, **options))


def recorded(folder: Path, lines: list[dict[str, Any]]) -> tuple[Row, ...]:
    """Results of the lines of one file of records, without a plan."""
    (folder / "records").mkdir(parents=True)
    (folder / "records" / f"{lines[0]['job']}.jsonl").write_text(text_of(lines))
    return results(folder)
