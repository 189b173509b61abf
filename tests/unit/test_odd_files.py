"""Pipes, devices, folders and links where a file or a folder is expected: a sentence, and nothing waits."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commands import Steelyard, steelyard_of
from make_records import BEGAN_NS, FakePoint, steady, write_folder

_TOO_LONG = 300  # seconds after which something waits for a pipe: no command takes that long
_DAY = 86_400 * 10**9
_SIDES = ("mpi.gather", "mpi.gatherv")  # of a guideline


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Steelyard]:
    """A command in this process; one that waits fails."""

    def waits(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, waits)
    signal.alarm(_TOO_LONG)
    yield steelyard_of(capsys, monkeypatch)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results `mine`, `other`, and nights, of which `night-4` is the last."""
    top = tmp_path_factory.mktemp("odd")
    points = [FakePoint(op, steady(1e3, count=40), role="collective") for op in _SIDES]
    for number, name in enumerate(("mine", "other")):
        write_folder(top / name, points, 8, seed=number)
    for number in range(5):
        write_folder(top / f"night-{number}", points, 3, number, began_ns=BEGAN_NS + number * _DAY)
    return top


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _full(path: Path) -> None:
    path.symlink_to("/dev/full")


_NIGHTS = "check --history night-0 night-1 night-2 night-3 --tonight night-4"
# A command that writes a file.
_WRITING = (
    "report mine -o odd", "export mine --to csv --out odd", "plot mine --out odd.svg",
    "compare mine other --junit odd", f"{_NIGHTS} --junit odd", f"{_NIGHTS} --report odd",
    "accept mine --junit odd", "check guidelines mine --junit odd",
)  # fmt: skip
# One that reads a file or a folder.
_READING = (
    "run self.empty --arrivals odd", "plan show self.empty --arrivals odd", "plan show odd.toml",
    "run odd.toml", "run self.empty --out odd", "show odd", "report odd", "plot odd", "export odd --to csv",
    "compare mine odd", "diff mine odd", "rerun odd", "check --history odd",
    "accept odd", "accept mine --reference odd", "run self.empty --mpi ./odd", "validate --platform odd",
    "accept mine --limits odd",
)  # fmt: skip


def _one_sentence(steelyard: Steelyard, command: str) -> str:
    said = steelyard(*command.split())
    assert said.code == 2, said.err
    (sentence,) = said.err.splitlines()
    assert "odd" in sentence
    return sentence


@pytest.mark.parametrize("command", _WRITING)
def test_a_pipe_that_nobody_reads_is_not_waited_for(here: Path, steelyard: Steelyard, command: str) -> None:
    for name in ("odd", "odd.svg"):
        os.mkfifo(here / name)
    assert "; start its reader first, or give another place" in _one_sentence(steelyard, command)
    assert (here / "odd").is_fifo()


@pytest.mark.parametrize("command", _WRITING)
def test_a_folder_is_no_file(here: Path, steelyard: Steelyard, command: str) -> None:
    for name in ("odd", "odd.svg"):
        (here / name).mkdir()
    assert re.search("is a (folder|directory)", _one_sentence(steelyard, command), re.IGNORECASE)
    assert list((here / "odd").iterdir()) == []


@pytest.mark.parametrize("make", [_pipe, lambda path: path.symlink_to("/dev/zero"), _full])
@pytest.mark.parametrize("command", _READING)
def test_what_is_no_file_is_not_read(
    here: Path, steelyard: Steelyard, command: str, make: Callable[[Path], None]
) -> None:
    for name in ("odd", "odd.toml"):
        make(here / name)
    _one_sentence(steelyard, command)


# ---- huge files in a results folder ------------------------------------------------------------------------

_HUGE = 5 << 30  # bytes, all of them a hole: such a file takes no room on a disk
_ROOM = 300 << 20  # bytes of memory that a command may take more than this process has
_READS_RESULTS = (
    "show mine", "report mine", "plot mine --out x.svg", "export mine --to csv", "compare other mine",
    "diff other mine", _NIGHTS.replace("night-4", "mine"), "accept mine", "accept other --reference mine",
    "check guidelines mine", "run --out mine --dry-run",
)  # fmt: skip


@pytest.fixture
def little_memory() -> Iterator[None]:
    """At most `_ROOM` more than this process has with its libraries."""
    (pages, *_) = map(int, Path("/proc/self/statm").read_text().split())
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("command", _READS_RESULTS)
@pytest.mark.parametrize(
    "name", ["campaign.json", "records/l03-mpich-4.0.2-n2.jsonl", "records/l99-new.jsonl"]
)
def test_a_huge_file_in_a_results_folder_is_a_sentence(
    here: Path, steelyard: Steelyard, name: str, command: str
) -> None:
    """Of records that are lost, the rest of the folder is shown."""
    with (here / "mine" / name).open("ab") as file:
        file.truncate(_HUGE)
    said = steelyard(*command.split())
    is_whole = name == "campaign.json"
    assert said.code == 2 if is_whole else said.code in (0, 1, 2), said.err
    assert not is_whole or re.fullmatch("steelyard: .*campaign.json has more than .*\n", said.err)
    assert "memory" not in said.err


@pytest.mark.parametrize("leads_to", ["nowhere", "l99-new.jsonl"])
def test_a_records_file_that_leads_nowhere_spoils_its_launch_alone(
    here: Path, steelyard: Steelyard, leads_to: str
) -> None:
    (here / "mine/records/l99-new.jsonl").symlink_to(leads_to)
    said = steelyard("show", "mine")
    assert (said.code, "l99-new.jsonl cannot be read (" in said.err) == (0, True), said.err
    assert "mpi.gather " in said.out


# A link in a folder, and what is said of it; None: it is replaced, and what it leads to stays.
@pytest.mark.parametrize(
    ("name", "command", "words"),
    [
        ("new/.lock", "run self.empty --out new", ".lock is a link, and nothing is written through it"),
        ("new/records", "run self.empty --out new", "records' is a link, and nothing is measured through it"),
        ("mine/report.html", "report mine", None),
        ("mine/results.csv", "export mine --to csv --out mine/results.csv", None),
    ],
)
def test_links_in_a_results_folder_are_not_followed(
    here: Path, steelyard: Steelyard, name: str, command: str, words: str | None
) -> None:
    for folder in ("precious", "new"):
        (here / folder).mkdir()
    (here / "precious/file").write_text("precious")
    link = here / name
    link.symlink_to(here / "precious" if link.name == "records" else here / "precious/file")
    said = steelyard(*command.split())
    if words is None:
        assert (said.code, link.is_symlink()) == (0, False), said.err
    else:
        assert said.code == 2
        assert words in said.err
    assert [path.read_text() for path in (here / "precious").iterdir()] == ["precious"]
