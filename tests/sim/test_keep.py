"""What is reduced over ranks says what all ranks' timestamps say, of the same samples."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest

from steelyard.records.job_file import PointRun
from steelyard.records.read import read_job
from steelyard.results.durations import read_stamps
from steelyard.results.load import PointLaunch, cell_of
from steelyard.validate.design import Simulation, flat_machine
from steelyard.validate.simulator import find_simulator, simulate

_LIMIT_SECONDS = 600.0
_ALL = ("obs", "sync")  # records that `--keep ranks` writes, and that others reduce
_REDUCED = ("reduced", "ranks", "sync_reduced")
_PS = 1.1e-3  # ns: to what reduced values are rounded, and a bit
_RANKS = 32


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of noisy launches with clocks that are off, kept both ways at once."""
    if shutil.which("smpirun") is None:
        pytest.skip("nothing can be simulated: there is no smpirun")
    folder = tmp_path_factory.mktemp("keep")
    methods = ("epoch", "window", "barrier", "root", "bounds", "trigger-ack")
    simulation = Simulation("mpi.allreduce", _RANKS, 1, flat_machine(1), "mpich", None, (8,), methods, 3, ())
    path = folder / "both.jsonl"
    ran = simulate(find_simulator(), simulation, path, _LIMIT_SECONDS, threading.Event(), ("--keep", "both"))
    assert ran.why is None
    return path


def _without(path: Path, records: tuple[str, ...]) -> dict[int, tuple[PointRun, PointLaunch]]:
    """The points of a file from which records of these names are left out."""
    kept = [
        line for line in path.read_bytes().splitlines() if msgspec.json.decode(line)["record"] not in records
    ]
    new = path.with_name(f"without-{records[0]}") / path.name
    new.parent.mkdir(exist_ok=True)
    new.write_bytes(b"\n".join(kept) + b"\n")
    found: dict[int, tuple[PointRun, PointLaunch]] = {}

    def visit(file, run) -> None:  # type: ignore[no-untyped-def]
        found[run.index] = run, cell_of(file, run)

    read_job(new, visit)
    return found


def test_reduced_and_whole_say_the_same(both: Path) -> None:
    whole, reduced = _without(both, _REDUCED), _without(both, _ALL)
    assert whole.keys() == reduced.keys()
    assert len(whole) == 8
    for index, (run, cell) in whole.items():
        told, other = reduced[index]
        assert run.obs
        assert told.reduced
        assert not told.obs
        a, b = cell.taken, other.taken
        name = run.point.method if run.point else ""
        for what in ("values", "low", "skews"):
            mine, theirs = getattr(a, what), getattr(b, what)
            assert (mine is None) == (theirs is None), (name, what)
            if mine is not None:
                np.testing.assert_allclose(theirs, mine, rtol=1e-12, atol=_PS, err_msg=f"{name} {what}")
        np.testing.assert_array_equal(a.slowest, b.slowest, err_msg=name)
        np.testing.assert_allclose(a.rank_medians, b.rank_medians, rtol=1e-12, atol=_PS, err_msg=name)
        assert a.mean_extent == pytest.approx(b.mean_extent, abs=_PS)
        assert a.rank_quantiles == pytest.approx(b.rank_quantiles, rel=0.03)
        assert (a.imbalance is None) == (b.imbalance is None)
        assert a.imbalance is None or a.imbalance == pytest.approx(b.imbalance, abs=_PS)
        assert (a.tick, a.overhead, a.windows, a.yields) == (b.tick, b.overhead, b.windows, b.yields)
        assert (cell.clock_error, cell.clock_bound) == (other.clock_error, other.clock_bound)
        assert (cell.status, cell.rejected, cell.by_closure) == (
            other.status,
            other.rejected,
            other.by_closure,
        )


def test_chosen_timestamps_are_those_of_the_samples(both: Path) -> None:
    """With as many chosen ranks as there are, the kept samples are the same as all ranks' timestamps."""
    whole, reduced = _without(both, _REDUCED), _without(both, _ALL)
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
            np.testing.assert_allclose(chunk.kept.start_ns, stamps.start[:, at] - first[at], atol=_PS)
            np.testing.assert_allclose(chunk.kept.stop_ns, stamps.stop[:, at] - first[at], atol=_PS)
            kept += 1
    assert kept > 0
