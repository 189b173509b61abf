"""All analyses: the rows of the folders beside this file, in the order in which they are told."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import steelyard.analyses
from steelyard.analyses.analysis import Analysis, Made
from steelyard.render.table import Table

# Keys of analyses that have a place of their own; those not named come last, by their keys.
ORDER = (
    "hangs",
    "phases",
    "phase_roofs",
    "overlap",
    "matrices",
    "floor",
    "cores",
    "pairs",
    "hosts",
    "macro",
    "messages",
    "overheads",
    "rates",
    "scaling",
    "trees",
    "collectives",
    "growth",
    "exchanges",
    "functionality",
    "rankings",
    "choices",
    "settings",
    "threads",
    "streams",
)


def _rows() -> Iterator[Analysis[Any]]:
    """Find the rows of all folders."""
    for folder in pkgutil.iter_modules(steelyard.analyses.__path__):
        if folder.ispkg:
            row = importlib.import_module(f"{steelyard.analyses.__name__}.{folder.name}.row")
            yield from (value for value in vars(row).values() if isinstance(value, Analysis))


def _place(analysis: Analysis[Any]) -> tuple[int, str]:
    key = analysis.key
    return (ORDER.index(key) if key in ORDER else len(ORDER), key)


def in_order(rows: Iterable[Analysis[Any]]) -> tuple[Analysis[Any], ...]:
    """Sort analyses; a row that several folders import is one. Raises ValueError for two of one key, of which
    results.json could hold only one.
    """
    by_key: dict[str, Analysis[Any]] = {}
    for row in rows:
        if by_key.setdefault(row.key, row) is not row:
            raise ValueError(f"two analyses have the key '{row.key}': give one of them another")
    return tuple(sorted(by_key.values(), key=_place))


ANALYSES = in_order(_rows())


def analysis_tables(made: Made, folder: str = "") -> Iterator[Table]:
    """Make the tables of all analyses of a folder; `folder` is its name if there are several, which share
    some.
    """
    for analysis in ANALYSES:
        if folder and analysis.tables_across:
            continue
        for table in analysis.tables_of(made, ANALYSES):
            yield replace(table, title=f"{table.title} ({folder})") if folder else table


def tables_across(folders: Mapping[str, Made]) -> Iterator[Table]:
    """Make the tables that several folders share."""
    for analysis in ANALYSES:
        if analysis.tables_across:
            yield from analysis.tables_across(_models(folders, analysis))


def answers_across(folders: Mapping[str, Made]) -> Iterator[str]:
    """Write the answers that several folders share."""
    for analysis in ANALYSES:
        yield from analysis.answers_across(_models(folders, analysis))


def _models(folders: Mapping[str, Made], analysis: Analysis[Any]) -> dict[str, Any]:
    return {name: made(analysis) for name, made in folders.items()}


def answers_of(made: Made, *, is_one_of_several: bool = False) -> tuple[tuple[str, ...], Made]:
    """Write the answers of analyses, and take the rows of which they say nothing; of several folders without
    the answers that they share.
    """
    answered = [(analysis, tuple(analysis.answers(made(analysis)))) for analysis in ANALYSES]
    answering = [(analysis, sentences) for analysis, sentences in answered if sentences]
    if not answering:
        return (), made
    rest = [row for row in made.rows if not any(analysis.is_answered(row) for analysis, _ in answering)]
    own = [
        sentences for analysis, sentences in answering if not (is_one_of_several and analysis.tables_across)
    ]
    return tuple(sentence for sentences in own for sentence in sentences), Made(rest)
