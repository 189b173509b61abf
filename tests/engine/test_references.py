"""Overheads: references in plans, what OpenMP is told, raw and corrected in the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import FIXED, Steelyard, steelyard_of
from steelyard.engines.build import describe, solo_engine
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve

# ---- references in plans -----------------------------------------------------------------------------------


def _points(*measures: Measure) -> Any:
    return resolve(Plan(measure=measures), ops_of(describe(solo_engine()), None), [], 8)


def test_a_plan_adds_each_reference_once() -> None:
    points = _points(Measure(ops=("omp.barrier", "omp.single"), threads=(1, 2)))
    assert [(point.op, point.threads, point.reference) for point in points] == [
        ("omp.barrier", 1, 4),
        ("omp.barrier", 2, 5),
        ("omp.single", 1, 4),
        ("omp.single", 2, 5),
        ("omp.reference", 1, None),
        ("omp.reference", 2, None),
    ]
    assert [point.point for point in points] == list(range(6))


def test_a_reference_has_the_parameters_that_both_have() -> None:
    given: dict[str, float | str | tuple[float | str, ...]] = {
        "schedule": "dynamic",
        "iterations": 7.0,
        "spin_ns": 500.0,
        "tolerance": 0.1,
    }
    construct, reference = _points(Measure(ops=("omp.for",), params=given, omp={"wait_policy": "active"}))
    assert construct.reference == reference.point
    assert (reference.op, reference.params) == ("omp.reference", {"iterations": 7.0, "spin_ns": 500.0})
    assert (reference.rule_params, reference.omp) == ({"tolerance": 0.1}, {"wait_policy": "active"})
    _, usual = _points(Measure(ops=("omp.taskloop",)))
    assert usual.params == {"iterations": 16.0}  # the construct's own default, which is not the reference's


def test_a_reference_that_is_asked_for_is_the_same_point() -> None:
    points = _points(Measure(ops=("omp.reference", "omp.barrier")))
    assert [(point.op, point.reference) for point in points] == [("omp.reference", None), ("omp.barrier", 0)]


def test_a_reference_of_one_thread_is_not_for_several() -> None:
    points = _points(Measure(ops=("pthread.mutex",), threads=(1, 2)))
    assert [(point.op, point.threads, point.reference) for point in points] == [
        ("pthread.mutex", 1, 2),
        ("pthread.mutex", 2, None),
        ("self.call_pair", 1, None),
    ]


def test_every_reference_is_an_op_without_one_of_its_own() -> None:
    ops = {op.name: op for op in describe(solo_engine()).ops}
    named = {op.reference for op in ops.values() if op.reference is not None}
    assert {"omp.reference", "omp.reference_update", "self.empty", "self.call"} <= named <= ops.keys()
    for name in (name for name in named if name.startswith("omp.")):
        assert ops[name].reference is None
    constructs = [op for op in ops.values() if op.family == "omp" and op.name not in named]
    assert all(op.reference for op in constructs)


# ---- from the command line to the table --------------------------------------------------------------------


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    for variable in ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "OMP_DYNAMIC"):
        monkeypatch.delenv(variable, raising=False)
    return steelyard_of(capsys, monkeypatch)


def test_raw_and_corrected_stand_side_by_side(tmp_path: Path, steelyard: Steelyard) -> None:
    words = ("self.call", "omp.single", "--omp", "wait_policy=active,passive", *FIXED)
    said = steelyard("run", *words, "--out", tmp_path / "r", "--json")
    assert said.code == 0, said.err
    points = {(point["op"], point["omp"]["wait_policy"]): point for point in said.document["points"]}
    assert {policy for _, policy in points} == {"active", "passive"}
    for policy in ("active", "passive"):
        call = points["self.call", policy]
        assert call["reference"] == "self.empty"
        assert call["corrected"] == pytest.approx(call["median"] - points["self.empty", policy]["median"])
        assert points["omp.single", policy]["reference"] == "omp.reference"
        assert points["omp.reference", policy]["corrected"] is None
    assert all(point["core_hz"] > 1e8 for point in points.values())
    shown = steelyard("show", tmp_path / "r").out
    headings = [line.split() for line in shown.splitlines() if line.startswith("# op")]
    assert any({"time", "overhead"} <= {*heading} for heading in headings)
    page = (tmp_path / "r" / "report.html").read_text()
    # On a busy machine it may be that nothing is told from its reference.
    ends = [
        (one["corrected"], one["corrected_low"]) for one in points.values() if one["corrected"] is not None
    ]
    above = [each for each in ends if all(end is None or end > 0 for end in each)]
    assert ("core cycles" in page) == bool(above)


def test_a_contradiction_is_refused_before_anything_is_written(
    tmp_path: Path, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    words = ("run", "omp.barrier", "--omp", "wait_policy=passive", *FIXED, "--out", tmp_path / "r")
    said = steelyard(*words)
    assert said.code == 2
    assert "unset OMP_WAIT_POLICY" in said.err
    assert not (tmp_path / "r").exists()
