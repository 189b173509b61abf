"""What is reduced over ranks says what all ranks' timestamps say, of the same samples."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from kept import ALL, PS, REDUCED, check_alike, without
from steelyard.records.read import read_job
from steelyard.results.durations import read_stamps
from steelyard.validate.design import Simulation, flat_machine
from steelyard.validate.simulator import find_simulator, simulate

_LIMIT_SECONDS = 600.0
_RANKS = 9  # no power of two: trees are ragged
_METHODS = ("epoch", "window", "barrier", "bounds")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of noisy test cases on clocks that are off, kept both ways at once."""
    if shutil.which("smpirun") is None:
        pytest.skip("nothing can be simulated: there is no smpirun")
    path = tmp_path_factory.mktemp("keep") / "both.jsonl"
    noisy = flat_machine(1)
    simulation = Simulation("mpi.bcast", _RANKS, 1, noisy, "ompi", None, (8,), _METHODS, 3)
    ran = simulate(find_simulator(), simulation, path, _LIMIT_SECONDS, threading.Event(), ("--keep", "both"))
    assert ran.why is None
    return path


def test_reduced_and_whole_say_the_same(both: Path) -> None:
    whole = without(both, REDUCED)
    check_alike(whole, without(both, ALL))
    assert len(whole) == len(_METHODS) + 2  # with the truth before and after
    cell = next(cell for run, cell in whole.values() if run.point and run.point.method == "epoch")
    assert len(set(cell.values.tolist())) > 50
    assert len(np.flatnonzero(cell.taken.slowest)) > 1


def test_chosen_timestamps_are_those_of_the_samples(both: Path) -> None:
    """With as many chosen ranks as there are, the kept samples are the same as all ranks' timestamps."""
    whole, reduced = without(both, REDUCED), without(both, ALL)
    file = read_job(both)
    assert file is not None
    kept = 0
    for index, (run, cell) in whole.items():
        if run.point is None or not run.syncs or cell.rejected:
            continue
        stamps = read_stamps(file, run, run.point)
        first = stamps.start.min(axis=0)
        for chunk in reduced[index][0].reduced:
            assert chunk.kept is not None
            assert chunk.kept.ranks == tuple(range(_RANKS))
            at = chunk.first + chunk.kept.sample
            np.testing.assert_allclose(chunk.kept.start_ns, stamps.start[:, at] - first[at], atol=PS)
            np.testing.assert_allclose(chunk.kept.stop_ns, stamps.stop[:, at] - first[at], atol=PS)
            kept += 1
    assert kept > 0
