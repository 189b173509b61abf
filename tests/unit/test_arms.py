"""Arms: which axis of a plan they become, and in which order their launches come."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.campaign.jobs import groups_of, plan_jobs
from steelyard.plan.arms import arm_of, read_arms, with_arms
from steelyard.plan.plan import Measure, Plan
from steelyard.records.campaign_file import CampaignFile, Placement, PlannedPoint

_PLAN = Plan(measure=(Measure(ops=("mpi.bcast",)),))


def test_an_arm_is_an_axis() -> None:
    def made(word: str) -> Plan:
        return with_arms(replace(_PLAN, arms=read_arms(word)))

    assert made("mpi=openmpi,embedded").mpi == ("openmpi", "embedded")
    assert made("placement=0,1;0,2").measure[0].placement == ("0,1", "0,2")
    assert made("param.root=0,1").measure[0].params == {"root": (0, 1)}
    assert made("omp.wait_policy=active,passive").measure[0].omp == {"wait_policy": ("active", "passive")}
    assert made("env.X=1,-").measure[0].env == {"X": ("1", "-")}
    engines = made("engine=-,/opt/steelyard-mpi")
    assert (engines.mpi, engines.measure[0].engine) == ((), "mpi")
    assert with_arms(_PLAN) is _PLAN


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("mpi", "is not of the form FACTOR=A,B"),
        ("=a,b", "is not of the form"),
        ("mpi=a,", "is not of the form"),
        ("mpi=a,a", "has one value, mpi=a; give two values"),
        ("colour=red,blue", "'arms' has no factor 'colour'"),
        ("param.=1,2", "'arms' has no factor 'param.'"),
        ("env.A=1,2,env.B=3,4", "of 1 factor, not of 2; .* env.A=1,2, env.B=3,4"),
        ("env.A=1,env.B=2,mpi=a,b", "of 1 factor, not of 3; .* env.A=-,1, env.B=-,2, mpi=a,b"),
        ("env.STEELYARD_X=a,b", "'STEELYARD_X' is no variable that a launch can be given"),
    ],
)
def test_what_is_no_arm(word: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        with_arms(replace(_PLAN, arms=read_arms(word)))


def test_a_value_may_hold_what_is_no_factor() -> None:
    assert read_arms("env.A=b=1,c=2") == {"env.A": ("b=1", "c=2")}


def test_what_is_given_twice() -> None:
    with pytest.raises(InputError, match="leave --mpi out"):
        with_arms(replace(_PLAN, mpi=("a",), arms=read_arms("mpi=a,b")))
    with pytest.raises(InputError, match="leave it out of the plan"):
        with_arms(Plan(measure=(Measure(ops=("x",), params={"root": 1}),), arms=read_arms("param.root=0,1")))
    with pytest.raises(InputError, match="engines for one MPI"):
        with_arms(replace(_PLAN, mpi=("a", "b"), arms=read_arms("engine=-,/e")))
    with pytest.raises(InputError, match="leave the engine out"):
        with_arms(Plan(measure=(Measure(ops=("x",), engine="solo"),), arms=read_arms("engine=-,/e")))
    with pytest.raises(InputError, match="one factor, not mpi and"):
        with_arms(replace(_PLAN, arms={"mpi": ("a", "b"), "env.X": ("1", "2")}))


def test_the_arm_of_a_test_case() -> None:
    point = PlannedPoint(point=0, op="mpi.bcast", mpi="a-1", params={"root": 1}, env={"X": "-"})
    assert [
        arm_of(point, factor) for factor in (None, "mpi", "placement", "param.root", "env.X", "omp.y")
    ] == [
        None,
        "a-1",
        "default",
        "1",
        "-",
        None,
    ]
    placed = replace(point, placement=Placement("shared-l3", (0, 1)))
    assert arm_of(placed, "placement") == "shared-l3 0,1"


def _campaign(seed: int) -> CampaignFile:
    points: list[PlannedPoint] = []
    for ranks in (2, 3, 4):
        for arm in ("a-1", "b-2"):
            for size in (8, 16):
                points.append(
                    PlannedPoint(point=len(points), op="mpi.bcast", bytes=size, ranks=ranks, mpi=arm, arm=arm)
                )
    return CampaignFile(seed=seed, points=tuple(points))


def test_arms_are_neighbours_and_one_coin_orders_all_of_a_launch() -> None:
    firsts = []
    for seed in range(40):
        jobs = plan_jobs(_campaign(seed), 1, ())
        pairs = list(zip(jobs[::2], jobs[1::2], strict=True))
        assert all(one.group.ranks == two.group.ranks for one, two in pairs)
        orders = {(one.group.arm, two.group.arm) for one, two in pairs}
        assert len(orders) == 1
        firsts.append(orders.pop()[0])
    assert {"a-1", "b-2"} == set(firsts)
    assert 10 < firsts.count("a-1") < 30  # a fair coin is outside once in 500


def test_the_coin_is_thrown_anew_for_each_launch() -> None:
    jobs = plan_jobs(_campaign(1), 40, ())
    firsts = [jobs[i].group.arm for i in range(0, len(jobs), 6)]
    assert 10 < firsts.count("a-1") < 30
    assert 8 < sum(one != two for one, two in pairwise(firsts)) < 31  # no ABBA


def test_an_arm_of_a_parameter_has_launches_of_its_own() -> None:
    points = tuple(
        PlannedPoint(point=i, op="mpi.bcast", mpi="a", params={"root": i}, arm=str(i)) for i in (0, 1)
    )
    assert [group.arm for group in groups_of(points)] == ["0", "1"]
    names = {job.name for job in plan_jobs(CampaignFile(points=points), 1, ())}
    assert names == {"l01-a-n1-arm-0", "l01-a-n1-arm-1"}


def test_what_is_beside_each_other_follows_directly_in_random_order() -> None:
    """All of one size of one measure; a coin for each launch says in which order."""
    points = tuple(
        PlannedPoint(point=number, op=op, bytes=size, mpi="a", beside=beside)
        for number, (op, size, beside) in enumerate(
            [(op, size, 0) for size in (8, 64) for op in ("left", "right", "other")]
            + [("alone", 8, None), ("alone", 64, None)]
        )
    )
    firsts = []
    for job in plan_jobs(CampaignFile(seed=1, points=points), 200, ()):
        order = [(point.op, point.bytes) for point in job.points]
        assert sorted(order) == sorted((point.op, point.bytes) for point in points)
        for size in (8, 64):
            places = [order.index((op, size)) for op in ("left", "right", "other")]
            assert max(places) - min(places) == 2
            firsts.append(places[0] < places[1])
    assert 150 < sum(firsts) < 250


def _order(launches: int, done: tuple[tuple[str, int], ...] = ()) -> list[tuple[int, set[str]]]:
    """The launches in their order, each with its ops: `early` comes first."""
    points = tuple(
        PlannedPoint(point=number, op=op, mpi="a", ranks=ranks, first=op == "early")
        for number, (op, ranks) in enumerate([("early", 1), ("late", 1), ("late", 2)])
    )
    jobs = plan_jobs(CampaignFile(seed=1, points=points), launches, done)
    return [
        (launch, {point.op for job in own for point in job.points})
        for launch, own in groupby(jobs, key=lambda job: job.launch)
    ]


def test_what_comes_first_has_five_launches_before_the_others_have_one() -> None:
    """A time budget that ends after five launches leaves these whole, not one launch of everything."""
    early, late, both = {"early"}, {"late"}, {"early", "late"}
    turns = [*((n, early) for n in range(1, 6)), *((n, late) for n in range(1, 6))]
    assert _order(7) == [*turns, (6, both), (7, both)]
    assert _order(2) == [(1, {"early"}), (2, {"early"}), (1, {"late"}), (2, {"late"})]


def test_a_resumed_campaign_goes_on_where_its_turns_were_cut() -> None:
    done = tuple((f"l{n:02d}-a-n1", 0) for n in range(1, 5))
    assert _order(5, done)[0] == (5, {"early"})
    assert len(_order(5, done)) == 6
