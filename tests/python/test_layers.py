"""Who may include or import whom: the two tables of the design, as data.

The checkers are pure functions of {path: text}, so that a planted violation of each rule is seen to be found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import steelyard
from steelyard.engine import engine_folder

Files = Mapping[str, str]

# ---- the engine --------------------------------------------------------------------------------------------

# Folder or file -> what of the engine it may include, as patterns. The first row that fits a path counts.
_MAY_INCLUDE = {
    "registry.[ch]": ("*",),
    "main.c": ("*",),
    "core/run.c": ("base/*", "time/*", "team/*", "sync/*", "core/*"),  # no MPI, no operation
    "base/*": ("base/*",),
    "time/*": ("base/*", "time/*"),
    "team/*": ("base/*", "team/*"),
    "sync/*": ("base/*", "time/*", "team/*", "sync/*"),
    "core/*": ("base/*", "time/*", "team/*", "sync/*", "core/*"),
    "ops/*": ("base/*", "team/*", "core/op.h", "core/phase.h", "ops/*"),
    # how messages go between neighbours is one thing, for the halo ops and for kernels
    "kernels/comm*_mpi.[ch]": (
        "base/*",
        "team/*",
        "core/op.h",
        "core/phase.h",
        "kernels/*",
        "ops/mpi_compat.h",
        "ops/mpi_exchange.h",
    ),
    "kernels/*": ("base/*", "team/*", "core/op.h", "core/phase.h", "kernels/*"),
}
# System header -> the only files that may include it.
_SYSTEM_HEADERS = {
    "mpi.h": ("team/team_mpi*.[ch]", "ops/mpi_*", "kernels/*_mpi.[ch]"),
    "pthread.h": ("base/pool.c", "ops/pthread_*", "ops/omp_region.c", "kernels/*_pthread.c"),
    "omp.h": ("base/openmp_places.c", "ops/omp_*", "kernels/*_omp.c"),
}
# Preprocessor conditions other than include guards: where, and why there.
_MAY_HAVE_IF = {
    "team/team_mpi*.[ch]": "what MPI libraries lack",
    "ops/*_compat.h": "what MPI libraries and compilers lack",
    "base/*": "what processors and systems lack",
    "time/clock.c": "in simulation every clock is the simulated one",
    "time/counter.c": "what processors have",
    "core/method_truth.c": "only in simulation is the truth known",
    "registry.c": "which families are in this engine, steelyard-mpi or steelyard-solo",
    "core/launch.c": "what the compiler says of itself and of the build, for the record",
}
_CLOCKS = r"\b(clock_now|clock_gettime|gettimeofday|MPI_Wtime|omp_get_wtime|__rdtscp?)\b|->read\b"
_C_PRINTS = r"\b(v?f?printf|v?dprintf|puts|fputs|putchar|perror)\s*\("
# What may not be said -> of which files, save which, and what is wrong with it.
_WORDS = (
    (
        _CLOCKS,
        ("ops/*", "kernels/*"),
        ("ops/self.c", "ops/mpi_local.c", "ops/noise.c"),
        "an op reads no clock",
    ),
    (_C_PRINTS, ("*",), ("main.c",), "only main.c prints"),
    (
        r"\bMPI_Wtime\b",
        ("*",),
        ("team/team_mpi.c", "ops/mpi_local.c"),
        "MPI_Wtime is the clock of last resort",
    ),
)


def _fits(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


# An include line, which is kept; or a comment, a string or a character.
_NO_CODE = re.compile(
    r"""(^\s*\#\s*include[^\n]*) | /\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def _code_alone(text: str) -> str:
    """C text without comments and without what stands in quotes."""
    return _NO_CODE.sub(lambda match: match[1] or '""', text)


def c_violations(files: Files) -> list[str]:
    """What in the engine's sources is against the design; paths are relative to engine/."""
    return [f"{path}: {what}" for path, text in files.items() for what in _c_file(path, _code_alone(text))]


def _c_file(path: str, text: str) -> Iterator[str]:
    allowed = next((targets for pattern, targets in _MAY_INCLUDE.items() if fnmatchcase(path, pattern)), None)
    if allowed is None:
        yield "stands in no folder of the design"
        return
    for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
        if not _fits(header, allowed):
            yield f"includes {header}"
    for header in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.MULTILINE):
        if not _fits(path, _SYSTEM_HEADERS.get(header, ("*",))):
            yield f"includes <{header}>"
    if not _fits(path, tuple(_MAY_HAVE_IF)):
        for condition in re.findall(r"^\s*#\s*((?:el)?if(?:n?def)?\b.*)", text, re.MULTILINE):
            if not re.fullmatch(r"ifndef [A-Z0-9_]+_H\s*", condition):
                yield f"asks #{condition.strip()}"
    for words, of, save, wrong in _WORDS:
        if _fits(path, of) and not _fits(path, save) and (match := re.search(words, text)):
            yield f"{wrong}, but says {match[0].strip()}"


