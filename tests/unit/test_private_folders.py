"""Folders that no other user can write, and the cache, which is one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.base.private_folders import is_private_file, private_folder, weak_spot
from steelyard.engines.cache import cache_folder, kept_folder, locked_for

_NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what another user owns")


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_a_folder_is_for_its_user_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        made = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert [oct(path.stat().st_mode & 0o777) for path in (made, made.parent)] == ["0o700", "0o700"]


# Modes of a folder above and of the folder itself; whether another user may write there.
@pytest.mark.parametrize(
    ("above", "own", "open_to_others"),
    [
        (0o755, 0o700, False),
        (0o755, 0o755, False),
        (0o755, 0o775, True),
        (0o755, 0o757, True),
        (0o777, 0o700, True),  # renamed, and another one in its place
        (0o775, 0o700, True),
        (0o1777, 0o700, False),  # as /tmp
        (0o1777, 0o777, True),
        (0o755, 0o1777, True),  # others may add what is taken for ours
        (0o700, 0o777, False),  # nobody gets there
    ],
)
def test_modes(tmp_path: Path, above: int, own: int, open_to_others: bool) -> None:
    top = tmp_path / "open"
    folder = top / "above" / "own"
    folder.mkdir(parents=True)
    folder.chmod(own)
    folder.parent.chmod(above)
    # tmp_path is closed to others: begin below it
    closed = [path for path in folder.parents if path != folder.parent and not path.stat().st_mode & 0o011]
    for path in closed:
        path.chmod(0o711)
    try:
        assert (weak_spot(folder) is not None) is open_to_others
    finally:
        for path in closed:
            path.chmod(0o700)


@needs_root
@pytest.mark.parametrize("which", ["above", "own"])
def test_a_folder_of_another_user_is_refused(tmp_path: Path, which: str) -> None:
    top = Path("/tmp", f"steelyard-test-{os.getpid()}-{which}")  # below no folder that is closed
    folder = top / "own"
    folder.mkdir(parents=True)
    try:
        os.chown(top if which == "above" else folder, _NOBODY, _NOBODY)
        found = top if which == "above" else folder
        assert weak_spot(private_folder(folder)) == (found, "belongs to another user (uid 65534)")
    finally:
        folder.rmdir()
        top.rmdir()


def test_a_link_leads_to_where_it_is_checked(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert private_folder(tmp_path / "link" / "x") == tmp_path / "real" / "x"


def test_files_that_others_may_write_are_not_ours(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for mode, is_ours in ((0o700, True), (0o755, True), (0o775, False), (0o707, False)):
        file.chmod(mode)
        assert is_private_file(file) is is_ours
    (tmp_path / "link").symlink_to(file)
    assert not is_private_file(tmp_path / "link")


def test_a_cache_that_others_may_write_is_refused_and_the_remedy_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Path("/tmp", f"steelyard cache {os.getpid()}")
    monkeypatch.setenv("STEELYARD_CACHE", str(shared))
    (shared / "engines").mkdir(parents=True)
    try:
        shared.chmod(0o777)
        with pytest.raises(InputError) as refused:
            cache_folder("engines")
        assert "can be written by others (mode 0777)" in str(refused.value)
        with pytest.raises(InputError):
            kept_folder("engines")
        remedy = re.search(r"remove it with '(rm -r .*?)', and", str(refused.value))
        assert remedy is not None
        subprocess.run(shlex.split(remedy[1]), check=True)
        assert kept_folder("engines") is None
        assert cache_folder("engines").stat().st_mode & 0o777 == 0o700
    finally:
        subprocess.run(["rm", "-rf", str(shared)], check=True)


def test_who_waits_for_what_another_one_makes_says_so_until_it_is_made(tmp_path: Path) -> None:
    heard: list[str] = []
    twice, inside = threading.Event(), threading.Event()

    def tell(text: str) -> None:
        heard.append(text)
        if len(heard) == 2:
            twice.set()

    def wait() -> None:
        with locked_for(tmp_path, "building it", tell, every=1e-3):
            inside.set()

    with locked_for(tmp_path, "building it", lambda _: None):
        other = threading.Thread(target=wait)
        other.start()
        assert twice.wait(600)
        assert not inside.is_set()
    other.join(60)
    assert inside.is_set()
    assert heard[0] == "another steelyard is building it: waiting for it"
    assert re.fullmatch(r"still waiting for it \(.* so far\)", heard[1])


def test_a_lock_that_is_free_is_taken_without_a_word(tmp_path: Path) -> None:
    heard: list[str] = []
    for _ in range(2):
        with locked_for(tmp_path, "building it", heard.append):
            pass
    assert heard == []


def test_a_cache_whose_name_is_not_utf8_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / os.fsdecode(b"caf\xe9")))
    with pytest.raises(InputError, match=r"caf\\udce9/engines' .* is not UTF-8.*; set STEELYARD_CACHE to"):
        cache_folder("engines")
    assert list(tmp_path.iterdir()) == []


def test_a_cache_in_which_nobody_can_look_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", f"/tmp/{'a' * 300}")  # a longer name than a file can have
    assert kept_folder("started") is None
    with pytest.raises(InputError, match="cannot be made: File name too long; set STEELYARD_CACHE to"):
        cache_folder("started")


@needs_root
def test_a_cache_in_which_this_user_may_not_look_has_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "started").mkdir(parents=True)
    tmp_path.chmod(0o700)
    os.seteuid(_NOBODY)
    try:
        assert kept_folder("started") is None
    finally:
        os.seteuid(0)


@needs_root
def test_nothing_is_made_in_a_cache_of_another_user(own_cache: Path) -> None:
    own_cache.mkdir(0o777)
    for path in own_cache.parents:
        if path.stat().st_uid == os.geteuid() and not path.stat().st_mode & 0o011:
            path.chmod(path.stat().st_mode | 0o011)
    os.chown(own_cache, _NOBODY, -1)
    with pytest.raises(InputError, match="belongs to another user"):
        cache_folder("engines", "x")
    assert list(own_cache.iterdir()) == []
