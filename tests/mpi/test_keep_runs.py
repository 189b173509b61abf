"""Under MPI, too, what is reduced over ranks says what all ranks' timestamps say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kept import ALL, REDUCED, check_alike, without
from points import engine_of, measure
from steelyard.engines.mpi import Mpi
from steelyard.records.job_file import append_records
from steelyard.records.reduced import Reduced
from steelyard.records.schema import SCHEMA, Job, Obs

pytestmark = pytest.mark.ours

_LINES = [
    *(
        f"op=mpi.allreduce bytes=8 rule=fixed count=300 method={name}"
        for name in ("epoch", "barrier", "root")
    ),
    "op=mpi.pingpong bytes=8 rule=fixed count=200",
    "op=mpi.pingpong bytes=8 rule=fixed count=200 method=each",  # every rank is always kept
    "op=noise.ftq rule=fixed count=20",
]
_ALWAYS = (4, 5)


def test_reduced_and_whole_say_the_same(mpi: Mpi, tmp_path: Path) -> None:
    path = tmp_path / "l01.jsonl"
    path.touch()
    append_records(path, [Job(schema=SCHEMA, job="l01", launch=1, ranks=2)])
    measure(engine_of(mpi), 2, 1, _LINES, path, words=("--keep", "both"))
    whole, reduced = without(path, REDUCED), without(path, ALL)
    check_alike(
        *(
            {index: one for index, one in points.items() if index not in _ALWAYS}
            for points in (whole, reduced)
        )
    )


def test_only_what_was_asked_for_is_kept(mpi: Mpi, tmp_path: Path) -> None:
    records = measure(engine_of(mpi), 2, 1, _LINES, tmp_path / "out.jsonl", words=("--keep", "slowest"))
    assert {one.point for one in records if isinstance(one, Obs)} == set(_ALWAYS)
    assert {one.point for one in records if isinstance(one, Reduced)} == {0, 1, 2, 3}
    assert all(one.kept is None for one in records if isinstance(one, Reduced))
