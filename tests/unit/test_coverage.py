"""The core of the benchmarks that make docs/results/coverage.md, in few rounds."""

from __future__ import annotations

from types import ModuleType

import pytest

from scripts import load_benchmark


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
    assert derived.held(derived.TRIALS[name], launches, 150) >= 0.90


@pytest.mark.parametrize("name", ["scaling: Amdahl's serial fraction", "scaling: efficiency on 8 ranks"])
def test_scaling_holds(derived: ModuleType, name: str) -> None:
    """100 rounds, for each fits a model a launch: 95 % is at least 88 % of them in all but 1 of 200 tests."""
    assert derived.held(derived.TRIALS[name], 3, 100) >= 0.88


@pytest.mark.parametrize("name", ["the same in both modes", "1.5 times as long in the slow one"])
@pytest.mark.parametrize("spells", [3, 10])
def test_the_canary_moves_as_it_says(derived: ModuleType, name: str, spells: int) -> None:
    """150 rounds: 90 % is at least 83 % of them in all but 1 of 200 tests."""
    assert derived.held(derived.CANARY[name], spells, 150) >= 0.83


def test_what_the_page_names_as_too_narrow_is(derived: ModuleType) -> None:
    """A simulation in which everything held would hold nothing."""
    assert derived.held(derived.TRIALS["median, modes that last"], 10, 150) < 0.92


def test_intervals_inside_a_launch_and_over_launches() -> None:
    coverage = load_benchmark("coverage")
    world, truth = coverage.INSIDE["independent, lognormal 30 %"]
    assert coverage.inside_row(world, truth, coverage.LONG, 100)[0] >= 0.90
    world, truth = coverage.OVER["lognormal 3 %"]
    assert coverage.over_row(world, truth, 10, 150)[0] >= 0.92
    world, ratio = coverage.MODES["70/30 x 2, 3 %"]
    found, value, share = coverage.mode_row(world, ratio, 10, 100)
    assert found > 0.7
    assert min(value, share) > 0.9


def test_all_intervals_of_a_comparison_hold_together(derived: ModuleType) -> None:
    """99 % of comparisons: 27 of 30 and more in all but 1 of 5000 tests; nights likewise."""
    assert derived
    compared = load_benchmark("coverage_compare")
    assert compared.arms_held(compared.ARMS["and modes 70/30 x 2"], 8, 30) >= 0.9
    assert compared.tonight_held(12, 30) >= 0.9
    found, dated, inside = compared.changes_held(30, 3)
    assert min(found, dated, inside) > 0.8


def test_folders_know_nothing_of_what_an_hour_adds(derived: ModuleType) -> None:
    assert derived
    compared = load_benchmark("coverage_compare")
    assert compared.arms_held(compared.FOLDERS["an hour adds 3 %"], 12, 30, by_turns=False) >= 0.9
    assert compared.arms_held(compared.FOLDERS["an hour adds 10 %"], 12, 30, by_turns=False) < 0.5


def test_a_confirmation_keeps_its_promise_whatever_nights_are(derived: ModuleType) -> None:
    """A walk misleads the history alone; launches by turns tonight know nothing of it: 1 % of 6 rounds."""
    assert derived
    nights = load_benchmark("coverage_nights")
    walk = nights.WORLDS["a walk of 1 % a night"]
    assert nights.nothing_changed(walk, 12, 6)["after the confirmation"] <= 1 / 6
    independent = nights.WORLDS["independent"]
    assert nights.tonight_slower(independent, 12, 4)["10 % slower: confirmed"] >= 0.75
