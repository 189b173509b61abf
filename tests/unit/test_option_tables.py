"""docs/reference/cli.md says what the program says."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.cli.option_tables import commands, with_options

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_has_the_options_that_the_program_has() -> None:
    """After a change of an option: docs/generate.py."""
    page = _PAGE.read_text(encoding="utf-8")
    assert with_options(page) == page
    assert "| `-n`, `--ranks N,...` | numbers of ranks" in page


@pytest.mark.parametrize("command", commands())
def test_every_command_is_on_the_page(command: str) -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert f"steelyard {command}" in page


def test_a_changed_option_is_seen() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    old = page.replace("`--time-budget TIME`", "`--time-limit TIME`")
    assert old != page
    assert with_options(old) == page
