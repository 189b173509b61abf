"""What stands in fences on the pages: diffs fit the sources, C compiles, files that are named are there."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from page_diffs import hunks, is_in, with_added
from pages import ROOT, Snippet, command_lines, commands, snippets, snippets_of, words_of
from steelyard.engines.build import engine_folder
from steelyard.system.process import run

_SNIPPETS = snippets()
_SECONDS = 600.0


def _of(kind: str) -> list[Snippet]:
    return [snippet for snippet in _SNIPPETS if snippet.kind == kind]


@pytest.mark.parametrize("diff", _of("diff"), ids=str)
def test_a_diff_fits_the_sources_of_today(diff: Snippet) -> None:
    """It can be added, also behind what others have added there; or it was."""
    assert with_added(diff.text, ROOT) is not None


_DIFF = """--- a/table.c
+++ b/table.c
@@ -1,4 +1,6 @@
 int table[] = {
+    7,
     1,
     2,
+    3,
 };
--- /dev/null
+++ b/new.c
@@ -0,0 +1,2 @@
+int new;
+
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1, 2,", "7, 1, 2, 3,"),
        ("1, 2, 4, 5,", "7, 1, 2, 3, 4, 5,"),  # others have added theirs at its place
        ("0, 1, 4, 2,", "7, 0, 1, 4, 2, 3,"),
        ("7, 1, 2, 3,", None),  # it is there
        ("7, 1, 4, 2, 3,", None),
    ],
)
def test_a_diff_is_added_behind_its_anchors(before: str, after: str | None, tmp_path: Path) -> None:
    def table(words: str) -> str:
        return "".join(
            f"{line}\n" for line in ("int table[] = {", *(f"    {w}" for w in words.split()), "};")
        )

    (tmp_path / "table.c").write_text(table(before))
    (tmp_path / "new.c").write_text("int new;\n\nint other;\n")
    assert with_added(_DIFF, tmp_path) == ({} if after is None else {"table.c": table(after)})
    (tmp_path / "new.c").unlink()
    assert with_added(_DIFF, tmp_path)["new.c"] == "int new;\n\n"


@pytest.mark.parametrize(
    ("was", "becomes", "complaint"),
    [
        ("     1,\n", "     5,\n", "table.c has not what stands around line 1 of the diff"),
        ("+    3,", "-    3,", "'-    3,' is neither added nor kept"),
        ("-1,4 +1,6", "-1,4 +1,7", "miscounts its lines"),
        ("-1,4 +1,6", "-1,5 +1,6", "miscounts its lines"),
    ],
)
def test_a_diff_that_fits_nowhere_is_refused(was: str, becomes: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "table.c").write_text("int table[] = {\n    1,\n    2,\n};\n")
    with pytest.raises(ValueError, match=re.escape(complaint)):
        with_added(_DIFF.replace(was, becomes), tmp_path)


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


_NAMED = re.compile(r'^(?:def|class) \w+|^ *\.?name ?= ?"[\w.-]+"')


def drifted(diff: str, root: Path) -> list[str]:
    """What a diff defines that its file has already, in other words: it would stand there twice."""
    return [
        f"{hunk.path}: {match[0].strip()}"
        for hunk in hunks(diff)
        if (root / hunk.path).exists()
        for text in [(root / hunk.path).read_text()]
        if not is_in(hunk, text)
        for is_added, line in hunk.lines
        if is_added
        and (match := _NAMED.match(line))
        and re.search(rf"^{re.escape(match[0])}\b", text, re.MULTILINE)
    ]


@pytest.mark.parametrize("diff", _of("diff"), ids=str)
def test_what_a_diff_defines_is_not_there_in_other_words(diff: Snippet) -> None:
    assert drifted(diff.text, ROOT) == []


def test_a_diff_whose_function_is_there_in_other_words_is_found(tmp_path: Path) -> None:
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,4 @@\n x = 1\n+\n+def f():\n+    return 1\n"
    (tmp_path / "a.py").write_text("x = 1\n\ndef f():\n    return 1\n")
    assert drifted(diff, tmp_path) == []
    (tmp_path / "a.py").write_text("x = 1\n\ndef f():\n    return 2\n")
    assert drifted(diff, tmp_path) == ["a.py: def f"]
    (tmp_path / "a.py").write_text("x = 1\n")
    assert drifted(diff, tmp_path) == []
