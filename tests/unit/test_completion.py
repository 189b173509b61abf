"""The completions and the manual page that are installed, by the shells and readers that use them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SHARE = Path(__file__).parents[2] / "packaging" / "share"
_BASH = """source "$1"
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
complete -p steelyard >/dev/null
_steelyard_completion steelyard
printf '%s\\n' "${COMPREPLY[@]}"
"""
_FISH = 'source $argv[1]; complete -C"$argv[2]"'
# As at the first Tab, at which zsh reads the file; what it would show is printed.
_ZSH = """fpath=(${1:h} $fpath)
autoload -Uz _steelyard
_arguments() { print -r -- "$@" }
words=(${=2})
CURRENT=$#words
_steelyard
"""
_SHELLS = {
    "bash": ("bash-completion/completions/steelyard", ["bash", "--norc", "-c", _BASH, "bash"]),
    "fish": ("fish/vendor_completions.d/steelyard.fish", ["fish", "--no-config", "-c", _FISH]),
    "zsh": ("zsh/site-functions/_steelyard", ["zsh", "-f", "-c", _ZSH, "zsh"]),
}


@pytest.mark.parametrize(
    ("typed", "completed"), [("steelyard comp", "compare"), ("steelyard run --launc", "--launche")]
)
@pytest.mark.parametrize("shell", _SHELLS)
def test_a_shell_completes(shell: str, typed: str, completed: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path, words = _SHELLS[shell]
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*words, _SHARE / path, typed, completed],
        env={"PATH": search, "HOME": str(tmp_path), "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert completed in done.stdout, done.stderr


def test_what_is_said_of_a_word_stays_on_its_line(tmp_path: Path) -> None:
    """Behind a broken one, a shell would complete pieces of a sentence."""
    asks = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": "steelyard run --"}
    done = subprocess.run(
        [Path(sys.executable).parent / "steelyard"],
        env={"HOME": str(tmp_path), "_STEELYARD_COMPLETE": "complete_fish", **asks},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    lines = done.stdout.splitlines()
    assert len(lines) > 20
    assert [line for line in lines if not line.startswith("--")] == []


def test_the_manual_page_is_one() -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    page = _SHARE / "man" / "man1" / "steelyard.1"
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "error", page], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
