"""Which folder of the package may import which: the table of the design, as data.

The checker is a pure function of {path: text}, so that a planted violation of each rule is seen to be found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import steelyard

Files = Mapping[str, str]

# Folder -> the folders that it may import besides itself. The longest folder that a path lies in counts. Two
# wings, with records in between, meet in `cli`.
_JUDGED = "base records stats results render rows analyses"  # what is read of a measured folder
_JUDGES = f"{_JUDGED} judges/verdict"
_MAY_IMPORT: dict[str, str] = {
    "base": "",
    "stats": "",
    "records": "base",
    # the measuring wing
    "system": "base records",
    "engines": "base records system",
    "launch": "base records system engines",
    "plan": "base records system engines",
    "campaign": "base records system engines launch plan",
    "diagnostics/machine": "base records system engines",
    # the judging wing
    "results": "base records stats",
    "render": "base records stats",
    "rows": "base records stats results render",
    "analyses": "base records stats results render rows",
    "diagnostics": "base",
    "diagnostics/results": _JUDGED,
    "judges": "base",
    "judges/compare": _JUDGES,
    "judges/guidelines": _JUDGES,
    "judges/history": f"{_JUDGES} judges/compare",
    "judges/tuning": f"{_JUDGES} judges/compare",
    "judges/accept": f"{_JUDGES} system diagnostics judges/compare judges/history",
    "export": _JUDGED,
    "readers": "base render",
    "adapters": "base",
    "report": f"{_JUDGED} diagnostics judges",
    # on top
    "validate": "base records stats system engines results render",
    "session": f"{_JUDGED} system engines launch plan campaign diagnostics judges export report",
    "cli": "*",
}
# Analysis -> another one whose answer is a part of its own. What several share is in `results`, `rows` or
# `stats`, or beside the analyses.
_BUILDS_ON = {
    "collective_lines": "loggp",
    "micro_macro": "loggp",
    "phases": "halo_exchange",
}
_BESIDE = (
    "analysis",
    "answer_words",
    "best_arms",
    "unmodelled",
)  # what the folder of analyses has for each of them
_OF_ANALYSIS = re.compile(r"analyses/(\w+)/")
# What one module does that no other may.
_STARTS_PROCESSES, _FORKS = "system/process.py", "system/workers.py"
_PRINTS_ON, _EXITS_FROM = "cli/", ("cli/", _STARTS_PROCESSES, _FORKS)
_PROCESS_MODULES = ("subprocess", "multiprocessing", "pty")
_OS_STARTS = re.compile(r"os\.(system|popen|(exec|spawn|posix_spawn)\w*|fork(pty)?)")
_PRINTS = {"print", "Console()", ".print", "typer", "sys.stdout", "sys.stderr"}
_IS_TYPE = re.compile("[A-Z]\\w*[a-z]")
_EXITS = {"exit", "quit", "SystemExit", "sys.exit", "os._exit", "os.abort"}


def violations(files: Files) -> list[str]:
    """What in the package is against the design; paths are relative to src/steelyard/."""
    return [f"{path}: {what}" for path, text in files.items() for what in _of_file(path, text)]


def folder_of(path: str) -> str | None:
    """Find the row of the table that counts for a module: the longest folder that it lies in."""
    return max((folder for folder in _MAY_IMPORT if path.startswith(f"{folder}/")), key=len, default=None)


def _of_file(path: str, text: str) -> Iterator[str]:
    if path == "__init__.py":
        return
    folder = folder_of(path)
    if folder is None:
        yield "stands in no folder of the design"
        return
    tree = ast.parse(text)
    yield from _imports(path, folder, tree)
    yield from _acts(path, tree)


def _names(tree: ast.Module) -> Iterator[str]:
    """Every name that is imported anywhere, whole: `steelyard.base.units.parse_bytes`, `numpy`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def _imports(path: str, folder: str, tree: ast.Module) -> Iterator[str]:
    allowed = (folder, "__version__", *_MAY_IMPORT[folder].split())
    for name in dict.fromkeys(_names(tree)):
        first, _, rest = name.partition(".")
        if name.startswith("."):
            yield f"imports {name}: write the whole name"
        if first in _PROCESS_MODULES and path != _STARTS_PROCESSES:
            yield f"imports {name}, which is for {_STARTS_PROCESSES} alone"
        target = rest.replace(".", "/")
        if first == "steelyard" and not any(_lies_in(target, folder) for folder in allowed):
            yield f"imports {name}"
        mine, theirs = _OF_ANALYSIS.match(path), _OF_ANALYSIS.match(target)
        if mine and theirs and theirs[1] not in (mine[1], *_BESIDE, _BUILDS_ON.get(mine[1])):
            yield f"imports {name} of another analysis"


