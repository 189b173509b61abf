"""What stands in fences on the pages: diffs fit the sources, C compiles, files that are named are there."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

from pages import ROOT, Snippet, command_lines, commands, snippets, snippets_of, words_of
from steelyard.engines.build import engine_folder
from steelyard.system.process import run

_SNIPPETS = snippets()
_SECONDS = 60.0


def _of(kind: str) -> list[Snippet]:
    return [snippet for snippet in _SNIPPETS if snippet.kind == kind]


@pytest.mark.parametrize("diff", _of("diff"), ids=str)
def test_a_diff_fits_the_sources_of_today(diff: Snippet, tmp_path: Path) -> None:
    """It can be applied, or it was: then it can be taken back."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    patch = tmp_path / "page.diff"
    patch.write_text(diff.text)
    tried = [
        run(["git", "apply", "--check", *way, str(patch)], cwd=ROOT, timeout=_SECONDS)
        for way in ((), ("--reverse",))
    ]
    assert any(done.code == 0 for done in tried), [done.err for done in tried]


@pytest.mark.parametrize("code", [one for one in _of("c") if "#include" in one.text], ids=str)
def test_c_with_its_includes_compiles(code: Snippet, compiler: str, tmp_path: Path) -> None:
    source = tmp_path / "page.c"
    source.write_text(code.text)
    flags = ["-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-missing-declarations"]
    done = run([compiler, *flags, "-fsyntax-only", f"-I{engine_folder()}", source], timeout=_SECONDS)
    assert done.code == 0, done.err


@pytest.mark.parametrize("code", _of("python"), ids=str)
def test_python_is_python(code: Snippet) -> None:
    ast.parse(code.text)


_PATH = re.compile(r"(?:docs|engine|plans|src|tests|benchmarks)/[\w./-]*\w\.\w+")


def _named_files(snippet: Snippet) -> list[str]:
    """Paths from the root; what has a placeholder (`method_NAME.c`) is none."""
    return [path for path in _PATH.findall(snippet.text) if not re.search(r"[A-Z]{2,}", Path(path).name)]


def test_files_that_pages_name_are_there() -> None:
    named = [(str(one), path) for one in _SNIPPETS if one.kind in ("", "span") for path in _named_files(one)]
    assert len(named) > 100
    missing = [(where, path) for where, path in named if not (ROOT / path).exists()]
    assert missing == []


def test_targets_and_presets_that_pages_name_are_there() -> None:
    makefile = ROOT / "Makefile"
    if not makefile.is_file():
        pytest.skip("this is not a checkout")
    rules = re.findall(r"^([a-z -]+):", makefile.read_text(), re.MULTILINE)
    targets = {target for rule in rules for target in rule.split()}
    asked = {word for command in commands("make") for word in words_of(command)}
    assert asked
    assert asked <= targets
    presets = {
        one["name"] for one in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    }
    named = {
        name for one in _SNIPPETS for name in re.findall(r"(?:cmake|ctest)[^`\n]*--preset (\w+)", one.text)
    }
    assert named
    assert named <= presets


_PAGE = """# A page
`steelyard list` and `tests/unit/none.py`

```
$ steelyard doctor    # says this
steelyard is what it prints
```

```
steelyard show DIR
steelyard run a b  c
```
"""


def test_snippets_have_their_lines() -> None:
    found = list(snippets_of("page.md", _PAGE))
    assert [(one.kind, one.line, one.text.splitlines()[0]) for one in found] == [
        ("", 5, "$ steelyard doctor    # says this"),
        ("", 10, "steelyard show DIR"),
        ("span", 2, "steelyard list"),
        ("span", 2, "tests/unit/none.py"),
    ]
    lines = [line for one in found for line in command_lines(one, "steelyard")]
    assert [(str(line), words_of(line)) for line in lines] == [
        ("page.md:5", ["doctor"]),
        ("page.md:11", ["run", "a", "b"]),
        ("page.md:2", ["list"]),
    ]
