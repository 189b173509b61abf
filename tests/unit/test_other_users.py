"""Users of one machine: nothing of another is believed, changed, ended or removed. Root plays all."""

from __future__ import annotations

import os
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.base.files import create, make_folder, open_to_append, write_given, write_whole
from steelyard.base.ownership import check_own_folder
from steelyard.campaign.lock import locked
from steelyard.campaign.started_programs import check_settings_here
from steelyard.engines.cache import cache_folder
from steelyard.system import leftovers
from steelyard.system.launch_processes import MARK, end_marked, new_mark
from steelyard.system.leftovers import LeftFile, Leftovers, remove_left

_VICTIM, _HOSTILE = 64001, 64002  # nobody's: a process needs no entry in /etc/passwd
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")


def _as_user(uid: int, act: Callable[[], None]) -> None:
    """Let a fork of this process do something as a user; what fails there fails here."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder as /tmp: everybody's, and sticky. That of pytest is root's alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


@pytest.fixture(params=[0, _VICTIM])
def victim(request: pytest.FixtureRequest) -> int:
    """Root, or another user."""
    return int(request.param)


@pytest.fixture
def process() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process of another user that carries a mark."""
    mark = new_mark()
    child = subprocess.Popen(
        ["sleep", "600"], env={MARK: mark, "PATH": os.defpath}, user=_HOSTILE, group=_HOSTILE
    )
    yield child, mark
    child.kill()
    child.wait()


def test_nothing_is_measured_into_another_users_folder(place: Path, victim: int) -> None:
    folder = place / "out"

    def plant() -> None:
        (folder / "records").mkdir(parents=True)
        folder.chmod(0o777)
        (folder / ".lock").write_text("{}")

    def measure() -> None:
        with pytest.raises(InputError, match=r"out' belongs to the user 64002, who could .*; give --out a"):
            check_own_folder(folder)
        with pytest.raises(InputError, match=r"out' belongs to the user 64002"), locked(folder):
            pass

    _as_user(_HOSTILE, plant)
    _as_user(victim, measure)
    assert (folder / ".lock").read_text() == "{}"


@pytest.mark.parametrize("mode", [0o666, 0o600])
def test_another_users_lock_is_not_believed(
    mode: int, place: Path, victim: int, process: tuple[subprocess.Popen[bytes], str]
) -> None:
    folder = place / "out"

    def make() -> None:
        folder.mkdir()
        folder.chmod(0o777)

    def plant() -> None:
        (folder / ".lock").write_text(f'{{"mark": "{process[1]}"}}')
        (folder / ".lock").chmod(mode)

    def measure() -> None:
        with (
            pytest.raises(InputError, match=r"\.lock' belongs to the user 64002 and is not believed"),
            locked(folder),
        ):
            pass

    _as_user(victim, make)
    _as_user(_HOSTILE, plant)
    _as_user(victim, measure)
    assert process[0].poll() is None
    assert process[1] in (folder / ".lock").read_text()


def test_a_link_of_another_user_is_not_measured_through(place: Path, victim: int) -> None:
    """Where /proc/sys/fs/protected_symlinks is 0, it might lead to a folder of keys."""
    mine, out = place / "mine", place / "out"

    def measure() -> None:
        with pytest.raises(InputError, match=r"out' is a link of the user 64002, and nothing is measured"):
            check_own_folder(out)
        (place / "own").symlink_to(mine)
        check_own_folder(place / "own")

    _as_user(victim, mine.mkdir)
    _as_user(_HOSTILE, lambda: out.symlink_to(mine))
    _as_user(victim, measure)
    assert list(mine.iterdir()) == []


def test_nobody_else_writes_what_is_made_under_any_umask(place: Path, victim: int) -> None:
    def make() -> None:
        os.umask(0)
        make_folder(place / "out")
        create(place / "out" / "made")
        write_whole(place / "out" / "whole", b"")
        open_to_append(place / "out" / "appended").close()

    _as_user(victim, make)
    assert {path.stat().st_mode & 0o777 for path in (place / "out").iterdir()} == {0o664}
    assert (place / "out").stat().st_mode & 0o777 == 0o775


def test_another_user_neither_holds_a_lock_nor_reads_its_mark(place: Path, victim: int) -> None:
    """Also of a folder that an earlier version began."""
    lock = place / "out" / ".lock"

    def measure() -> None:
        lock.parent.mkdir()
        lock.touch(0o644)
        with locked(lock.parent):
            assert lock.read_bytes()
            assert lock.stat().st_mode & 0o077 == 0

    def look() -> None:
        with pytest.raises(PermissionError):
            lock.read_bytes()

    _as_user(victim, measure)
    _as_user(_HOSTILE, look)


