"""Clocks that are off and drift, made so on purpose: what a synchronisation says is held against the truth.

With `--skew` each rank's clock goes wrong by a seed, and the engine records the true time of each
synchronisation. In simulation (SimGrid's smpicc) nothing else disturbs, so the stated errors are held to the
letter; on a real machine only what is certain is asserted.
"""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from steelyard import records
from steelyard.engine import build_command, engine_folder, mpi_engine
from steelyard.launch import plan_launch
from steelyard.machine import read_machine
from steelyard.mpi import Mpi
from steelyard.observations import cell_of
from steelyard.process import run
from steelyard.records import JobFile, PointRun, Sync, read_records, with_obs

_DRIFT = 2 * 20e-6  # two clocks of up to 20 ppm, while the pair exchanges messages
_OPS = (
    "mpi.bcast bytes=8",
    "mpi.reduce bytes=8",
    "mpi.allreduce bytes=1024",
    "mpi.barrier",
    "mpi.alltoall bytes=64",
)
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-63" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""


def _points(path: Path, count: int, method: str = "epoch") -> Path:
    lines = [f"point={i} op={op} method={method} rule=fixed count={count}\n" for i, op in enumerate(_OPS)]
    path.write_text("".join(lines))
    return path


def _errors(syncs: list[Sync]) -> list[tuple[float, Sync, int]]:
    """By how many ns each offset of each rank is wrong.

    Rank 0's clock is known at its own synchronisations, and straight enough between two of them.
    """
    found = []
    for before, after in itertools.pairwise(syncs):
        assert before.true_ns is not None
        assert after.true_ns is not None
        slope = (after.at_ns[0] - before.at_ns[0]) / (after.true_ns[0] - before.true_ns[0])
        for rank in range(1, len(after.at_ns)):
            reference = after.at_ns[0] + slope * (after.true_ns[rank] - after.true_ns[0])
            found.append((after.offset_ns[rank] - (after.at_ns[rank] - reference), after, rank))
    return found


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine for the simulator."""
    smpicc = shutil.which("smpicc")
    if smpicc is None:
        pytest.skip("no SimGrid: there is no smpicc")
    folder = tmp_path_factory.mktemp("simulated")
    engine = folder / "steelyard-mpi"
    command = build_command(engine_folder(), "mpi", [smpicc], engine)
    done = run([word for word in command if word != "-Wl,--export-dynamic-symbol=sched_yield"], timeout=300)
    assert done.code == 0, done.err
    (folder / "platform.xml").write_text(_PLATFORM)
    (folder / "hosts").write_text("".join(f"node-{i}\n" for i in range(64)))
    return engine


def _simulate(engine: Path, out: Path, ranks: int, *more: str) -> list[records.Record]:
    """What the engine records under the simulator, where computing costs no time and clocks are free."""
    argv = [
        "smpirun", "-np", str(ranks), "-hostfile", str(engine.parent / "hosts"),
        "-platform", str(engine.parent / "platform.xml"),
        "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--cfg=surf/precision:1e-12",
        "--cfg=smpi/coll-selector:mpich", "--cfg=smpi/iprobe:1e-7", "--cfg=smpi/grow-injected-times:no",
        "--cfg=smpi/os:0:1.5e-7:0", "--cfg=smpi/or:0:1.5e-7:0", "--log=root.thresh:error",
        str(engine), "run", "--out", str(out), "--points", str(_points(out.with_suffix(".txt"), 64)), *more,
    ]  # fmt: skip
    done = run(argv, timeout=120)
    assert done.code == 0, done.out + done.err
    return list(read_records(out).records)


def _medians(read: list[records.Record]) -> dict[str, tuple[float, float]]:
    """Op -> median latency and stated clock error, in ns."""
    job = records.Job(schema=1, job="sim", launch=1, ranks=1)
    launch = next(record for record in read if isinstance(record, records.Launch))
    syncs = {record.index: record for record in read if isinstance(record, Sync)}
    found = {}
    for point in [record for record in read if isinstance(record, records.Point)]:
        obs = [record for record in read if isinstance(record, records.Obs) and record.point == point.point]
        bare = PointRun(point.point, point, (), records.End(point=point.point, status="ok"))
        cell = cell_of(JobFile(Path("sim"), job, launch, (), False), with_obs(bare, obs, syncs))
        assert cell.clock_error is not None
        found[f"{point.op} {point.bytes}"] = (float(np.median(cell.values)), cell.clock_error)
    return found


@pytest.mark.parametrize("ranks", [2, 7, 16])
def test_in_simulation_the_stated_error_holds_the_truth(simulated: Path, tmp_path: Path, ranks: int) -> None:
    true = _medians(_simulate(simulated, tmp_path / "true.jsonl", ranks))
    read = _simulate(simulated, tmp_path / "skewed.jsonl", ranks, "--skew", "5")
    syncs = [record for record in read if isinstance(record, Sync)]
    assert len(syncs) >= 2 * len(_OPS)
    assert {sync.domains for sync in syncs} == {ranks}
    for error, sync, rank in _errors(syncs):
        assert abs(error) <= sync.error_ns[rank]
        assert abs(error) <= sync.bound_ns[rank] + _DRIFT * sync.cost_ns
        assert sync.error_ns[rank] < 100
    skewed = _medians(read)
    assert skewed.keys() == true.keys()
    for op, (latency, stated) in skewed.items():
        assert abs(latency - true[op][0]) <= max(0.01 * true[op][0], stated), op


def test_under_one_clock_ranks_are_found_to_share_it(simulated: Path, tmp_path: Path) -> None:
    read = _simulate(simulated, tmp_path / "shared.jsonl", 5)
    syncs = [record for record in read if isinstance(record, Sync)]
    assert {sync.domains for sync in syncs} == {1}
    assert all(sync.offset_ns == (0.0,) * 5 for sync in syncs)
    assert not any(one.noise for one in read if isinstance(one, records.Obs))  # nothing is below MPI there


def test_on_this_machine_the_certain_bound_holds_the_truth(mpi: Mpi, tmp_path: Path) -> None:
    engine = mpi_engine(mpi)
    machine = read_machine()
    if len(machine.cores) < 2:
        pytest.skip("needs two cores: ranks that share one are mostly late")
    launch = plan_launch(engine, 2, 1, machine)
    out = tmp_path / "records.jsonl"
    command = [*launch.argv_prefix, engine.path, "run", *launch.engine_args, "--out", str(out), "--skew", "3"]
    command += ["--points", str(_points(tmp_path / "points", 64))]
    done = run(command, env=os.environ | launch.environment, timeout=120)
    assert done.code == 0, done.err
    syncs = [record for record in read_records(out).records if isinstance(record, Sync)]
    assert {sync.domains for sync in syncs} == {2}
    for error, sync, rank in _errors(syncs):
        assert abs(sync.offset_ns[rank]) > 1e6  # the clocks really are off
        assert abs(error) <= sync.bound_ns[rank] + _DRIFT * sync.cost_ns
