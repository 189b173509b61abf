"""Files that are read, created, appended to and replaced, whatever stands where they should be."""

from __future__ import annotations

import io
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.base.files import (
    create,
    make_folder,
    open_regular,
    open_to_append,
    read_regular,
    read_text,
    real_path,
    write_given,
    write_whole,
)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


_NO_FILES = {"fifo": _fifo, "socket": _socket, "folder": Path.mkdir, "/dev/zero": _endless}
_make = pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in _NO_FILES.items()])


@_make
def test_what_is_no_regular_file_is_not_read(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor waited for: reading from a pipe would block, /dev/zero never ends."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "in")
    with pytest.raises(InputError, match=r"in is not a regular file; move it away, or give another one"):
        read_regular(tmp_path / "in")
    assert read_text(tmp_path / "in") == ""


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\\x00b is no name that a file can have; give another one"):
        read_regular(tmp_path / "a\0b")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even up to the limit: the sizes of files of holes are no limit of a disk."""
    (tmp_path / "in").write_bytes(b"0123456789")
    assert read_regular(tmp_path / "in", 10) == b"0123456789"
    monkeypatch.setattr("steelyard.base.files.os.fdopen", _unread)
    with pytest.raises(InputError, match="in has more than 9 bytes; give another one"):
        read_regular(tmp_path / "in", 9)


def _unread(descriptor: int, *_: object) -> io.BytesIO:
    class Unread(io.FileIO):
        def read(self, size: int | None = -1) -> bytes:
            raise AssertionError("it is read")

    return Unread(descriptor)  # type: ignore[return-value]


def test_a_file_of_several_names_is_not_appended_to(tmp_path: Path) -> None:
    """Where the kernel lets everybody make hard links, the other name may be that of any file of ours."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / ".lock").hardlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=r"\.lock has another name, too, and nothing is written through it"):
        open_to_append(tmp_path / ".lock")
    assert read_text(tmp_path / "mine") == "mine"


@_make
def test_what_is_no_regular_file_is_not_appended_to(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "out")
    with pytest.raises((InputError, OSError)):
        open_to_append(tmp_path / "out")


def test_a_file_that_vanishes_is_missing_and_of_no_other_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of a process in /proc do: it is gone after it was looked at once."""
    path, look = tmp_path / "file", Path.stat
    path.touch()

    def look_and_remove(one: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = look(one, follow_symlinks=follow_symlinks)
        if one == path:
            path.unlink()
        return found

    monkeypatch.setattr(Path, "stat", look_and_remove)
    with pytest.raises(FileNotFoundError):
        open_regular(path)


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"12345")
    assert read_regular(tmp_path / "in", 5) == b"12345"
    with pytest.raises(InputError, match="in has more than 4 bytes; give another one"):
        read_regular(tmp_path / "in", 4)
    with pytest.raises(InputError, match=r"none cannot be read \(No such file or directory\)"):
        read_regular(tmp_path / "none")


def test_what_the_kernel_says_is_read() -> None:
    """It refuses reads of more than some MiB there."""
    assert read_text(Path("/proc/sys/kernel/hostname")) == os.uname().nodename


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "out").symlink_to("other")
    with pytest.raises(InputError, match="out is a link, and nothing is written through it; remove it"):
        open_to_append(tmp_path / "out")
    with pytest.raises(FileExistsError):
        create(tmp_path / "out")
    write_whole(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "other").read_text() == "other"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


def test_a_link_to_itself_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("there")
    assert real_path(tmp_path / "loop") == tmp_path.joinpath("loop")
    assert real_path(tmp_path / "link") == tmp_path / "there"


def test_a_link_to_nowhere_creates_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("other")
    for opens in (open_to_append, create):
        with pytest.raises((InputError, FileExistsError)):
            opens(tmp_path / "out")
    write_whole(tmp_path / "out", b"new")
    assert not (tmp_path / "other").exists()


def test_a_link_to_a_pipe_is_replaced_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").symlink_to("pipe")
    write_whole(tmp_path / "out", b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "out").read_bytes() == b"new"


def test_a_pipe_with_a_reader_is_written_to_and_stays(tmp_path: Path) -> None:
    """A device that is replaced is gone for all."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_given(pipe, b"new")
        assert os.read(reader, 9) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(InputError, match=r"nobody reads .*pipe; start its reader first, or give another"):
        write_given(pipe, b"new")


def test_a_pipe_in_a_place_of_ours_is_replaced(tmp_path: Path) -> None:
    """Whoever left it there, in a folder that is shared or was sent, may have it open and never read it."""
    pipe = tmp_path / "results.json"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        write_whole(pipe, bytes(1 << 20))
    finally:
        os.close(held)
    assert pipe.read_bytes() == bytes(1 << 20)


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_what_a_shell_substitutes_is_written_to(folder: str) -> None:
    """`-o >(gzip > report.gz)` gives the name of an open pipe."""
    reader, writer = os.pipe()
    try:
        write_given(Path(folder, str(writer)), b"new")
        assert os.read(reader, 9) == b"new"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "whole", b"new")
        create(tmp_path / "created")
        make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"whole": 0o640, "created": 0o640, "a": 0o750, "b": 0o750}


def test_a_new_folder_is_not_open_to_all(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        make_folder(tmp_path / "a" / "b")
        make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(old)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")} == {0o775}


def test_a_folder_is_not_made_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "up").write_text("precious")
    (tmp_path / "link").symlink_to("none")
    for name in ("up", "up/out", "link"):
        with pytest.raises(NotADirectoryError):
            make_folder(tmp_path / name)
    assert not (tmp_path / "none").exists()


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """And not the one beside it, which is renamed at the end."""
    with pytest.raises(FileNotFoundError) as raised:
        write_whole(tmp_path / "none" / "out", b"new")
    assert raised.value.filename == str(tmp_path / "none" / "out")
