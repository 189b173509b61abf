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
from typer.main import get_command

from pages import ROOT, Snippet, commands, snippets
from steelyard.cli.main import app
from steelyard.cli.option_tables import walk

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
# What a sentence speaks of between backticks, and a reader may type.
_IN_SENTENCES: Mapping[str, str] = {
    r"make (run|test|test-all)$": "tests/unit/test_docs_snippets.py",
    r"make re(lease|cipes)$|twine check ": "tests/unit/test_packaging.py",
    r"\.venv/bin/python docs/samples\.py$": "tests/engine/test_docs_samples.py",
    r"man steelyard$": "tests/engine/test_shared_install.py",
    r"(\.venv/bin/python -m )?pip install 'steelyard\[": "tests/unit/test_installing.py",
    r"module load$": "tests/unit/test_modules.py",
    r"(bwrap|ch-run|podman run) ": "tests/mpi/test_around_runs.py",
    r"grep '\^warning' log$": "tests/engine/test_cli.py",
}
_SPOKEN_OF: Mapping[str, str] = {
    r"(python )?benchmarks/\w+\.py": "takes from minutes to hours of an idle machine",
    r"(STEELYARD_\w+=\w+ \.venv/bin/)?pytest -(rP|m) |STEELYARD_HOSTS_LAUNCHES=200 pytest ": "more of tests",
    r"(apt|apt-get) install ": "changes the system",
    r"spack (spec|install)$|cc -I$|cmake --install$|flux run$|git bisect run$": "is spoken of, not typed",
    r"cmake (-S \. -B|--build) native ": "builds CMake's own engine, as cbuild.py does by presets",
    r"kill -9$|chmod g\+ws$|ulimit -l$|setarch -R$|scontrol show topology$|cat /sys/": "is the system's own",
    r"alias steelyard=": "is for the shell of the reader alone",
}
_PROGRAM = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/\w+|benchmarks/\w+\.py|(?:alias|apt|apt-get|bwrap|cat|cc|ch-run|chmod|"
    r"cmake|ctest|dnf|docker|eb|flux|git|grep|kill|make|man|module|mpiexec|numactl|perf|pip|podman|pytest|python3?|ramble|"
    r"salloc|scontrol|setarch|spack|srun|sudo|taskset|twine|ulimit|uv)) \S"
)
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
_SENTENCES = [one for one in snippets() if one.kind == "span" and _PROGRAM.match(one.text)]


@pytest.mark.parametrize(
    ("lines", "tested", "untested"),
    [
        (_COMMANDS, {**_ELSEWHERE, _BY_HAND: "", _INSTALLS: ""}, _UNTRIED),
        (_SENTENCES, _IN_SENTENCES, _SPOKEN_OF),
    ],
    ids=["fences", "sentences"],
)
def test_each_command_of_the_pages_is_run_or_says_why_not(
    lines: list[Snippet], tested: Mapping[str, str], untested: Mapping[str, str]
) -> None:
    ways = [*tested, *untested]
    met = {one: [way for way in ways if re.match(way, one.text)] for one in lines}
    assert [f"{one}: {one.text}" for one, found in met.items() if len(found) != 1] == []
    assert {*ways} - {way for found in met.values() for way in found} == set()
    assert [name for name in tested.values() if not (ROOT / name).exists()] == []


def _with_placeholders() -> Iterator[Snippet]:
    """Lines that no test types, for they have a word such as DIR; and those of the site's first page."""
    landing = (ROOT / "docs" / "site" / "landing.html").read_text()
    (fence,) = re.findall(r"<pre[^>]*>\n(.*?)</pre>", landing, re.DOTALL)
    typed = {(one.page, one.line) for one in commands("steelyard")}
    for one in (*snippets(), Snippet("landing.html", 1, "", fence.replace(".venv/bin/", ""))):
        for number, line in enumerate(one.text.splitlines(), one.line):
            text = line.removeprefix("$ ").partition(" # ")[0].partition(" | ")[0]
            if text.startswith("steelyard ") and (one.page, number) not in typed and not _OUTPUT.match(text):
                yield Snippet(one.page, number, one.kind, text)


def test_a_command_with_a_placeholder_is_one_and_has_its_options() -> None:
    known = {
        name: {word for param in one.params for word in param.opts}
        for name, one in walk(get_command(app), "")
    }
    found = list(_with_placeholders())
    assert len(found) > 20
    for one in found:
        words = one.text.split()[1:]
        name = next((" ".join(words[:count]) for count in (2, 1) if " ".join(words[:count]) in known), None)
        assert name is not None or words[0] == "COMMAND", one
        options = {word for word in words if re.match(r"--?[a-z]", word)}
        assert options <= known.get(name or "", set()) | {"-h", "--help"}, one


def _like(pattern: str) -> list[Snippet]:
    return [one for one in _COMMANDS if re.match(pattern, one.text)]


def _type(text: str, here: Path) -> str:
    environ = {**os.environ, "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}"}
    words = ["sh", "-c", text]
    done = subprocess.run(words, cwd=here, env=environ, capture_output=True, text=True, timeout=600)
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


def test_make_run_says_how_to_type_what_it_printed(tmp_path: Path) -> None:
    """Where the environment is not on PATH; the exit code is that of the measurement."""
    (tmp_path / "copy/bin").mkdir(parents=True)
    program = tmp_path / "copy/bin/steelyard"
    program.write_text('#!/bin/sh\necho "ran $*"; exit 3\n')
    program.chmod(0o755)
    recipe = re.search(r"^\t(\$\(BIN\)/steelyard run .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.search(r"^NAMED = (.*?[^\\])$", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert recipe
    assert named
    made = f"NAMED = {named[1]}\nBIN = bin\nrun:\n\t{recipe[1]}\n"
    (tmp_path / "copy/Makefile").write_text(made)
    environ = {"PATH": "/usr/bin:/bin"}
    where = tmp_path / "copy"
    said = subprocess.run(
        ["make", "run"], cwd=where, env=environ, capture_output=True, text=True, check=False
    )
    assert said.returncode == 2, said.stderr
    assert "Error 3" in said.stderr
    line = said.stdout.splitlines()[-1].partition(": ")[2]
    typed = ["bash", "-c", f"shopt -s expand_aliases\n{line}\nsteelyard show x"]
    told = subprocess.run(typed, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert told.stdout == "ran show x\n"
