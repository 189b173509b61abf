"""The lock of a results folder: who is told, what is believed, and what a killed steelyard had left."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from steelyard.base.errors import InputError, MeasurementError
from steelyard.campaign.lock import Holder, locked
from steelyard.system import leftovers
from steelyard.system.launch_processes import MARK, new_mark, start_time, this_system
from steelyard.system.leftovers import LeftFile

_NOT_BELIEVED = "and is not believed: nothing was ended; if a launch into this folder still runs, end it"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_one_sentence(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(
            InputError, match=r"cannot be locked \(.*\), as on some network .*; give --out another"
        ) as raised,
        locked(tmp_path),
    ):
        pass
    assert "\n" not in str(raised.value)


def test_a_second_one_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(InputError, match=rf"another steelyard \(pid {os.getpid()} on .*, since "),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path) as lock:
        assert lock.notes == ()


def _dead_launch() -> tuple[subprocess.Popen[bytes], str]:
    """A process as a launch of a steelyard that is gone has left it, and its mark."""
    mark = new_mark()
    child = subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: mark}, start_new_session=True)
    return child, mark


@pytest.fixture
def launch() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    child, mark = _dead_launch()
    yield child, mark
    child.kill()
    child.wait()


def _ended_pid() -> int:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    return child.pid


def _leave(folder: Path, mark: str, /, **changes: object) -> Path:
    """The lock of a steelyard that was killed."""
    path = folder / ".lock"
    path.touch()
    holder = Holder(platform.node(), _ended_pid(), 1, mark, time.time_ns(), this_system(), path.stat().st_ino)
    path.write_bytes(msgspec.json.encode(msgspec.to_builtins(holder) | changes) + b"\n")
    return path


def test_what_a_killed_one_has_left_is_ended(
    launch: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    child, mark = launch
    _leave(tmp_path, mark)
    with locked(tmp_path) as lock:
        assert child.wait(600) < 0
    (note,) = lock.notes
    assert f"was ended (pid {child.pid})" in note


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mark": ""}, "is damaged"),
        ({"mark": "LETTER"}, "is damaged"),
        ({"mark": "HALF"}, "is damaged"),
        ({"mark": "UPPER"}, "is damaged"),
        ({"began_ns": 0}, "is damaged"),
        ({"began_ns": -1}, "is damaged"),
        ({"began_ns": 10**30}, "is damaged"),
        ({"pid": "1"}, "is damaged"),
        ({"inode": 1}, "is a copy of another folder's"),
        ({"host": "x" * 300_000}, "is too large for a lock"),
        ({"system": "another boot"}, None),
    ],
)
def test_what_is_not_whole_and_ours_ends_nothing(
    changes: dict[str, object], words: str | None, launch: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    child, mark = launch
    parts = {"LETTER": mark[:1], "HALF": mark[:16], "UPPER": mark.upper()}
    if (part := parts.get(str(changes.get("mark")))) is not None:
        changes = {"mark": part}
    path = _leave(tmp_path, mark, **changes)
    with locked(tmp_path) as lock:
        assert child.poll() is None
    assert lock.notes == (() if words is None else (f"'{path}' {words} {_NOT_BELIEVED}",))


def _leave_older(folder: Path, mark: str) -> Path:
    """As earlier versions wrote it: five keys, and no end of line."""
    path = folder / ".lock"
    holder = {"host": platform.node(), "pid": _ended_pid(), "start": 1, "mark": mark, "began_ns": 10**18}
    path.write_bytes(msgspec.json.encode(holder))
    return path


def test_a_lock_of_an_older_version_is_told_and_not_believed(
    launch: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    child, mark = launch
    path = _leave_older(tmp_path, mark)
    with locked(tmp_path) as lock:
        assert child.poll() is None
    assert lock.notes == (f"'{path}' is of an older version {_NOT_BELIEVED}",)
    with locked(tmp_path) as lock:
        assert lock.notes == ()


def test_processes_that_hold_a_lock_of_an_older_version_are_named(tmp_path: Path) -> None:
    """Its launches, after it was killed: they inherited the descriptor."""
    path = _leave_older(tmp_path, new_mark())
    text = path.read_bytes()
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        child = subprocess.Popen(["sleep", "600"], pass_fds=[file.fileno()])
    try:
        with (
            pytest.raises(
                InputError,
                match=rf"another steelyard hold .*; wait for their end, or end pid {child.pid}$",
            ),
            locked(tmp_path),
        ):
            pass
        assert (child.poll(), path.read_bytes()) == (None, text)
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("text", [b"{", b"null", b"\xff\xfe", b"[" * 100_000, b"\n\n", b'{"host": "x"}'])
def test_a_damaged_lock_is_told_and_replaced(text: bytes, tmp_path: Path) -> None:
    (tmp_path / ".lock").write_bytes(text)
    with locked(tmp_path) as lock:
        (note,) = lock.notes
        assert note.endswith(f"is damaged {_NOT_BELIEVED}")
    with locked(tmp_path) as lock:
        assert lock.notes == ()


def test_a_folder_that_was_copied_while_it_is_measured_ends_nothing(
    launch: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    child, mark = launch
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    text = _leave(tmp_path / "here", mark, pid=os.getppid(), start=start_time(os.getppid())).read_bytes()
    (tmp_path / "there" / ".lock").write_bytes(text)
    with locked(tmp_path / "there"):
        assert child.poll() is None
    with (
        pytest.raises(InputError, match=rf"another steelyard \(pid {os.getppid()} on "),
        locked(tmp_path / "here"),
    ):
        pass
    assert child.poll() is None


@pytest.mark.parametrize("target", ["precious", "/dev/zero", "/dev/null"])
def test_a_lock_that_is_a_link_is_not_followed(target: str, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".lock").symlink_to(target)
    with pytest.raises(InputError, match=r"\.lock is a link"), locked(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_lock_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    with pytest.raises(InputError, match="is not a regular file"), locked(tmp_path):
        pass


def test_a_folder_that_everybody_may_change_is_told(tmp_path: Path) -> None:
    """Or in whose place everybody may put another one, as the folder above lets them."""
    (tmp_path / "out").mkdir()
    for mode, told in ((0o777, True), (0o1777, False), (0o2775, False)):
        tmp_path.chmod(mode)
        for folder in (tmp_path, tmp_path / "out"):
            with locked(folder) as lock:
                words = f"every user may change what is in '{tmp_path}'; chmod o-w ends that"
                assert lock.notes == ((words,) if told else ())


def test_records_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "records").symlink_to("../other")
    with pytest.raises(InputError, match="records' is a link"), locked(tmp_path / "out"):
        pass


def test_files_of_launches_are_kept_for_whoever_comes_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(leftovers, "_places", lambda: {tmp_path})
    left = tmp_path / "mpich_shm_1"
    left.touch()
    stat = left.stat()
    with locked(tmp_path / "out") as lock:
        lock.note([LeftFile(str(left), stat.st_dev, stat.st_ino)])
        text = (tmp_path / "out" / ".lock").read_bytes()
    _, *others = text.splitlines(keepends=True)
    path = _leave(tmp_path / "out", new_mark())
    path.write_bytes(path.read_bytes() + b"".join(others) + others[0][:20])  # the last one is torn
    with locked(tmp_path / "out") as lock:
        assert lock.notes == ()
    assert not left.exists()


@pytest.mark.parametrize("error", [InputError("it holds no records"), FileNotFoundError(2, "No such file")])
def test_a_folder_that_is_moved_meanwhile_is_told(error: Exception, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    def measure(folder: Path, new: Path) -> None:
        with locked(folder):
            folder.rename(new)
            raise error

    with pytest.raises(MeasurementError, match="out' was moved or removed while"):
        measure(tmp_path / "out", tmp_path / "new")
    with pytest.raises(type(error)):
        measure(tmp_path / "new", tmp_path / "new")
