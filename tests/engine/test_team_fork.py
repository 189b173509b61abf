"""A team of forked ranks from outside: every method on it, how a launch of it ends, what is left.

What its ranks tell each other is tested in C (tests/engine/test_team.c).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from campaigns import ended, run_plan, setup_of, watch_orphans
from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, solo_engine
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.plan.plan import Measure, Plan, Value
from steelyard.records.read import read_records
from steelyard.records.schema import End, Launch, Point, Sync
from steelyard.system.machine import Machine, read_machine
from steelyard.system.process import Done, run


def _solo(*words: str) -> Done:
    return run([solo_engine().path, "run", *words], timeout=600)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_every_method_that_suits_messages_runs_on_it(ranks: int, tmp_path: Path) -> None:
    """Methods and the synchronisation of clocks know of nothing but the team."""
    out = tmp_path / "out.jsonl"
    lines = [
        "op=shm.flag bytes=8 method=batch",
        "op=shm.flag bytes=8 method=barrier",
        "op=shm.flag bytes=8 method=library-barrier",
        "op=shm.flag bytes=8 method=each",
        "op=self.work method=barrier",
        "op=self.empty",
    ]
    (tmp_path / "points").write_text(
        "".join(f"point={i} rule=fixed count=3 {line}\n" for i, line in enumerate(lines))
    )
    done = _solo("--ranks", str(ranks), "--points", str(tmp_path / "points"), "--out", str(out))
    assert (done.code, done.err) == (0, "")
    records = read_records(out).records
    (launch,) = (record for record in records if isinstance(record, Launch))
    assert [place.rank for place in launch.places] == list(range(ranks))
    assert len({place.pid for place in launch.places}) == ranks
    assert launch.mpi is None
    points = [record for record in records if isinstance(record, Point)]
    assert [point.ranks for point in points] == [ranks] * len(lines)
    ends = [record for record in records if isinstance(record, End)]
    assert [(end.status, end.why, end.verified) for end in ends] == [("ok", None, True)] * len(lines)
    syncs = [record for record in records if isinstance(record, Sync)]
    assert len(syncs) >= 2  # before and after the messages of `each`


def test_ranks_are_bound_each_to_its_own(tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("this process may use one CPU only")
    out = tmp_path / "out.jsonl"
    words = ["--ranks", "2", "--cpus", f"{cpus[1]}/{cpus[0]}", "--out", str(out)]
    done = _solo(*words, "op=self.empty", "rule=fixed", "count=1")
    assert (done.code, done.err) == (0, "")
    (launch,) = (record for record in read_records(out).records if isinstance(record, Launch))
    assert [place.cpus for place in launch.places] == [str(cpus[1]), str(cpus[0])]


def test_too_many_ranks_are_refused() -> None:
    done = _solo("--ranks", "257", "op=self.empty")
    assert (done.code, done.out) == (2, "")
    assert "at most 256; use an MPI" in done.err
    assert done.err.count("\n") == 1


def test_a_crash_ends_all_ranks_by_its_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    orphans = watch_orphans(monkeypatch)
    done = _solo("--ranks", "4", "op=self.fail", "kind=2", "rule=fixed", "point=7")
    assert done.code == -signal.SIGSEGV
    assert "died of signal 11 in point 7 (self.fail)\n" in done.err
    assert orphans() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("victim", ["keeper", "rank"])
def test_whoever_is_killed_takes_all_along(
    victim: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    orphans = watch_orphans(monkeypatch)
    out = tmp_path / "out.jsonl"
    words = ["--ranks", "3", "--out", str(out), "op=self.spin", "ns=1000000", "rule=fixed", "count=60000"]
    child = subprocess.Popen([solo_engine().path, "run", *words], stderr=subprocess.DEVNULL)
    launch = _first_launch(out)
    assert child.pid not in [place.pid for place in launch.places]
    os.kill(child.pid if victim == "keeper" else launch.places[2].pid, number)
    assert child.wait(600) == -number
    deadline = time.monotonic() + 600
    while orphans() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert orphans() == []


def test_a_rank_that_finds_no_shared_memory_says_how_much_there_is(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    words = ["--ranks", "2", "--out", str(out), "op=self.spin", "ns=1000000", "rule=fixed", "count=60000"]
    child = subprocess.Popen([solo_engine().path, "run", *words], stderr=subprocess.PIPE, text=True)
    os.kill(_first_launch(out).places[1].pid, signal.SIGBUS)
    _, err = child.communicate(timeout=600)
    assert re.match(
        r"steelyard: rank 1: died of signal 7 in point (-1 \(start-up\)|0 \(self.spin\)), "
        r"/dev/shm has \d+ of \d+ bytes free\n",
        err,
    )


def _first_launch(out: Path) -> Launch:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if out.exists() and b"\n" in out.read_bytes():
            (launch,) = (record for record in read_records(out).records if isinstance(record, Launch))
            return launch
        time.sleep(0.02)
    raise AssertionError("it never began")


def _plan(*ops: str, **params: Value) -> Plan:
    """Two observations of each op on two forked ranks."""
    measure = Measure(
        ops=ops, bytes="8", ranks=2, rule="fixed", engine="solo", params={"count": 2.0, **params}
    )
    return Plan(measure=(measure,), launches=1, oversubscribe=True, seed=1)


def test_a_campaign_on_it_goes_on_after_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orphans = watch_orphans(monkeypatch)
    events = run_plan(tmp_path / "out", _plan("self.fail", "shm.flag", "sock.pipe", kind=2.0), setup_of())
    assert dict(ended(events)) == {"self.fail": "failed", "shm.flag": "ok", "sock.pipe": "ok"}
    assert orphans() == []


@pytest.mark.further
def test_a_hang_on_it_is_ended_by_the_watchdog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranks of it, and the next point is measured."""
    orphans = watch_orphans(monkeypatch)
    plan = replace(_plan("self.fail", "shm.flag", kind=1.0), hang_after="4s")
    events = run_plan(tmp_path / "out", plan, setup_of())
    assert dict(ended(events)) == {"self.fail": "failed", "shm.flag": "ok"}
    assert orphans() == []


# ---- the launch --------------------------------------------------------------------------------------------


def _machine(cores: int) -> Machine:
    return replace(read_machine(), cores=tuple((2 * core, 2 * core + 1) for core in range(cores)))


@pytest.mark.parametrize(
    ("ranks", "threads", "args"),
    [
        (1, 1, ("--cpus", "0")),
        (1, 2, ("--cpus", "0,2")),
        (2, 1, ("--ranks", "2", "--cpus", "0/2")),
        (2, 2, ("--ranks", "2", "--cpus", "0,2/4,6")),
    ],
)
def test_a_launch_without_mpi(ranks: int, threads: int, args: tuple[str, ...]) -> None:
    engine = Engine("/e", "solo", None)
    launch = plan_launch(engine, _machine(4), LaunchRequest(ranks, threads))
    assert launch.argv_prefix == ()
    assert launch.engine_args == (*args, "--yield", "real")
    assert ("OMP_PLACES" in launch.environment) == (ranks == 1 and threads > 1)


def test_more_ranks_than_cores_are_not_bound() -> None:
    engine = Engine("/e", "solo", None)
    with pytest.raises(InputError, match="3 ranks are more than the 2 cores"):
        plan_launch(engine, _machine(2), LaunchRequest(3))
    launch = plan_launch(engine, _machine(2), LaunchRequest(3, oversubscribe=True))
    assert launch.engine_args == ("--ranks", "3", "--yield", "real")
    assert launch.preset == "oversubscribed"
