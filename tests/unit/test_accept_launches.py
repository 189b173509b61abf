"""What is said of few launches, of failures and of settings, and the commands that go on."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from made_machine import machine, weighed
from make_records import FakePoint, steady
from record_heads import MACHINE
from steelyard.judges.accept import Acceptance, Topic, Weighed, accept
from steelyard.plan.plan import read_plan
from steelyard.plan.shipped import shipped_plans
from steelyard.records.schema import End

FAULTS: dict[str, dict[str, Any]] = {
    "floor": {"mpi_ns": 9000.0},
    "noise": {"lost": 0.03},
    "protocol": {"eager": 64},
    "cores": {"slow_core": 2.0},
    "links": {"slow_link": 2.0},
    "roofs": {"mpi_ns": 20.0},
}

SEEN_FROM = {"roofs": 3}  # launches from which on a fault is seen at all, where one is not enough


def topic(found: Acceptance, name: str) -> Topic:
    """What is said of a topic."""
    return next(one for one in found.topics if one.topic == name)


def folder(path: Path, launches: int, planned: int | None = None, **fault: Any) -> Weighed:
    """A machine, of which so many launches were measured, of so many that were planned."""
    plan = {"name": "acceptance", "launches": planned or launches}
    return weighed(path, machine(**fault), launches=launches, plan=plan)


@pytest.mark.parametrize(
    ("name", "launches"),
    [(name, launches) for name in FAULTS for launches in (1, 2, 4) if launches >= SEEN_FROM.get(name, 1)],
)
def test_fewer_than_five_launches_show_no_fault(tmp_path: Path, name: str, launches: int) -> None:
    """A floor that one launch missed once had a node taken out of use."""
    found = accept(folder(tmp_path / "out", launches, 10, **FAULTS[name]))
    assert topic(found, name).verdict == "cannot tell"
    assert found.verdict == "cannot tell"
    assert topic(found, name).remedy.endswith(f"steelyard run --out {tmp_path / 'out'}")


@pytest.mark.parametrize("name", FAULTS)
def test_five_launches_show_it(tmp_path: Path, name: str) -> None:
    assert topic(accept(folder(tmp_path / "out", 5, **FAULTS[name])), name).verdict == "not well"


def test_a_fault_of_few_launches_is_told_as_what_was_seen(tmp_path: Path) -> None:
    found = accept(folder(tmp_path / "out", 1, mpi_ns=9000.0))
    said = topic(found, "floor")
    assert said.evidence.endswith("That was seen in 1 launch; fewer than 5 show no fault.")
    assert said.remedy.endswith(f"machine: steelyard run --out {tmp_path / 'out'} --launches 5")
    assert found.measured.endswith("; faults show in 5 launches or more")


@pytest.mark.parametrize(("planned", "more"), [(2, 5), (4, 5), (5, 10), (10, 20)])
def test_more_launches_are_as_few_as_help(tmp_path: Path, planned: int, more: int) -> None:
    out = folder(tmp_path / "out", planned)
    assert out.go_on() == f"steelyard run --out {tmp_path / 'out'} --launches {more}"
    assert ("faults show in" in accept(out).measured) == (planned < 5)


def test_one_wrong_answer_is_a_fault_of_one_launch(tmp_path: Path) -> None:
    points = machine()
    end = End(point=0, status="failed", why="wrong: rank 1, byte 3")
    points[0].ends[1] = end
    plan = {"name": "acceptance", "launches": 1}
    said = topic(accept(weighed(tmp_path / "out", points, launches=1, plan=plan)), "answers")
    assert said.verdict == "not well"
    words = shlex.split(said.remedy[said.remedy.index("steelyard run") :])
    assert words == ["steelyard", "run", "--out", str(tmp_path / "out"), "--retry", "failed"]


def test_what_was_not_measured_is_measured_by_what_is_said(tmp_path: Path) -> None:
    """The plan acceptance sends nobody to itself in a circle."""
    plan = {"name": "acceptance", "launches": 10}
    points = [FakePoint("mpi.pingpong", steady(300.0, count=100))]
    found = accept(weighed(tmp_path / "out", points, launches=2, plan=plan))
    cut = topic(found, "noise")
    assert cut.remedy == f"Measure what is left of the plan: steelyard run --out {tmp_path / 'out'}"
    whole = accept(weighed(tmp_path / "whole", points, launches=10, plan=plan))
    assert topic(whole, "noise").remedy.endswith(f"steelyard show {tmp_path / 'whole'}")
    other = accept(weighed(tmp_path / "other", points, launches=2, plan=plan, name="quick"))
    assert topic(other, "noise").remedy == "The plan acceptance measures it: steelyard accept"


def test_what_the_machine_counted_since_it_began_is_no_fault(tmp_path: Path) -> None:
    """Steal, a limit that stopped it, heat: what happened while ranks ran is in their states."""
    told = weighed(tmp_path / "out", machine(), machine=MACHINE)
    settings = {"steal_share": 0.009, "quota_periods": [100, 3], "throttles": 12}
    files = tuple(
        structs.replace(file, job=structs.replace(file.job, settings=settings))
        for file in told.measured.files
    )
    seen = replace(told, measured=structs.replace(told.measured, files=files))
    assert topic(accept(seen), "settings").verdict == "well"


def test_what_each_topic_needs_comes_first_in_the_plan() -> None:
    plan = read_plan(shipped_plans()["acceptance"])
    first = {op for measure in plan.measure if measure.first for op in measure.ops}
    assert {"mpi.pingpong", "shm.flag", "mpi.pattern.neighbours", "mpi.pattern.round_robin"} <= first
    assert {"mem.stream.triad", "noise.fwq", "npb.cg"} <= first
    assert not all(measure.first for measure in plan.measure)


def test_a_launch_that_is_slow_to_begin_accuses_no_library(tmp_path: Path) -> None:
    points = machine()
    why = "hang: mpiexec had not begun to measure after 60s, ended by the watchdog"
    points[0] = replace(points[0], ends={2: End(point=0, status="failed", why=why)})
    found = accept(weighed(tmp_path / "out", points))
    assert [one.topic for one in found.topics if one.verdict == "not well"] == []
    said = topic(found, "answers")
    assert (said.verdict, found.verdict) == ("cannot tell", "cannot tell")
    assert "1 of " in said.evidence
    assert "never began" in said.evidence
    assert "mpiexec had not begun to measure after 60s" in said.evidence
    assert "--retry failed" in (said.remedy or "")
    points[0] = replace(
        points[0], ends={2: End(point=0, status="failed", why=f"{why}; h2 cannot be reached")}
    )
    assert topic(accept(weighed(tmp_path / "lost", points)), "answers").verdict == "not well"
