"""What CONTRIBUTING.md adds, added to a copy of the sources: it builds, runs, and is in the results."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from page_diffs import with_added
from pages import ROOT, Snippet, commands, snippets, words_of
from steelyard.base.errors import InputError
from steelyard.engines.mpi import choose_mpi
from steelyard.system.process import Done, run

pytestmark = pytest.mark.xdist_group("waits")

_PAGE = "CONTRIBUTING.md"
_SECONDS = 600.0
_SNIPPETS = [one for one in snippets() if one.page == _PAGE]
# A C file of the page: what it defines -> the folder that it says.
_FOLDERS = {"method": "engine/methods", "stop_rule": "engine/rules"}
_DEFINES = re.compile(r"^const struct (method|stop_rule) (?:method|stop)_(\w+) =", re.MULTILINE)
_MAIN = "from steelyard.cli.main import main; main()"
# An editable install finds the checkout's modules before any path is looked at.
_FIRST = """
import sys
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]
"""
_NEW = """
import sys
from pathlib import Path
from make_records import FakePoint, steady, write_folder
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS
from steelyard.analyses.analysis import Made
from steelyard.results.rows import results
folder = write_folder(Path(sys.argv[1]), [FakePoint("mpi.bcast", steady(1e3))])
sys.stdout.buffer.write(FORMATS["jsonl"](Export((ExportedFolder(folder, Made(results(folder))),))))
"""


_TABLE = """
import sys
from pathlib import Path
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.analysis import Made
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.analyses.overview import ReadFolder, group_table, overview_text, shown_items
from steelyard.render.terminal import Paper, table_text
from steelyard.rows.figure_groups import group_items
folder = write_folder(Path(sys.argv[1]), [FakePoint("mpi.bcast", steady(1e3))])
measured = load(folder)
read = ReadFolder("", measured, Made(rows_of(measured)))
(group,) = group_items(shown_items([read]))
print(table_text(group_table(group, {}, is_wide=True), Paper()))
print(overview_text([read], Paper()))
"""


def _files() -> dict[str, Snippet]:
    """The C files that the page has in full, by the path that it gives them."""
    found = ((_DEFINES.search(one.text), one) for one in _SNIPPETS if one.kind == "c")
    return {f"{_FOLDERS[match[1]]}/{match[2]}.c": one for match, one in found if match}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with all that the page adds and they do not have yet."""
    if not (ROOT / _PAGE).is_file():
        pytest.skip("this is not a checkout")
    root = tmp_path_factory.mktemp("copy")
    for name in ("engine", "src", "tests", "plans"):
        shutil.copytree(ROOT / name, root / name)  # with what Python has compiled of them
    shutil.copy(ROOT / "pyproject.toml", root)
    for diff in (one for one in _SNIPPETS if one.kind == "diff"):
        for name, text in with_added(diff.text, root).items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
    for name, snippet in _files().items():
        (root / name).write_text(snippet.text)
    build = root / "engine" / "build.json"  # this engine is not for measuring, and is to be built soon
    build.write_text(build.read_text().replace('"-O2"', '"-O0"'))
    (root / "first").mkdir()
    (root / "first" / "sitecustomize.py").write_text(_FIRST)
    return root


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _python(copy: Path, *words: str | Path) -> Done:
    path = os.pathsep.join(str(copy / name) for name in ("src", "tests/helpers", "tests/testbed", "first"))
    environment = os.environ | {"PYTHONPATH": path, "STEELYARD_CACHE": str(copy / "cache")}
    return run([sys.executable, *words], env=environment, timeout=_SECONDS, cwd=copy)


def test_the_page_has_a_method_and_a_rule_in_full() -> None:
    assert {Path(name).parent.name for name in _files()} == {"methods", "rules"}


@pytest.mark.further
def test_ops_of_the_page_measure(copy: Path) -> None:
    """By the command of the page."""
    command = next(one for one in commands("steelyard") if "pthread.spin.trylock" in one.text)
    said = _python(copy, "-c", _MAIN, *words_of(command), "--oversubscribe", "--json", "--out", "ops")
    assert said.code == 0, said.err
    rows = [row for row in json.loads(said.out)["points"] if row["role"] == "call"]
    assert {row["op"] for row in rows} >= {"pthread.spin.trylock", "omp.test_lock"}
    assert all(row["status"] == "ok" and row["verified"] for row in rows)


@pytest.mark.further  # an engine takes half a minute; that the page is compiled is in test_docs_snippets.py
def test_a_method_and_a_rule_of_the_page_measure(copy: Path) -> None:
    """By the command of the page, under the first MPI; for less time, and with the rule that it adds."""
    try:
        choose_mpi(None)
    except InputError as error:
        pytest.skip(str(error))
    command = next(one for one in commands("steelyard") if "--method one-late" in one.text)
    more = ("--rule", "seconds", "--param", "seconds=0.05", "--oversubscribe", "--json")
    said = _python(copy, "-c", _MAIN, *words_of(command), *more, "--out", "out")
    assert said.code == 0, said.err
    (row,) = json.loads(said.out)["points"]
    assert (row["status"], row["method"], row["rule"]) == ("ok", "one-late", "seconds")
    records = [json.loads(line) for path in copy.glob("out/records/*") for line in _lines(path)]
    assert [one["one_late_ns"] > 0 for one in records if one["record"] == "point"] == [True, True]


def test_a_check_of_the_page_finds_its_case_and_nothing_on_a_quiet_campaign(copy: Path) -> None:
    chosen = ["tests/unit/test_diagnostics_results.py", "tests/unit/test_layers_package.py"]
    named = ["-k", "slowest-rank or quiet_campaign or keeps_its_layers"]
    said = _python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *named)
    assert said.code == 0, said.out
    assert "3 passed" in said.out


def test_a_format_and_a_facet_of_the_page_are_in_what_is_exported(copy: Path) -> None:
    said = _python(copy, "-c", _NEW, copy / "made")
    assert said.code == 0, said.err
    (row,) = (json.loads(line) for line in said.out.splitlines())
    assert row["p95_to_p5"] > 1


def test_a_column_and_an_analysis_of_the_page_are_tables(copy: Path) -> None:
    """The analysis goes as it came: by its folder."""
    said = _python(copy, "-c", _TABLE, copy / "table")
    assert said.code == 0, said.err
    rows, _, analysis = said.out.partition("slow samples")
    assert analysis.split()[-3:-1] == ["mpi.bcast", "8B"]
    shutil.rmtree(copy / "src/steelyard/analyses/slow_samples")
    without = _python(copy, "-c", _TABLE, copy / "without")
    assert (without.code, "slow samples" in without.out) == (0, False), without.err
    wide = [line.split() for line in rows.splitlines() if line.startswith(("# bytes", "   "))]
    heading, row = wide[:2]
    p95, p99 = (
        float(row[heading.index(name) - 1].partition("±")[0].removesuffix("us")) for name in ("p95", "p99")
    )
    assert 1 < p95 < p99
