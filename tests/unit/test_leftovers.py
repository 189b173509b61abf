"""Files that launches leave: only what a process of the launch used, and was not there before, is removed."""

from __future__ import annotations

import mmap
import os
import platform
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest

import steelyard.system.leftovers as module
from steelyard.engines.build import engine_folder
from steelyard.system.leftovers import LauncherPid, LeftFile, Leftovers, remove_left

_NOBODY = 2**22 + 1  # a pid beyond the highest that Linux gives
_MADE = (
    "mpich_shm_1",
    "mpich_shar_tmpABCDEF",
    "ucx_shm_posix_2dab8e8c",
    "vader_segment.vm.0.2.0",
    "sm_segment.vm.0.2.0",
    f"18394:{os.getuid()}:0",
    "steelyard-4711-19e57559a05194ee",
    f"steelyard-4711-19e57559a05194ee:{os.getuid()}:1",
    "hydra_hwloc_xmlfile_x",
    f"prterun.vm.{_NOBODY}.0/gds",
    f"ompi.vm.0/pid.{_NOBODY}/0/hwloc.sm",
    f"ompi.{_NOBODY}/1/pmix-gds-shmem2.x",
)


_places = module._places


@pytest.fixture(autouse=True)
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for /dev/shm and for those of temporary files."""
    monkeypatch.setattr(module, "_places", lambda: {tmp_path})
    monkeypatch.setattr(module, "_SHARED", tmp_path / "none")
    return tmp_path


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def _use(opened: ExitStack, folder: Path, *names: str) -> list[IO[bytes]]:
    """Open files, as a process of a launch does; this process stands in for it."""
    return [opened.enter_context((folder / name).open("rb")) for name in names]


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_what_a_launch_used_is_removed_and_nothing_else(shared: Path, opened: ExitStack) -> None:
    """Others' launches give the same names, on hosts and in containers whose processes are not seen here."""
    _make(shared, "vader_segment.vm.0.1.0", "notes.txt")
    noted: list[LeftFile | LauncherPid] = []
    with Leftovers(noted.extend) as leftovers:
        _make(shared, *_MADE, "others.txt", "mpich_shm_2", "ompi.vm.0/pid.99/0/x", "17:0:0")
        _use(opened, shared, *_MADE, "others.txt", "vader_segment.vm.0.1.0")
        leftovers.look([os.getpid()])
        opened.close()
    kept = {
        "vader_segment.vm.0.1.0",
        "notes.txt",
        "others.txt",
        "mpich_shm_2",
        "ompi.vm.0/pid.99/0/x",
        "17:0:0",
    }
    assert _files(shared) == kept
    assert len(noted) == len(_MADE)


