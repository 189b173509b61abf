"""Clocks that are off and drift, made so on purpose: what a synchronisation says is held against the truth.

With `--skew` each rank's clock goes wrong by a seed, and the engine records the true time of each
synchronisation. In simulation (SimGrid's smpicc) nothing else disturbs, so the stated errors are held to the
letter; on a real machine only what is certain is asserted: see tests/mpi/test_clock.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from steelyard.engines.build import simulated_engine
from steelyard.records import schema as records
from steelyard.records.collector import with_obs
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.read import read_records
from steelyard.records.schema import Sync
from steelyard.results.load import PointLaunch, cell_of
from steelyard.system.process import run
from synchronised import TRIES, assert_refused, clock_errors, epochs, write_points

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
# Two hosts, and a path that takes longer one way than back: by some 8 us, for SimGrid doubles latencies.
_ONE_WAY = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="node-0" speed="1Gf"/> <host id="node-1" speed="1Gf"/>
    <link id="there" bandwidth="10GBps" latency="1us"/> <link id="back" bandwidth="10GBps" latency="5us"/>
    <route src="node-0" dst="node-1" symmetrical="NO"><link_ctn id="there"/></route>
    <route src="node-1" dst="node-0" symmetrical="NO"><link_ctn id="back"/></route>
  </zone>
</platform>
"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine for the simulator."""
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    folder = tmp_path_factory.mktemp("simulated")
    engine = folder / "steelyard-mpi"
    engine.symlink_to(simulated_engine().path)
    (folder / "platform.xml").write_text(_PLATFORM)
    (folder / "one-way.xml").write_text(_ONE_WAY)
    for platform, hosts in (("platform", 64), ("one-way", 2)):
        (folder / f"{platform}.hosts").write_text("".join(f"node-{i}\n" for i in range(hosts)))
    return engine


def _simulate(
    engine: Path,
    out: Path,
    ranks: int,
    *more: str,
    points: list[str] | None = None,
    platform: str = "platform",
) -> list[records.Record]:
    """What the engine records under the simulator, where computing costs no time and clocks are free."""
    argv = [
        "smpirun", "-np", str(ranks), "-hostfile", str(engine.parent / f"{platform}.hosts"),
        "-platform", str(engine.parent / f"{platform}.xml"),
        "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--cfg=surf/precision:1e-12",
        "--cfg=smpi/coll-selector:mpich", "--cfg=smpi/iprobe:1e-7", "--cfg=smpi/grow-injected-times:no",
        "--cfg=smpi/os:0:1.5e-7:0", "--cfg=smpi/or:0:1.5e-7:0", "--log=root.thresh:error",
        str(engine), "run", "--out", str(out), *more,
        "--points", str(write_points(out.with_suffix(".txt"), points or epochs(*_OPS))),
    ]  # fmt: skip
    done = run(argv, timeout=600)
    assert done.code == 0, done.out + done.err
    return list(read_records(out).records)


def _medians(read: list[records.Record]) -> dict[str, tuple[float, float]]:
    """Op -> median latency and stated clock error, in ns."""
    return {op: (float(np.median(cell.values)), cell.clock_error or 0.0) for op, cell in _cells(read).items()}


def _cells(read: list[records.Record]) -> dict[str, PointLaunch]:
    """Op and size -> what was observed."""
    job = records.Job(schema=1, job="sim", launch=1, ranks=1)
    launch = next(record for record in read if isinstance(record, records.Launch))
    syncs = {record.index: record for record in read if isinstance(record, Sync)}
    found = {}
    for point in [record for record in read if isinstance(record, records.Point)]:
        obs = [record for record in read if isinstance(record, records.Obs) and record.point == point.point]
        bare = PointRun(point.point, point, (), records.End(point=point.point, status="ok"))
        cell = cell_of(JobFile(Path("sim"), job, launch, (), False), with_obs(bare, obs, syncs))
        assert cell.clock_error is not None
        found[f"{point.op} {point.bytes}"] = cell
    return found


@pytest.mark.parametrize("ranks", [2, 7, 16])
def test_in_simulation_the_stated_error_holds_the_truth(simulated: Path, tmp_path: Path, ranks: int) -> None:
    true = _medians(_simulate(simulated, tmp_path / "true.jsonl", ranks))
    read = _simulate(simulated, tmp_path / "skewed.jsonl", ranks, "--skew", "5")
    syncs = [record for record in read if isinstance(record, Sync)]
    assert len(syncs) >= 2 * len(_OPS)
    assert {sync.domains for sync in syncs} == {ranks}
    for error, sync, rank in clock_errors(syncs):
        assert abs(error) <= sync.error_ns[rank]
        assert abs(error) <= sync.bound_ns[rank]
        assert sync.error_ns[rank] < 100
    skewed = _medians(read)
    assert skewed.keys() == true.keys()
    for op, (latency, stated) in skewed.items():
        assert abs(latency - true[op][0]) <= max(0.01 * true[op][0], stated), op


def test_each_message_is_timed_one_way_though_clocks_are_off(simulated: Path, tmp_path: Path) -> None:
    """There and back, message by message, to the stated error of what one clock for both shows."""
    points = [f"op=mpi.pingpong bytes={size} method=each rule=fixed count=100" for size in (0, 8, 65536)]
    true = _cells(_simulate(simulated, tmp_path / "true.jsonl", 2, points=points))
    skewed = _cells(_simulate(simulated, tmp_path / "skewed.jsonl", 2, "--skew", "5", points=points))
    assert len(true) == len(skewed) == len(points)
    for op, cell in skewed.items():
        assert cell.clock_error is not None
        assert cell.values.size == 100
        assert np.ptp(true[op].values) <= 2  # ns: each message takes as long as any other of its size
        assert np.max(np.abs(cell.values - np.median(true[op].values))) <= cell.clock_error + 2, op


