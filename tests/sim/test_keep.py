"""What is reduced over ranks says what all ranks' timestamps say, of the same samples."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from kept import ALL, PS, REDUCED, check_alike, without
from simulated import simulate as simulated
from steelyard.records.read import read_job, read_records
from steelyard.records.schema import Phases
from steelyard.results.durations import read_stamps
from steelyard.validate.design import Simulation, flat_machine
from steelyard.validate.simulator import find_simulator, simulate

_LIMIT_SECONDS = 600.0
_RANKS = 9  # no power of two: trees are ragged
_METHODS = ("epoch", "bounds")


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


def test_phases_of_chosen_ranks_are_theirs(tmp_path: Path) -> None:
    """There are more ranks than are kept. Where computing costs no time, each run is the same."""
    if shutil.which("smpirun") is None:
        pytest.skip("nothing can be simulated: there is no smpirun")
    ranks, chosen = 70, 64
    (tmp_path / "points").write_text("point=0 op=app.hpccg nx=1 ny=1 nz=1 iterations=3 rule=fixed count=2\n")
    found = []
    for keep in ("ranks", "sampled"):
        out = tmp_path / f"{keep}.jsonl"
        words = ("run", "--points", str(tmp_path / "points"), "--out", str(out), "--ranks", str(ranks))
        simulated(tmp_path, ranks, *words, "--keep", keep)
        found.append([one for one in read_records(out).records if isinstance(one, Phases)])
    assert found[0]
    for whole, part in zip(*found, strict=True):
        assert (whole.ranks, whole.kept) == (0, ())
        assert (part.ranks, len(part.kept), part.kept[0], part.kept[-1]) == (ranks, chosen, 0, 68)
        assert [whole.messages[rank] for rank in part.kept] == list(part.messages)
        for one, other in zip(whole.phases, part.phases, strict=True):
            assert [one.calls[rank] for rank in part.kept] == list(other.calls)
