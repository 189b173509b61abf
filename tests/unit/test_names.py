"""One name a thing, in the words of the field: what had another name before does not get it back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import steelyard
from pages import ROOT

# A word of a module's name, before -> what the thing is called.
MODULES = {
    "again": "remeasure",
    "ahead": "preimport",
    "alike": "peer_groups",
    "alone": "under_launcher",
    "asked": "plan_options, requested_plan, program_answers, default_comparisons",
    "bests": "best_arms",
    "beyond": "overhead",
    "checks": "diagnostics",
    "endings": "known_bad_exits",
    "exported": "export_input",
    "few": "fast_stats",
    "foreign": "printable",
    "hampel": "peer_outliers",
    "hidden": "shadowed_mpi",
    "hold": "start_gate",
    "judged": "verdict_output",
    "kept": "bug_report_file",
    "letter": "acceptance_page",
    "made": "registry",
    "marks": "launch_processes",
    "measured": "measure",
    "models": "analyses",
    "nights": "history",
    "notes": "footnotes",
    "older": "legacy_kinds",
    "patience": "watchdog_limits",
    "patient": "snapshot",
    "plots": "pictures",
    "precise": "precision",
    "reach": "unreachable_hosts",
    "room": "launch_conditions",
    "sheet": "table",
    "sheets": "tables",
    "sisters": "peer_outliers",
    "stamps": "timestamps",
    "standing": "peer_outliers",
    "still": "heartbeat",
    "swaps": "paired_permutation",
    "theirs": "suite_tests",
    "together": "launch_grouping",
    "used": "resource_use",
    "where": "hang_stacks",
    "written": "output_files",
}
# A word of a class's or function's name, before -> what it is called.
NAMES = {
    "alike_tests": "peer groups",
    "letter_": "acceptance page",
    "patient": "machine snapshot",
    "sister": "peer",
    "hampel": "peer outliers",
    "sheet": "table",
    "standing_out": "peer outliers",
}
# A word of a source of the engine, before -> what the thing is called.
SOURCES = {
    "alone": "ordering",
    "comm_own": "comm_internal",
    "extra": "extra_threads",
    "job": "setup, or lanes",
    "keep": "retention",
    "keeping": "ranks_kept",
    "law": "potential",
    "made": "objects",
    "many": "many_ranks",
    "match": "matching",
    "moved": "timed_checks",
    "others": "what its calls are",
    "part": "partitioned",
    "promise": "info_hints",
    "seal": "checksum",
    "stay": "target_progress",
    "used": "resource_use",
    "visible": "put_pingpong",
    "who": "traffic_patterns",
    "word": "shared_elements",
}
_WORD = re.compile(r"[A-Z]?[a-z0-9]+")


def old_names(path: str, text: str) -> Iterator[str]:
    """Old names of a module of the package, whose path is relative to it, and of what it defines."""
    for part in Path(path).with_suffix("").parts:
        for word in MODULES.keys() & set(_WORD.findall(part)):
            yield f"{path}: {word} is called {MODULES[word]}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            for word in (word for word in NAMES if word in node.name.lower()):
                yield f"{path}: {node.name}: {word} is called {NAMES[word]}"


def test_no_module_class_or_function_has_an_old_name() -> None:
    folder = Path(steelyard.__file__).parent
    found = [
        said
        for path in sorted(folder.rglob("*.py"))
        for said in old_names(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert found == []


def old_sources(paths: Iterable[str]) -> list[str]:
    """Sources of the engine with an old name, alone or behind what they belong to."""
    stems = {path: Path(path).stem for path in paths}
    return [
        f"{path}: {word} is called {SOURCES[word]}"
        for path, stem in stems.items()
        for word in sorted({stem, stem.rpartition("_")[2]} & SOURCES.keys())
    ]


def test_no_source_of_the_engine_has_an_old_name() -> None:
    engine = ROOT / "engine"
    assert old_sources([path.relative_to(engine).as_posix() for path in sorted(engine.rglob("*.[ch]"))]) == []
    found = old_sources(["core/keep.c", "kernels/app/minimd_law.c", "core/retention.c"])
    assert [line.partition(":")[0] for line in found] == ["core/keep.c", "kernels/app/minimd_law.c"]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("analyses/growth/growth_sheets.py", "", "sheets is called tables"),
        ("nights/x.py", "", "nights is called history"),
        ("stats/x.py", "class Sisters: ...", "sister is called peer"),
        ("report/x.py", "class A:\n    def letter_of(self): ...", "letter_ is called acceptance page"),
    ],
)
def test_an_old_name_is_found(path: str, text: str, said: str) -> None:
    (found,) = old_names(path, text)
    assert found.startswith(path)
    assert found.endswith(said)


# Local names that say nothing of what they hold, and in how many places the package still gives them to
# something. The number may only fall.
VAGUE = ("one", "found", "told", "seen", "own")
MOST_VAGUE = 1090


def vague_names(text: str) -> int:
    """Count the parameters and variables with such a name."""
    return sum(
        (isinstance(node, ast.arg) and node.arg in VAGUE)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE)
        for node in ast.walk(ast.parse(text))
    )


def test_names_that_say_nothing_become_fewer() -> None:
    folder = Path(steelyard.__file__).parent
    count = sum(vague_names(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py"))
    assert count <= MOST_VAGUE


def test_a_name_that_says_nothing_is_counted() -> None:
    assert vague_names("def f(one):\n    found = [told for told in one]\n    return found[0]") == 3
