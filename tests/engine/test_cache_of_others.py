"""A cache that another user can write: whatever the command, nothing in it is read, listed or run."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from commands import FIXED, Steelyard, steelyard_of
from further import further
from steelyard.system.process import run

_NOBODY = 65534
_WHY = "so another user could put into the cache what this one runs"
# What opens, lists or starts anything below a folder, for each command line of a list.
_WATCHED = """
import contextlib, io, json, sys
from steelyard.cli.main import main
folder, touched, said = sys.argv[1], [], []
def watch(event, args):
    if event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.posix_spawn", "ctypes.dlopen"):
        if any(isinstance(one, str) and one.startswith(folder) for one in args[:1]):
            touched.append(f"{event} {args[0]}")
sys.addaudithook(watch)
for words in json.loads(sys.argv[2]):
    sys.argv, err = ["steelyard", *words], io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            said.append([words, end.code or 0, err.getvalue(), list(touched)])
    touched.clear()
print(json.dumps(said))
"""
_COMMANDS = (
    ("show", "mine"), ("report", "mine", "-o", "report.html"), ("diff", "mine", "mine"), ("accept", "mine"),
    ("export", "mine", "--to", "csv", "--out", "x.csv"), ("bug-report", "mine"), ("run", "-h"),
    ("list",), ("mpi", "list"), ("doctor",), ("plan", "show", "self.empty"),
    ("run", "self.empty", "--dry-run"), ("run", "self.empty", *FIXED, "--out", "next"),
    ("rerun", "mine", "--out", "again"), ("rerun", "mine", "--out", "once-more", "--yes"),
)  # fmt: skip


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """One that others may enter: each pytest that starts meanwhile closes pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="steelyard-cache-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    return steelyard_of(capsys, monkeypatch)


def _weaken(cache: Path, way: str) -> None:
    """Let others write it, or what is above."""
    if way == "writable":
        cache.chmod(0o777)
    elif way == "another's":
        os.chown(cache, _NOBODY, -1)
    elif way == "link":
        theirs = cache.rename(cache.with_name("theirs"))
        theirs.chmod(0o777)
        cache.symlink_to(theirs)
    elif way == "above":
        cache.parent.chmod(0o777)


@pytest.mark.parametrize("way", ["another's", further("writable"), further("link"), further("above")])
def test_nothing_of_it_is_touched(steelyard: Steelyard, tmp_path: Path, own_cache: Path, way: str) -> None:
    if way == "another's" and os.geteuid() != 0:
        pytest.skip("only root can make what another user owns")
    said = steelyard("run", "self.empty", *FIXED, "--out", "mine")
    assert said.code == 0, said.err
    for name in ("engines", "mpi", "key", "started", "measuring", "simulator"):
        (own_cache / name / "theirs").mkdir(parents=True, exist_ok=True)
    ((*_, touched),) = _watched(tmp_path, [("bug-report", "mine")])
    assert touched  # so this test can fail
    _weaken(own_cache, way)
    for words, code, err, touched in _watched(tmp_path, _COMMANDS):
        assert not touched, words
        assert code == 0 or (code == 2 and _WHY in err), (words, err)  # it goes on without it, or says so


def _watched(
    folder: Path, commands: Sequence[tuple[str, ...]]
) -> list[tuple[list[str], int, str, list[str]]]:
    """Run command lines, and list for each its code, its stderr and what it touched of the cache."""
    told = run(
        [sys.executable, "-c", _WATCHED, str(folder / "cache"), json.dumps(commands)],
        timeout=600,
        cwd=folder,
    )
    assert told.code == 0, told.err
    found: list[tuple[list[str], int, str, list[str]]] = json.loads(told.out)
    return found
