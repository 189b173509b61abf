"""A short campaign whose processes are killed or suspended at random instants, and resumed until it is whole.

Where `steelyard` itself was killed, the last line that was written is torn, too, every other time. With
STEELYARD_KILLS=200 there are 200 such faults instead of a few; STEELYARD_KILLS_SEED=6 chooses others, so that
pieces add up.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

import campaign_tool
from campaigns import Orphans, setup_of, watch_orphans
from steelyard.engines.build import Engine
from steelyard.engines.mpi import Mpi
from steelyard.records.read import read_folder
from steelyard.results.rows import results
from steelyard.system.process_stat import process_stats

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_KILLS, _LAUNCHES = int(os.environ.get("STEELYARD_KILLS", "3")), 2
_SEED = int(os.environ.get("STEELYARD_KILLS_SEED", "5"))
_MOST_RUNS = 20 * _KILLS  # short ones may end before their victim is chosen
_SAMPLES = "33"  # of a point: it lasts a sixth of a second
_SUSPENDED = 0.1  # of faults: each waits for the watchdog
_HANG_AFTER = "15s"
_LONGEST_WAIT = 1.2  # seconds after which a victim is chosen: of the start, of a launch, of the time between


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


def _start(folder: Path, engine: Engine, **variables: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, campaign_tool.__file__, str(folder), msgspec.json.encode(engine).decode()]
    own = {"STEELYARD_CACHE": str(folder.parent / "cache")}  # or a command beside us would clear up first
    environment = os.environ | {"LAUNCHES": str(_LAUNCHES), "SAMPLES": _SAMPLES} | own | variables
    return subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _fault(rng: random.Random, tool: int) -> None:
    """The steelyard, its launcher or a rank, each as likely as the others where it is there, gets a signal.

    Nobody would go on with a steelyard that is suspended, nor with a copy of it that is about to become a
    launcher: it waits for that one.
    """
    below: dict[int, list[int]] = {}
    seen = process_stats()
    for pid, process in seen.items():
        below.setdefault(process.parent, []).append(pid)
    launchers = [pid for pid in below.get(tool, []) if tool in seen and seen[pid].name != seen[tool].name]
    ranks = [rank for launcher in launchers for rank in below.get(launcher, [])]
    suspends = rng.random() < _SUSPENDED
    kinds = [kind for kind in ([] if suspends else [tool], launchers, ranks) if kind]
    if kinds:
        signals = [signal.SIGSTOP] if suspends else [signal.SIGKILL, signal.SIGTERM]
        os.kill(rng.choice(rng.choice(kinds)), rng.choice(signals))


def _tear(rng: random.Random, folder: Path) -> None:
    """Leave a part of the line that was written last."""
    files = sorted(folder.glob("records/*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
    for file in files[-1:]:
        text = file.read_bytes()
        start = text.rstrip(b"\n").rfind(b"\n") + 1
        if len(text) > start > 0:
            os.truncate(file, rng.randrange(start, len(text)))


def test_nothing_is_lost_or_measured_twice_whoever_is_killed(
    tmp_path: Path, mpi: Mpi, orphans: Orphans, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, engine, rng = tmp_path / "out", setup_of(mpi).engines[mpi.name], random.Random(_SEED)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    kills = runs = 0
    while runs < _MOST_RUNS:
        runs += 1
        tool = _start(folder, engine, RETRY="yes", HANG_AFTER=_HANG_AFTER)
        if kills < _KILLS:
            time.sleep(rng.uniform(0.1, _LONGEST_WAIT))
            with contextlib.suppress(ProcessLookupError):
                _fault(rng, tool.pid)
                kills += tool.poll() is None
        _, err = tool.communicate(timeout=600)
        assert b"Traceback" not in err, err.decode()
        if tool.returncode < 0 and rng.random() < 0.5:
            assert _left(orphans) == []
            _tear(rng, folder)
        if kills >= _KILLS and tool.returncode == 0:
            break
        if tool.returncode == 0:  # all is measured before all were killed: begin another
            _is_whole(folder)
            folder = folder.with_name(f"{folder.name}.")
    _is_whole(folder)
    assert _left(orphans) == []
    assert list(temporary.iterdir()) == []
    print(f"{kills} faults in {runs} commands, seed {_SEED}, {mpi.name}: all is measured, once")


def _left(orphans: Orphans) -> list[int]:
    """The processes that do not end by themselves."""
    deadline = time.monotonic() + 600
    while orphans() and time.monotonic() < deadline:
        time.sleep(0.05)
    return orphans()


def _is_whole(folder: Path) -> None:
    """Each point has one good end in each launch, and values; what failed on the way stays on record."""
    ends = Counter(
        (file.job.job, run.index)
        for file in read_folder(folder)
        for run in file.points
        if run.end is not None and run.end.status == "ok"
    )
    assert len(ends) == 3 * _LAUNCHES
    assert set(ends.values()) == {1}
    rows = results(folder)
    assert [(row.status, row.launch_count) for row in rows] == [("ok", _LAUNCHES)] * 3
