"""Where the package composes commands for people to type, and the commands as they are composed."""

from __future__ import annotations

import ast
import functools
import html
import importlib
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import steelyard
from commands import FIXED, TWO_SAMPLES, Said, Steelyard
from pages import ROOT
from steelyard.records import command_line
from steelyard.results.rows import results

PACKAGE = Path(steelyard.__file__).parent
HOME = "records/command_line.py"
_OF_CHECKS = "going_on"  # makes the remedies of checks, each below the name of its check
_EVIDENCE = f"diagnostics/results/evidence.py: {_OF_CHECKS}"
FOLDER = "my results"  # which a shell must quote
_PAGE = "page.html"  # a report
_FINDING = re.compile(r"<li class=\"(?:error|warning|note)\">.*?</li>", re.DOTALL)
_TAG = re.compile("<[^>]*>")
_OF_PIP = "installing"  # test_table.py holds what it says
# Whatever the module offers that writes a command.
COMPOSE = tuple(
    name
    for name, one in vars(command_line).items()
    if inspect.isfunction(one)
    and one.__module__ == command_line.__name__
    and one.__annotations__["return"] == "str"
    and not name.startswith("_")
    and name != _OF_PIP
)
_COMPOSES = re.compile(rf"\b(?:{'|'.join((*COMPOSE, _OF_CHECKS))})\(")


@functools.cache
def sources() -> Mapping[str, str]:
    """The text of each module, by its path below src/steelyard."""
    return {str(path.relative_to(PACKAGE)): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def places(files: Mapping[str, str]) -> set[str]:
    """Each function that composes a command, as `cli/run.py: finish`; code of a module itself has no name."""
    found = {
        f"{path}: {name}".rstrip()
        for path, text in files.items()
        if path != HOME and _COMPOSES.search(text)  # else it is not parsed
        for name, node in _inside(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in (*COMPOSE, _OF_CHECKS)
    }
    return found - {_EVIDENCE}


def _inside(tree: ast.AST, name: str = "") -> Iterator[tuple[str, ast.AST]]:
    """All nodes, each with the outermost function or class it is in; a decorator is in what it decorates."""
    for node in ast.iter_child_nodes(tree):
        own = name or (node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else "")
        yield own, node
        yield from _inside(node, own)


def types(*named: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Name the places whose commands a test types; it fails if it does not."""

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def checked(advice: Advice, **fixtures: Any) -> None:
            test(advice=advice, **fixtures)
            assert advice.typed == set(named)

        return checked

    return wrap


def named_by_tests() -> set[str]:
    """All places that tests name by `types`."""
    return {
        str(ast.literal_eval(word))
        for path in (ROOT / "tests").glob("*/test_printed_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "types"
        for word in node.args
    }


@dataclass
class Advice:
    """The commands that were composed, by place, and the places whose commands were typed."""

    steelyard: Steelyard
    made: dict[str, list[str]] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)

    def measure(self, *words: str | Path, out: str = FOLDER, code: int = 0) -> Said:
        """Run two short test cases in one launch, unless the words say otherwise, into a folder."""
        fixed = TWO_SAMPLES if "--launches" in words else FIXED
        said = self.steelyard("run", "self.empty", "self.clock", *fixed, *words, "--out", out)
        assert said.code == code, said.err
        return said

    def reported(self, title: str) -> Said:
        """What the report of the folder says of a finding; those that are notes stand there alone."""
        assert self.steelyard("report", FOLDER, "-o", _PAGE).code == 0
        (item,) = (one for one in _FINDING.findall(Path(_PAGE).read_text()) if f"{title}.<" in one)
        return Said(0, html.unescape(_TAG.sub("", item)), "")

    def type(self, place: str, said: Said, verb: str = "run", more: str = "") -> Said:
        """Type the last command of a place as it was printed, and `more` behind it; it stands in what was
        `said`.
        """
        by = _EVIDENCE if place.startswith("diagnostics/results/") and place not in self.made else place
        made = [one for one in self.made[by] if f"{one} ".startswith(f"steelyard {verb} ")]
        command = next((one for one in reversed(made) if one in said.out + said.err), None)
        assert command is not None, (made, said)
        self.typed.add(place)
        words = shlex.split(os.path.expandvars(f"{command} {more}"))
        return self.steelyard(*words[1:])


def record_commands(monkeypatch: pytest.MonkeyPatch, made: dict[str, list[str]]) -> None:
    """Make each module that composes commands keep them in `made`, by place."""
    for path in _composing():
        module = importlib.import_module(f"steelyard.{path.removesuffix('.py').replace('/', '.')}")
        for name in COMPOSE:
            if getattr(module, name, None) is getattr(command_line, name):
                monkeypatch.setattr(module, name, _recorder(getattr(command_line, name), path, made))


@functools.cache
def _composing() -> frozenset[str]:
    return frozenset(place.partition(":")[0] for place in (*places(sources()), _EVIDENCE))


def _recorder(compose: Callable[..., str], path: str, made: dict[str, list[str]]) -> Callable[..., str]:
    def recorded(*words: Any, **options: Any) -> str:
        name, *_ = sys._getframe(1).f_code.co_qualname.split(".")
        made.setdefault(f"{path}: {name}", []).append(text := compose(*words, **options))
        return text

    return recorded


def launches(folder: str = FOLDER) -> list[int]:
    """How many launches of each test case went well."""
    return [row.launch_count for row in results(Path(folder))]


def raising(error: BaseException | type[BaseException]) -> Callable[..., None]:
    """Work that is interrupted at once."""

    def work(*_: object) -> None:
        raise error

    return work
