"""Overheads: the estimator against truths that are known, references in plans, what OpenMP is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import FIXED, Steelyard, steelyard_of
from steelyard.engine import describe, solo_engine
from steelyard.overhead import overhead, with_overheads
from steelyard.plan import Measure, Plan
from steelyard.resolve import ops_of, resolve
from steelyard.row import Row, RowLaunch
from steelyard.stats import block_interval, difference_interval
from steelyard.stats.interval import Estimate
from steelyard.tables import results_tables

Draw = Callable[[np.random.Generator, int], np.ndarray[Any, np.dtype[np.float64]]]


def _row(point: int, launches: dict[int, Estimate], reference: int | None = None, op: str = "x.y") -> Row:
    """A row with a median and an interval for each launch."""
    said = tuple(
        RowLaunch(
            launch=number,
            status="ok",
            why=None,
            flag="SETTLED",
            count=1,
            rejected=0,
            reps=1,
            median=one.value,
            ci_low=one.low,
            ci_high=one.high,
            lag1=None,
            drift=False,
        )
        for number, one in launches.items()
    )
    return Row(
        point=point,
        op=op,
        method="batch",
        bytes=0,
        ranks=1,
        threads=1,
        params={},
        placement=None,
        mpi=None,
        launch_count=len(said),
        count=1,
        rejected=0,
        median=float(np.median([one.value for one in launches.values()])),
        reference_point=reference,
        launches=said,
    )


def _plain(values: dict[int, float]) -> dict[int, Estimate]:
    return {launch: Estimate(value, value - 1, value + 1, 0.95, 9, "t") for launch, value in values.items()}


# ---- the estimator -----------------------------------------------------------------------------------------


def test_what_a_launch_does_to_both_goes_out() -> None:
    """Launches differ by a factor of ten, the overhead is 50 in each."""
    reference = {launch: 100.0 * launch for launch in range(1, 11)}
    construct = {launch: value + 50 + 0.1 * (launch % 3) for launch, value in reference.items()}
    found = overhead(_row(0, _plain(construct), 1), _row(1, _plain(reference)))
    assert found is not None
    assert found.value == pytest.approx(50.1, abs=0.1)
    assert 49.9 < found.low <= found.value <= found.high < 50.3


def test_only_launches_that_measured_both_count() -> None:
    found = overhead(_row(0, _plain({1: 150.0, 2: 999.0}), 1), _row(1, _plain({1: 100.0, 3: 1.0})))
    assert found is not None
    assert (found.value, found.n, found.kind) == (50.0, 1, "two intervals")
    assert (found.low, found.high) == pytest.approx((50 - 2**0.5, 50 + 2**0.5))
    assert overhead(_row(0, _plain({1: 150.0}), 1), _row(1, _plain({2: 100.0}))) is None


def test_rows_get_what_they_take_beyond_their_references() -> None:
    rows = with_overheads([_row(0, _plain({1: 150.0, 2: 152.0}), 1), _row(1, _plain({1: 100.0, 2: 101.0}))])
    assert (rows[0].reference, rows[0].corrected, rows[0].corrected_of) == ("x.y", 50.5, "launches")
    assert rows[0].median == 151.0  # the raw value stays
    assert rows[1].corrected is None
    alone = with_overheads([_row(0, _plain({1: 150.0}), 7)])
    assert alone[0].corrected is None


@pytest.mark.parametrize(
    ("count", "level"), [(6, 0.969), (7, 0.953), (8, 0.961), (9, 0.961), (10, 0.951), (20, 0.952)]
)
def test_levels_are_those_of_the_signed_rank_tables(count: int, level: float) -> None:
    """Hollander, Wolfe and Chicken 2014, table A.4."""
    found = difference_interval(list(np.random.default_rng(1).standard_normal(count)))
    assert found.kind == "signed ranks"
    assert found.level == pytest.approx(level, abs=0.001)


def test_the_centre_of_few_and_of_odd_differences() -> None:
    assert difference_interval([1.0, 3.0]).value == 2.0
    known = difference_interval([1.0, 2.0, 3.0, 4.0, 5.0, 60.0])  # Walsh averages: their median is 3.5
    assert (known.value, known.low, known.high) == (3.5, 1.0, 60.0)
    with pytest.raises(ValueError, match="at least two"):
        difference_interval([1.0])


def _normal(rng: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return rng.standard_normal(count)


def _skewed(rng: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A long tail to one side, as times have."""
    return np.exp(rng.standard_normal(count))


def _wild(rng: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return rng.standard_t(2, count)


@pytest.mark.parametrize("launches", [3, 6, 10, 20])
@pytest.mark.parametrize("draw", [_normal, _skewed, _wild])
@pytest.mark.parametrize("true", [0.0, 30.0])
def test_the_interval_covers_the_truth(launches: int, draw: Draw, true: float) -> None:
    """A reference against itself covers zero in 95 % (and a known overhead is covered as often).

    Launches have effects of their own, far larger than the noise, that both points share. Student's t of
    three differences with wild tails covers more, never less.
    """
    rng = np.random.default_rng(launches)
    runs, covered = 1500, 0
    for _ in range(runs):
        shared = 1000 + 200 * draw(rng, launches)
        one, two = shared + true + draw(rng, launches), shared + draw(rng, launches)
        found = difference_interval(list(one - two))
        covered += found.low <= true <= found.high
    most = 0.98 if launches > 3 or draw is _normal else 1.0
    assert 0.92 <= covered / runs <= most


def test_one_launch_against_itself_covers_zero() -> None:
    """From the intervals of two series of a launch."""
    rng = np.random.default_rng(5)
    runs, covered = 800, 0
    for _ in range(runs):
        one, two = (block_interval(100 + np.exp(rng.standard_normal(256))).estimate for _ in range(2))
        found = overhead(_row(0, {1: one}, 1), _row(1, {1: two}))
        assert found is not None
        covered += found.low <= 0 <= found.high
    assert 0.92 <= covered / runs <= 0.98


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
    ops = {op["name"]: op for op in describe(solo_engine())["ops"]}
    named = {op["reference"] for op in ops.values()} - {None}
    assert {"omp.reference", "omp.reference_update", "self.empty", "self.call"} <= named <= ops.keys()
    for name in (name for name in named if name.startswith("omp.")):
        assert ops[name]["reference"] is None
    constructs = [op for op in ops.values() if op["family"] == "omp" and op["name"] not in named]
    assert all(op["reference"] for op in constructs)


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
    assert "overhead: raw less the reference (self.empty, omp.reference)" in shown
    page = (tmp_path / "r" / "report.html").read_text()
    assert "overhead in cycles" in page


def test_a_contradiction_is_refused_before_anything_is_written(
    tmp_path: Path, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    words = ("run", "omp.barrier", "--omp", "wait_policy=passive", *FIXED, "--out", tmp_path / "r")
    said = steelyard(*words)
    assert said.code == 2
    assert "unset OMP_WAIT_POLICY" in said.err
    assert not (tmp_path / "r").exists()


def test_no_overheads_no_table() -> None:
    titles = [str(table.title) for table in results_tables([_row(0, _plain({1: 150.0}))])]
    assert not any("overhead" in title for title in titles)
