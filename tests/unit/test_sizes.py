"""Files and functions stay short: the limits that CONTRIBUTING sets, over the whole tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pages import ROOT

MOST_LINES = 400  # of a file
MOST_OF_FUNCTION = 60
_FOLDERS = ("src", "engine", "tests", "benchmarks", "docs", "examples", "packaging")
_NOT_OURS = ("tests/data/",)  # what tests read, in the form that they need
_FUNCTION = re.compile(  # in C; a comment may follow its arguments
    r"^\w[^;{}]*?\b(\w+)\([^;{}]*\)(?: /\*[^\n]*)?\n\{\n.*?^\}$", re.MULTILINE | re.DOTALL
)


def _sources() -> Iterator[tuple[str, str]]:
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".py", ".c", ".h", ".cpp") and not name.startswith(_NOT_OURS):
                yield name, path.read_text(encoding="utf-8")


def python_functions(text: str) -> dict[str, int]:
    """The lines of each function, without its decorators; of several of one name, the longest."""
    lines: dict[str, int] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            lines[node.name] = max(count, lines.get(node.name, 0))
    return lines


def c_functions(text: str) -> dict[str, int]:
    """The lines of each function from the line of its name to its last brace."""
    return {match[1]: match[0].count("\n") + 1 for match in _FUNCTION.finditer(text)}


def too_long(name: str, text: str) -> dict[str, int]:
    """What is longer than it may be: the file, or functions of it."""
    lines = text.count("\n")
    functions = python_functions(text) if name.endswith(".py") else c_functions(text)
    long = {f"{name}: {function}": count for function, count in functions.items() if count > MOST_OF_FUNCTION}
    return long | ({name: lines} if lines > MOST_LINES else {})


def test_files_and_functions_are_short() -> None:
    assert {what: count for name, text in _sources() for what, count in too_long(name, text).items()} == {}


def test_what_is_too_long_is_found() -> None:
    body = "    x = 1\n" * MOST_OF_FUNCTION
    assert too_long("a.py", f"def short():\n    return 1\n\n\ndef f():\n{body}") == {"a.py: f": 61}
    twice = f"class A:\n  def f(self):\n{body}\n\nclass B:\n  def f(self):\n    return 1\n"
    assert too_long("a.py", twice) == {"a.py: f": 61}
    c = "    x = 1;\n" * (MOST_OF_FUNCTION - 2)
    assert too_long("a.c", f"static int\nf(int x)\n{{\n{c}}}\n\nint g(void)\n{{\n}}\n") == {"a.c: f": 62}
    assert too_long("a.c", f"int f(void) /* a rank */\n{{\n{c}}}\n") == {"a.c: f": 61}
    assert too_long("a.c", f"static int f(int x)\n{{\n{c[:-11]}}}\n") == {}
    assert too_long("a.h", "\n" * 401) == {"a.h": 401}