def test_another_users_processes_are_not_ended(
    victim: int, process: tuple[subprocess.Popen[bytes], str]
) -> None:
    def end() -> None:
        assert end_marked(process[1]) == ([], [])

    _as_user(victim, end)
    assert process[0].poll() is None


def test_another_users_files_of_launches_stay(
    place: Path, victim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "_places", lambda: {place})
    _as_user(_HOSTILE, (place / "mpich_shm_1").touch)
    (place / "mpich_shm_1").chmod(0o666)

    def clear() -> None:
        stat = (place / "mpich_shm_1").stat()
        with (place / "mpich_shm_1").open("rb"):
            ours = Leftovers(others=())
            ours.look([os.getpid()])
        assert not ours.own
        assert remove_left([LeftFile(str(place / "mpich_shm_1"), stat.st_dev, stat.st_ino)]) == []

    _as_user(victim, clear)
    assert (place / "mpich_shm_1").exists()


@pytest.mark.parametrize(("owner", "mode"), [(_HOSTILE, 0o1777), (_HOSTILE, 0o755), (0, 0o777), (0, 0o775)])
def test_files_of_launches_are_none_where_another_user_can_put_others(
    place: Path, victim: int, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int
) -> None:
    """In a TMPDIR whose owner, group or everybody may rename what others have there."""
    shared = place / "shared"
    monkeypatch.setattr(leftovers, "_places", lambda: {shared})
    shared.mkdir()
    (shared / "mpich_shm_1").touch()
    os.chown(shared / "mpich_shm_1", victim, victim)
    os.chown(shared, owner, owner)
    shared.chmod(mode)

    def clear() -> None:
        stat = (shared / "mpich_shm_1").stat()
        assert remove_left([LeftFile(str(shared / "mpich_shm_1"), stat.st_dev, stat.st_ino)]) == []

    _as_user(victim, clear)


def test_links_of_another_user_lead_to_nothing_of_ours(place: Path, victim: int) -> None:
    """Where a report is about to be written, in a folder that another user has shared."""
    folder, precious = place / "shared", place / "precious"

    def plant() -> None:
        folder.mkdir()
        folder.chmod(0o777)
        (folder / "report.html").symlink_to(precious)

    def write() -> None:
        precious.write_text("precious")
        write_whole(folder / "report.html", b"report")

    _as_user(_HOSTILE, plant)
    _as_user(victim, write)
    assert precious.read_text() == "precious"
    assert (folder / "report.html").read_text() == "report"
    assert [path.name for path in folder.iterdir()] == ["report.html"]


def test_what_another_user_has_a_library_read_is_not_read(place: Path, victim: int) -> None:
    """UCX reads ucx.conf of the current folder, which may have a file overwritten."""

    def start() -> None:
        os.chdir(place)
        with pytest.raises(InputError, match=r"ucx\.conf' belongs to the user 64002, and UCX would read it"):
            check_settings_here()
        (place / "mine").mkdir()
        os.chdir(place / "mine")
        Path("ucx.conf").touch()
        check_settings_here()

    _as_user(_HOSTILE, (place / "ucx.conf").touch)
    _as_user(victim, start)


def test_a_file_of_ours_is_not_emptied_by_another_name(place: Path, victim: int) -> None:
    """Where /proc/sys/fs/protected_hardlinks is 0, everybody may give our files other names."""
    precious = place / "precious"

    def make() -> None:
        precious.write_text("mine")
        (place / "out").mkdir()
        (place / "out" / ".lock").hardlink_to(precious)

    def measure() -> None:
        with pytest.raises(InputError, match=r"\.lock has another name, too"), locked(place / "out"):
            pass

    _as_user(victim, make)
    _as_user(victim, measure)
    assert precious.read_text() == "mine"


def test_a_pipe_of_another_user_hears_nothing(place: Path) -> None:
    """He made it where a report was to be, and reads."""
    report = place / "report.html"

    def plant() -> None:
        os.mkfifo(report)
        report.chmod(0o666)

    _as_user(_HOSTILE, plant)
    reader = os.open(report, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(InputError, match=r"report\.html belongs to another user"):
        write_given(report, b"secret")
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_the_cache_is_not_where_another_users_link_leads(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be made in any folder of ours. A link of our own may lead there, and over another one."""
    tmp_path.chmod(0o700)
    _as_user(_HOSTILE, lambda: (place / "theirs").symlink_to(tmp_path))
    (place / "ours").symlink_to(tmp_path)
    (place / "over").symlink_to("theirs/x")
    for name in ("theirs", "over"):
        monkeypatch.setenv("STEELYARD_CACHE", str(place / name))
        with pytest.raises(InputError, match=r"theirs' is a link of another user"):
            cache_folder("engines")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("STEELYARD_CACHE", str(place / "ours"))
    assert cache_folder("engines") == tmp_path / "engines"
