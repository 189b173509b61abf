"""What goes wrong in a launch: hangs, crashes and wrong answers are results, the rest is one sentence."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from campaigns import Orphans, ended, plan_of, run_plan, setup_of, watch_orphans
from scripts import script
from steelyard.base.errors import InputError
from steelyard.campaign.events import CampaignBegins
from steelyard.campaign.jobs import CampaignSetup, plan_jobs
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi, choose_mpi, find_mpis
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import CampaignFile
from steelyard.records.parts import StuckRank
from steelyard.records.read import read_folder
from steelyard.results.rows import results

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


_HANG, _CRASH, _WRONG, _EXIT, _UNSUPPORTED = 1, 2, 3, 4, 5


def _failing_first(kind: int, setup: CampaignSetup, *, rank: int = 0, **more: Any) -> Plan:
    """self.fail and then self.empty: with the seed that puts them into this order."""
    plan = plan_of("self.fail", "self.empty", params={"kind": kind, "rank": rank}, **more)
    points = resolve(plan, setup.ops, [name for name in setup.engines if name], 2)
    for seed in range(100):
        (job,) = plan_jobs(CampaignFile(seed=seed, points=points), 1, ())
        if job.points[0].op == "self.fail":
            return msgspec.structs.replace(plan, seed=seed)
    raise AssertionError("no seed of a hundred puts self.fail first")


@pytest.mark.parametrize(
    ("kind", "status", "why"),
    [
        (_HANG, "failed", "hang: no record for 2s, ended by the watchdog"),
        (_CRASH, "failed", "signal 11 (SIGSEGV) on rank 0"),
        (_WRONG, "failed", "wrong: rank 0: self.fail was asked for a wrong answer"),
        (_EXIT, "failed", "abort: rank 0: exit was called with code 1 by steelyard-solo"),
        (_UNSUPPORTED, "skipped", "unsupported: rank 0: self.fail was asked to be unsupported"),
    ],
)
def test_a_point_that_fails_is_a_result_and_the_next_is_measured(
    tmp_path: Path, kind: int, status: str, why: str, orphans: Orphans
) -> None:
    setup = setup_of()
    plan = _failing_first(kind, setup, hang_after="2s" if kind == _HANG else "60s")
    events = run_plan(tmp_path, plan, setup)
    assert ended(events) == [("self.fail", status), ("self.empty", "ok")]
    failed, good = results(tmp_path)
    assert (failed.op, failed.status, failed.why) == ("self.fail", status, why)
    assert (good.op, good.status, good.count) == ("self.empty", "ok", 2)
    assert orphans() == []
    (again,) = run_plan(tmp_path, plan, setup)
    assert isinstance(again, CampaignBegins)  # a failure is a result: it is not tried again


def _where(folder: Path) -> tuple[StuckRank, ...]:
    """Where ranks were, by the records of what hung."""
    ends = [run.end for file in read_folder(folder) for run in file.points if run.end and run.end.where]
    return ends[0].where if ends else ()


def test_what_hung_once_is_spared_in_later_launches(tmp_path: Path) -> None:
    setup = setup_of()
    plan = _failing_first(_HANG, setup, hang_after="2s", launches=3)
    events = run_plan(tmp_path, plan, setup)
    assert [status for op, status in ended(events) if op == "self.fail"] == ["failed", "skipped", "skipped"]
    assert [status for op, status in ended(events) if op == "self.empty"] == ["ok", "ok", "ok"]
    why = results(tmp_path)[0].why
    assert why == "hang: no record for 2s, ended by the watchdog (launch 1 of 3)"


_LAUNCH = {
    "record": "launch", "schema": 1, "engine": "solo", "version": "0", "ranks": 1, "places": [],
    "clock": {"name": "c", "cost_ns": 1, "tick_ns": 1},
}  # fmt: skip
# An engine that hangs, before or after it begins, and ends the point when it is told to end.
_LATE_ENGINE = f"""
while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
begin() {{ echo '{json.dumps(_LAUNCH)}' >> "$out"; }}
%s
trap '%s; echo "{{\\"record\\":\\"end\\",\\"point\\":0,\\"status\\":\\"ok\\"}}" >> "$out"; exit 9' TERM
sleep 60 & wait
"""


@pytest.mark.parametrize("begins", [("begin", ":"), (":", "begin")])
def test_what_ends_while_it_is_being_stopped_has_not_hung(tmp_path: Path, begins: tuple[str, str]) -> None:
    setup = setup_of()
    late = Engine(str(script(tmp_path / "engine", _LATE_ENGINE % begins)), "solo", None)
    setup = msgspec.structs.replace(setup, engines={None: late})
    events = run_plan(tmp_path / "out", plan_of("self.empty", hang_after="2s"), setup)
    assert ended(events) == [("self.empty", "ok")]
    (file,) = read_folder(tmp_path / "out")
    assert [watch.ending for watch in file.watches] == [None]


# An engine that measures its points, and then does what it should not.
_BAD_ENGINE = f"""
while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; [ "$1" = --points ] && points=$2; shift; done
echo '{json.dumps(_LAUNCH)}' >> "$out"
echo '{{"record":"end","point":0,"status":"ok"}}' >> "$out"
%s
"""


_UNCLOSED = "closing: hang: engine had not ended 1s after the last record, ended by the watchdog"


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("exit 0", None),
        (
            "echo 'no farewell' >&2; exit 9",
            "closing: the launch ended with code 9 after its last test case: no farewell",
        ),
        ("kill -SEGV $$", "closing: signal 11 (SIGSEGV) on rank 0"),
        (
            "sleep 60",
            _UNCLOSED,
        ),
        (
            "kill -STOP $$",
            f"{_UNCLOSED}; engine (pid PID) is suspended",
        ),
    ],
)
def test_a_launch_that_does_not_end_well_keeps_its_results_and_is_told(
    tmp_path: Path, text: str, ending: str | None
) -> None:
    bad = Engine(str(script(tmp_path / "engine", _BAD_ENGINE % text)), "solo", None)
    setup = msgspec.structs.replace(setup_of(), engines={None: bad})
    plan = plan_of("self.empty", hang_after="1s", launches=2)
    assert ended(run_plan(tmp_path / "out", plan, setup)) == [("self.empty", "ok")] * 2
    found = [watch.ending for file in read_folder(tmp_path / "out") for watch in file.watches]
    assert [one and re.sub(r"pid \d+", "pid PID", one) for one in found] == [ending, ending]


def _lone(folder: Path, text: str) -> tuple[CampaignSetup, Plan]:
    """An MPI whose mpiexec is a script."""
    mpi = Mpi("fake-1", "mpich", "5.0", None, str(script(folder / "mpiexec", text)), None, True, "given")
    setup = setup_of()
    engine = Engine(setup.engines[None].path, "mpi", mpi)
    return msgspec.structs.replace(setup, engines={"fake-1": engine}), plan_of(
        "self.empty", ranks=2, hang_after="2s" if "sleep" in text else "60s"
    )


_NEVER = "hang: mpiexec had not begun to measure after 2s, ended by the watchdog"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "echo 'no such host: mars' >&2; exit 1",
            "start-up: mpiexec ended with code 1 before anything was measured: no such host: mars",
        ),
        (
            "echo -----; echo one; echo; echo two; exit 7",
            "start-up: mpiexec ended with code 7 before anything was measured: one / two",
        ),
        ("exit 0", "start-up: mpiexec ended with code 0 before anything was measured: it said nothing"),
        ("kill -KILL $$", "start-up: signal 9 (SIGKILL) on mpiexec"),
        (
            "echo no licence >&2; exit 130",
            "start-up: mpiexec ended with code 130 before anything was measured: no licence",
        ),
        (
            "echo 'steelyard: rank 1: died of signal 11' >&2; exit 2",
            "start-up: signal 11 (SIGSEGV) on rank 1",
        ),
        (
            "echo 'process rank 1 with PID 0 on node vm exited on signal 9 (Killed).'; exit 137",
            "start-up: signal 9 (SIGKILL) on rank 1",
        ),
        (
            r"printf '=   PID 1 RUNNING AT vm\n=   EXIT CODE: 9\nEXIT STRING: Killed (signal 9)'; exit 9",
            "start-up: signal 9 (SIGKILL) on a rank",
        ),
        (
            "echo 'no route to mars' >&2; sleep 60",
            f"{_NEVER} (it said: no route to mars)",
        ),
        (
            "echo '[proxy:0@h2] HYDU_create_process (x.c:7): execvp error on file /e (No)' >&2; sleep 60",
            "start-up: launcher: /e cannot be run on h2; --stage brings the engine there",
        ),
        (
            "echo waiting; sleep 60",
            _NEVER,
        ),
        (
            "echo 'ssh: connect to host h9 port 22: No route to host' >&2; exec tail -f /dev/null",
            "start-up: node: mpiexec cannot reach a host: ssh: connect to host h9 port 22: No route to host",
        ),
        (
            "echo 'steelyard: rank 1: no clock X; see Y' >&2; exit 2",
            "start-up: rank 1: no clock X; see Y",
        ),
        (
            "printf '\\033]0;owned\\007' >&2; exit 1",
            r"start-up: mpiexec ended with code 1 before anything was measured: \x1b]0;owned\x07",
        ),
    ],
)
def test_a_launch_that_cannot_start_is_a_result_of_all_its_points(
    tmp_path: Path, text: str, why: str
) -> None:
    setup, plan = _lone(tmp_path, text)
    assert ended(run_plan(tmp_path / "out", plan, setup)) == [("self.empty", "failed")]
    (row,) = results(tmp_path / "out")
    assert (row.status, row.why) == ("failed", why)


def test_kernels_are_awaited_no_longer_before_they_begin(tmp_path: Path) -> None:
    setup, plan = _lone(tmp_path, "sleep 3600")
    plan = msgspec.structs.replace(plan, measure=(Measure(ops=("npb.is",), ranks=2),))
    run_plan(tmp_path / "out", plan, setup)
    (row,) = results(tmp_path / "out")
    assert row.why == "hang: mpiexec had not begun to measure after 2s, ended by the watchdog"


def test_a_launch_that_cannot_start_stops_no_other(tmp_path: Path) -> None:
    """After two of a kind, the rest of that kind is spared."""
    setup, plan = _lone(tmp_path, "exit 1")
    setup = msgspec.structs.replace(setup, engines={**setup.engines, None: setup_of().engines[None]})
    other = msgspec.structs.replace(plan.measure[0], ops=("self.clock",), ranks=1)
    plan = msgspec.structs.replace(plan, measure=(*plan.measure, other), launches=4)
    run_plan(tmp_path / "out", plan, setup)
    failed, good = results(tmp_path / "out")
    assert [launch.status for launch in failed.launches] == ["failed", "failed", "skipped", "skipped"]
    assert [launch.status for launch in good.launches] == ["ok"] * 4
    assert "died before they began" in (failed.launches[3].why or "")


def test_a_launch_that_is_slow_to_begin_spares_no_other(tmp_path: Path) -> None:
    """The first one sleeps, the second ends at once: it was started."""
    setup, plan = _lone(tmp_path, f"[ -e {tmp_path}/mark ] && exit 1; touch {tmp_path}/mark; exec sleep 3600")
    run_plan(tmp_path / "out", msgspec.structs.replace(plan, launches=2), setup)
    (row,) = results(tmp_path / "out")
    assert [launch.status for launch in row.launches] == ["failed", "failed"]
    assert row.launches[0].why == _NEVER
    assert (row.launches[1].why or "").startswith("start-up: mpiexec ended with code 1")


# ---- with MPI ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "hang_after", "why"),
    [
        (_HANG, "4s", "hang: no record for 4s, ended by the watchdog"),
        (_CRASH, "30s", "signal 11 (SIGSEGV) on rank 1"),
        (_WRONG, "30s", "wrong: rank 1: self.fail was asked for a wrong answer"),
        (_EXIT, "30s", "abort: rank 1: exit was called with code 1 by steelyard-mpi"),
    ],
)
def test_a_rank_that_fails_is_a_result_and_the_next_point_is_measured(
    tmp_path: Path, mpi: Mpi, kind: int, hang_after: str, why: str, orphans: Orphans
) -> None:
    setup = setup_of(mpi)
    plan = _failing_first(kind, setup, rank=1, ranks=2, hang_after=hang_after)
    events = run_plan(tmp_path, plan, setup)
    assert ended(events) == [("self.fail", "failed"), ("self.empty", "ok")]
    failed, good = results(tmp_path)
    assert failed.status == "failed"
    assert (failed.why or "").startswith(why)
    assert (good.status, good.count, good.ranks, good.mpi) == ("ok", 2, 2, mpi.name)
    assert orphans() == []
    where = _where(tmp_path)
    assert [one.rank for one in where] == ([0, 1] if kind == _HANG else [])
    assert all((one.op, one.host) == ("self.fail", platform.node()) and len(one.calls) > 2 for one in where)


def test_the_mpiexec_of_another_mpi_is_one_clear_sentence(tmp_path: Path, mpi: Mpi) -> None:
    other = next((found for found in find_mpis() if found.family != mpi.family), None)
    if other is None:
        pytest.skip("there is only one family of MPI")
    setup = setup_of(mpi)
    mixed = Engine(setup.engines[mpi.name].path, "mpi", other)
    setup = msgspec.structs.replace(setup, engines={other.name: mixed})
    run_plan(tmp_path, plan_of("self.empty", ranks=2), setup)
    (row,) = results(tmp_path)
    assert row.status == "failed"
    assert "belongs to another MPI than the library" in (row.why or "")
    assert "use the mpiexec of that library" in (row.why or "")
    assert "\n" not in (row.why or "")


_RANK_ONE = """
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && exec %s "$@"
exec %s "$@"
"""
_BUILD_ID = struct.pack("<III", 4, 20, 3) + b"GNU\0"  # what stands before it


def test_a_rank_with_another_engine_is_one_clear_sentence(
    tmp_path: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mpi.prefix is not None:  # an engine finds its library from where it stands
        monkeypatch.setenv("LD_LIBRARY_PATH", f"{mpi.prefix}/lib")
    setup = setup_of(mpi)
    own = setup.engines[mpi.name].path
    head, mark, rest = Path(own).read_bytes().partition(_BUILD_ID)
    if not mark:
        pytest.skip("the compiler gives programs no build id")
    other = tmp_path / "other"
    other.write_bytes(head + mark + bytes([rest[0] ^ 1]) + rest[1:])
    other.chmod(0o755)
    either = script(tmp_path / "either", _RANK_ONE % (other, own))
    setup = msgspec.structs.replace(setup, engines={mpi.name: Engine(str(either), "mpi", mpi)})
    run_plan(tmp_path / "out", plan_of("self.empty", ranks=2), setup)
    (row,) = results(tmp_path / "out")
    assert row.status == "failed"
    told = f"start-up: rank 1: {platform.node()} has another engine than the host of rank 0; give --stage"
    assert (row.why or "").startswith(told)


_STEELYARD = (sys.executable, "-c", "from steelyard.cli.main import main; main()")


def _await_observation(records: Path) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if any(b'"record":"obs"' in path.read_bytes() for path in records.glob("*.jsonl")):
            return
        time.sleep(0.02)
    raise AssertionError("nothing was ever measured")


def test_interrupted_it_leaves_readable_results_and_no_rank(tmp_path: Path, orphans: Orphans) -> None:
    try:
        choose_mpi(None)
    except InputError as error:
        pytest.skip(str(error))
    folder = tmp_path / "out"
    words = ["run", "self.empty", "-n", "2", "--rule", "fixed", "--param", "count=1e7", "--oversubscribe"]
    argv = [*_STEELYARD, *words, "--out", str(folder), "--launches", "2"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
        _await_observation(folder / "records")
        tool.send_signal(signal.SIGINT)
        out, err = tool.communicate(timeout=600)
    assert tool.returncode == 130
    assert out == ""
    assert err.splitlines()[-1].startswith("steelyard: stopped; what was finished is kept")
    assert "Traceback" not in err
    assert orphans() == []
    (row,) = results(folder)
    assert (row.op, row.status) == ("self.empty", "skipped")
    assert json.loads((folder / "results.json").read_text())["points"][0]["status"] == "skipped"


def test_a_suspended_rank_is_named(tmp_path: Path, orphans: Orphans) -> None:
    try:
        choose_mpi(None)
    except InputError as error:
        pytest.skip(str(error))
    folder = tmp_path / "out"
    words = ["run", "self.empty", "-n", "2", "--rule", "fixed", "--param", "count=1e7", "--oversubscribe"]
    argv = [*_STEELYARD, *words, "--out", str(folder), "--launches", "1", "--hang-after", "3s"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
        _await_observation(folder / "records")
        (path,) = (folder / "records").glob("*.jsonl")
        launch = next(
            json.loads(line) for line in path.read_text().splitlines() if '"record":"launch"' in line
        )
        pid = launch["places"][1]["pid"]
        os.kill(pid, signal.SIGSTOP)
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    assert orphans() == []
    (row,) = results(folder)
    assert row.status == "failed"
    assert row.why == f"hang: no record for 3s, ended by the watchdog; rank 1 (pid {pid}) is suspended"
