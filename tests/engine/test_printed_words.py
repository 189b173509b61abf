"""Commands that stand in messages as they are, with nothing filled in; examples of `--help`, too."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Iterator, Mapping

import pytest
import typer.main

from advice import HOME, sources
from commands import Steelyard, steelyard_of
from steelyard.cli.main import _COMMANDS, _PLAN, app
from steelyard.cli.option_tables import commands, walk
from steelyard.engines.mpi import find_mpis

_VERB = "|".join(sorted((re.escape(name) for name in commands()), key=len, reverse=True))
_COMMAND = re.compile(rf"\bsteelyard (?:{_VERB})\b(?![-:])")
# A command in an f-string that goes on with something filled in.
_FILLED_IN = re.compile(rf"\bsteelyard (?:{_VERB})[^.;:,)'`]*$")
# Titles of JUnit, and the page that docs/generate.py writes.
_TITLES = {"cli/accept.py", "cli/check.py", "cli/compare.py"}
_PAGES = {"plan/like.py": "`docs/generate.py` makes this page"}

# What messages say -> what is typed: `--dry-run` where it would measure; None where it only names a command.
_SAID: Mapping[str, str | None] = {
    "steelyard run noise": "run noise --dry-run",
    "steelyard run --like NAME": "run --like osu_latency --dry-run",
    "steelyard run --help": "run --help",
    "steelyard run": None,
    "steelyard doctor": "doctor",
    "steelyard diff": None,
    "steelyard show": None,
    "steelyard plot DIR": None,
    "steelyard load": None,
    "steelyard export --to FORMAT": None,
    "steelyard list NAME": "list p2p",
    "steelyard list OP": "list self.spin",
    "steelyard list": "list",
    "steelyard mpi list": "mpi list",
    "steelyard mpi build": None,
    "steelyard check guidelines": "check guidelines --help",
    "steelyard tune": "tune --help",
}


def _constants(files: Mapping[str, str], only: re.Pattern[str] = _COMMAND) -> Iterator[tuple[str, str, bool]]:
    """The texts of each module, without docstrings and examples: its path, the text, and whether something is
    filled in behind it.
    """
    for path, text in files.items():
        if not only.search(text):
            continue  # and is not parsed
        tree = ast.parse(text)
        left_out = {id(node) for one in ast.walk(tree) for node in _left_out(one)}
        before = {
            id(one)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for one, after in zip(node.values, node.values[1:], strict=False)
            if isinstance(after, ast.FormattedValue)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
                yield path, node.value, id(node) in before


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr):
            yield first.value
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EXAMPLES":
        yield from ast.walk(node.value)


def filled_in(files: Mapping[str, str]) -> set[str]:
    """Modules that write a command and fill something in by themselves."""
    found = _constants(files)
    return {path for path, text, is_before in found if is_before and _FILLED_IN.search(text)} - {HOME}


def test_commands_are_composed_in_one_place_alone() -> None:
    assert filled_in(sources()) == _TITLES
    planted = {"x.py": 'f"type: steelyard run {ops}"', "y.py": "f\"{a}; 'steelyard list' has {b}\""}
    assert filled_in(planted) == {"x.py"}


def test_each_command_in_a_message_is_known() -> None:
    said: set[str] = set()
    for path, text, _ in _constants(sources()):
        if path in _TITLES or text.startswith(_PAGES.get(path, "\n")):
            continue
        for found in _COMMAND.finditer(text):
            longest = max((one for one in _SAID if text.startswith(one, found.start())), key=len, default="")
            assert longest, (path, text)
            said.add(longest)
    assert said == set(_SAID)


@pytest.mark.parametrize("typed", [typed for typed in _SAID.values() if typed is not None])
def test_what_messages_say_can_be_typed(
    typed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--like" in typed and not find_mpis():
        pytest.skip("no MPI was found")
    steelyard: Steelyard = steelyard_of(capsys, monkeypatch)
    assert steelyard(*typed.split()).code == 0


def test_examples_of_help_have_the_options_that_there_are() -> None:
    known = dict(walk(typer.main.get_command(app), ""))
    examples = [
        line
        for module in sorted({row.module for row in (*_COMMANDS.values(), *_PLAN.values())})
        for lines in getattr(importlib.import_module(f"steelyard.cli.{module}"), "EXAMPLES", {}).values()
        for line in lines
    ]
    assert len(examples) > 30
    for example in dict.fromkeys(examples):
        words = shlex.split(re.sub(r"   +.*", "", example))[1:]
        name = next(name for name in sorted(known, key=len, reverse=True) if " ".join(words).startswith(name))
        with known[name].make_context(name, words[len(name.split()) :]) as context:
            assert context.params, example


_OPTION = re.compile(r"(?<![\w'-])--[a-z][a-z-]+")
# Options that sentences name, of other programs, or of every command.
_OF_OTHERS = {
    "--format",
    "--help",
    "--level",
    "--option",
    "--qos",
    "--shm-size",
    "--ulimit",
    "--version",
}


def test_each_option_that_a_message_names_is_there() -> None:
    ours = {
        word for _, one in walk(typer.main.get_command(app), "") for row in one.params for word in row.opts
    }
    named = {
        option
        for _, text, _ in _constants(sources(), re.compile(" .*--|--.* "))
        if " " in text.strip()
        for option in _OPTION.findall(text)
    }
    assert named - ours == _OF_OTHERS
    assert len(named & ours) > 40