def _read(folder: Path, *suffixes: str) -> dict[str, str]:
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in suffixes)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def test_the_engine_keeps_its_layers() -> None:
    files = _read(engine_folder(), ".c", ".h")
    assert {"main.c", "core/run.c", "ops/self.c"} <= files.keys()
    assert c_violations(files) == []


def test_each_system_header_has_a_user() -> None:
    """Else the table guards what no longer is."""
    files = _read(engine_folder(), ".c", ".h")
    for header in _SYSTEM_HEADERS:
        assert any(f"#include <{header}>" in text for text in files.values())


@pytest.mark.parametrize(
    ("path", "line", "complaint"),
    [
        ("base/num.c", '#include "time/clock.h"', "includes time/clock.h"),
        ("time/clock.c", '#include "team/team.h"', "includes team/team.h"),
        ("team/team_solo.c", '#include "core/op.h"', "includes core/op.h"),
        ("sync/jk.c", '#include "core/run.h"', "includes core/run.h"),
        ("core/point.c", '#include "ops/families.h"', "includes ops/families.h"),
        ("core/run.c", '#include "ops/data.h"', "includes ops/data.h"),
        ("core/run.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("ops/self.c", '#include "core/run.h"', "includes core/run.h"),
        ("ops/self.c", '#include "time/clock.h"', "includes time/clock.h"),
        ("ops/self.c", '#include "kernels/cg.h"', "includes kernels/cg.h"),
        ("kernels/cg.c", '#  include "core/method.h"', "includes core/method.h"),
        ("kernels/cg.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("kernels/cg_mpi.c", "#include <omp.h>", "includes <omp.h>"),
        ("team/team_solo.c", "#include <mpi.h>", "includes <mpi.h>"),
        ("core/method.c", "#include <pthread.h>", "includes <pthread.h>"),
        ("ops/mpi_p2p.c", "#include <omp.h>", "includes <omp.h>"),
        ("ops/mpi_coll.c", "#if MPI_VERSION >= 4", "asks #if MPI_VERSION >= 4"),
        ("core/op.h", "#ifdef _OPENMP", "asks #ifdef _OPENMP"),
        ("time/skew.c", "#elif X", "asks #elif X"),
        ("ops/mpi_p2p.c", "t = clock_now(c);", "reads no clock, but says clock_now"),
        ("ops/omp_basic.c", "t = omp_get_wtime();", "reads no clock, but says omp_get_wtime"),
        ("kernels/cg.c", "t = clock->read(clock);", "reads no clock, but says ->read"),
        ("time/clock.c", "double t = MPI_Wtime();", "MPI_Wtime is the clock of last resort"),
        ("core/run.c", 'printf("%d", 1);', "only main.c prints, but says printf("),
        ("ops/self.c", 'fprintf(stderr, "x");', "only main.c prints, but says fprintf("),
        ("base/err.c", 'puts("x");', "only main.c prints, but says puts("),
        ("misc/new.c", "int x;", "stands in no folder"),
    ],
)
def test_a_violation_in_the_engine_is_found(path: str, line: str, complaint: str) -> None:
    found = c_violations({path: f'/* printf( */\n#include "base/err.h"\n{line}\n'})
    assert len(found) == 1
    assert found[0].startswith(f"{path}: ")
    assert complaint in found[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/point.c", 'snprintf(text, 8, "printf(");'),
        ("ops/mpi_coll.c", "/* clock_now() is not\n * for ops: #if */"),
        ("ops/mpi_coll.c", "// printf(\n"),
        ("base/opt.h", "#ifndef BASE_OPT_H\n#define BASE_OPT_H\n#endif"),
        ("base/err.h", "int err_say(int) __attribute__((format(printf, 2, 3)));"),
        ("kernels/cg_mpi.c", '#include <mpi.h>\n#include "kernels/cg.h"\n#include "core/phase.h"'),
        ("registry.c", '#include "ops/families.h"\n#if STEELYARD_MPI\n#endif'),
    ],
)
def test_what_only_looks_like_a_violation_is_none(path: str, text: str) -> None:
    assert c_violations({path: text}) == []


# ---- the package -------------------------------------------------------------------------------------------

# Each group: its modules, and the groups that it may import besides itself. Two chains meet in the command
# line: errors, units <- records <- stats <- checks <- plots, report and engine, launch, machine <- campaign.
_GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "base": (("", "errors", "units"), ()),
    "openmp": (("openmp", "omp_places"), ("base",)),
    "records": (("records", "reading", "stamps", "observations", "tail"), ("base",)),
    "stats": (("stats", "stats.*"), ()),
    "results": (
        (
            "results",
            "results_files",
            "row",
            "blame",
            "overhead",
            "overlap",
            "phases",
            "noise",
            "floor",
            "loggp",
            "macro",
            "scaling",
        ),
        ("base", "records", "stats"),
    ),
    "words": (("wording", "groups", "pairs", "tables", "tables_macro"), ("base", "records", "results")),
    "checks": (
        ("checks", "evidence", "evidence_noise", "crosscheck", "lanes"),
        ("base", "records", "results", "words"),
    ),
    "pictures": (
        ("plots", "plots.*", "report", "report.*"),
        ("base", "records", "stats", "results", "words", "checks"),
    ),
    "process": (("process",), ("base",)),
    "machine": (("machine", "settings"), ("base",)),
    "watch": (("watch",), ("base", "records")),
    "engine": (("mpi", "engine"), ("base", "process")),
    "topology": (("topology",), ("base", "process", "machine")),
    "placement": (("placement",), ("base", "records", "machine", "topology")),
    "launch": (("launch",), ("base", "openmp", "records", "engine", "machine", "placement")),
    "doctor": (("doctor", "doctor_settings", "gauge"), ("base", "records", "process", "engine", "machine")),
    "plan": (
        ("plan", "resolve", "like", "asked", "arrivals"),
        ("base", "openmp", "records", "topology", "placement"),
    ),
    "postmortem": (("postmortem",), ("base", "records", "process")),
    "campaign": (
        ("campaign", "jobs", "folder"),
        (
            *("base", "openmp", "records", "process", "postmortem", "engine", "launch", "machine"),
            *("plan", "watch", "topology", "placement"),
        ),
    ),
    "progress": (("progress",), ("base", "records", "results", "words", "campaign")),
    "validate": (
        ("validate", "validate.*"),
        ("base", "records", "stats", "process", "engine"),
    ),
    "cli": (("cli",), ("*",)),
}
# What one module may have besides, and why.
_EXCEPTIONS = {
    ("folder", "results_files.write_whole"): "replaces a file at once, and knows nothing of statistics",
    ("progress", ".print"): "on the console that cli.py gives",
    ("process", "SystemExit"): "how SIGTERM becomes an exception, so that no rank is left behind",
}
_STARTS_PROCESSES = ("subprocess", "multiprocessing", "pty")
_OS_STARTS = re.compile(r"system|popen|(exec|spawn|posix_spawn)\w*|fork(pty)?")
_PRINTS = {"print", "Console()", ".print", "typer", "sys.stdout", "sys.stderr"}
_EXITS = {"exit", "quit", "SystemExit", "sys.exit", "os._exit", "os.abort"}


def python_violations(files: Files) -> list[str]:
    """What in the package is against the design; paths are relative to src/steelyard/."""
    found = []
    for path, text in files.items():
        module = _module(path)
        group = _group_of(module)
        if group is None:
            found.append(f"{path}: stands in no layer of the design")
            continue
        tree = ast.parse(text)
        found += [f"{path}: {what}" for what in (*_imports(module, group, tree), *_acts(module, tree))]
    return found


def _module(path: str) -> str:
    """`report/page.py` is report.page, `__init__.py` the package itself, ""."""
    module = path.removesuffix(".py").replace("/", ".")
    return "" if module == "__init__" else module.removesuffix(".__init__")


def _group_of(module: str) -> str | None:
    return next((group for group, (modules, _) in _GROUPS.items() if _fits(module, modules)), None)


def _names(tree: ast.Module) -> Iterator[str]:
    """Every name that is imported anywhere, whole: `steelyard.units.parse_bytes`, `numpy`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def _imports(module: str, group: str, tree: ast.Module) -> Iterator[str]:
    allowed = {group, *_GROUPS[group][1]}
    for name in dict.fromkeys(_names(tree)):
        if name.startswith("."):
            yield f"imports {name}: write the whole name"
        if name.partition(".")[0] in _STARTS_PROCESSES and module != "process":
            yield f"imports {name}, which is for process.py alone"
        if not name.startswith("steelyard."):
            continue
        target = name.removeprefix("steelyard.")
        if (module, target) in _EXCEPTIONS or "*" in allowed:
            continue
        # `steelyard.stats.median` is of the module stats, `steelyard.__version__` of the package itself
        known = next((part for part in (target, target.rpartition(".")[0], "") if _group_of(part)), "")
        if _group_of(known) not in allowed:
            yield f"imports {name}"


def _acts(module: str, tree: ast.Module) -> Iterator[str]:
    """Printing and exiting, which are for cli.py, and starting processes without subprocess."""
    for word in (word for node in ast.walk(tree) for word in _words(node)):
        if word in _PRINTS | _EXITS and module != "cli" and (module, word) not in _EXCEPTIONS:
            yield f"says {word}, which is for cli.py alone"
        if word.startswith("os.") and _OS_STARTS.fullmatch(word.removeprefix("os.")):
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


def test_the_package_keeps_its_layers() -> None:
    files = _read(Path(steelyard.__file__).parent, ".py")
    assert {"cli.py", "stats/interval.py", "__init__.py"} <= files.keys()
    assert python_violations(files) == []


def test_each_layer_has_a_module() -> None:
    modules = [_module(path) for path in _read(Path(steelyard.__file__).parent, ".py")]
    for patterns, _ in _GROUPS.values():
        assert any(_fits(module, patterns) for module in modules)


@pytest.mark.parametrize(
    ("path", "line", "complaint"),
    [
        ("units.py", "from steelyard.records import Job", "imports steelyard.records.Job"),
        ("records.py", "import steelyard.stats", "imports steelyard.stats"),
        ("observations.py", "from steelyard import results", "imports steelyard.results"),
        ("stats/modes.py", "from steelyard.units import format_time", "imports steelyard.units.format_time"),
        ("stats/modes.py", "from steelyard.errors import InputError", "imports steelyard.errors.InputError"),
        ("results.py", "from steelyard.checks import doubts", "imports steelyard.checks.doubts"),
        ("results.py", "def f():\n    from steelyard.report import page", "imports steelyard.report.page"),
        ("checks.py", "from steelyard.plots import draw", "imports steelyard.plots.draw"),
        ("report/page.py", "from steelyard.folder import finished", "imports steelyard.folder.finished"),
        ("machine.py", "from steelyard.engine import describe", "imports steelyard.engine.describe"),
        ("engine.py", "from steelyard.launch import plan_launch", "imports steelyard.launch.plan_launch"),
        ("launch.py", "from steelyard.plan import Plan", "imports steelyard.plan.Plan"),
        ("plan.py", "from steelyard.engine import describe", "imports steelyard.engine.describe"),
        ("campaign.py", "from steelyard.results import results", "imports steelyard.results.results"),
        ("campaign.py", "from steelyard.stats import median", "imports steelyard.stats.median"),
        ("campaign.py", "from steelyard.cli import main", "imports steelyard.cli.main"),
        ("plan.py", "from .errors import InputError", "write the whole name"),
        ("engine.py", "import subprocess", "imports subprocess, which is for process.py alone"),
        ("cli.py", "from subprocess import run", "which is for process.py alone"),
        ("engine.py", "import os\nos.execvp('a', [])", "says os.execvp, which starts a process"),
        ("process.py", "run('ls', shell=True)", "says shell="),
        ("campaign.py", "print('x')", "says print, which is for cli.py alone"),
        ("campaign.py", "import sys\nsys.exit(1)", "says sys.exit, which is for cli.py alone"),
        ("campaign.py", "import sys\nsys.stdout.write('x')", "says sys.stdout, which is for cli.py alone"),
        ("plan.py", "raise SystemExit(2)", "says SystemExit, which is for cli.py alone"),
        ("tables.py", "from rich.console import Console\nConsole()", "says Console(), which is for cli.py"),
        ("tables.py", "def f(out):\n    out.print(1)", "says .print, which is for cli.py alone"),
        ("progress.py", "from steelyard.cli import out", "imports steelyard.cli.out"),
        ("helpers.py", "x = 1", "stands in no layer"),
    ],
)
def test_a_violation_in_the_package_is_found(path: str, line: str, complaint: str) -> None:
    found = python_violations({path: f'"""print("x")"""\nimport os\n{line}\n'})
    assert len(found) == 1
    assert found[0].startswith(f"{path}: ")
    assert complaint in found[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("cli.py", "import sys\nfrom steelyard.report import write_report\nprint('x')\nsys.exit(0)"),
        ("process.py", "import subprocess\nraise SystemExit(143)"),
        ("progress.py", "from rich.console import Console\ndef f(out: Console):\n    out.print(1)"),
        ("folder.py", "from steelyard import __version__\nfrom steelyard.results_files import write_whole"),
        ("checks.py", "from steelyard.row import Row\nfrom steelyard.evidence import Evidence"),
        ("stats/modes.py", "import numpy as np\nfrom steelyard.stats.quantile import median"),
    ],
)
def test_what_the_package_may(path: str, text: str) -> None:
    assert python_violations({path: text}) == []