def _lies_in(path: str, folder: str) -> bool:
    return folder == "*" or f"{path}/".startswith(f"{folder}/")


def _acts(path: str, tree: ast.Module) -> Iterator[str]:
    """Printing and exiting, and starting processes without subprocess."""
    for word in (word for node in ast.walk(tree) for word in _words(node)):
        if word in _PRINTS and not path.startswith(_PRINTS_ON):
            yield f"says {word}, which is for cli/ alone"
        if word in _EXITS and not path.startswith(_EXITS_FROM):
            yield f"says {word}, which is for cli/ alone"
        if _OS_STARTS.fullmatch(word) and (path, word) != (_FORKS, "os.fork"):
            yield f"says {word}, which starts a process"
        if word == "shell=":
            yield "says shell=, but processes are started from lists"


def _words(node: ast.AST) -> Iterator[str]:
    """What a node says: `print`, `sys.exit`, `.print` of anything, `Console()` that is made, `shell=`."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            yield f"{owner}.{name}"
        case ast.Name(id=name):
            yield name
        case ast.keyword(arg=str(name)):
            yield f"{name}="
        case ast.Call(func=ast.Name(id=name)):
            yield f"{name}()"
        case ast.Call(func=ast.Attribute(attr=name)):
            yield f".{name}"


def _package() -> dict[str, str]:
    folder = Path(steelyard.__file__).parent
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.py"))}


def test_the_package_keeps_its_layers() -> None:
    files = _package()
    assert {"cli/main.py", "stats/interval.py", "__init__.py"} <= files.keys()
    assert violations(files) == []


def test_folders_and_analyses_form_no_circle() -> None:
    below = {folder: set(may.split()) - {"*"} for folder, may in _MAY_IMPORT.items()}
    parts = {folder: {name for name in _MAY_IMPORT if name.startswith(f"{folder}/")} for folder in below}
    TopologicalSorter({folder: below[folder] | parts[folder] for folder in below}).prepare()
    TopologicalSorter({name: {other} for name, other in _BUILDS_ON.items()}).prepare()


def test_each_folder_of_the_design_is_there() -> None:
    assert {folder_of(path) for path in _package()} - {None} == _MAY_IMPORT.keys()


def twins(files: Files) -> list[str]:
    """Types of one name in two modules that are not the same: one of them should say what it is."""
    homes: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        for node in ast.parse(text).body:
            match node:
                case ast.ClassDef(name=name):
                    homes.setdefault(name, {})[path] = path
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _IS_TYPE.fullmatch(name):
                    homes.setdefault(name, {})[path] = ast.unparse(value)
    return [f"{name}: {', '.join(said)}" for name, said in homes.items() if len({*said.values()}) > 1]


def test_no_two_types_have_one_name() -> None:
    assert twins(_package()) == []
    planted = {"a.py": "class Row: ...\nAt = int", "b.py": "Row = int", "c.py": "ROW = 1\nAt = int\n_Row = 2"}
    assert twins(planted) == ["Row: a.py, b.py"]


@pytest.mark.parametrize(
    ("path", "line", "complaint"),
    [
        ("base/units.py", "from steelyard.records.schema import Job", "imports steelyard.records.schema.Job"),
        ("base/units.py", "import steelyard.stats", "imports steelyard.stats"),
        ("records/schema.py", "from steelyard.results import rows", "imports steelyard.results.rows"),
        ("stats/modes.py", "from steelyard.base.errors import InputError", "imports steelyard.base.errors"),
        (
            "results/rows.py",
            "from steelyard.diagnostics.results import samples",
            "imports steelyard.diagnostics.results.samples",
        ),
        (
            "results/rows.py",
            "def f():\n    from steelyard.report import page",
            "imports steelyard.report.page",
        ),
        (
            "diagnostics/results/samples.py",
            "from steelyard.judges.compare import arms",
            "imports steelyard.judges.compare.arms",
        ),
        ("report/page.py", "from steelyard.campaign import folder", "imports steelyard.campaign.folder"),
        ("render/axes.py", "from steelyard.rows.words import f", "imports steelyard.rows.words.f"),
        (
            "analyses/growth/model.py",
            "from steelyard.judges.compare import arms",
            "imports steelyard.judges.compare.arms",
        ),
        (
            "analyses/scaling/model.py",
            "from steelyard.analyses.loggp.model import LogModel",
            "imports steelyard.analyses.loggp.model.LogModel of another analysis",
        ),
        (
            "judges/compare/arms.py",
            "from steelyard.judges.history import store",
            "imports steelyard.judges.history.store",
        ),
        (
            "diagnostics/machine/settings.py",
            "from steelyard.diagnostics.results import x",
            "imports steelyard.diagnostics.results.x",
        ),
        ("system/machine.py", "from steelyard.engines import build", "imports steelyard.engines.build"),
        ("engines/build.py", "from steelyard.launch import command", "imports steelyard.launch.command"),
        ("launch/command.py", "from steelyard.plan import plan", "imports steelyard.plan.plan"),
        ("campaign/run.py", "from steelyard.results import rows", "imports steelyard.results.rows"),
        ("campaign/run.py", "from steelyard.stats import median", "imports steelyard.stats.median"),
        ("campaign/run.py", "from steelyard.cli.main import main", "imports steelyard.cli.main.main"),
        ("plan/plan.py", "from .errors import InputError", "write the whole name"),
        ("engines/build.py", "import subprocess", "which is for system/process.py alone"),
        ("cli/main.py", "from subprocess import run", "which is for system/process.py alone"),
        ("engines/build.py", "os.execvp('a', [])", "says os.execvp, which starts a process"),
        ("results/load.py", "os.fork()", "says os.fork, which starts a process"),
        ("system/workers.py", "os.execvp('a', [])", "says os.execvp, which starts a process"),
        ("system/process.py", "run('ls', shell=True)", "says shell="),
        ("campaign/run.py", "print('x')", "says print, which is for cli/ alone"),
        ("campaign/run.py", "import sys\nsys.exit(1)", "says sys.exit, which is for cli/ alone"),
        ("campaign/run.py", "import sys\nsys.stdout.write('x')", "says sys.stdout, which is for cli/ alone"),
        ("plan/plan.py", "raise SystemExit(2)", "says SystemExit, which is for cli/ alone"),
        ("render/terminal.py", "Console()", "says Console(), which is for cli/ alone"),
        ("render/terminal.py", "def f(out):\n    out.print(1)", "says .print, which is for cli/ alone"),
        ("helpers/new.py", "x = 1", "stands in no folder"),
        ("new.py", "x = 1", "stands in no folder"),
    ],
)
def test_a_violation_in_the_package_is_found(path: str, line: str, complaint: str) -> None:
    found = violations({path: f'"""print("x")"""\nimport os\n{line}\n'})
    assert len(found) == 1
    assert found[0].startswith(f"{path}: ")
    assert complaint in found[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("cli/show.py", "import sys\nfrom steelyard.report import write_report\nprint('x')\nsys.exit(0)"),
        ("system/process.py", "import subprocess\nraise SystemExit(143)"),
        ("campaign/folder.py", "from steelyard import __version__\nfrom steelyard.base import files"),
        (
            "diagnostics/results/samples.py",
            "from steelyard.results.row import Row\nfrom steelyard.rows import words",
        ),
        ("stats/modes.py", "import numpy as np\nfrom steelyard.stats.quantile import median"),
        (
            "analyses/micro_macro/model.py",
            "import numpy\nfrom steelyard.analyses.best_arms import Best",
        ),
    ],
)
def test_what_the_package_may(path: str, text: str) -> None:
    assert violations({path: text}) == []
