"""A few nights that have little in common: nothing can be told, and that is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from make_records import BEGAN_NS, FakePoint, steady, write_folder
from steelyard.judges.compare.scale import Question
from steelyard.judges.history.store import folders_in, pool, read_night
from steelyard.judges.history.verdicts import check_tonight
from steelyard.judges.verdict import CANNOT_TELL

_DAY = 86_400 * 10**9


def test_nights_far_apart_are_no_error(tmp_path: Path) -> None:
    """Few nights have intervals of any width: beyond what a number holds, there is none."""
    rng = np.random.default_rng(3)
    for number in range(4):
        points = [
            FakePoint("mpi.bcast", steady(1e6 * np.exp(rng.normal(0, 5)), count=40), bytes=size)
            for size in range(1, 31)
        ]
        write_folder(tmp_path / f"{number}", points, launches=2, began_ns=BEGAN_NS + number * _DAY)
    nights = sorted((read_night(folder) for folder in folders_in([tmp_path])), key=lambda one: one.began)
    found, _ = check_tonight(pool(nights[-1], nights[:-1]), Question())
    assert {one.verdict for one in found.points} == {CANNOT_TELL}
    assert any(one.low is None for one in found.points)
    for one in found.points:
        assert (one.low is None) == (one.high is None) == (one.ratio is None)
        assert one.low is None or one.high is None or one.high / one.low < 1e6
