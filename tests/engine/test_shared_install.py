"""An installation for all users of a site, typed as the page has it: by an administrator, then by a user.

A module gives the command, its completion and its page, and hides nothing of the site.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pages import ROOT, snippets

_INIT = Path("/usr/share/modules/init")
_WHEELS = ROOT / "build" / "wheels"
_USER = 64001
_TYPED = "steelyard run --launc"
_COMPLETED = "--launche"
# Each prints what it would show behind _TYPED. For the command behind -C a Tab of bash sets both variables.
_SHELLS = {
    "bash": (
        ["bash", "--norc"],
        (
            'spec=$(complete -p steelyard); COMP_LINE="$typed"; COMP_POINT=${#typed}; '
            """spec=${spec#*"-C '"}; eval "${spec%"' steelyard"}\""""
        ),
    ),
    "fish": (["fish", "--no-config"], "complete -C $typed"),
    "zsh": (
        ["zsh", "-f"],
        '_arguments() { print -r -- "$@" }; words=(${=typed}); CURRENT=$#words; $_comps[steelyard]',
    ),
}
_BEGINS = {"zsh": "autoload -Uz compinit; compinit -u -D"}
_SET = {"fish": f"set typed '{_TYPED}'"}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that all users read, which that of pytest is not."""
    if not _INIT.is_dir():
        pytest.skip("Environment Modules are not installed")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _of_page(place: Path) -> tuple[list[str], list[str]]:
    """What an administrator types, and what a user does, in folders of the test."""
    found = [
        one.text for one in snippets() if one.page == "docs/install.md" and "/opt/modulefiles" in one.text
    ]
    assert len(found) == 2
    by_root, by_user = (text.replace("/opt/", f"{place}/opt/").splitlines() for text in found)
    recipes = place / "dist" / "recipes" / "modules"
    recipes.mkdir(parents=True)
    template = ROOT / "packaging" / "modules" / "steelyard.tcl.in"
    (recipes / "steelyard.tcl").write_text(template.read_text().replace("@VERSION@", "0.1.0"))
    return by_root, by_user


def _type(words: Sequence[str], lines: Sequence[str], place: Path, **more: str) -> str:
    """Type lines into a shell that a user has, who is an ordinary one where this one is root."""
    script = place / "typed"
    script.write_text("\n".join(lines))
    environ = {"PATH": f"{place}/site:/usr/bin:/bin", "HOME": f"{place}/home", "TERM": "dumb", **more}
    user = {"user": _USER, "group": _USER, "extra_groups": ()} if "STEELYARD_CACHE" in more else {}
    done = subprocess.run(
        [*words, script],
        cwd=place,
        env=environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **user,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", _SHELLS)
def test_a_module_completes_and_hides_nothing(shell: str, place: Path) -> None:
    """The environment has a Python and an MPI of its own."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    by_root, by_user = _of_page(place)
    prefix = place / "opt" / "steelyard" / "0.1.0"
    for folder in (prefix / "bin", place / "site"):
        folder.mkdir(parents=True)
        for name in ("mpicc", "python3"):
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
    (prefix / "bin" / "steelyard").symlink_to(Path(sys.executable).parent / "steelyard")
    shutil.copytree(ROOT / "packaging" / "share", prefix / "share")
    _type(["sh", "-e"], by_root[2:], place)  # those before install the package
    words, completes = _SHELLS[shell]
    begins = [f"{'source' if shell == 'fish' else '.'} {_INIT}/{shell}", _BEGINS.get(shell, "")]
    completes = f"{_SET.get(shell, f'typed={_TYPED!r}')}; {completes}"
    finds = "command -v mpicc; command -v python3; command -v steelyard"
    said = _type(words, [*begins, *by_user[:-1], finds, "man -w steelyard || true", completes], place)
    assert said.splitlines()[:3] == [
        f"{place}/site/mpicc",
        f"{place}/site/python3",
        f"{prefix}/module/steelyard",
    ]
    assert shutil.which("man") is None or f"{prefix}/share/man/man1/steelyard.1" in said
    assert _COMPLETED in said


@pytest.mark.further
def test_a_user_measures_by_what_an_administrator_installed(place: Path) -> None:
    """From the folder of wheels that `make test-all` makes; the user has neither a file there nor a home."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    by_root, by_user = _of_page(place)
    for wheel in _WHEELS.glob("steelyard-*.whl"):
        shutil.copy(wheel, place / "dist")
    _type(["sh", "-e"], by_root, place, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(_WHEELS))
    home = place / "home"
    home.mkdir(mode=0o700)
    os.chown(home, _USER, _USER)
    measures = f"cd {home}; steelyard run self.empty --launches 1 --time-budget 5s --out one"
    lines = [f". {_INIT}/bash", *by_user, measures, "steelyard show one"]
    said = _type(["bash", "--norc", "-e"], lines, place, STEELYARD_CACHE=f"{home}/cache")
    assert "self.empty" in said
