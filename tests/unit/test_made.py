"""What rows make together: each model is made once, and all tables that name models agree."""

from __future__ import annotations

from collections.abc import Sequence

from flat_rows import made_row
from steelyard.models.made import MODELS, Made, Model
from steelyard.report.model_sections import ELSEWHERE, FOLDED, PICTURES, TITLES
from steelyard.results.row import Row
from steelyard.show.model_sheets import MODEL_TABLES


def test_a_model_is_made_once_and_only_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def count(rows: Sequence[Row]) -> int:
        asked.append(len(rows))
        return len(rows)

    counted = Model("counted", count)
    made = Made([made_row()] * 3)
    assert asked == []
    assert (made(counted), made(counted)) == (3, 3)
    assert asked == [3]


def test_keys_are_different() -> None:
    assert len({model.key for model in MODELS}) == len(MODELS)


def test_what_the_report_adds_to_tables_is_of_tables_that_there_are() -> None:
    for named in (ELSEWHERE, TITLES, PICTURES, FOLDED):
        assert set(named) <= set(MODEL_TABLES)


def test_each_model_has_tables_or_is_part_of_one() -> None:
    """What phases move against STREAM is a column of the table of phases."""
    assert {model.key for model in MODELS} - set(MODEL_TABLES) == {"phase_roofs"}
