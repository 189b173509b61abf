"""Only `base/files.py` opens and creates files: nobody else decides whether a link or a pipe is followed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

import steelyard

_HOME = "base/files.py"
_OPENS = {"open", "io.open", "os.open", "os.fdopen", "os.mkfifo", "os.mknod"}
_METHODS = {
    "resolve",  # raises where links lead to themselves: real_path() does not
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "symlink_to", "hardlink_to"),
    *("mkdir", "makedirs", "mkstemp", "mkdtemp", "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile"),
    *("copy", "copy2", "copyfile", "copytree", "copyfileobj"),
}
# What a method of one of these names is besides: of an array, of a package's own files.
_OTHERS = {("stats/paired_permutation.py", ".copy"), ("judges/history/levels.py", ".copy")}
_OWN_FILES = {("report/page.py", ".read_text"), ("judges/history/page.py", ".read_text")}
_EXCEPTIONS: dict[tuple[str, str], str] = dict.fromkeys(_OTHERS, "of an array") | dict.fromkeys(
    _OWN_FILES, "of this package itself"
) | {
    ("cli/start.py", "open"): "/dev/null, before anything is imported",
    ("cli/main.py", "os.open"): "/dev/null",
    ("cli/internal_error.py", ".mkstemp"): "a new file of random name, for its owner alone",
    ("cli/internal_error.py", "os.fdopen"): "the same file",
    ("system/workers.py", "os.fdopen"): "a pipe of its own",
    ("system/workers.py", "os.open"): "/dev/null",
    ("system/process_stat.py", "open"): "a file of /proc, in half the time",
    ("base/private_folders.py", ".mkdir"): "a folder for this user alone",
    ("campaign/started_programs.py", ".touch"): "a name in the cache",
    ("validate/run.py", ".TemporaryDirectory"): "a new folder of random name, for its owner alone",
}  # fmt: skip
# The cache and what is staged check their folders by themselves: nobody else may write there.
_OWN_FOLDERS = (
    "engines/build.py",
    "engines/cache.py",
    "engines/compile.py",
    "engines/mpi.py",
    "engines/source_digests.py",
    "validate/simulator.py",
    "campaign/stage.py",
)


def openings(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Which module (a path below src/steelyard) opens or creates files, and by what word."""
    return [
        (path, word)
        for path, text in files.items()
        if path not in (_HOME, *_OWN_FOLDERS)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and (word := _word(node.func)) is not None
    ]


def _word(called: ast.expr) -> str | None:
    match called:
        case ast.Name(id=name):
            return name if name in _OPENS else None
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if f"{owner}.{name}" in _OPENS:
            return f"{owner}.{name}"
        case ast.Attribute(attr=name):
            return f".{name}" if name in _METHODS else None
    return None


def test_one_module_opens_files() -> None:
    home = Path(steelyard.__file__).parent
    files = {path.relative_to(home).as_posix(): path.read_text() for path in sorted(home.rglob("*.py"))}
    assert {_HOME, *_OWN_FOLDERS} <= files.keys()
    assert set(openings(files)) == _EXCEPTIONS.keys()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("open(path)", "open"),
        ("with path.open('w') as file: pass", ".open"),
        ("os.open(path, os.O_RDONLY)", "os.open"),
        ("Path(name).write_text('x')", ".write_text"),
        ("(folder / 'x').mkdir()", ".mkdir"),
        ("tempfile.mkstemp()", ".mkstemp"),
        ("shutil.copyfile(one, two)", ".copyfile"),
        ("folder.resolve()", ".resolve"),
    ],
)
def test_another_one_is_found(text: str, word: str) -> None:
    assert openings({"results/rows.py": text}) == [("results/rows.py", word)]
    assert openings({_HOME: text}) == []
