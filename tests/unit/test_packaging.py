"""What packaging/ types is what the program takes."""

from __future__ import annotations

import ast
import json
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from spython.main.parse.parsers import DockerParser, SingularityParser

from steelyard.cli.main import app
from steelyard.cli.manual import shared_files

_ROOT = Path(__file__).parents[2]
_TEMPLATES = sorted((_ROOT / "packaging" / "ci").glob("*.yml"))


@pytest.mark.parametrize("template", _TEMPLATES, ids=lambda path: path.name)
def test_commands_of_a_template_have_options_that_there_are(template: Path) -> None:
    typed = re.findall(r"(?:- |run: )steelyard (.*)", template.read_text())
    assert [words.split()[0] for words in typed] == ["run", "check"]
    group = typer.main.get_command(app)
    for words in typed:
        name, *rest = shlex.split(words)
        known = group.get_command(typer.Context(group), name)  # type: ignore[attr-defined]
        with known.make_context(name, rest) as context:
            assert context.params


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("packaging/ci/github.yml", "github-workflows"),
        ("packaging/ci/gitlab.yml", "gitlab-ci"),
        (".github/ISSUE_TEMPLATE/config.yml", "github-issue-config"),
        ("CITATION.cff", "citation-file-format"),
    ],
)
def test_what_others_read_is_as_their_schemas_say(path: str, schema: str) -> None:
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", path]
    done = subprocess.run(words, cwd=_ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_action_of_others_is_named_by_its_commit() -> None:
    """A tag may be moved to other code."""
    uses = re.findall(r"uses: (\S+)", "".join(template.read_text() for template in _TEMPLATES))
    assert uses
    assert [name for name in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name)] == []


def test_both_recipes_of_containers_say_the_same() -> None:
    """As spython reads them, which turns one into the other."""
    containers = _ROOT / "packaging" / "containers"
    apptainer = SingularityParser(str(containers / "steelyard.def")).recipe["spython-base"]
    docker = DockerParser(str(containers / "Dockerfile")).recipe["spython-base"]
    typed = [line.removeprefix("&& ").removesuffix(" \\") for line in docker.install]
    typed = [line for line in typed if not re.match(r"#|[A-Z_]+=", line)]
    assert apptainer.install[: len(typed)] == typed
    assert all("/tests.sh" in line for line in apptainer.install[len(typed) :])
    assert apptainer.fromHeader == docker.fromHeader == "debian:12-slim"
    assert (apptainer.files, docker.files) == (["dist /wheels"], [["dist/*.whl", "/wheels/"]])
    assert (apptainer.cmd, docker.entrypoint) == ('exec steelyard "$@"', ["steelyard"])
    assert apptainer.environ[0] == docker.environ[0] == "PATH=/opt/steelyard/bin:$PATH"


def test_the_manual_page_and_the_completions_are_those_of_the_program() -> None:
    """After a change of an option: docs/generate.py."""
    share = _ROOT / "packaging" / "share"
    made = {
        path.relative_to(share).as_posix(): path.read_text() for path in share.rglob("*") if path.is_file()
    }
    assert made == shared_files()


def test_roff_takes_every_line_of_the_manual_page() -> None:
    page = shared_files()["man/man1/steelyard.1"]
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B", ".I"}
    assert "\n.SS steelyard check guidelines\n" in page
    assert "\\-\\-markdown FILE\n" in page


def test_the_version_is_the_same_wherever_it_stands() -> None:
    (version,) = re.findall(r'^__version__ = "(.*)"', (_ROOT / "src/steelyard/__init__.py").read_text(), re.M)
    assert f"\nversion: {version}\n" in (_ROOT / "CITATION.cff").read_text()


def _needed() -> dict[str, str]:
    """What the package needs at run time, and from which version on."""
    with (_ROOT / "pyproject.toml").open("rb") as file:
        needs = tomllib.load(file)["project"]["dependencies"]
    return dict(re.findall(r"^([a-z0-9-]+)>=([0-9.]+)", "\n".join(needs), re.MULTILINE))


