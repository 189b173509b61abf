"""What `steelyard check` keeps of nights: used as long as it is of these files and this code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
import pytest
import typer
from msgspec import structs
from numpy.typing import NDArray

import steelyard
from make_records import BEGAN_NS, FakePoint, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.cli.check import CheckOptions, check
from steelyard.engines.cache import own_key
from steelyard.judges.compare.scale import Question
from steelyard.judges.history import digest
from steelyard.judges.history.digest import NAME, known_night
from steelyard.judges.history.store import Night, folders_in, pool, read_night
from steelyard.judges.history.tables import check_table
from steelyard.judges.history.verdicts import Checked, check_tonight
from steelyard.judges.verdict import CANNOT_TELL, verdict_document
from steelyard.records.sealing import sealed

_DAY = 86_400 * 10**9
_NIGHTS = 5
_KEY = b"this user's"


def _night(folder: Path, number: int, *more: FakePoint) -> Path:
    last = 1.07 if number == _NIGHTS - 1 else 1.0  # more than the nights before, less than proves it
    points = [
        FakePoint(op, steady(1000.0 * slower, count=40, between=0.004), usual={"seed": 1})
        for op, slower in (("mpi.bcast", 1.0), ("mpi.scan", last))
    ]
    return write_folder(folder, [*points, *more], 3, number, began_ns=BEGAN_NS + number * _DAY)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for number in range(_NIGHTS):
        _night(tmp_path / f"night-{number}", number)
    return tmp_path


def _checked(store: Path) -> Checked:
    nights = sorted((known_night(folder, _KEY) for folder in folders_in([store])), key=lambda one: one.began)
    return check_tonight(pool(nights[-1], nights[:-1]), Question())[0]


def test_a_check_that_is_refused_writes_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.check._confirmed", _refuse)
    asked = CheckOptions(history=[store], baseline="env.X=1")
    with pytest.raises(InputError, match="refused"):
        check(asked)
    assert not list(store.rglob(".night*"))
    with suppress(typer.Exit):
        check(CheckOptions(history=[store]))
    assert len(list(store.rglob(NAME))) == _NIGHTS


def _refuse(*_: object) -> None:
    raise InputError("refused")


def _never(folder: Path, quantile: float | None) -> Night:
    raise AssertionError(f"the records of {folder} are read again")


def test_a_check_reads_the_records_of_a_night_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = verdict_document(_checked(store))
    with monkeypatch.context() as patched:
        patched.setattr(digest, "read_night", _never)
        assert verdict_document(_checked(store)) == first
    _night(store / "tonight", _NIGHTS)
    read: list[str] = []

    def noted(folder: Path, quantile: float | None) -> Night:
        read.append(folder.name)
        return read_night(folder, quantile)

    monkeypatch.setattr(digest, "read_night", noted)
    _checked(store)
    assert read == ["tonight"]


def test_what_is_suspected_alone_goes_into_json(store: Path) -> None:
    found = _checked(store)
    assert any(one.suspected and one.verdict == CANNOT_TELL for one in found.points)
    assert json.loads(msgspec.json.encode(verdict_document(found)))["verdict"] == CANNOT_TELL


def test_files_that_changed_are_read_again(store: Path) -> None:
    folder = store / "night-2"
    kept = known_night(folder, _KEY)
    seen = (folder / NAME).read_bytes()
    shutil.rmtree(folder)
    _night(folder, 2, FakePoint("mpi.exscan", steady(10.0, count=40)))
    (folder / NAME).write_bytes(seen)
    assert len(known_night(folder, _KEY).rows) == len(kept.rows) + 1
    record = next((folder / "records").glob("*.jsonl"))
    kept = known_night(folder, _KEY)
    os.utime(record, ns=(1, record.stat().st_mtime_ns + 1))
    assert known_night(folder, _KEY) == kept
    record.write_text(record.read_text().replace('"obs"', '"obz"', 1))  # as long as before
    assert [row.status for row in known_night(folder, _KEY).rows].count("failed") == 1


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"made_from":1}', b"[" * 100_000],
    ids=["empty", "cut", "list", "not UTF-8", "null", "other", "deep"],
)
def test_a_damaged_one_is_made_again(store: Path, damage: bytes) -> None:
    folder = store / "night-1"
    first = known_night(folder, _KEY)
    good = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(damage)
    assert known_night(folder, _KEY) == first
    assert (folder / NAME).read_bytes() == good


def test_a_number_that_was_changed_in_it_is_not_believed(store: Path) -> None:
    folder = store / "night-1"
    first = known_night(folder, _KEY)
    good = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(good.replace(b'"median":', b'"median":1', 1))
    assert known_night(folder, _KEY) == first
    assert (folder / NAME).read_bytes() == good


def test_one_that_somebody_else_made_is_not_believed(store: Path) -> None:
    """It fits the files, by their names, lengths and times, and its values are others than the records'."""
    folder = store / "night-1"
    mine = known_night(folder, _KEY)
    made = digest._read(folder / NAME, _KEY)
    assert made is not None
    forged = structs.replace(made, rows=tuple(structs.replace(row, median=1.0) for row in made.rows))
    for key in (b"the stranger's", b""):
        (folder / NAME).write_bytes(digest._proven(msgspec.json.encode(forged), key))
        assert known_night(folder, _KEY) == mine
    (folder / NAME).write_bytes(sealed(msgspec.json.encode(forged)))
    assert known_night(folder, _KEY) == known_night(folder, None) == mine
    (folder / NAME).write_bytes(digest._proven(msgspec.json.encode(forged), _KEY))
    assert known_night(folder, _KEY) != mine  # so this test can fail