def test_shared_memory_of_ranks_that_were_killed_at_once_is_removed(
    shared: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looked at them. What is mapped is of others, whose process need not be seen here."""
    monkeypatch.setattr(module, "_SHARED", shared)
    monkeypatch.setattr(module, "_used_by", lambda _: set())
    _make(shared, "vader_segment.vm.0.1.0")
    with Leftovers():
        _make(shared, "vader_segment.vm.0.2.0", "mpich_shm_1", "notes.txt", "ucx_shm_posix_2")
        (file,) = _use(opened, shared, "ucx_shm_posix_2")
        mapped = mmap.mmap(file.fileno(), 1, prot=mmap.PROT_READ)
        opened.close()
    assert _files(shared) == {"vader_segment.vm.0.1.0", "notes.txt", "ucx_shm_posix_2"}
    mapped.close()


def test_a_users_own_files_in_shared_memory_stay(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are new, nobody has them open, and their names are nearly those of libraries."""
    monkeypatch.setattr(module, "_SHARED", shared)
    names = {
        "12:30:00",
        "2026-11-26T12:30:00.log",
        f"17:{os.getuid()}",
        f"17:{os.getuid() + 1}:0",
        "steelyard-1-abc.jsonl",
        "steelyard-results",
        "steelyard-night-1-2",
    }
    with Leftovers():
        _make(shared, *names, f"17:{os.getuid()}:0")
    assert _files(shared) == names


def test_shared_memory_from_before_a_killed_steelyard_stays(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SHARED", shared)
    _make(shared, "mpich_shm_1", "mpich_shm_2")
    began_ns = time.time_ns()
    os.utime(shared / "mpich_shm_1", ns=(began_ns - 1, began_ns - 1))
    os.utime(shared / "mpich_shm_2", ns=(began_ns + 1, began_ns + 1))
    found = Leftovers(others=(), since_ns=began_ns).forgotten()
    assert [Path(one.path).name for one in found] == ["mpich_shm_2"]


def test_what_is_in_use_stays(shared: Path, opened: ExitStack) -> None:
    """Another program may have joined in."""
    session = f"ompi.vm.0/pid.{os.getpid()}/0/hwloc.sm"  # of a process that runs
    with Leftovers() as leftovers:
        _make(shared, "mpich_shm_1", "mpich_shm_2", session)
        first, *_ = _use(opened, shared, "mpich_shm_1", "mpich_shm_2", session)
        leftovers.look([os.getpid()])
        first.close()
    assert _files(shared) == {"mpich_shm_2", session}


def test_another_file_of_that_name_stays(shared: Path, opened: ExitStack) -> None:
    with Leftovers() as leftovers:
        _make(shared, "mpich_shm_1")
        _use(opened, shared, "mpich_shm_1")
        leftovers.look([os.getpid()])
        (shared / "mpich_shm_1").rename(shared / "aside")
        _make(shared, "mpich_shm_1")
        opened.close()
    assert _files(shared) == {"mpich_shm_1", "aside"}


def test_what_is_noted_is_removed_later_if_it_is_what_libraries_make(shared: Path) -> None:
    _make(shared, "mpich_shm_1", "notes.txt", "ompi.vm.0/pid.99/0/x")
    files = []
    for name in ("mpich_shm_1", "notes.txt", "ompi.vm.0", "ompi.vm.0/pid.99/0/x"):
        stat = (shared / name).stat()
        files.append(LeftFile(str(shared / name), stat.st_dev, stat.st_ino))
    assert remove_left(files) == [shared / "mpich_shm_1"]
    assert _files(shared) == {"notes.txt", "ompi.vm.0/pid.99/0/x"}


def test_looks_end_when_ranks_measure(shared: Path) -> None:
    leftovers = Leftovers()
    looks: list[int] = []

    def pids() -> list[int]:
        looks.append(1)
        return []

    for began in (False, False, True, True, True):
        leftovers.look_if_due(pids, began=began)
    assert len(looks) == 2


def test_the_engine_knows_the_same_names() -> None:
    text = (engine_folder() / "base" / "leftovers.c").read_text()
    begins = re.search(r"begins\[\] = \{([^}]*)\}", text)
    assert begins is not None
    plain = {
        name.removesuffix(".*").replace("\\", "") for name in module._SHARED_NAMES if name.endswith(".*")
    }
    assert set(re.findall(r'"([^"]+)"', begins[1])) == plain


def test_the_session_of_a_launcher_that_died_early_is_known_by_its_pid(shared: Path) -> None:
    """Before anybody saw what it had open. The folder of the last session goes with it, as under Open MPI."""
    host, user = platform.node(), os.geteuid()
    ours, theirs = f"ompi.{host}.{user}/pid.{_NOBODY}", f"ompi.{host}.{user}/pid.{_NOBODY + 1}"
    prte, pypi = f"prterun.{host}.{_NOBODY}.{user}", f"ompi.{_NOBODY}"
    noted: list[LeftFile | LauncherPid] = []
    for others in ((theirs,), ()):
        with Leftovers(noted.extend) as leftovers:
            leftovers.began(_NOBODY)
            _make(shared, *(f"{session}/contact.txt" for session in (ours, prte, pypi, *others)))
            leftovers.look([])
        assert _files(shared) == {f"{session}/contact.txt" for session in others}
        shutil.rmtree(shared / theirs, ignore_errors=True)
    assert list(shared.iterdir()) == []
    assert noted[0] == LauncherPid(_NOBODY)


# Pids of launchers of Open MPI 5 on a host called vm, and what their ranks called their first job.
_JOBS = (
    (16894, 3868983297),
    (17006, 4226547713),
    (17158, 378994689),
    (20396, 2849374209),
    (21221, 2166292481),
)


@pytest.mark.parametrize(("launcher", "job"), _JOBS)
def test_what_ranks_make_after_their_launcher_has_died_is_removed(
    shared: Path, monkeypatch: pytest.MonkeyPatch, launcher: int, job: int
) -> None:
    """They are ended after the last look. Another's job of that moment stays."""
    monkeypatch.setattr(platform, "node", lambda: "vm")
    monkeypatch.setattr(module, "process_state", lambda _: None)
    top = shared / f"ompi.vm.{os.geteuid()}" / "jf.0"
    for others in ((f"{job + 1}/0",), ()):
        with Leftovers() as leftovers:
            leftovers.began(launcher)
            leftovers.look([])
            for rank in (f"{job}/0", f"{job}/1", *others):
                (top / rank).mkdir(parents=True)
        assert sorted(str(path.relative_to(top)) for path in top.glob("*/*")) == list(others)
        shutil.rmtree(top / str(job + 1), ignore_errors=True)
    assert list(shared.iterdir()) == []


def test_looking_for_places_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is there for a moment stays where a steelyard is killed in it: a file of any name."""
    monkeypatch.setattr("tempfile.tempdir", None)  # as in a process that has just begun
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = tmp_path.stat().st_mtime_ns
    assert tmp_path in _places()
    assert tmp_path.stat().st_mtime_ns == before


def test_a_session_behind_a_link_stays(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Another user may have made it, where all may write: it leads to a folder of ours, anywhere."""
    precious = tmp_path_factory.mktemp("precious")
    with Leftovers() as leftovers:
        leftovers.began(_NOBODY)
        _make(precious, f"pid.{_NOBODY}/contact.txt")
        (shared / f"ompi.{platform.node()}.{os.geteuid()}").symlink_to(precious)
    assert _files(precious) == {f"pid.{_NOBODY}/contact.txt"}
    assert not leftovers.own


def test_a_session_from_before_is_nobodys(shared: Path) -> None:
    old = f"ompi.{platform.node()}.{os.geteuid()}/pid.{_NOBODY}/contact.txt"
    _make(shared, old)
    later = Leftovers(others=(), since_ns=time.time_ns() + 10**9)
    later.began(_NOBODY)
    later.look([])
    assert not later.own
