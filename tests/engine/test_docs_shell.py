"""What pages type into a shell besides `steelyard`: run here, by another test, or not, with the reason.

What begins with `steelyard`, also in a loop or an allocation, is typed in test_docs_scripts.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pages import ROOT, Snippet, snippets

_BIN = Path(sys.executable).parent
_STEELYARD = re.compile(r"(?:steelyard |salloc .* steelyard |for \w+ in .*; do steelyard )")
_OUTPUT = re.compile(
    r"(?:steelyard: |results/new: |[A-Z][a-z ]+: |mpi\.\w+ .* ━)"
)  # samples of what is printed
# A command, by how it begins -> the file that has a test of it, or the reason why there is none.
_ELSEWHERE: Mapping[str, str] = {
    r"make (run|check|test|test-all|ctest)\b": "tests/unit/test_docs_snippets.py",
    r"ctest --test-dir ": "Makefile",
    r"cmake --preset ": "tests/helpers/cbuild.py",
    r"\.venv/bin/pytest ": ".ci/run",
    r"\(\$\(\.venv/bin/steelyard mpi build ": "tests/unit/test_docs_generated.py",
    r" +\.venv/bin/python docs/generate\.py": "tests/unit/test_docs_generated.py",
    r"cc -O2 -fPIC -shared ": "tests/helpers/own_libraries.py",
    r"python3 -m venv (--without-pip )?~/steelyard": "tests/engine/test_without_network.py",
    r"~/steelyard/bin/pip install|python3 -m pip --python ": "tests/engine/test_without_network.py",
    r"python3 -m pip wheel ": "Makefile",
    r"python3 -m venv /opt|/opt/steelyard/|mkdir -p /opt": "tests/engine/test_shared_install.py",
    r"ln -s \.\./bin|sed 's\|@PREFIX@|module (use|load) ": "tests/engine/test_shared_install.py",
    r"ramble (repo add|info) ": "tests/unit/test_export_read.py",
}
_UNTRIED: Mapping[str, str] = {
    r"\.venv/bin/python benchmarks/\w+\.py ": "takes from minutes to hours of an idle machine",
    r"apt install ": "changes the system",
    r"spack repo add |cd dist && spack install": "Spack is on no index of Python or Debian",
    r"eb --sourcepath=": "compiles a toolchain for hours",
    r"docker build |(unshare .* )?apptainer build ": "fetches an image from a registry",
}
_BY_HAND = r"steelyard-(solo|mpi) |mpiexec -n 2 steelyard-mpi "
_INSTALLS = r"cmake (-S|--build build/engines)"


def _shell() -> Iterator[Snippet]:
    for one in snippets():
        if one.kind not in ("", "sh", "console"):
            continue
        lines = one.text.splitlines()
        prompted = any(line.startswith("$ ") for line in lines)
        for number, line in enumerate(lines, one.line):
            text = line.removeprefix("$ ")
            is_typed = line.startswith("$ ") or not prompted
            if is_typed and text.strip() and not _STEELYARD.match(text) and not _OUTPUT.match(text):
                yield Snippet(one.page, number, one.kind, text)


_COMMANDS = list(_shell())


def test_each_command_of_the_pages_is_run_or_says_why_not() -> None:
    ways = [*_ELSEWHERE, *_UNTRIED, _BY_HAND, _INSTALLS]
    met = {one: [way for way in ways if re.match(way, one.text)] for one in _COMMANDS}
    assert [f"{one}: {one.text}" for one, found in met.items() if len(found) != 1] == []
    assert {*ways} - {way for found in met.values() for way in found} == set()
    assert [name for name in _ELSEWHERE.values() if not (ROOT / name).is_file()] == []


def _like(pattern: str) -> list[Snippet]:
    return [one for one in _COMMANDS if re.match(pattern, one.text)]


def _type(text: str, here: Path) -> str:
    environ = {**os.environ, "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}"}
    words = ["sh", "-c", text]
    done = subprocess.run(words, cwd=here, env=environ, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, f"{text}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("command", _like(_BY_HAND), ids=str)
def test_an_engine_is_run_by_hand(command: Snippet, tmp_path: Path) -> None:
    if "mpi" in command.text and not (_BIN / "mpiexec").exists():
        pytest.skip("there is no MPI beside this Python")
    said = _type(command.text, tmp_path)
    assert '"record":' in said or '"ops":' in said


@pytest.mark.further
def test_engines_are_installed_as_the_page_says(tmp_path: Path) -> None:
    """In the order of the page, with folders of the test in place of those of the system."""
    if not Path("/usr/bin/mpicc").exists():
        pytest.skip("the system has no MPI with a compiler")
    for command in _like(_INSTALLS):
        text = command.text.replace("/opt/", f"{tmp_path}/opt/").replace("-S .", f"-S {ROOT}")
        _type(text, tmp_path)
    prefix = tmp_path / "opt" / "steelyard"
    assert '"ops":' in _type(f"{prefix}/bin/steelyard-solo describe", tmp_path)
    assert (prefix / "share" / "man" / "man1" / "steelyard.1").is_file()
