"""The head of an acceptance: the verdict, why, of which machine, from how much, and how to go on."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import Steelyard, steelyard_of
from made_machine import machine, weighed
from steelyard.records.schema import End

PLAN = {"name": "acceptance", "launches": 10, "time_budget": "9m"}
WIDTH = 80


@pytest.fixture(name="steelyard")
def _steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    return steelyard_of(capsys, monkeypatch)


def _broken() -> list[Any]:
    points = machine()
    points[0] = replace(points[0], ends={2: End(point=0, status="failed", why="wrong: rank 1, byte 3")})
    return points


def _never_began() -> list[Any]:
    why = "hang: mpiexec had not begun to measure after 60s, ended by the watchdog"
    ends = {launch: End(point=0, status="failed", why=why) for launch in range(10)}
    return [replace(point, ends=ends) for point in machine()]


CASES: dict[str, tuple[list[Any], int, str]] = {
    "sound": (machine(), 10, "well: no fault was found in 10 topics."),
    "odd core": (machine(slow_core=1.25), 10, "not well: core 5 is 2"),
    "odd host": (machine(hosts=8, slow_host=1.15), 10, "not well: host node3 is 1"),
    "floor": (machine(mpi_ns=9000.0), 10, "not well: mpi.pingpong of mpich-4.0.2 takes "),
    "noise": (machine(lost=0.03), 10, "not well: core 0 loses "),
    "eager": (machine(eager=64), 10, "not well: short messages take up to "),
    "failed": (_broken(), 10, "not well: 1 of 170 runs failed (1 wrong) in mpi.pingpong."),
    "hung": (
        _never_began(),
        1,
        "cannot tell: no fault was found, but 18 of 18 runs never began (mpiexec had not begun to measure ",
    ),
    "cut": (
        machine(mpi_ns=9000.0),
        2,
        "cannot tell: no fault was found, but with 144 of 180 measurements left ",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_line_says_the_verdict_and_why(steelyard: Steelyard, tmp_path: Path, name: str) -> None:
    points, launches, why = CASES[name]
    weighed(tmp_path / "out", points, launches=launches, plan=PLAN)
    lines = steelyard("accept", tmp_path / "out").out.replace("\n#   ", " ").splitlines()
    first = next(line for line in lines if "well: " in line or "tell: " in line)
    assert f": {why}" in first
    assert any(line.startswith(("Machine: ", "# Machine: ")) for line in lines[1:4])
    assert any(f"Measured: {launches}" in line for line in lines[1:4])


def test_what_a_budget_cut_is_said_with_the_command_that_goes_on(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    weighed(tmp_path / "out", machine(), launches=2, plan=PLAN)
    said = json.loads(steelyard("accept", tmp_path / "out", "--json").out)
    assert said["measured"].startswith("2 of 10 launches, 2026-11-")
    assert said["measured"].endswith(
        "144 of 180 measurements are left: the time budget was over, or the run was stopped"
    )
    assert shlex.split(said["go_on"]) == ["steelyard", "run", "--out", str(tmp_path / "out")]
    whole = weighed(tmp_path / "whole", machine(), launches=10, plan=PLAN)
    assert json.loads(steelyard("accept", whole.measured.folder, "--json").out)["go_on"] == ""


def test_the_same_remedy_is_said_once(steelyard: Steelyard, tmp_path: Path) -> None:
    weighed(tmp_path / "out", machine(), launches=2, plan=PLAN)
    said = " ".join(line.lstrip("# ") for line in steelyard("accept", tmp_path / "out").out.splitlines())
    assert said.count("Give it more launches") == 1
    assert said.count("5 can tell") == 2


def test_each_topic_has_its_evidence_in_a_few_words(steelyard: Steelyard, tmp_path: Path) -> None:
    weighed(tmp_path / "out", machine(slow_core=1.25), launches=10, plan=PLAN)
    said = json.loads(steelyard("accept", tmp_path / "out", "--json").out)
    briefs = {one["topic"]: one["brief"] for one in said["topics"]}
    assert briefs["cores"].endswith(" slower in mem.stream.triad 48 MiB on 8 ranks than its 7 peers")
    assert all(0 < len(brief) < 200 and not brief.endswith(".") for brief in briefs.values())


def test_names_from_records_cannot_steer_a_terminal(steelyard: Steelyard, tmp_path: Path) -> None:
    bad = {"host": "vm", "cpu_model": "x\x1b[31mred", "cores": [[0]], "kernel": "6\n.1"}
    weighed(tmp_path / "out", machine()[:1], launches=5, machine=bad)
    assert "\x1b" not in steelyard("accept", tmp_path / "out").out
