"""What pages say of the code's insides: fields of structures, keys of records, statistics that are used."""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pages import ROOT, page_files
from steelyard.engines.build import engine_folder
from steelyard.records import schema

# Page -> the structure whose fields its table, or its sentence, has: header of the engine, name.
_STRUCTS = {
    "docs/internals/op.md": ("core/op.h", "op"),
    "docs/internals/method.md": ("core/method.h", "method"),
    "docs/internals/kernels.md": ("kernels/kernel.h", "kernel"),
    "docs/internals/sink.md": ("core/sink.h", "sink"),
}
_TABLE = re.compile(r"^\| field \| meaning \|\n\| --- \| --- \|\n((?:\|.*\n)+)", re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"[a-z_]+")


def fields_of(header: str, name: str) -> set[str]:
    """The members of a structure in C, functions among them."""
    body = re.search(rf"^struct {name} \{{\n(.*?)^\}};", header, re.MULTILINE | re.DOTALL)
    assert body is not None, name
    plain = re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL)
    found = set[str]()
    for declared in plain.split(";"):
        if function := re.search(r"\(\*(\w+)\)\(", declared):
            found.add(function[1])
        elif declared.strip():
            found |= {re.sub(r"\[.*", "", part).split()[-1].strip("*") for part in declared.split(",")}
    return found


def fields_on(page: str) -> set[str]:
    """The names in the first column of a page's table of fields."""
    table = _TABLE.search(page)
    cells = [line.split("|")[1] for line in table[1].splitlines()] if table else []
    return {match[0] for cell in cells for span in _SPAN.findall(cell) if (match := _NAME.match(span))}


def test_fields_are_read_from_a_header() -> None:
    header = "struct a {\n  const char *x, *y; /* z; */\n  int n[3]; bool (*f)(int a, int b);\n};\n"
    assert fields_of(header, "a") == {"x", "y", "n", "f"}
    assert fields_on("| field | meaning |\n| --- | --- |\n| `x`, `f(a)` | `g` |\n") == {"x", "f"}


@pytest.mark.parametrize("page", _STRUCTS)
def test_a_page_has_the_fields_that_the_structure_has(page: str) -> None:
    header, name = _STRUCTS[page]
    if not (ROOT / page).is_file():
        pytest.skip("no docs beside this package")
    text = (ROOT / page).read_text(encoding="utf-8")
    fields = fields_of((engine_folder() / header).read_text(), name)
    told = {match[0] for span in _SPAN.findall(text) if (match := _NAME.match(span))}
    assert fields - told == set()
    assert fields_on(text) - fields == set()


def _records() -> list[type[msgspec.Struct]]:
    return list(typing.get_args(schema.Record))


def test_the_page_of_records_has_their_keys() -> None:
    page = ROOT / "docs/reference/records.md"
    if not page.is_file():
        pytest.skip("no docs beside this package")
    told = {
        word for span in _SPAN.findall(page.read_text(encoding="utf-8")) for word in re.findall(r"\w+", span)
    }
    keys = {(one.__name__, key) for one in _records() for key in one.__struct_encode_fields__}
    assert len(keys) > 100
    assert {(name, key) for name, key in keys if key not in told} == set()


# Names of tests, corrections and estimators that a reader looks up.
_STATISTICS = re.compile(
    r"Mann-Whitney|Wilcoxon|Holm|Bonferroni|Benjamini|Walsh|Kendall|Student's t|Westfall|Hodges|Welch|"
    r"Theil|Hampel|Kolmogorov|Kruskal|Friedman|\bQn\b|bootstrap|signed ranks|rank test"
)
_REFERENCES = re.compile(r"^\*\*References\.\*\*.*?(?=^$|\Z)", re.MULTILINE | re.DOTALL)
_NOT_USED = {
    # Page -> what it names because it is not, or no longer, used.
    "docs/internals/decisions.md": {"rank test", "bootstrap"},
    "docs/analysis/scaling.md": {"bootstrap"},
    "docs/install.md": {"bootstrap"},  # debootstrap, which makes a root of Debian
}


def _docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def statistics_in(text: str) -> set[str]:
    """The names of statistics in a text, wherever its lines are broken."""
    return set(_STATISTICS.findall(" ".join(text.split())))


def _used() -> set[str]:
    """Those that docstrings of the code that computes say are used."""
    files = [
        file
        for name in ("stats", "results", "rows", "analyses", "diagnostics", "judges")
        for file in (ROOT / "src/steelyard" / name).rglob("*.py")
    ]
    return {found for file in files for text in _docstrings(file) for found in statistics_in(text)}


def test_a_statistic_that_a_page_names_is_one_that_the_code_computes() -> None:
    used = _used()
    assert used >= {"Bonferroni", "Holm", "Westfall", "Kendall"}
    missing = {
        (page, name)
        for file in page_files()
        for page in [file.relative_to(ROOT).as_posix()]
        for name in statistics_in(_REFERENCES.sub("", file.read_text(encoding="utf-8")))
        if name not in used | _NOT_USED.get(page, set())
    }
    assert missing == set()


def test_a_statistic_that_the_program_names_is_one_that_the_code_computes() -> None:
    """In its tables, sentences and help."""
    used, said = _used(), dict[str, set[str]]()
    package = ROOT / "src/steelyard"
    for file in package.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        texts = (
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        said[file.relative_to(package).as_posix()] = {name for text in texts for name in statistics_in(text)}
    assert said["analyses/micro_macro/tables.py"] == {"Bonferroni", "Kendall"}
    assert {(file, name) for file, names in said.items() for name in names - used} == set()
