"""The core of the benchmarks that make docs/results/coverage.md, in few rounds."""

from __future__ import annotations

import re
from types import ModuleType

import numpy as np
import pytest

from loaded import load_benchmark
from pages import ROOT


@pytest.fixture(scope="module", autouse=True)
def tables() -> ModuleType:
    """What the benchmarks import from each other."""
    return load_benchmark("coverage_table")


@pytest.fixture(scope="module")
def derived() -> ModuleType:
    return load_benchmark("coverage_derived")


@pytest.mark.parametrize(
    "name",
    [
        *("median, lognormal 30 %", "overhead", "overlap", "ratio of rivals", "LogGP: L + 2 o", "LogGP: G"),
    ],
)
@pytest.mark.parametrize("launches", [3, 10])
def test_an_interval_holds_the_truth_as_often_as_it_states(
    derived: ModuleType, name: str, launches: int
) -> None:
    """150 rounds: 95 % is at least 90 % of them in all but 1 of 200 tests."""
    assert derived.held((derived.TRIALS | derived.PAIRED)[name], launches, 150).held >= 0.90


@pytest.mark.parametrize("name", ["scaling: Amdahl's serial fraction", "scaling: efficiency on 8 ranks"])
def test_scaling_holds(derived: ModuleType, name: str) -> None:
    """100 rounds, for each fits a model a launch: 95 % is at least 88 % of them in all but 1 of 200 tests."""
    assert derived.held(derived.SCALING[name], 3, 100).held >= 0.88


@pytest.mark.parametrize("name", ["the same in both modes", "1.5 times as long in the slow one"])
@pytest.mark.parametrize("spells", [3, 10])
def test_the_canary_moves_as_it_says(derived: ModuleType, name: str, spells: int) -> None:
    """150 rounds: 90 % is at least 83 % of them in all but 1 of 200 tests."""
    assert derived.held(derived.CANARY[name], spells, 150).held >= 0.83


def test_what_the_page_names_as_too_narrow_is(derived: ModuleType) -> None:
    """A simulation in which everything held would hold nothing."""
    assert derived.held(derived.TRIALS["median, modes that last"], 10, 150).held < 0.92


def test_intervals_inside_a_launch_and_over_launches() -> None:
    coverage = load_benchmark("coverage")
    world, truth = coverage.INSIDE["independent, lognormal 30 %"]
    assert coverage.inside_row(world, truth, coverage.LONG, 100).held >= 0.90
    world, truth = coverage.OVER["lognormal 3 %"]
    assert coverage.over_row(world, truth, 10, 150).held >= 0.92
    world, ratio = coverage.MODES["70/30 x 2, 3 %"]
    found, value, share = coverage.mode_row(world, ratio, 10, 100)
    assert found > 0.7
    assert min(value.held, share.held) > 0.9


@pytest.mark.parametrize("dwell", [300, 3000])
def test_regimes_that_a_launch_has_seen_are_modes(dwell: int) -> None:
    """All of 60 launches; 95 % of values hold, 85 % and more in all but 1 of 100 tests of 30 and more."""
    coverage = load_benchmark("coverage")
    world, _ = coverage.INSIDE[f"regimes 70/30 x 2, {dwell} samples each"]
    seen, found, fast, _ = coverage.seen_row(world, coverage.LONG, 100)
    assert seen > 0.3
    assert found > 0.95
    assert fast.held > 0.85


def test_all_intervals_of_a_comparison_hold_together(derived: ModuleType) -> None:
    """99 % of comparisons: 27 of 30 and more in all but 1 of 5000 tests; nights likewise."""
    assert derived
    compared = load_benchmark("coverage_compare")
    assert compared.arms_held(compared.ARMS["and modes 70/30 x 2"], 8, 30).held >= 0.9
    assert compared.tonight_held(12, 30).held >= 0.9
    found, dated, inside = compared.changes_held(30, 3)
    assert min(found, dated, inside) > 0.8


def test_folders_know_nothing_of_what_an_hour_adds(derived: ModuleType) -> None:
    assert derived
    compared = load_benchmark("coverage_compare")
    assert compared.arms_held(compared.FOLDERS["an hour adds 3 %"], 12, 30, by_turns=False).held >= 0.9
    assert compared.arms_held(compared.FOLDERS["an hour adds 10 %"], 12, 30, by_turns=False).held < 0.5


def test_a_confirmation_keeps_its_promise_whatever_nights_are(derived: ModuleType) -> None:
    """A walk misleads the history alone; launches by turns tonight know nothing of it: 1 % of 6 rounds."""
    assert derived
    nights = load_benchmark("coverage_nights")
    walk = nights.WORLDS["a walk of 1 % a night"]
    assert nights.nothing_changed(walk, 12, 6)["after the confirmation"] <= 1 / 6
    independent = nights.WORLDS["independent"]
    assert nights.tonight_slower(independent, 12, 4)["10 % slower: confirmed"] >= 0.75


@pytest.mark.further
def test_arms_find_what_they_were_designed_to_find(derived: ModuleType) -> None:
    """90 % of 40 slowed test cases: 30 and more in all but 1 of 500 tests. Folders seldom tell."""
    assert derived
    power = load_benchmark("power_compare")
    assert power.arms_found(power.NOISES["scatter 3 %"], 0.10, 12, 100, 8) >= 0.75
    said = power.folders_said(0.03, 0.10, 12, 4)
    assert said.count("cannot tell") > len(said) / 2
    assert "same" not in said


def test_recorded_launches_are_cut_into_windows_and_slowed(derived: ModuleType) -> None:
    """Of two quiet test cases the slowed one is found, nothing is called the same that is 10 % slower."""
    assert derived
    power = load_benchmark("power_compare")
    rng = np.random.default_rng(5)
    seen = power.Recorded(("a", "b"), tuple(0.01 * rng.standard_normal((2, 36, 2))))
    windows = seen.windows(12)
    assert [len(first) for first, _ in windows] == [12, 12, 12]
    assert power.recorded_said(windows, 0.10, 1, True) == ["slower"] * 3
    assert power.alarms(windows, True) == 0
    assert len(power.folders_of(windows)) == 2
    assert set(power.recorded_said(power.folders_of(windows), 0.10, 1, False)) == {"cannot tell"}


def _tables_of(page: str) -> list[list[list[str]]]:
    """The tables of a page as rows of cells, lines of dashes left out."""
    found = re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE)
    rows = [[re.split(r" *\| *", line)[1:-1] for line in table.splitlines()] for table in found]
    return [[row for row in table if row[0] != "---"] for table in rows]


def test_each_entry_of_the_page_that_is_off_is_named_in_words(tables: ModuleType) -> None:
    """An entry that is more than 2 % from what its column states is bold, and the last cell says where."""
    page = (ROOT / "docs" / "results" / "coverage.md").read_text()
    entry = re.compile(r"(\**)([\d.]+) ±[\d.]+\1")
    count = 0
    for heads, *rows in _tables_of(page):
        if heads[-1] != tables.LAST:
            continue
        states: list[str] = []
        for name, *cells, said in rows:
            if name == "states":
                states = cells
                continue
            off = []
            for head, cell, stated in zip(heads[1:-1], cells, states, strict=True):
                if not (found := entry.fullmatch(cell)):
                    assert cell == "-" or cell.endswith(" %"), f"{name}, {head}: {cell}"
                    continue
                count += 1
                off.append((head, tables.off_by(float(found[2]), float(stated))))
                assert bool(found[1]) == bool(off[-1][1]), f"{name}, {head}: {cell}"
            assert said == tables.off_words(off), name
    assert count > 150
