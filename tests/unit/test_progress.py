"""Calls that are complete before a target that is away is in MPI again: a fraction, with its interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.records.read import read_records
from steelyard.records.schema import Obs
from steelyard.results.facets import Progress
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.results.rows import rows_of
from steelyard.rows.columns import COLUMNS

_COLUMN = next(column for column in COLUMNS if column.name == "early")


def _row(tmp_path: Path, counts: tuple[str, ...], launches: int) -> Row:
    point = FakePoint("mpi.put", steady(100.0), bytes=8, counts=counts)
    (row,) = rows_of(load(write_folder(tmp_path, [point], launches=launches)))
    return row


def _shares(folder: Path) -> list[float]:
    """The fraction of early calls in each launch, from its records."""
    found = []
    for file in sorted((folder / "records").glob("*.jsonl")):
        sums = {"begun": 0, "early": 0}
        for record in read_records(file).records:
            if isinstance(record, Obs):
                for name in sums:
                    sums[name] += sum(map(sum, record.counts[name]))
        found.append(sums["early"] / sums["begun"])
    return found


def test_it_is_the_fraction_of_all_calls_that_began(tmp_path: Path) -> None:
    found = _row(tmp_path, ("begun", "early"), 1).get(Progress)
    assert found.early == pytest.approx(_shares(tmp_path)[0])
    assert (found.early_low, found.early_high) == (None, None)


def test_several_launches_make_an_interval_between_none_and_all(tmp_path: Path) -> None:
    row = _row(tmp_path, ("begun", "early"), 8)
    found, shares = row.get(Progress), sorted(_shares(tmp_path))
    assert found.early is not None
    assert found.early_low is not None
    assert found.early_high is not None
    assert shares[0] <= found.early <= shares[-1]
    assert 0 <= found.early_low <= found.early <= found.early_high <= 1
    assert _COLUMN.cell(row) == (
        f"{100 * found.early:.0f} % ({100 * found.early_low:.0f} – {100 * found.early_high:.0f})"
    )


def test_what_counts_something_else_has_no_such_fraction(tmp_path: Path) -> None:
    row = _row(tmp_path, ("units",), 2)
    assert row.get(Progress).early is None
    assert _COLUMN.cell(row) == "-"