@pytest.mark.parametrize("ranks", [6, 7])
def test_the_messages_of_many_pairs_are_timed_at_once(simulated: Path, tmp_path: Path, ranks: int) -> None:
    """With an odd number of ranks one waits. A layout in which a rank talks to two is refused."""
    layouts = ("neighbours", "bisection", "matching", "ring")
    points = [
        f"op=mpi.pattern.{name} kind=pingpong bytes=8 method=each rule=fixed count=40" for name in layouts
    ]
    true = _cells(_simulate(simulated, tmp_path / "true.jsonl", ranks, points=points))
    skewed = _cells(_simulate(simulated, tmp_path / "skewed.jsonl", ranks, "--skew", "5", points=points))
    assert [name.partition(" ")[0] for name in skewed] == [f"mpi.pattern.{name}" for name in layouts[:3]]
    for op, cell in skewed.items():
        assert (cell.taken.pairs, cell.values.size) == (3, 3 * 40)
        assert cell.point is not None
        assert cell.point.partners is not None
        assert sorted(cell.point.partners)[: ranks - 6] == [-1] * (ranks - 6)
        wrong = np.abs(cell.values - np.median(true[op].values))
        assert np.max(wrong) <= (cell.clock_error or 0.0) + 2, op


@pytest.mark.parametrize("algorithm", ["skampi", "netgauge", "hca3"])
def test_the_certain_bound_holds_the_truth_whatever_the_algorithm(
    simulated: Path, tmp_path: Path, algorithm: str
) -> None:
    """At a number of ranks that is no power of two, so that trees are ragged."""
    more = ("--skew", "6", "--sync", algorithm)
    read = _simulate(simulated, tmp_path / "a.jsonl", 11, *more, points=epochs("mpi.bcast bytes=8"))
    syncs = [record for record in read if isinstance(record, Sync)]
    assert {(sync.algorithm, sync.domains) for sync in syncs} == {(algorithm, 11)}
    for error, sync, rank in clock_errors(syncs):
        assert abs(error) <= sync.bound_ns[rank]
        assert abs(error) <= sync.error_ns[rank]
        assert (sync.drift_ppm[rank] != 0) == (algorithm == "hca3")


@pytest.mark.parametrize("paths", ["symmetric", "asymmetric"])
def test_the_bound_is_stated_where_paths_may_be_asymmetric(
    simulated: Path, tmp_path: Path, paths: str
) -> None:
    """Half of 8 us that no exchange of messages can see: the closure states some ns, the bound holds it."""
    more = ("--skew", "4", "--paths", paths)
    points = epochs("mpi.bcast bytes=8")
    read = _simulate(simulated, tmp_path / "a.jsonl", 2, *more, points=points, platform="one-way")
    syncs = [record for record in read if isinstance(record, Sync)]
    for error, sync, rank in clock_errors(syncs):
        assert 2000 < abs(error) <= sync.bound_ns[rank]
        if paths == "asymmetric":
            assert (sync.error_basis, sync.error_ns[rank]) == ("bound", sync.bound_ns[rank])
        else:
            assert (sync.error_basis, sync.error_ns[rank] < 100) == ("closure", True)
        assert sync.error_ns[0] == 1  # rank 0's clock is the reference: its tick


@pytest.mark.parametrize(("algorithm", "wild"), [("tree", 2), ("tree", 0), ("skampi", 3), ("netgauge", 1)])
def test_clocks_that_cannot_be_related_end_the_point_and_not_the_launch(
    simulated: Path, tmp_path: Path, algorithm: str, wild: int
) -> None:
    more = ("--skew", "3", "--sync", algorithm, "--wild", str(wild))
    assert_refused(
        _simulate(simulated, tmp_path / "wild.jsonl", 4, *more, points=TRIES), wild, simulated=True
    )


def test_under_one_clock_ranks_are_found_to_share_it(simulated: Path, tmp_path: Path) -> None:
    read = _simulate(simulated, tmp_path / "shared.jsonl", 5)
    syncs = [record for record in read if isinstance(record, Sync)]
    assert {sync.domains for sync in syncs} == {1}
    assert all(sync.error_ns == (1.0,) * 5 for sync in syncs)  # the tick
    assert all(sync.offset_ns == (0.0,) * 5 for sync in syncs)
    assert not any(one.noise for one in read if isinstance(one, records.Obs))  # nothing is below MPI there


@pytest.mark.parametrize("platform", ["platform", "one-way"])
def test_ranks_that_share_a_clock_are_trusted_no_better_than_their_messages_can_tell(
    simulated: Path, tmp_path: Path, platform: str
) -> None:
    more = ("--paths", "asymmetric")
    read = _simulate(
        simulated, tmp_path / "shared.jsonl", 2, *more, points=epochs("mpi.bcast bytes=8"), platform=platform
    )
    for sync in [record for record in read if isinstance(record, Sync)]:
        assert (sync.domains, sync.bound_ns[0]) == (1, 1.0)
        assert sync.bound_ns[1] > 1000  # half a round trip, of 1 us of latency or more each way
        assert sync.error_ns == sync.bound_ns
