"""Small changes of sources, one at a time: a test notices each, or it is judged in tests/data/mutations.toml.

All of a part are tried by STEELYARD_MUTATIONS=all, which takes some minutes; else some, by a fixed seed.
"""

from __future__ import annotations

import os
import random
import tomllib
from pathlib import Path

import pytest

from cbuild import library_of_tests
from further import further
from mutations import ROOT, Mutant, is_noticed, mutants, mutants_of, unchanged

# A source -> the tests that are to notice its changes: of C by the names of their programs.
_PARTS = {
    "engine/core/stop.c": ("test_stop", "test_run"),
    "engine/core/warm_up.c": ("test_warm_up",),
    "engine/methods/batch.c": ("test_run", "test_run_ranks"),
    "engine/methods/bounds.c": ("test_bounds",),
    "engine/methods/each.c": ("test_messages",),
    "engine/methods/epoch.c": ("test_epoch", "test_run"),
    "engine/methods/round_time.c": ("test_bounds",),
    "src/steelyard/diagnostics/results/clocks.py": (
        "tests/unit/test_diagnostics_clocks.py",
        "tests/unit/test_diagnostics.py",
    ),
    "src/steelyard/judges/compare/conditions.py": ("tests/unit/test_compare_conditions.py",),
    "src/steelyard/records/collector.py": (
        "tests/unit/test_collector.py",
        "tests/unit/test_cut_lines.py",
        "tests/unit/test_records.py",
        "tests/unit/test_reduced.py",
        "tests/unit/test_damage.py",
        "tests/unit/test_consistency.py",
    ),
    "src/steelyard/results/durations.py": ("tests/unit/test_durations.py", "tests/unit/test_results.py"),
    "src/steelyard/stats/ranks.py": ("tests/unit/test_stats_ranks.py",),
    "src/steelyard/stats/signed_ranks.py": ("tests/unit/test_stats_signed_ranks.py",),
}
_SOME = 30  # of a part
_MOST_LEFT = 0.05  # of a part's changes: those that a test could notice and none does


def _judged(path: str) -> dict[str, str]:
    """What was said of changes that no test notices, by the change."""
    rows = tomllib.loads((ROOT / "tests" / "data" / "mutations.toml").read_text())["survivor"]
    return {_named(row["before"], row["after"]): row["why"] for row in rows if row["path"] == path}


def _name(mutant: Mutant) -> str:
    return _named(mutant.before, mutant.after)


def _named(before: str, after: str) -> str:
    """Name a change, however a formatter aligns the comments behind it."""
    return " ".join(f"{before} -> {after}".split())


@pytest.mark.parametrize(("path", "tests"), [further(*part) for part in _PARTS.items()], ids=list(_PARTS))
def test_a_change_is_noticed_or_judged(path: str, tests: tuple[str, ...], tmp_path: Path) -> None:
    if path.endswith(".c"):
        library_of_tests()  # or it says what builds the tests in C
    assert not is_noticed(unchanged(path), tests, tmp_path)
    tried = mutants(path)
    if os.environ.get("STEELYARD_MUTATIONS") != "all":
        tried = random.Random(33).sample(tried, min(_SOME, len(tried)))
    judged = _judged(path)
    lived = [one for one in tried if _name(one) not in judged and not is_noticed(one, tests, tmp_path)]
    assert [str(one) for one in lived] == []


@pytest.mark.parametrize("path", _PARTS)
def test_what_is_judged_is_a_change_of_today(path: str) -> None:
    """And those that a test could notice are few."""
    changes, judged = mutants(path), _judged(path)
    assert judged.keys() <= {_name(one) for one in changes}
    assert sum(why.startswith("not tested") for why in judged.values()) <= _MOST_LEFT * len(changes)


@pytest.mark.parametrize(
    ("path", "text", "changes"),
    [
        ("a.c", "#if 1 < 2\n    x = fmax(a, b); /* 3 < 4 */\n", ["fmin(a, b); /* 3 < 4 */", ";"]),
        ("a.c", '    return a < 7 && say("1 > 2");\n', ["a <= 7 &&", "a < 8 &&", "a < 7 ||"]),
        ("a.py", "    if x is not None and y > 1.5:  # or 2\n", ["is None", "or y", "y >= 1.5", "y > 2.25:"]),
        ("a.py", "    return a * 0.0\n", ["a / 0.0", "a * 1.0"]),
        ("a.py", '    """1 < 2."""\n    f(a + b, -1)\n', ["a - b", "-2"]),
        ("a.c", "    int64_t late;\n    ++w->next;\n", [";"]),
    ],
)
def test_changes(path: str, text: str, changes: list[str]) -> None:
    found = [one.after for one in mutants_of(path, text)]
    assert len(found) == len(changes)
    for change in changes:
        assert any(change in one for one in found), found
