"""What is missing is installed by a command that works where this program is."""

from __future__ import annotations

import sys

import pytest

from steelyard.records import command_line
from steelyard.records.command_line import installing


@pytest.mark.parametrize(
    ("has_pip", "words"),
    [(True, f"{sys.executable} -m pip install"), (False, f"uv pip install --python {sys.executable}")],
    ids=["pip", "uv"],
)
def test_an_extra_is_installed_beside_this_program(
    monkeypatch: pytest.MonkeyPatch, has_pip: bool, words: str
) -> None:
    monkeypatch.setattr(command_line, "find_spec", lambda name: object() if has_pip else None)
    assert installing("plot") == f"{words} 'steelyard[plot]'"
