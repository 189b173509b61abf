"""The referee of commands: folders that are planted, and what commands print of them.

The tables of the pages have more rounds: `benchmarks/command_referee.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from further import further
from loaded import load_benchmark

for needed in ("coverage_table", "coverage_derived", "coverage_models", "referee", "power_compare"):
    load_benchmark(needed)
planted = load_benchmark("planted_folders")
worlds = load_benchmark("command_worlds")
machines = load_benchmark("command_machines")
commands = load_benchmark("command_referee")
precision = load_benchmark("precision")


def test_what_is_planted_is_what_show_prints(tmp_path: Path) -> None:
    """Medians of launches, when they began and where: two sittings on two hosts."""
    logs = [0.0, 0.1, 0.2, 0.3]
    began = [planted.BEGAN_NS + k // 2 * 9 * commands.HOUR_NS for k in range(4)]
    case = planted.Case([1000 * math.exp(one) * np.ones(40) for one in logs], size=64)
    planted.write_planted(tmp_path / "x", [case], began_ns=began, hosts=["n1", "n2"] * 2)
    (row,) = planted.steelyard("show", tmp_path / "x", "--json").document["points"]
    assert (row["op"], row["bytes"], row["launch_count"]) == ("mpi.bcast", 64, 4)
    medians = [one["median"] for one in row["launches"]]
    assert medians == pytest.approx(1000 * np.exp(logs), rel=1e-3)
    assert [one["began_unix_ns"] for one in row["launches"]] == began
    assert (row["sittings"], row["host_sets"]) == (2, 2)


@pytest.mark.parametrize("name", ["independent, 3 %", further("launches: exponential, 10 %")])
def test_times_hold_as_often_as_show_states(name: str) -> None:
    """Forty campaigns of one folder: 96 % are 34 or more but once in a thousand times."""
    found = commands.rows_held(name, 10, 40, 0.5)
    assert found.given == 1
    assert found.held >= 0.85


def test_compare_tells_of_planted_arms_what_is_so() -> None:
    rng = np.random.default_rng(3)
    arms = 0.01 * rng.standard_normal((2, 8, 3))
    assert not commands.alarmed(commands.compared(arms, rng))
    arms[1, :, 0] += math.log(1.5)
    said = commands.compared(arms, rng)
    assert said["points"][0]["verdict"] == "slower"
    assert commands.all_held(said, np.log([1.5, 1, 1]))
    assert not commands.all_held(said, np.zeros(3))


def test_earlier_looks_are_in_the_folder() -> None:
    """A look at 8 pairs that told a difference is not taken back by pairs that scatter."""
    rng = np.random.default_rng(4)
    arms = np.concatenate(
        [scatter * rng.standard_normal((2, n, 1)) for n, scatter in ((8, 0.05), (12, 1.5))], axis=1
    )
    arms[1] += math.log(1.3)
    (before,), (after,) = (commands.compared(arms, rng, looks)["points"] for looks in ((8,), ()))
    assert before["p"] <= 0.01
    assert after["p"] > before["p"]


def test_check_tells_of_planted_nights_what_is_so() -> None:
    calm, slower = (
        commands.tonight_says(worlds.NIGHTS["normal"], 5, np.random.default_rng(5), effect)
        for effect in (0.0, 0.5)
    )
    assert not commands.alarmed(calm)
    assert {one["verdict"] for one in slower["points"][: commands.SLOWED]} == {"slower"}
    other = commands.tonight_says(
        worlds.OTHER_MODES["a mode in 5 %, tonight in all"], 5, np.random.default_rng(6), 0.0
    )
    assert "same" not in {one["verdict"] for one in other["points"]}


def test_check_prints_when_something_changed(tmp_path: Path) -> None:
    """Sixteen nights, one of three test cases 20 % slower from the ninth on."""
    rng = np.random.default_rng(11)
    logs = 0.01 * rng.standard_normal((16, 3, 5))
    logs[8:, 1] += math.log(1.2)
    nights = commands.write_store(tmp_path, logs, rng)
    said = commands.checked(tmp_path, nights[-1])
    change, of_op = said["changes"]
    assert (change["bytes"], of_op["bytes"]) == (16, None)
    assert change["p"] <= 0.01
    assert change["low"] < 1.2 < change["high"]


def test_models_are_those_of_the_cost() -> None:
    def cost(x: Any) -> Any:
        return 400 + 0.1 * x

    said: Mapping[str, Any] = commands.printed_models(
        cost, "mpi.pingpong", commands.SIZES, 3, np.random.default_rng(7)
    )
    (piece,) = said["messages"][0]["pieces"]
    assert piece["start"]["value"] == pytest.approx(400, rel=0.1)
    assert piece["gap"]["value"] == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (machines.Machine(cores=8, lasting=0.02), ""),
        (machines.Machine(cores=8, slow=1.5), "Core 0 is "),
        (machines.Machine(cores=8, slow=1.5, launches=4), ""),
        (machines.Machine(cores=1, hosts=6, slow=1.5), "Host node0 is "),
    ],
)
def test_accept_tells_of_planted_machines_what_is_so(machine: Any, said: str) -> None:
    """Sound cores differ lastingly, one is slow; too few launches accuse none; a host is slow as a whole."""
    found = machines.accused(machine, np.random.default_rng(8))
    assert found.startswith(said)
    assert bool(found) == bool(said)


@pytest.mark.parametrize("name", ["launches alike, AR(1) of 0.4", "sittings of four launches, 3 %"])
def test_stopping_holds_where_launches_are_alike_or_of_sittings(name: str) -> None:
    """Sixty campaigns until ± is 4 %: 95 % are 50 or more but once in a thousand times."""
    looks = precision.Looks(tuple(precision.looks_until(30)))
    held = 0
    for seed in range(60):
        medians, groups = precision.WORLDS[name].launches(np.random.default_rng([9, seed]), 30)
        found, _ = precision.stopped(medians, looks, 0.04, groups)
        held += found.low <= 1 <= found.high
    assert held >= 50


def test_stopping_holds_at_a_likeness_that_test_cases_show_together() -> None:
    """AR(1) of 0.8, four folders of 20: 95 % of 80 are 68 or more but once in a thousand times."""
    world, held = precision.WORLDS["launches alike, AR(1) of 0.8"], 0
    for seed in range(4):
        rng = np.random.default_rng([10, seed])
        folder = np.array([world.draw(rng, 40) for _ in range(20)])
        held += sum(found.low <= 1 <= found.high for found, _ in precision.stopped_together(folder, 0.04))
    assert held >= 68
