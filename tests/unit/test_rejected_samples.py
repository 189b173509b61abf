"""What ranks used and how often they yielded is of all samples, rejected ones too, and so are operations."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from make_records import LOW_REPS, FakePoint, steady, write_folder
from steelyard.records.read import read_job
from steelyard.results.values import values_of

_COUNT = 60


@pytest.mark.parametrize(
    ("low", "late", "operations"),
    [
        (None, (), 100 * _COUNT),
        (None, (3, 5, 8), 100 * _COUNT),  # late ones ran, too
        (500.0, (), 100 * _COUNT + LOW_REPS * _COUNT),
    ],
)
def test_operations_are_of_all_samples(
    low: float | None, late: tuple[int, ...], operations: int, tmp_path: Path
) -> None:
    point = FakePoint("mpi.bcast", steady(900.0, count=_COUNT), low=low, yields_per_op=2.0)
    write_folder(tmp_path / "x", [point], launches=1)
    file = read_job(next((tmp_path / "x" / "records").glob("*.jsonl")))
    (run,) = file.points
    first, *rest = run.obs
    used = msgspec.structs.replace(run, obs=(msgspec.structs.replace(first, late=late), *rest))
    taken = values_of(file, used)
    assert (taken.values.size, taken.operations) == (_COUNT - len(late), operations)
    if low is None:
        assert taken.yields == 2 * taken.operations
