"""A steelyard that is killed at random instants: its ranks end, and shared memory is free again.

/dev/shm is in a mount namespace of its own, which root alone may make: what is in it is of this launch.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

import campaign_tool
from campaigns import Orphans, setup_of, watch_orphans
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import Mpi

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_KILLS = int(os.environ.get("STEELYARD_KILLS", "3"))
_LONGEST_WAIT = 0.6  # seconds since a launch began: it then measures, or has just not begun to
_SECONDS = 600.0
_NAMESPACE = ("unshare", "--mount", "--propagation", "private")
_MOUNT = 'mount -t tmpfs none /dev/shm && exec "$@"'
# In that namespace: a campaign until it is killed, the next command, and what is there after each.
_CAMPAIGN = """
import os, subprocess, sys, time
from pathlib import Path
folder, wait, steelyard, *argv = sys.argv[1:]
with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as tool:
    deadline = time.monotonic() + 60
    while not any(Path(folder).glob("records/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(float(wait))
    tool.kill()
deadline = time.monotonic() + 10
while os.listdir("/dev/shm") and time.monotonic() < deadline:
    time.sleep(0.02)
subprocess.run([steelyard, "--version"], check=True, stdout=subprocess.DEVNULL)
print(*os.listdir("/dev/shm"))
"""


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


def test_a_killed_steelyard_leaves_no_shared_memory(
    tmp_path: Path, mpi: Mpi, orphans: Orphans, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = [*_NAMESPACE, "sh", "-c", _MOUNT, "sh", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs unshare, and root to mount a /dev/shm")
    engine = setup_of(mpi).engines[mpi.name]
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("POINTS", "6")
    rng = random.Random(3)
    for number in range(_KILLS):
        folder = tmp_path / str(number)
        tool = [sys.executable, campaign_tool.__file__, str(folder), msgspec.json.encode(engine).decode()]
        inside = [sys.executable, "-c", _CAMPAIGN, str(folder), str(rng.uniform(0, _LONGEST_WAIT))]
        command = [*_NAMESPACE, "sh", "-c", _MOUNT, "sh", *inside, str(scripts_folder() / "steelyard"), *tool]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * _SECONDS, check=False)
        assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
        assert not list((tmp_path / "cache" / "measuring").iterdir())
        assert (folder / ".lock").read_bytes() == b""
    deadline = time.monotonic() + _SECONDS
    while orphans() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert orphans() == []
