"""How many launches a precision or a difference takes, by how launches scattered before."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from further import further
from make_records import FakePoint, steady, write_job
from steelyard.base.errors import InputError
from steelyard.campaign.folder import open_folder
from steelyard.judges.compare.power import launches_to_find
from steelyard.plan.plan import MOST_PRECISE, Measure, Plan, plan_document
from steelyard.records.campaign_file import PlannedPoint, read_campaign
from steelyard.results.scatter import Scatters
from steelyard.session.design import Needed, design_of, needed, with_launches
from steelyard.session.requested_plan import plan_asked
from steelyard.stats.interim_looks import compare_looks, launches_of_scatter
from steelyard.system.machine import read_machine

_PLAN = Plan(measure=(Measure(ops=("mpi.pingpong",)),), seed=34)
_PRECISE = msgspec.structs.replace(_PLAN, precision="2%", launches=MOST_PRECISE)
_DETECTS = msgspec.structs.replace(_PLAN, detect="3%", arms={"env.X": ("a", "b")})
_GIVEN = {"arms": "env.X=a,b", "detect": "3%"}
_POINTS = tuple(
    PlannedPoint(point=number, op="mpi.pingpong", bytes=8 << number, ranks=2) for number in range(2)
)
_ARMS = tuple(
    PlannedPoint(point=number, op="mpi.pingpong", bytes=8 << number // 2, ranks=2, arm="ab"[number % 2])
    for number in range(4)
)


def _earlier(folder: Path, scatter: float = 0.03, launches: int = 10, host: str | None = None) -> Path:
    machine = read_machine()
    open_folder(folder, _PLAN, _POINTS, msgspec.structs.replace(machine, host=host or machine.host))
    for launch in range(1, launches + 1):
        rng = np.random.default_rng([34, launch])
        made = [(point.point, FakePoint("mpi.pingpong", steady(500.0, 0.01, 64, scatter), bytes=point.bytes))
                for point in _POINTS]  # fmt: skip
        write_job(folder / "records" / f"l{launch:02d}-x.jsonl", rng, launch, made)
    return folder


@pytest.mark.parametrize("family", [1, further(20)])
def test_so_many_launches_find_the_difference_in_80_of_100_cases(family: int) -> None:
    count = launches_to_find(0.03, 0.02, 1000, family, 0.01)
    assert count is not None
    found = 0
    for seed in range(60):
        rng = np.random.default_rng([34, seed, family])
        first, second = rng.normal(0, 0.02, (2, count, family))
        second[:, 0] += math.log(1.03)
        found += int(compare_looks(first, second, seed=seed).p[0] <= 0.01)
    assert 0.65 * 60 <= found <= 0.95 * 60  # 80 %, give or take three standard errors


def test_what_is_known_of_few_launches_costs_more() -> None:
    numbers = [launches_to_find(0.03, 0.03, degrees, 20, 0.01) for degrees in (1000, 9, 2)]
    assert numbers == sorted(numbers, key=lambda one: one or 10**9)
    assert numbers[0] != numbers[-1]
    assert launches_to_find(0.5, 0.001, 1000, 1, 0.01) == 8  # fewer pairs have no p of 1 %
    assert launches_to_find(0.001, 0.5, 1000, 1, 0.01) is None


def test_a_look_is_named_at_which_a_scatter_is_precise_enough() -> None:
    assert launches_of_scatter(0.5, 0.01) == 8
    rows, ratios = launches_of_scatter(0.02, 0.03), launches_of_scatter(0.02, 0.03, family=3)
    assert rows is not None
    assert ratios is not None
    assert 20 <= rows <= 60
    assert ratios > 2 * rows  # two arms, and 99 % of all together


def test_the_scatter_is_that_of_the_nearest_test_case(tmp_path: Path) -> None:
    from steelyard.results.rows import results

    found = Scatters(results(_earlier(tmp_path / "x")))
    same, other = found.of(_POINTS[0]), found.of(msgspec.structs.replace(_POINTS[0], bytes=12345))
    assert same is not None
    assert other is not None
    assert (same.degrees, other.degrees) == (9, 18)
    assert 0.01 < same.deviation < 0.06
    assert found.of(msgspec.structs.replace(_POINTS[0], op="mpi.bcast")) is None


def test_the_newest_results_of_this_machine_are_named(tmp_path: Path) -> None:
    _earlier(tmp_path / "other", host="elsewhere")
    out = tmp_path / "new"
    nothing = needed(_PRECISE, _POINTS, out)
    assert nothing is not None
    assert nothing.launches == ()
    assert f"no results of these ops on this machine are in '{tmp_path}'; give --scatter DIR" in nothing.words
    _earlier(tmp_path / "mine")
    found = needed(_PRECISE, _POINTS, out)
    assert found is not None
    assert len(found.launches) == len(_POINTS)
    assert found.words.startswith("±2% takes about ")
    assert f"in '{tmp_path / 'mine'}' (10 launches)" in found.words
    assert needed(_PLAN, _POINTS, out) is None
    _earlier(tmp_path / "few", launches=2)
    with pytest.raises(InputError, match="has no three launches of these ops"):
        needed(_PRECISE, _POINTS, out, tmp_path / "few")
    with pytest.raises(InputError, match="scatter is for a precision or a difference to detect; give one"):
        needed(_PLAN, _POINTS, out, tmp_path / "mine")


def test_detect_plans_as_many_launches(tmp_path: Path) -> None:
    found = needed(_DETECTS, _ARMS, tmp_path / "new", _earlier(tmp_path / "quiet", scatter=0.002))
    assert found is not None
    new = tmp_path / "new"
    assert with_launches(_DETECTS, new, found).launches == 8
    assert with_launches(_DETECTS, new, None).launches is None
    loud = needed(_DETECTS, _ARMS, tmp_path / "new", _earlier(tmp_path / "loud", scatter=0.5))
    assert loud is not None
    assert with_launches(_DETECTS, new, loud).launches == MOST_PRECISE
    for given in (10, 12):  # the usual number is one, too
        asked = plan_asked(["mpi.pingpong"], {**_GIVEN, "launches": given})
        assert with_launches(asked, new, loud).launches == given
    assert with_launches(plan_asked(["mpi.pingpong"], _GIVEN), new, loud).launches == MOST_PRECISE


@pytest.mark.parametrize(
    ("typed", "most"),
    [
        ({}, 7),  # the plan's
        ({"launches": 10}, 10),
        ({"precision": "2%"}, MOST_PRECISE),
        ({"precision": "2%", "launches": 10}, 10),
        ({"arms": "env.X=a,b", "detect": "3%"}, 10),  # until it is known what it takes
        ({"arms": "env.X=a,b", "detect": "3%", "launches": 12}, 12),
    ],
)
def test_a_number_of_launches_is_the_one_that_was_given_with_the_question(
    typed: dict[str, Any], most: int
) -> None:
    known = msgspec.structs.replace(_PLAN, launches=7)
    assert plan_asked((), typed, known).most_launches == most
    assert plan_document(plan_asked((), typed, known))["launches"] == most


def test_a_folder_goes_on_with_what_its_difference_took(tmp_path: Path) -> None:
    begun = with_launches(_DETECTS, tmp_path, Needed((40,), ""))
    open_folder(tmp_path, begun, _ARMS, read_machine())
    others = Needed((90,), "")  # of results that came since then
    assert with_launches(_DETECTS, tmp_path, others).launches == begun.launches == 40
    assert with_launches(msgspec.structs.replace(_DETECTS, launches=60), tmp_path, others).launches == 60
    assert with_launches(_PLAN, tmp_path, others).launches is None


def test_the_design_is_in_the_folder_before_the_first_launch(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(_DETECTS, detect=None, precision="2%", launches=12)
    design = design_of(plan, _ARMS)
    open_folder(tmp_path / "x", plan, _ARMS, read_machine(), design=design)
    kept = read_campaign(tmp_path / "x").design
    assert kept == design
    assert (design.family, design.comparisons, design.false_alarm) == (3, 1, 0.01)
    assert design.looks == (8, 10, 12)
    assert design_of(_PLAN, _POINTS).looks == (10,)
    assert design_of(_PLAN, _POINTS).family is None
