"""A layer of 500 ns a call is found as such, and the example counts calls."""

from __future__ import annotations

import ctypes.util
import shlex
from pathlib import Path

import pytest

from campaigns import plan_of, run_plan, setup_of
from points import engine_of, measure
from preloaded import build_preloaded
from steelyard.analyses.layers.model import COSTS, layer_costs
from steelyard.engines.build import engine_folder
from steelyard.engines.mpi import Mpi
from steelyard.plan.arms import read_arms
from steelyard.records.schema import End
from steelyard.results.rows import results

_DATA = Path(__file__).parent.parent / "data"
_EXAMPLES = engine_folder().parent / "examples" / "layers"


@pytest.mark.further
def test_a_planted_layer_costs_what_it_takes(tmp_path: Path, one_mpi: Mpi) -> None:
    """By a clock that stands still but for what is planted: nothing depends on this machine's time."""
    clock, layer = (
        build_preloaded(engine_of(one_mpi), _DATA / name, tmp_path)
        for name in ("virtual_clock.c", "planted_layer.c")
    )
    # the clock is there in both arms, before the layer
    first = f'LD_PRELOAD="{clock}${{LD_PRELOAD:+:$LD_PRELOAD}}" exec "$@"'
    plan = plan_of(
        "mpi.allreduce",
        bytes=8,
        params={"count": 8.0},
        launches=2,
        clock="monotonic",
        mpi=(one_mpi.name,),
        arms=read_arms(f"env.LD_PRELOAD=-,{layer}"),
        wrapper=shlex.join(["sh", "-c", first, "sh"]),
    )
    run_plan(tmp_path / "out", plan, setup_of(one_mpi))
    (found,) = layer_costs(results(tmp_path / "out"))
    assert found.verdict == COSTS
    assert found.cost.value == pytest.approx(500, abs=1)
    assert found.without == pytest.approx(300, abs=1)


def test_the_example_counts_the_calls_that_a_launch_makes(tmp_path: Path, one_mpi: Mpi) -> None:
    """It is between the engine and its MPI, so what it costs is the cost of being there."""
    engine, counted = engine_of(one_mpi), tmp_path / "counted"
    library = build_preloaded(engine, _EXAMPLES / "counting.c", tmp_path)
    before = ("env", f"LD_PRELOAD={library}", f"CALLS_COUNTED={counted}")
    measure(engine, 1, 1, ["op=mpi.allreduce bytes=8 rule=fixed count=4"], tmp_path / "out", before)
    counts = {name: int(count) for name, count in map(str.split, counted.read_text().splitlines())}
    assert counts["MPI_Allreduce"] >= 4


def test_a_tool_of_openmp_is_started_by_a_runtime_that_has_ompt(tmp_path: Path, one_mpi: Mpi) -> None:
    """LLVM's runtime, loaded before gcc's, says so; and the ops of OpenMP are right under it."""
    runtime = ctypes.util.find_library("omp5") or ctypes.util.find_library("omp")
    if runtime is None:
        pytest.skip("LLVM's OpenMP is not installed (libomp5)")
    engine, said = engine_of(one_mpi), tmp_path / "said"
    library = build_preloaded(engine, _EXAMPLES / "nothing.c", tmp_path)
    before = (
        "env",
        f"LD_PRELOAD={runtime}",
        f"OMP_TOOL_LIBRARIES={library}",
        f"OMP_TOOL_VERBOSE_INIT={said}",
    )
    lines = ["op=omp.parallel threads=2 rule=fixed count=4", "op=omp.barrier threads=2 rule=fixed count=4"]
    records = measure(engine, 1, 2, lines, tmp_path / "out", before)
    ends = [record for record in records if isinstance(record, End)]
    assert [(end.status, end.verified) for end in ends] == [("ok", True)] * len(lines)
    assert "Tool was started and is using the OMPT interface" in said.read_text()


def test_the_example_watches_what_the_library_counts(tmp_path: Path, one_mpi: Mpi) -> None:
    """Open MPI has performance variables; the launch goes on with all of them started."""
    engine, watched = engine_of(one_mpi), tmp_path / "watched"
    library = build_preloaded(engine, _EXAMPLES / "watching.c", tmp_path)
    before = ("env", f"LD_PRELOAD={library}", f"VARIABLES_WATCHED={watched}")
    measure(engine, 2, 1, ["op=mpi.allreduce bytes=8 rule=fixed count=4"], tmp_path / "out", before)
    variables, _, events, _ = watched.read_text().split()
    assert int(variables) > 0
    assert int(events) >= 0
