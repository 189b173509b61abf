"""Whoever is killed, nothing is lost, measured twice or left running: the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

import campaign_tool
from campaigns import Orphans, setup_of, watch_orphans
from steelyard.engines.mpi import Mpi
from steelyard.records.read import read_folder
from steelyard.results.rows import results

_TOOL = Path(campaign_tool.__file__)


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


def _start(folder: Path, mpi: Mpi | None, **variables: str) -> subprocess.Popen[str]:
    """A campaign under an MPI, or with ranks that are forks."""
    engine = setup_of(mpi).engines[mpi.name] if mpi else setup_of().engines[None]
    argv = [sys.executable, str(_TOOL), str(folder), msgspec.json.encode(engine).decode()]
    return subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=os.environ | variables)


def _records(folder: Path) -> list[dict[str, Any]]:
    """All whole lines so far."""
    lines = [line for path in (folder / "records").glob("*.jsonl") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.endswith("}")]


def _await(tool: subprocess.Popen[str], folder: Path, record: str, count: int = 1) -> list[dict[str, Any]]:
    """The records so far, once there are `count` of a kind."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and tool.poll() is None:
        found = _records(folder)
        if sum(one["record"] == record for one in found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError(f"there never were {count} records of {record}; code {tool.poll()}")


def _ends(folder: Path) -> Counter[int]:
    return Counter(one["point"] for one in _records(folder) if one["record"] == "end")


def _await_none(orphans: Orphans, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while (left := orphans()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def test_a_killed_steelyard_takes_its_launch_along(tmp_path: Path, mpi: Mpi, orphans: Orphans) -> None:
    folder = tmp_path / "out"
    with _start(folder, mpi) as tool:
        _await(tool, folder, "end")
        _await(tool, folder, "obs", 5)
        tool.kill()
        tool.communicate(timeout=60)
    _await_none(orphans, 60)
    before = _ends(folder)
    with _start(folder, mpi) as tool:
        _, err = tool.communicate(timeout=600)
    assert (tool.returncode, orphans()) == (0, []), err
    assert _ends(folder) == {0: 1, 1: 1, 2: 1}
    assert before.keys() < _ends(folder).keys()
    assert (folder / ".lock").read_bytes() == b""


def test_what_outlives_a_killed_steelyard_is_ended_before_anything_is_measured(
    tmp_path: Path, mpi: Mpi, orphans: Orphans
) -> None:
    folder = tmp_path / "out"
    with _start(folder, mpi) as tool:
        _await(tool, folder, "obs")
        launcher = int(Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()[0])
        os.kill(launcher, signal.SIGSTOP)  # so that it cannot do what it is told
        tool.kill()
        tool.communicate(timeout=60)
    assert launcher in orphans()
    with _start(folder, mpi) as tool:
        _, err = tool.communicate(timeout=600)
    assert (tool.returncode, orphans()) == (0, []), err
    assert "an earlier steelyard was killed here; what it had left running was ended (pid" in err
    assert str(launcher) in err
    assert _ends(folder) == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_signal_and_the_rank_are_named(
    tmp_path: Path, mpi: Mpi, number: signal.Signals, orphans: Orphans
) -> None:
    folder = tmp_path / "out"
    with _start(folder, mpi) as tool:
        pids = [place["pid"] for one in _await(tool, folder, "obs") for place in one.get("places", ())]
        os.kill(pids[1], number)
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    failed = [row for row in results(folder) if row.status == "failed"]
    assert [row.why for row in failed] == [f"signal {number.value} ({number.name}) on rank 1"]
    assert orphans() == []


def test_a_killed_launcher_is_named_and_the_next_point_is_measured(
    tmp_path: Path, mpi: Mpi, orphans: Orphans
) -> None:
    folder = tmp_path / "out"
    with _start(folder, mpi) as tool:
        _await(tool, folder, "obs")
        launcher = int(Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split()[0])
        os.kill(launcher, signal.SIGKILL)
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    rows = results(folder)
    failed = [row.why for row in rows if row.status == "failed"]
    assert failed == [f"signal 9 (SIGKILL) on {Path(mpi.mpiexec).name}"]
    assert sum(row.status == "ok" for row in rows) == 2
    assert orphans() == []


def test_what_failed_is_measured_again_when_it_is_asked_for(tmp_path: Path) -> None:
    """And the failure stays on record."""
    folder = tmp_path / "out"
    with _start(folder, None) as tool:
        pids = [place["pid"] for one in _await(tool, folder, "obs") for place in one.get("places", ())]
        os.kill(pids[0], signal.SIGKILL)
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    with _start(folder, None) as tool:  # a failure is a result
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    with _start(folder, None, RETRY="yes") as tool:
        _, err = tool.communicate(timeout=600)
    assert tool.returncode == 0, err
    assert {row.status for row in results(folder)} == {"ok"}
    whys = [run.end.why for file in read_folder(folder) for run in file.points if run.end and run.end.why]
    assert whys == ["signal 9 (SIGKILL) on rank 0"]


def test_a_rank_that_somebody_suspended_spares_no_later_launch(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with _start(folder, None, LAUNCHES="2", HANG_AFTER="5s") as tool:
        pids = [place["pid"] for one in _await(tool, folder, "obs") for place in one.get("places", ())]
        os.kill(pids[1], signal.SIGSTOP)
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    statuses = {tuple(launch.status for launch in row.launches) for row in results(folder)}
    assert statuses == {("failed", "ok"), ("ok", "ok")}


def test_files_of_a_killed_launch_are_removed(tmp_path: Path, mpi: Mpi) -> None:
    """What its ranks have mapped in shared memory is gone when one of them was killed."""
    folder = tmp_path / "out"
    with _start(folder, mpi) as tool:
        pids = [place["pid"] for one in _await(tool, folder, "obs") for place in one.get("places", ())]
        mapped = [line for pid in pids for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        os.kill(pids[1], signal.SIGKILL)
        tool.communicate(timeout=600)
    files = {Path(line[line.index("/dev/shm/") :]) for line in mapped if "/dev/shm/" in line}
    assert not [file for file in files if file.exists()]