@pytest.mark.parametrize("is_read", [False, True])
def test_a_pipe_in_its_place_stops_no_check_and_gets_nothing(store: Path, is_read: bool) -> None:
    folder = store / "night-1"
    os.mkfifo(folder / NAME)
    reader = os.open(folder / NAME, os.O_RDONLY | os.O_NONBLOCK) if is_read else None
    assert known_night(folder, _KEY) == read_night(folder)
    if reader is not None:
        assert os.read(reader, 1) == b""
        os.close(reader)


def test_the_key_is_this_users_alone_and_stays(own_cache: Path) -> None:
    key = own_key()
    assert key is not None
    assert len(key) == 32
    assert own_key() == key
    assert (own_cache / "key").stat().st_mode & 0o077 == 0
    (own_cache / "key" / "key").write_bytes(b"")
    assert own_key() is None


def test_the_code_of_a_night_is_that_of_all_packages_that_make_it() -> None:
    """What only lays out what was made is not among them."""
    code = "import sys, steelyard.judges.history.store\n"
    code += "print(*{name.split('.')[1] for name in sys.modules if name.startswith('steelyard.')})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} - {"render"} == {*digest._MAKERS}
    assert all(next((Path(steelyard.__file__).parent / name).rglob("*.py")) for name in digest._MAKERS)


def test_another_file_of_the_code_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stats = tmp_path / "stats"
    stats.mkdir()
    (tmp_path / "judges" / "history").mkdir(parents=True)
    monkeypatch.setattr(digest, "__file__", str(tmp_path / "judges" / "history" / "digest.py"))
    versions = set()
    for text in ("one", "two", "two"):
        (stats / "median.py").write_text(text)
        versions.add(digest._code.__wrapped__())
    assert len(versions) == 2


def test_another_version_of_the_code_reads_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known_night(store / "night-1", _KEY)
    monkeypatch.setattr(digest, "_code", lambda: "another")
    monkeypatch.setattr(digest, "read_night", _never)
    with pytest.raises(AssertionError, match="read again"):
        known_night(store / "night-1", _KEY)


def test_a_folder_that_cannot_be_written_works(store: Path) -> None:
    """As root may write anywhere, a folder stands where the file would."""
    first = _checked(store)
    for folder in folders_in([store]):
        (folder / NAME).unlink()
        (folder / NAME).mkdir()
    assert verdict_document(_checked(store)) == verdict_document(first)
    assert not [path for folder in folders_in([store]) for path in folder.glob(".*.json.*")]


def _nothing(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return np.full(40, -20.0 if launch == 2 else 30.0)


def test_launches_without_time_are_named(tmp_path: Path) -> None:
    for number in range(_NIGHTS):
        _night(tmp_path / f"night-{number}", number, FakePoint("mpi.test", _nothing, reps=1))
    found = _checked(tmp_path)
    assert "mpi.test" in {one.op for one in found.points}
    assert found.zeros[0] == "mpi.test, 8 bytes, launch 2 of night-4"
    assert len(found.zeros) == _NIGHTS
    notes = [one for one in check_table(found, 0.05).notes if one.startswith("Left out")]
    assert notes[0] == f"Left out: {found.zeros[0]}: a median of 0, less than the timer can tell."
    assert notes[-1] == "Left out: 2 more such."
