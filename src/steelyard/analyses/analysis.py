"""What an analysis is: a question to all rows of a folder, with its answer as values, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from steelyard.render.chart import Chart
from steelyard.render.sections import Part
from steelyard.render.table import Table
from steelyard.results.row import Row

T = TypeVar("T")


class PagePlace(Enum):
    """Where the report has an analysis: before the rows, after them, or with the rows that it is about."""

    BEFORE_ROWS = "before"
    AFTER_ROWS = "after"
    WITH_ROWS = "with"


class Made:
    """The rows of a folder and their models; each model is made once, when it is first used.

    `made(SCALING)` are the curves of scaling; `made.rows` the rows.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        self._models: dict[str, Any] = {}

    def __call__(self, analysis: Analysis[T]) -> T:
        """Make the model of an analysis, or return the one made before."""
        if analysis.key not in self._models:
            self._models[analysis.key] = analysis.make(self.rows)
        model: T = self._models[analysis.key]
        return model


def _nothing(_: object) -> tuple[()]:
    return ()


def _nobody(_: Row) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis(Generic[T]):
    """One analysis. `make` makes its model of the rows, which results.json has under `key` if `is_written`.

    Terminal and report have its `tables`, then those of rows that have no answer and why (`unanswered`).
    Among its tables are those of the analyses that it `includes`, which then have none of their own. The
    report has its pictures. Its section there is called `title` and begins with `explained`, or as its first
    table does; `folded` stands in the part that a reader opens.
    `answers` are sentences of the headline, which then says no more of the rows that are `is_answered`.
    Several folders have one table and one answer where there are `tables_across` and `answers_across`, which
    are given the models by the names of the folders.
    """

    key: str
    make: Callable[[Sequence[Row]], T]
    tables: Callable[[T], Iterable[Table]] = _nothing
    unanswered: Callable[[Sequence[Row]], Iterable[Table]] = _nothing
    includes: tuple[Analysis[Any], ...] = ()
    pictures: Callable[[T], Sequence[Chart]] = _nothing
    title: str = ""
    explained: str = ""
    folded: Callable[[T], Part] | None = None
    place: PagePlace = PagePlace.AFTER_ROWS
    answers: Callable[[T], Iterable[str]] = _nothing
    is_answered: Callable[[Row], bool] = _nobody
    tables_across: Callable[[Mapping[str, T]], Iterable[Table]] | None = None
    answers_across: Callable[[Mapping[str, T]], Iterable[str]] = _nothing
    is_written: bool = True

    def tables_of(self, made: Made, others: Iterable[Analysis[Any]] = ()) -> tuple[Table, ...]:
        """Make all tables for the rows of a folder; none where one of `others` that includes it has some."""
        if any(self in other.includes and other.tables_of(made) for other in others):
            return ()
        return (*self.tables(made(self)), *self.unanswered(made.rows))