def test_what_is_imported_is_what_is_asked_for() -> None:
    """Each further package takes room on every node: scipy took half of an installation."""
    with (_ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    imported = {
        name.partition(".")[0]
        for path in (_ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    others = imported - sys.stdlib_module_names - {"steelyard"}
    of_extras = set(re.findall(r"^(\w+)>", "\n".join(extras["table"] + extras["plot"]), re.MULTILINE))
    assert others == {*_needed()} | of_extras | {"markupsafe", "reframe"}  # of jinja2; it runs our check


def test_spack_and_easybuild_know_what_the_package_needs() -> None:
    spack = (_ROOT / "packaging/spack/packages/steelyard/package.py.in").read_text()
    found = re.findall(r'depends_on\("py-([a-z0-9-]+)@([0-9.]+):[0-9.]*", type=', spack)
    assert dict(found) == _needed() | {"scikit-build-core": "0.11"}
    easybuild = (_ROOT / "packaging/easybuild/steelyard-foss-2025b.eb.in").read_text()
    own = set(re.findall(r"^    \('([a-z-]+)', '[0-9.]+', \{", easybuild, re.MULTILINE))
    bundled = {"Python-bundle-PyPI": {"jinja2", "rich"}, "SciPy-bundle": {"numpy"}}
    assert all(f"('{name}', " in easybuild for name in bundled)
    assert _needed().keys() <= own.union(*bundled.values())


@pytest.mark.parametrize(
    "name", ["docs/install.md", "packaging/containers/Dockerfile", "packaging/containers/steelyard.def"]
)
def test_no_index_is_asked_for_the_package(name: str) -> None:
    """No version of ours is on one, and anybody could put something there by that name."""
    typed = re.findall(r"pip install .*steelyard.*", (_ROOT / name).read_text())
    assert typed
    assert [
        line for line in typed if "/steelyard-*$(uname -m).whl" not in line and "--no-index" not in line
    ] == []


_LAYS = _ROOT / "packaging" / "wheels" / "old_glibc.py"
_TOOLS = _ROOT / "build" / "release" / "bin" / "python"
_CALLS_GLIBC = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#if !__GLIBC_PREREQ(2, 28) || __GLIBC_PREREQ(2, 29)
#error headers of another glibc
#endif
static void *hear(void *way) { sem_post(way); return NULL; }
int main(int count, char **words)
{
    struct stat about; pthread_t thread; sem_t way;
    char salt[8];
    if (memfd_create("calls", MFD_CLOEXEC) < 0 || getrandom(salt, sizeof salt, 0) != sizeof salt) return 1;
    sem_init(&way, 0, 0);
    pthread_create(&thread, NULL, hear, &way);
    pthread_join(thread, NULL);
    printf("%d %d ", stat(words[0], &about), sem_trywait(&way));
    printf("%d %.1f\\n", dlopen(NULL, RTLD_NOW) == NULL, hypot(3 * count, 4));
}
"""


def test_a_compiler_of_wheels_has_the_headers_of_each_library_that_is_used() -> None:
    (known,) = re.findall(r"_USED_HEADERS = \((.*)\)", _LAYS.read_text())
    libraries = json.loads((_ROOT / "engine" / "build.json").read_text())["libraries"]
    assert {header.partition("/")[0] for header in libraries.values()} <= {*re.findall(r'"(\w+)"', known)}


@pytest.mark.further
def test_what_is_compiled_for_a_wheel_runs_from_an_old_glibc_on(tmp_path: Path) -> None:
    assert _TOOLS.exists(), f"{_TOOLS} is missing; type: make build/release/installed"
    laid = tmp_path / "laid"
    subprocess.run([_TOOLS, _LAYS, platform.machine(), laid], check=True, timeout=600)
    source, program = tmp_path / "calls.c", tmp_path / "calls"
    source.write_text(_CALLS_GLIBC)
    subprocess.run([laid / "gcc", source, "-fopenmp", "-o", program, "-lm", "-ldl"], check=True, timeout=600)
    ran = subprocess.run([program], capture_output=True, text=True, check=True, timeout=600)
    assert ran.stdout == "0 0 0 5.0\n"
    said = subprocess.run(["readelf", "--version-info", program], capture_output=True, text=True, check=True)
    asked = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d[\d.]*)", said.stdout)}
    assert max(asked) <= (2, 28)
    assert str(tmp_path).encode() not in program.read_bytes()


def _filled(template: str, prefix: Path) -> str:
    text = (_ROOT / "packaging" / "modules" / template).read_text()
    return text.replace("@PREFIX@", str(prefix)).replace("@VERSION@", "9.9")


def test_a_module_puts_the_command_on_the_path_and_hides_nothing(tmp_path: Path) -> None:
    tool = next(
        (path for path in map(Path, ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl",)) if path.exists()), None
    )
    if tool is None or shutil.which("tclsh") is None:
        pytest.skip("Environment Modules are not installed")
    (tmp_path / "steelyard").write_text(_filled("steelyard.tcl.in", tmp_path / "prefix"))
    done = subprocess.run(
        ["tclsh", tool, "bash", "load", "steelyard"],
        env={"PATH": "/usr/bin", "MODULEPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    exported = dict(re.findall(r"^([A-Z]\w+)=(.*); export", done.stdout, re.MULTILINE))
    assert exported["PATH"] == f"{tmp_path}/prefix/module:/usr/bin"
    assert not exported.keys() & {"MANPATH", "XDG_DATA_DIRS"}  # of one folder they would hide the system's


_LMOD = "/usr/share/lmod/lmod/libexec/lmod"
_UNPACKED = _ROOT / "build" / "lmod"
_OVER_THE_SYSTEM = [
    *("unshare", "--map-root-user", "--mount", "sh", "-c"),
    'mount -t overlay -o "lowerdir=$0/usr:/usr" none /usr && exec "$@"',
    str(_UNPACKED),
]


@pytest.mark.further
def test_lmod_loads_the_module(tmp_path: Path) -> None:
    """Debian has it instead of Environment Modules: unpacked, it is laid over the files of the system."""
    laid = [] if Path(_LMOD).exists() else _OVER_THE_SYSTEM
    if laid and not (_UNPACKED / "unpacked").exists():
        pytest.skip("Lmod is not here; type: make build/lmod/unpacked")
    if laid and subprocess.run([*laid, "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespace of mounts can be made here")
    (tmp_path / "steelyard").mkdir()
    (tmp_path / "steelyard" / "9.9.lua").write_text(_filled("steelyard.lua.in", tmp_path / "prefix"))
    environ = {"PATH": "/usr/bin", "MODULEPATH": str(tmp_path), "HOME": str(tmp_path)}
    for shell, completes in (("bash", "complete -o default -C 'set -- "), ("zsh", "compdef _steelyard")):
        words = [*laid, _LMOD, shell, "load", "steelyard"]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True, timeout=600)
        assert f"\nPATH={tmp_path}/prefix/module:/usr/bin;\n" in done.stdout
        assert "\nexport MANPATH;" not in done.stdout
        assert completes in done.stdout


def test_both_modules_say_the_same() -> None:
    tcl, lua = (_filled(f"steelyard.{kind}.in", Path("/p")) for kind in ("tcl", "lua"))
    paths = re.findall(r"^prepend-path (\w+) (.*)$", tcl, re.MULTILINE)
    assert len(paths) == 1
    assert re.findall(r'^prepend_path\("(\w+)", "(.*)"\)$', lua, re.MULTILINE) == paths
