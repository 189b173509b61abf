"""Small changes of a source, one at a time, each of which a test of it should notice."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.base.errors import MeasurementError
from steelyard.engines.build import engine_folder
from steelyard.system.process import run

ROOT = engine_folder().parent
_BUILD = ROOT / "build" / "tests-in-c"
_SECONDS = 20.0  # a mutant that takes longer has no end
_LIBRARIES = ("-pthread", "-fopenmp", "-lm", "-ldl")
# What stands for what, between blanks, as the formatters leave it; what names no language is of both.
_SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=",
    "&&": "||", "||": "&&", "and": "or", "or": "and", "is not": "is", "not in": "in",
}  # fmt: skip
_SWAP = re.compile(rf"(?<= )(?:{'|'.join(map(re.escape, sorted(_SWAPS, key=len, reverse=True)))})(?= )")
_CALLS = {"fmax": "fmin", "fmin": "fmax", "argmax": "argmin", "max": "min", "min": "max"}
_CALL = re.compile(rf"\b(?:{'|'.join(_CALLS)})(?=\()")
_NUMBER = re.compile(r"(?<![\w.\"'])(?:\d+\.\d+|\d+)(?![\w.\"'])")
_STATEMENT = re.compile(
    r"^ +(?! |return|break|continue|goto|const|static|int|double|struct|bool|enum|else|\w+_t )[^{}#\"]*;$"
)
_NO_CODE = re.compile(
    r'/\*.*?\*/|""".*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*'
    r"|(?m:^ *#[^\n]*|(?<=  )# [^\n]*|^(?:import|from) [^\n]*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of one place: the line, and what stands there instead."""

    path: str
    line: int
    before: str
    after: str
    text: str  # of the whole file

    def __str__(self) -> str:
        return f"{self.path}: {self.before} -> {self.after or '(nothing)'}"


def unchanged(path: str) -> Mutant:
    """What no test should notice, or it notices no change."""
    return Mutant(path, 0, "", "", (ROOT / path).read_text())


def mutants(path: str) -> list[Mutant]:
    """All of a file of the sources, in its order."""
    return mutants_of(path, (ROOT / path).read_text())


def mutants_of(path: str, text: str) -> list[Mutant]:
    """All of a text."""
    return list(_mutants(path, text))


def _mutants(path: str, text: str) -> Iterator[Mutant]:
    bare = _NO_CODE.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)  # nothing is changed in words
    places = [(m.start(), m.end(), _SWAPS[m[0]]) for m in _SWAP.finditer(bare)]
    places += [(m.start(), m.end(), _CALLS[m[0]]) for m in _CALL.finditer(bare)]
    places += [(m.start(), m.end(), _other_number(m[0])) for m in _NUMBER.finditer(bare)]
    at = 0
    for line in bare.splitlines(keepends=True):
        code = line.rstrip("\n\0 ")
        if path.endswith(".c") and _STATEMENT.match(code):
            places.append((at + len(line) - len(line.lstrip()), at + len(code), ";"))
        at += len(line)
    for start, end, new in sorted(places):
        number = text.count("\n", 0, start)
        changed = text[:start] + new + text[end:]
        before, after = (one.splitlines()[number].strip() for one in (text, changed))
        yield Mutant(path, number + 1, before, after, changed)


def _other_number(word: str) -> str:
    return str(float(word) * 1.5 or 1.0) if "." in word else str(int(word) + 1)


def is_noticed(mutant: Mutant, tests: tuple[str, ...], folder: Path) -> bool:
    """Does it not compile, or does a test fail, or not end?"""
    look = _noticed_in_c if mutant.path.endswith(".c") else _noticed_in_python
    try:
        return look(mutant, tests, folder)
    except MeasurementError:
        return True  # it does not end


def _noticed_in_c(mutant: Mutant, tests: tuple[str, ...], folder: Path) -> bool:
    """The tests are linked with the changed source in the place of its own."""
    rows = json.loads((_BUILD / "compile_commands.json").read_text())
    row = next(one for one in rows if one["file"] == str(ROOT / mutant.path))
    words = shlex.split(row["command"])
    own = words[words.index("-o") + 1]
    source, changed = folder / "mutant.c", folder / "mutant.o"
    source.write_text(mutant.text)
    words[words.index("-o") + 1], words[-1] = str(changed), str(source)
    words = ["-O0" if word == "-O2" else word for word in words if word != "-Werror"]
    if run([*words, f"-I{(ROOT / mutant.path).parent}"], cwd=_BUILD, timeout=_SECONDS).code != 0:
        return True
    objects = [
        str(one.relative_to(_BUILD))
        for kind in ("common", "solo")
        for one in (_BUILD / "CMakeFiles" / f"{kind}-objects.dir").rglob("*.o")
        if str(one.relative_to(_BUILD)) != own
    ]
    for test in tests:
        program = folder / test
        main = f"CMakeFiles/{test}.dir/tests/engine/{test}.c.o"
        link = [words[0], main, str(changed), *objects, "-o", str(program), *_LIBRARIES]
        linked = run(link, cwd=_BUILD, timeout=_SECONDS)
        assert linked.code == 0, linked.err
        if run([program], timeout=_SECONDS).code != 0:
            return True
    return False


_IMPORTS = """
import importlib.abc, importlib.machinery, sys
class Changed(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            loader = importlib.machinery.SourceFileLoader(name, sys.argv[2])
            return importlib.machinery.ModuleSpec(name, loader)
sys.meta_path.insert(0, Changed())
import pytest
sys.exit(pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *sys.argv[3:]]))
"""


def _noticed_in_python(mutant: Mutant, tests: tuple[str, ...], folder: Path) -> bool:
    """The tests import the changed source in the place of its own."""
    source = folder / "mutant.py"
    source.write_text(mutant.text)
    name = mutant.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    done = run([sys.executable, "-c", _IMPORTS, name, str(source), *tests], cwd=ROOT, timeout=3 * _SECONDS)
    return done.code != 0
