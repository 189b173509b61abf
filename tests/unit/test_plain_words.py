"""What is printed has no words of ours that nobody explains there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard

# Words of keys, options and code. An option or a key may be named: `--arms`, `'arms'`.
_PRIVATE = re.compile(r"(?<![-'.\w])(canar(y|ies)|presets?|arms?)(?![-'\w=])", re.IGNORECASE)


def sentences(text: str) -> Iterator[str]:
    """The texts of a module that may be printed: those with a blank, and no docstrings."""
    tree = ast.parse(text)
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    documents |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documents:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.value


def test_no_private_word_is_printed() -> None:
    home = Path(steelyard.__file__).parent
    found = {
        (path.relative_to(home).as_posix(), text)
        for path in sorted(home.rglob("*.py"))
        if _PRIVATE.search(source := path.read_text(encoding="utf-8"))  # few have such a word at all
        for text in sentences(source)
        if _PRIVATE.search(text)
    }
    assert found == set()


@pytest.mark.parametrize("text", ["the arms differ", "An arm is slow", "the canary took", "a preset of"])
def test_such_a_word_is_found(text: str) -> None:
    assert _PRIVATE.search(text)
    assert list(sentences(f'"""{text}"""\nx = "{text}"\n')) == [text]


@pytest.mark.parametrize(
    "text", ["give --arms mpi=A,B", "'arms' names the MPIs", "arms=2 is set", "alarm set"]
)
def test_an_option_is_none(text: str) -> None:
    assert not _PRIVATE.search(text)
