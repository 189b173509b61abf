"""Whoever is killed, nothing is lost, measured twice or left running: the same command goes on."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest

import campaign_tool
from campaigns import Orphans, setup_of, watch_orphans
from steelyard.engines.mpi import Mpi
from steelyard.records.failure_kinds import remedies
from steelyard.records.read import read_folder
from steelyard.results.rows import results

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_TOOL = Path(campaign_tool.__file__)


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


_HYDRA_UNSURE = re.compile(
    r"signal 15 \(SIGTERM\) on (?:rank 0|a rank)|signal unknown on several ranks, .* \(15\)"
)
_POINTS = 6  # more than deaths, for a machine on which we come late


def _start(folder: Path, mpi: Mpi | None, **variables: str) -> subprocess.Popen[str]:
    """A campaign under an MPI, or with ranks that are forks."""
    engine = setup_of(mpi).engines[mpi.name] if mpi else setup_of().engines[None]
    argv = [sys.executable, str(_TOOL), str(folder), msgspec.json.encode(engine).decode()]
    own = {"STEELYARD_CACHE": str(folder.parent / "cache")}  # or a command beside us would clear up first
    return subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=os.environ | own | variables)


def _records(folder: Path) -> list[dict[str, Any]]:
    """All whole lines so far, launch by launch: NAME.jsonl, NAME.2.jsonl and so on."""
    paths = sorted((folder / "records").glob("*.jsonl"), key=lambda path: (len(path.name), path.name))
    lines = [line for path in paths for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.endswith("}")]


def _await(tool: subprocess.Popen[str], folder: Path, record: str, count: int = 1) -> list[dict[str, Any]]:
    """The records so far, once there are `count` of a kind."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and tool.poll() is None:
        found = _records(folder)
        if sum(one["record"] == record for one in found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError(f"there never were {count} records of {record}; code {tool.poll()}")


def _await_measuring(tool: subprocess.Popen[str], folder: Path, launch: int) -> list[dict[str, Any]]:
    """The records so far, once there are some of samples of a launch, counted from 1."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and tool.poll() is None:
        found = _records(folder)
        kinds = [one["record"] for one in found]
        begun = [i for i, kind in enumerate(kinds) if kind == "launch"]
        if len(begun) >= launch and "obs" in kinds[begun[launch - 1] :]:
            return found
        time.sleep(0.02)
    raise AssertionError(f"launch {launch} never measured; code {tool.poll()}")


def _await_noted(folder: Path, files: Collection[Path]) -> None:
    """Wait until the tool has seen them: it looks ten times a second until ranks have begun."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        noted = (folder / ".lock").read_text()
        if all(str(file) in noted for file in files if file.exists()):
            return
        time.sleep(0.02)
    raise AssertionError(f"the tool never saw all of {sorted(files)}")


def _ends(folder: Path) -> Counter[int]:
    return Counter(one["point"] for one in _records(folder) if one["record"] == "end")


def _await_none(orphans: Orphans, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while (left := orphans()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _pids(records: list[dict[str, Any]], launch: int) -> list[int]:
    """The ranks of a launch, counted from 1."""
    places = [one["places"] for one in records if one["record"] == "launch"][launch - 1]
    return [place["pid"] for place in places]


def _heir_and_launcher(tool: subprocess.Popen[str]) -> list[int]:
    """What clears up after the tool, and its launch."""
    return [*map(int, Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text().split())]


def test_what_a_killed_steelyard_leaves_is_ended_and_what_it_measured_is_kept(
    tmp_path: Path, mpi: Mpi, orphans: Orphans
) -> None:
    """It takes its launch along. Where the launcher cannot hear it, and what would clear up was killed, too,
    the next steelyard ends the launch.
    """
    folder = tmp_path / "out"
    with _start(folder, mpi, POINTS=str(_POINTS)) as tool:
        _await(tool, folder, "end")
        _await(tool, folder, "obs", 5)
        tool.kill()
        tool.communicate(timeout=600)
    _await_none(orphans, 60)
    before = _ends(folder)
    with _start(folder, mpi, POINTS=str(_POINTS)) as tool:
        _await_measuring(tool, folder, 2)
        heir, launcher = _heir_and_launcher(tool)
        os.kill(launcher, signal.SIGSTOP)  # so that it cannot do what it is told
        os.kill(heir, signal.SIGKILL)
        tool.kill()
        tool.communicate(timeout=600)
    assert launcher in orphans()
    with _start(folder, mpi, POINTS=str(_POINTS)) as tool:
        _, err = tool.communicate(timeout=600)
    assert (tool.returncode, orphans()) == (0, []), err
    assert "an earlier steelyard was killed here; what it had left running was ended (pid" in err
    assert str(launcher) in err
    assert _ends(folder) == dict.fromkeys(range(_POINTS), 1)
    assert before.keys() < _ends(folder).keys()
    assert (folder / ".lock").read_bytes() == b""


@pytest.mark.further
def test_who_was_killed_is_named_and_the_others_are_measured(
    tmp_path: Path, mpi: Mpi, orphans: Orphans
) -> None:
    """A rank by each of two signals, and the launcher; what ranks had mapped in shared memory is gone."""
    folder = tmp_path / "out"
    killed = (("rank 1", signal.SIGKILL), ("rank 1", signal.SIGTERM), ("launcher", signal.SIGKILL))
    mapped: set[Path] = set()
    with _start(folder, mpi, POINTS=str(_POINTS)) as tool:
        for launch, (victim, number) in enumerate(killed, 1):
            pids = _pids(_await_measuring(tool, folder, launch), launch)
            for pid in pids:
                maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
                mapped |= {Path(line[line.index("/dev/shm/") :]) for line in maps if "/dev/shm/" in line}
            _await_noted(folder, mapped)
            os.kill(pids[1] if victim == "rank 1" else _heir_and_launcher(tool)[1], number)
        tool.communicate(timeout=600)
    assert (tool.returncode, orphans()) == (3, [])
    assert not [file for file in mapped if file.exists()]
    rows = results(folder)
    names = {"rank 1": "rank 1", "launcher": Path(mpi.mpiexec).name}
    whys = [f"signal {number.value} ({number.name}) on {names[victim]}" for victim, number in killed]
    found = [row.why or "" for row in rows if row.status == "failed"]
    # Hydra ends the other rank: which of two died first, a busy machine may not tell, nor of what.
    found = [_HYDRA_UNSURE.sub("signal 15 (SIGTERM) on rank 1", why) for why in found]
    if mpi.family == "mpich":
        found = [why.replace("(SIGKILL) on a rank", "(SIGKILL) on rank 1") for why in found]
    if mpi.family == "intel":  # which names all that died of SIGKILL
        whys = [why.replace("(SIGKILL) on rank 1", "(SIGKILL) on a rank") for why in whys]
    assert sorted(found) == sorted(whys)
    assert sum(row.status == "ok" for row in rows) == 3


def test_what_failed_is_measured_again_when_it_is_asked_for(tmp_path: Path) -> None:
    """And the failure stays on record."""
    folder = tmp_path / "out"
    with _start(folder, None, POINTS="2") as tool:
        pids = [place["pid"] for one in _await(tool, folder, "obs") for place in one.get("places", ())]
        os.kill(pids[0], signal.SIGKILL)
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    with _start(folder, None, POINTS="2") as tool:  # a failure is a result
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    with _start(folder, None, POINTS="2", RETRY="yes") as tool:
        _, err = tool.communicate(timeout=600)
    assert tool.returncode == 0, err
    assert {row.status for row in results(folder)} == {"ok"}
    whys = [run.end.why for file in read_folder(folder) for run in file.points if run.end and run.end.why]
    assert whys == ["signal 9 (SIGKILL) on rank 0"]


_ptrace = ctypes.CDLL(None, use_errno=True).ptrace
_ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_SEIZE, _INTERRUPT = 0x4206, 0x4207  # PTRACE_*


def _suspend(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def _debug(pid: int) -> None:
    """As a debugger that is attached and waits for its user: this thread is one."""
    if _ptrace(_SEIZE, pid, None, None) != 0 or _ptrace(_INTERRUPT, pid, None, None) != 0:
        pytest.skip(f"another process cannot be traced here: {os.strerror(ctypes.get_errno())}")


def _bury(pid: int) -> None:
    """Take the end of a process that this thread traced, for which its parent waits."""
    with contextlib.suppress(ChildProcessError):
        while os.WIFSTOPPED(os.waitpid(pid, 0)[1]):
            pass


@pytest.mark.further
@pytest.mark.parametrize(
    ("hold", "what"),
    [
        pytest.param(_suspend, "is suspended", id="stop"),
        pytest.param(_debug, "is held by a debugger", id="debugger"),
    ],
)
def test_a_rank_that_somebody_holds_spares_no_later_launch(
    tmp_path: Path, hold: Callable[[int], None], what: str
) -> None:
    folder = tmp_path / "out"
    with _start(folder, None, POINTS="2", LAUNCHES="2", HANG_AFTER="3s") as tool:
        pids = [place["pid"] for one in _await(tool, folder, "obs") for place in one.get("places", ())]
        hold(pids[1])
        if hold is _debug:
            _bury(pids[1])
        tool.communicate(timeout=600)
    assert tool.returncode == 3
    whys = [run.end.why for file in read_folder(folder) for run in file.points if run.end and run.end.why]
    assert len(whys) == 1
    assert f"rank 1 (pid {pids[1]}) {what}" in whys[0]
    assert remedies(whys, "hostname")[0].endswith("or end it.")
    statuses = {tuple(launch.status for launch in row.launches) for row in results(folder)}
    assert statuses == {("failed", "ok"), ("ok", "ok")}
