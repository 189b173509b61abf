"""The clocks of an engine: which one it takes, what it says of each, and what a bad one does to a point."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands import FIXED, Steelyard, steelyard_of
from steelyard.engines.build import describe, mpi_engine, solo_engine
from steelyard.engines.clocks import gauge_clocks
from steelyard.engines.description import DescribedClock, by_name
from steelyard.engines.mpi import Mpi, find_mpis
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records import schema as records
from steelyard.records.read import read_records
from steelyard.records.schema import End, Launch, Point, Sync
from steelyard.results.rows import results
from steelyard.system.machine import read_machine
from steelyard.system.process import run
from synchronised import TRIES, assert_refused, clock_errors, epochs

pytestmark = pytest.mark.ours

# Many observations that follow each other closely; the point ends when the clock is seen to jump.
_ENDLESS = "method=barrier rule=fixed count=10000000"


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


def _clocks() -> dict[str, DescribedClock]:
    return by_name(describe(solo_engine()).clocks)


def _solo(tmp_path: Path, lines: str, *options: str) -> list[records.Record]:
    (tmp_path / "points").write_text(lines)
    out = tmp_path / "records.jsonl"
    argv = [solo_engine().path, "run", "--points", str(tmp_path / "points"), "--out", str(out), *options]
    done = run(argv, timeout=600)
    assert (done.code, done.err) == (0, "")
    return list(read_records(out).records)


def _two_ranks(mpi: Mpi, tmp_path: Path, lines: str, *options: str) -> list[records.Record]:
    """What two ranks record, on one core each."""
    engine, machine = mpi_engine(mpi), read_machine()
    if len(machine.cores) < 2:
        pytest.skip("needs two cores")
    launch = plan_launch(engine, machine, LaunchRequest(2))
    (tmp_path / "points").write_text(lines)
    out = tmp_path / "records.jsonl"
    argv = [*launch.argv_prefix, engine.path, "run", *launch.engine_args, *options]
    argv += ["--points", str(tmp_path / "points"), "--out", str(out)]
    done = run(argv, env=os.environ | launch.environment, timeout=600)
    assert done.code == 0, done.err
    return list(read_records(out).records)


def _launch(read: list[records.Record]) -> Launch:
    return next(record for record in read if isinstance(record, Launch))


def _ends(read: list[records.Record]) -> list[End]:
    return [record for record in read if isinstance(record, End)]


def test_each_clock_says_whether_it_is_there_and_sound() -> None:
    clocks = _clocks()
    assert clocks.keys() == {"tsc", "cntvct", "monotonic", "monotonic-raw", "mpi-wtime"}
    for clock in clocks.values():
        assert clock.available == (clock.why_not is None)
        assert clock.sound == (clock.available and clock.doubt is None)
    assert clocks["monotonic"].available
    assert clocks["mpi-wtime"].why_not == "this engine has no MPI"
    assert not (clocks["tsc"].available and clocks["cntvct"].available)


def test_a_counter_is_as_sound_as_the_kernel_finds_it() -> None:
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not source.exists() or not _clocks()["tsc"].available:
        pytest.skip("no kernel that tells its clock source, or no x86-64")
    kernels = source.read_text().strip()
    doubt = _clocks()["tsc"].doubt
    if kernels == "tsc":
        assert doubt is None
    else:
        assert doubt is not None
        assert f"its clock source is {kernels}" in doubt or "at one rate" in doubt


def test_the_gauge_has_a_number_for_each_clock_that_is_there() -> None:
    clocks = gauge_clocks(solo_engine())
    chosen = [clock for clock in clocks if clock["default"]]
    assert len(chosen) == 1
    assert chosen[0]["sound"]
    for clock in clocks:
        assert not clock["available"] or (clock["cost_ns"] > 0 and clock["tick_ns"] >= 1)
        if clock.get("hz") is not None:
            assert clock["name"] in ("tsc", "cntvct")
            assert 1e6 < clock["hz"] < 1e10
            assert clock["hz_ppm"] > 0


@pytest.mark.parametrize("name", ["tsc", "cntvct", "monotonic", "monotonic-raw"])
def test_a_clock_can_be_forced(tmp_path: Path, name: str) -> None:
    if not (clock := _clocks()[name]).available:
        pytest.skip(clock.why_not or "")
    read = _solo(tmp_path, "op=self.clock rule=fixed count=5\n", "--clock", name)
    launch = _launch(read)
    assert (launch.clock.name, launch.clock.forced) == (name, True)
    assert launch.places[0].clock_doubt == clock.doubt
    assert (launch.clock.hz is not None) == (name in ("tsc", "cntvct"))
    assert [end.status for end in _ends(read)] == ["ok"]


def test_the_rate_of_a_counter_is_as_certain_as_it_says(tmp_path: Path) -> None:
    if not _clocks()["tsc"].available:
        pytest.skip("no x86-64")
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        clock = _launch(_solo(tmp_path / name, "op=self.empty rule=fixed count=1\n", "--clock", "tsc")).clock
        found.append((clock.hz or 0, clock.hz_ppm or 0))
    (one, one_ppm), (other, other_ppm) = found
    assert abs(one / other - 1) * 1e6 <= one_ppm + other_ppm


def test_ranks_of_a_host_share_one_clock(mpi: Mpi, tmp_path: Path) -> None:
    read = _two_ranks(mpi, tmp_path, "op=mpi.allreduce bytes=8 method=epoch rule=fixed count=64\n")
    launch = _launch(read)
    assert not launch.clock.forced
    assert launch.clock.name in [name for name, clock in _clocks().items() if clock.sound]
    assert [place.clock_doubt for place in launch.places] == [None, None]
    syncs = [record for record in read if isinstance(record, Sync)]
    assert {sync.domains for sync in syncs} == {1}
    assert all(sync.offset_ns == (0, 0) for sync in syncs)
    assert all(0 <= record.start_ns < 60e9 for record in read if isinstance(record, Point))


def test_the_clock_of_mpi_is_there_as_the_last_resort(mpi: Mpi, tmp_path: Path) -> None:
    lines = "op=mpi.allreduce bytes=8 method=epoch rule=fixed count=64\n"
    read = _two_ranks(mpi, tmp_path, lines, "--clock", "mpi-wtime")
    launch = _launch(read)
    assert (launch.clock.name, launch.clock.forced) == ("mpi-wtime", True)
    assert launch.clock.cost_ns > 0
    assert {place.clock_doubt for place in launch.places} == {"MPI does not promise that it never steps"}
    assert [end.status for end in _ends(read)] == ["ok"]


def test_a_clock_that_jumps_back_fails_its_point_and_no_other(tmp_path: Path) -> None:
    lines = f"point=1 op=self.empty {_ENDLESS}\npoint=2 op=self.empty rule=fixed count=1\n"
    read = _solo(tmp_path, lines, "--jump", "0")
    first, second = _ends(read)
    assert (first.point, first.status, first.verified) == (1, "failed", True)
    assert first.why is not None
    assert first.why.startswith("clock: rank 0: the clock ")
    assert first.why.endswith(" us between two readings; choose another with --clock")
    assert first.rejected > 0
    assert second.point == 2


def test_the_rank_whose_clock_jumps_is_named(mpi: Mpi, tmp_path: Path) -> None:
    read = _two_ranks(mpi, tmp_path, f"op=mpi.allreduce bytes=8 {_ENDLESS}\n", "--jump", "1")
    (end,) = _ends(read)
    assert end.status == "failed"
    assert "clock: rank 1: the clock " in (end.why or "")


def test_a_local_op_goes_where_its_clock_is(steelyard: Steelyard, tmp_path: Path) -> None:
    """The engine without MPI has no MPI_Wtime, so the other one measures; and the checks say what it is."""
    if not find_mpis():
        pytest.skip("no MPI was found")
    (tmp_path / "plan.toml").write_text(
        'clock = "mpi-wtime"\nlaunches = 1\n[[measure]]\nops = ["self.clock"]\n'
        'rule = "fixed"\nparams = { count = 5 }\n'
    )
    said = steelyard("run", tmp_path / "plan.toml", "--out", tmp_path / "out")
    assert said.code == 0, said.err
    (row,) = results(tmp_path / "out")
    assert (row.status, row.mpi is not None) == ("ok", True)
    words = "mpi-wtime in 1 launch: MPI does not promise that it never steps"
    assert words in " ".join(said.err.split())


def test_the_default_clock_raises_no_doubt(steelyard: Steelyard, tmp_path: Path) -> None:
    said = steelyard("run", "self.clock", *FIXED, "--out", tmp_path / "out")
    assert said.code == 0
    assert "not sound" not in said.out + said.err
    assert "never steps" not in said.out + said.err


def _numbered(points: list[str]) -> str:
    return "".join(f"point={i} {words}\n" for i, words in enumerate(points))


def test_the_certain_bound_holds_the_truth(one_mpi: Mpi, tmp_path: Path) -> None:
    """Clocks are made to go wrong; in simulation, tests/sim/test_sync.py asks for more."""
    points = epochs("mpi.bcast bytes=8", "mpi.allreduce bytes=1024", "mpi.barrier")
    read = _two_ranks(one_mpi, tmp_path, _numbered(points), "--skew", "3")
    syncs = [record for record in read if isinstance(record, Sync)]
    assert {sync.domains for sync in syncs} == {2}
    for error, sync, rank in clock_errors(syncs):
        assert abs(sync.offset_ns[rank]) > 1e6  # the clocks really are off
        assert abs(error) <= sync.bound_ns[rank]


def test_a_wild_clock_is_refused(mpi: Mpi, tmp_path: Path) -> None:
    read = _two_ranks(mpi, tmp_path, _numbered(TRIES), "--wild", "1")
    assert_refused(read, 1, simulated=False)
