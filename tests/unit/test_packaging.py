"""What packaging/ types is what the program takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from steelyard.cli.main import app

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


def test_the_version_is_the_same_wherever_it_stands() -> None:
    (version,) = re.findall(r'^__version__ = "(.*)"', (_ROOT / "src/steelyard/__init__.py").read_text(), re.M)
    assert f"\nversion: {version}\n" in (_ROOT / "CITATION.cff").read_text()
