"""A slow-down that a preloaded library plants is found by arms, and nothing else is blamed for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns import run_plan, setup_of
from slow_library import slow_library
from steelyard.base.errors import InputError
from steelyard.campaign.jobs import setup_for
from steelyard.engines.build import given_engine, solo_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.judges.compare.arms import rivals_by
from steelyard.judges.compare.scale import SLOWER, Question
from steelyard.judges.compare.verdicts import compare
from steelyard.plan.arms import read_arms
from steelyard.plan.plan import Measure, Plan
from steelyard.records.read import read_folder
from steelyard.results.rows import results

pytestmark = pytest.mark.xdist_group("waits")


@pytest.mark.further
def test_a_planted_slow_down_is_found_and_named(tmp_path: Path) -> None:
    mpi = choose_mpi("openmpi")
    library = slow_library(tmp_path, mpi)
    measure = Measure(
        ops=("mpi.allreduce", "mpi.bcast"),
        ranks=1,
        bytes=8,
        engine="mpi",
        rule="fixed",
        params={"count": 20.0},
    )
    arms = read_arms(f"env.LD_PRELOAD=-,{library}")
    plan = Plan(measure=(measure,), launches=8, seed=3, oversubscribe=True, arms=arms)
    run_plan(tmp_path / "out", plan, setup_of(mpi))
    found = compare(rivals_by(results(tmp_path / "out"), "env.LD_PRELOAD"), True, Question())
    said = {one.op: one for one in found.points}
    assert said["mpi.allreduce"].verdict == SLOWER
    assert (said["mpi.allreduce"].ratio or 0) > 3
    assert said["mpi.bcast"].verdict != SLOWER or (said["mpi.bcast"].ratio or 0) < 3


def test_engines_are_arms(tmp_path: Path) -> None:
    """Two engines for one MPI, one a copy at another path: neighbours; each launch says which it was."""
    mpi = choose_mpi("openmpi")
    if mpi.mpicc is None:
        pytest.skip("there is no compiler for it")
    setup = setup_of(mpi)
    own = next(engine for name, engine in setup.engines.items() if name is not None)
    copy = tmp_path / "steelyard-mpi"
    shutil.copy2(own.path, copy)
    measure = Measure(ops=("mpi.bcast",), ranks=2, bytes=8, rule="fixed", params={"count": 20.0})
    arms = read_arms(f"engine=-,{tmp_path}")
    plan = Plan(measure=(measure,), launches=2, seed=3, oversubscribe=True, mpi=("openmpi",), arms=arms)
    run_plan(tmp_path / "out", plan, setup_for(plan, setup.machine))
    found = compare(rivals_by(results(tmp_path / "out"), "engine"), True, Question())
    assert found.arms == (mpi.name, f"{mpi.name}+{copy.resolve()}")
    assert found.launches == 2
    assert not found.apart
    engines = [file.job.engine for file in read_folder(tmp_path / "out")]
    assert sorted(engines) == sorted([own.path, str(copy.resolve())] * 2)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: folder / "none", "is no engine, such as what 'steelyard mpi build' prints"),
        (lambda folder: Path("/bin/true"), "is no engine: what"),
        (lambda folder: Path(solo_engine().path), "is an engine without MPI"),
    ],
)
def test_what_is_no_engine(tmp_path: Path, make: Callable[[Path], Path], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        given_engine(make(tmp_path), choose_mpi("openmpi"))
