"""The cache of results folders that were read: the same as reading, or none."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from make_records import write_folder
from overviews import A, B, pingpongs
from steelyard.analyses.overview import ReadFolder, read_rows
from steelyard.session import results_cache as module
from steelyard.session.results_cache import read_once


class AnewError(Exception):
    """The folder is read, and not taken from the cache."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has settled, with a cache of its own."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_SETTLED_NS", 0)
    return write_folder(tmp_path / "mine", pingpongs(A, B), launches=2)


def reads_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    def anew(*_: object) -> ReadFolder:
        raise AnewError

    with monkeypatch.context() as patch:
        patch.setattr(module, "read_rows", anew)
        try:
            read_once(folder)
        except AnewError:
            return True
    return False


def test_a_folder_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = read_rows(folder, "its name")
    first = read_once(folder, "its name")
    assert not reads_anew(folder, monkeypatch)
    again = read_once(folder, "its name")
    assert again.rows == first.rows == known.rows
    assert again.name == "its name"
    assert again.measured.campaign == known.measured.campaign
    for one, other in zip(again.measured.points, known.measured.points, strict=True):
        assert one.plan == other.plan
        assert [cell.values.tolist() for cell in one.cells] == [cell.values.tolist() for cell in other.cells]


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_it_is_kept_whatever_the_umask(folder: Path, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(umask)
    try:
        read_once(folder)
    finally:
        os.umask(before)
    assert not reads_anew(folder, monkeypatch)


def touched(folder: Path) -> None:
    """A file of another time: a byte has changed, say."""
    file = next((folder / "records").iterdir())
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))


def longer(folder: Path) -> None:
    with (folder / "campaign.json").open("a") as file:
        file.write("\n")


def fewer(folder: Path) -> None:
    next((folder / "records").iterdir()).unlink()


def damaged(folder: Path) -> None:
    (kept,) = (folder.parent / "cache" / "read").iterdir()
    kept.write_bytes(kept.read_bytes()[:-100])


def another_number(folder: Path) -> None:
    """A bit of a number has changed, and all else can be read."""
    (kept,) = (folder.parent / "cache" / "read").iterdir()
    median = next(row.median for row in read_rows(folder).rows if row.median)
    data = kept.read_bytes()
    assert struct.pack(">d", median) in data
    kept.write_bytes(data.replace(struct.pack(">d", median), struct.pack(">d", 2 * median)))


def of_others(folder: Path) -> None:
    (kept,) = (folder.parent / "cache" / "read").iterdir()
    kept.chmod(0o666)


@pytest.mark.parametrize("change", [touched, longer, fewer, damaged, another_number, of_others])
def test_what_has_changed_is_read_anew(folder: Path, change: object, monkeypatch: pytest.MonkeyPatch) -> None:
    read_once(folder)
    assert callable(change)
    change(folder)
    assert reads_anew(folder, monkeypatch)


def test_another_program_reads_anew(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "program" / "stats" / "median.py"
    source.parent.mkdir(parents=True)
    source.write_text("one")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "program" / "session" / "read_once.py"))
    read_once(folder)
    assert not reads_anew(folder, monkeypatch)
    source.write_text("another")
    assert not reads_anew(folder, monkeypatch)  # in a process that has loaded the one
    module._program.cache_clear()
    assert reads_anew(folder, monkeypatch)


def another_digit(folder: Path) -> None:
    """The file is as long as it was."""
    file = next((folder / "records").iterdir())
    data = file.read_bytes()
    file.write_bytes(data.replace(b'"launch":1', b'"launch":7', 1))
    assert file.read_bytes() != data


@pytest.fixture
def within_a_tick(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All changes of a file of `folder` have the time of the first, which is now: as at the end of a run."""
    read_once(folder)  # the program's own files have their times
    assert folder
    monkeypatch.setattr(module, "_SETTLED_NS", 10**19)
    monkeypatch.setattr(module, "_stamp", lambda file: (file, Path(file).stat().st_size, 1, 1, 1))


@pytest.mark.usefixtures("within_a_tick")
def test_what_has_only_just_changed_is_kept_with_its_contents(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = read_once(folder)
    assert not reads_anew(folder, monkeypatch)
    assert read_once(folder).rows == known.rows
    another_digit(folder)
    assert reads_anew(folder, monkeypatch)


@pytest.mark.usefixtures("within_a_tick")
def test_what_changes_while_it_is_read_is_read_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(*asked: object) -> ReadFolder:
        read = read_rows(folder)
        another_digit(folder)
        return read

    with monkeypatch.context() as patch:
        patch.setattr(module, "read_rows", slowly)
        read_once(folder)
    assert reads_anew(folder, monkeypatch)


def test_what_is_too_large_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 10)
    read_once(folder)
    assert not (folder.parent / "cache").exists()


def test_a_link_of_the_program_that_leads_nowhere_does_no_harm(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an editor makes one beside a file that has unsaved changes."""
    program = tmp_path / "program" / "session"
    program.mkdir(parents=True)
    (program / ".#read_once.py").symlink_to("nobody@nowhere.1:2")
    monkeypatch.setattr(module, "__file__", str(program / "read_once.py"))
    read_once(folder)
    assert not reads_anew(folder, monkeypatch)


def test_few_folders_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KEPT", 2)
    for number in range(3):
        link = folder.parent / f"link{number}"
        link.symlink_to(folder)
        read_once(link)
    assert len(list((folder.parent / "cache" / "read").iterdir())) == 2
    assert not reads_anew(folder.parent / "link2", monkeypatch)


def test_without_a_cache_folders_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", "/proc/nowhere")
    assert read_once(folder).rows == read_rows(folder).rows
