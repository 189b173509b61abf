"""What is masked of variables, commands and sentences; engine/base/secret.c has the same cases."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from steelyard.base.secret import masked, masked_text, masked_words

_CASES = [
    tuple(json.loads(f"[{line}]"))
    for line in re.findall(
        r"^CASE\((.*)\)$", (Path(__file__).parents[1] / "data" / "secret_cases.h").read_text(), re.MULTILINE
    )
]


@pytest.mark.parametrize(("name", "value", "shown"), _CASES)
def test_values(name: str, value: str, shown: str) -> None:
    assert masked(name, value) == shown
    assert masked(name, masked(name, value)) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("run", "--token", "hunter2", "-n", "2"), ("run", "--token", "***", "-n", "2")),
        (("run", "--token", "-n", "2"), ("run", "--token", "-n", "2")),
        (("--env", "API_TOKEN=hunter2"), ("--env", "API_TOKEN=***")),
        (("--wrapper", "x --password 'two words'"), ("--wrapper", "x --password '***'")),
        (("--bytes", "8", "key", "value"), ("--bytes", "8", "key", "value")),
    ],
)
def test_commands(words: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert masked_words(words) == shown


def test_sentences() -> None:
    assert masked_text("rank 1: no access with token=abc; try again") == (
        "rank 1: no access with token=***; try again"
    )
