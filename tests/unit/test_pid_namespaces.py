"""Two namespaces of processes on one file system, as containers are: what one left is not the other's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.campaign.lock import locked
from steelyard.system import leftovers

_INSIDE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")

# What each does, in a folder that is shared. The first one measures and is killed; a process of its launch
# has a file open.
_HEAD = """
import os, subprocess, sys, time
from pathlib import Path
from steelyard.base.errors import InputError
from steelyard.campaign.lock import locked
from steelyard.system import leftovers
from steelyard.system.leftovers import Leftovers
from steelyard.system.launch_processes import MARK
place = Path(sys.argv[1])
leftovers._places = lambda: {place}
"""
_FIRST = (
    _HEAD
    + """
with locked(place / "out") as lock, (place / "mpich_shm_first").open("w") as file:
    launch = subprocess.Popen(["sleep", "600"], env=os.environ | {MARK: lock.mark}, pass_fds=[file.fileno()])
    files = Leftovers(lock.note, others=())
    files.look([launch.pid])
    print("ready", len(files.own), flush=True)
    time.sleep(600)
"""
)
# The second one has a launch of its own in another folder, and then wants that of the first one.
_SECOND = (
    _HEAD
    + """
with locked(place / "mine"), Leftovers() as files, (place / "mpich_shm_second").open("w") as file:
    files.look(int(path.name) for path in Path("/proc").glob("[0-9]*"))
    file.close()
try:
    with locked(place / "out") as lock:
        print("taken", lock.notes)
except InputError as error:
    print(error)
"""
)


def _why_not() -> str | None:
    if shutil.which("unshare") is None:
        return "there is no unshare, of util-linux"
    done = subprocess.run([*_INSIDE, "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no namespace of processes here: {done.stderr.strip()}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if why := _why_not():
        pytest.skip(why)
    for name in ("out", "mine"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(leftovers, "_places", lambda: {tmp_path})
    return tmp_path


@contextmanager
def _first(place: Path) -> Iterator[subprocess.Popen[str]]:
    """One that measures in a namespace of its own; it is killed at the end, with all its processes."""
    argv = [*_INSIDE, sys.executable, "-c", _FIRST, str(place)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready 1\n"
            yield one
        finally:
            one.send_signal(signal.SIGKILL)


def _second(place: Path) -> str:
    """What another namespace says of the folder of the first one."""
    argv = [*_INSIDE, sys.executable, "-c", _SECOND, str(place)]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=600).stdout.strip()


def test_a_running_one_of_another_namespace_is_left_alone(place: Path) -> None:
    taken = r"another steelyard \(pid \d+ on .*\) is measuring into"
    with _first(place) as one:
        assert "is measuring into" in _second(place)
        with pytest.raises(InputError, match=taken), locked(place / "out"):  # here its processes are seen
            pass
        assert one.poll() is None
        assert (place / "mpich_shm_first").exists()
        assert not (place / "mpich_shm_second").exists()  # its own, by a launch that is over


def test_what_a_killed_one_of_another_namespace_left_is_not_removed(place: Path) -> None:
    with _first(place):
        pass
    while _is_held(place / "out"):  # the kernel ends a namespace in its own time
        os.sched_yield()
    assert _second(place) == "taken ()"
    assert (place / "mpich_shm_first").exists()


def _is_held(folder: Path) -> bool:
    done = subprocess.run(["flock", "--nonblock", str(folder / ".lock"), "true"], check=False)
    return done.returncode != 0
