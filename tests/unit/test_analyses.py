"""What rows make together: each model is made once, and each analysis is one folder and one row."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import steelyard.analyses
from flat_rows import made_row
from steelyard.analyses import registry
from steelyard.analyses.analysis import Analysis, Made, PagePlace
from steelyard.analyses.registry import ANALYSES, in_order
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
    inner = Analysis(
        key="inner", make=tuple, tables=lambda _: [_titled("inner")], unanswered=lambda _: [_titled("why")]
    )
    outer = replace(_counting([]), includes=(inner,))
    few, many = Made([made_row()]), Made([made_row()] * 3)
    assert [table.title for table in inner.tables_of(few, [inner, outer])] == ["inner", "why"]
    assert inner.tables_of(many, [inner, outer]) == ()
    assert [table.title for table in outer.tables_of(many, [inner, outer])] == ["3 rows"]


def test_each_row_has_a_key_of_its_own_and_stands_in_its_folder() -> None:
    """The registry takes each key once: of two rows with one key, one would be lost."""
    homes: dict[str, set[str]] = {}
    for module in _row_modules():
        rows = [value for value in vars(module).values() if isinstance(value, Analysis)]
        assert rows, f"{module.__name__} has no row"
        for row in rows:
            homes.setdefault(row.key, set()).add(f"{id(row)}")
    assert {key for key, ids in homes.items() if len(ids) > 1} == set()
    assert homes.keys() == {row.key for row in ANALYSES}


def _row_modules() -> list[ModuleType]:
    folder = Path(steelyard.analyses.__file__).parent
    names = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    assert "growth" in names
    return [importlib.import_module(f"steelyard.analyses.{name}.row") for name in names]


def test_analyses_without_a_place_come_last() -> None:
    keys = [row.key for row in ANALYSES]
    assert keys[: len(registry.ORDER)] == [key for key in registry.ORDER if key in keys]
    assert keys[len(registry.ORDER) :] == sorted(keys[len(registry.ORDER) :])


def test_a_section_of_the_report_has_a_title() -> None:
    """That of its first table, or its own where it may have none."""
    for row in ANALYSES:
        assert row.title or row.place is not PagePlace.BEFORE_ROWS


def test_two_analyses_of_one_key_are_refused() -> None:
    """results.json could hold only one of them. One that another folder imports is the same."""
    one, another = (Analysis(key="mine", make=lambda _: ()) for _ in range(2))
    assert in_order([one, one]) == (one,)
    with pytest.raises(ValueError, match="two analyses have the key 'mine'"):
        in_order([one, another])
