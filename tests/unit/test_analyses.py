"""What rows make together: each model is made once, and each analysis is one folder and one row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import steelyard.analyses
from flat_rows import made_row
from steelyard.analyses import registry
from steelyard.analyses.analysis import Analysis, Made, PagePlace
from steelyard.analyses.registry import ANALYSES
from steelyard.render.table import Table
from steelyard.results.row import Row


def _counting(asked: list[int]) -> Analysis[int]:
    def count(rows: Sequence[Row]) -> int:
        asked.append(len(rows))
        return len(rows)

    return Analysis(key="counted", make=count, tables=lambda count: [_titled(f"{count} rows")] * (count > 2))


def _titled(title: str) -> Table:
    return Table(title, "", (), ())


def test_a_model_is_made_once_and_only_when_it_is_asked_for() -> None:
    asked: list[int] = []
    counted = _counting(asked)
    made = Made([made_row()] * 3)
    assert asked == []
    assert (made(counted), made(counted)) == (3, 3)
    assert asked == [3]


def test_tables_that_another_analysis_has_are_made_only_without_its() -> None:
    counted = _counting([])
    inner = Analysis(
        key="inner", make=tuple, tables=lambda _: [_titled("inner")], unanswered=lambda _: [_titled("why")]
    )
    within = Analysis(key="within", make=tuple, tables=lambda _: [_titled("inner")], within=counted)
    few, many = Made([made_row()]), Made([made_row()] * 3)
    assert [table.title for table in inner.tables_of(many)] == ["inner", "why"]
    assert [table.title for table in within.tables_of(few)] == ["inner"]
    assert within.tables_of(many) == ()


def test_each_row_of_the_registry_is_listed_once_under_a_key_of_its_own() -> None:
    rows = [value for value in vars(registry).values() if isinstance(value, Analysis)]
    assert len({row.key for row in rows}) == len(rows) == len(ANALYSES)
    assert {row.key for row in rows} == {row.key for row in ANALYSES}


def test_a_section_of_the_report_has_a_title() -> None:
    """That of its first table, or its own where it may have none."""
    for row in ANALYSES:
        assert row.title or row.place is not PagePlace.BEFORE_ROWS


def test_each_folder_of_analyses_is_that_of_a_row() -> None:
    """What the registry does not take from it is dead."""
    folder = Path(steelyard.analyses.__file__).parent
    told = Path(registry.__file__).read_text()
    folders = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert "growth" in folders
    assert {name for name in folders if f"steelyard.analyses.{name}." not in told} == set()
