"""What packaging/ types is what the program takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

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
