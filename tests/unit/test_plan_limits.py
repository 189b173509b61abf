"""What a plan asks for is within what engines can hold and what a plan can have, and counted, not tried."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from described import described
from few_ops import METHODS, MPI, RULES, SOLO, op
from steelyard.base.errors import InputError
from steelyard.base.product import MOST_LAUNCHES, MOST_STARTS, MOST_TEST_CASES, check_starts, product_of
from steelyard.engines.description import Description, EngineLimits, ops_of
from steelyard.plan.host_pairs import host_placements, stand_ins
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import PlannedPoint
from steelyard.system.allocation import MOST_HOSTS, AllocatedHost
from steelyard.system.openmp import omp_axis
from steelyard.system.topology import Topology, host_class_of

_LIMITS = EngineLimits(ranks=1000, threads=64, bytes=4096, seed=10**6)


def _described(ops: Any, limits: EngineLimits) -> Description:
    return msgspec.structs.replace(described(ops, METHODS, RULES), limits=limits)


_OPS = ops_of(_described(SOLO, _LIMITS), _described(MPI, EngineLimits()))


def _points(plan: dict[str, Any] | None = None, **keys: Any) -> tuple[PlannedPoint, ...]:
    given: dict[str, Any] = {"ops": ("mpi.bcast",), "ranks": 2, "bytes": 8} | keys
    measure = Measure(**given)
    return resolve(Plan(measure=(measure,), **(plan or {})), _OPS, ("mpich-5.0.2",), cores=4)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ranks": 1001}, "1001 ranks of mpi.bcast are more than an engine can hold, which is 1000;"),
        ({"ranks": "2,20000000000"}, "20000000000 ranks of mpi.bcast"),
        ({"ranks": None, "hosts": "10", "ranks_per_host": 10**9}, "10000000000 ranks of mpi.bcast"),
        ({"ops": ("omp.barrier",), "ranks": 1, "bytes": None, "threads": "65"}, "65 threads of omp.barrier"),
        ({"bytes": "8,4097"}, "4097 bytes of mpi.bcast are more than an engine can hold, which is 4096;"),
        ({"bytes": "0..99999999999Ti"}, "bytes of mpi.bcast are more"),
    ],
)
def test_more_than_an_engine_can_hold(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        _points(**keys)


def test_the_most_that_an_engine_can_hold() -> None:
    assert _points(ranks=1000, bytes=4096)
    assert _points({"seed": _LIMITS.seed - MOST_LAUNCHES})
    with pytest.raises(
        InputError, match="the seed 990001 is more than an engine can hold; give at most 990000"
    ):
        _points({"seed": _LIMITS.seed - MOST_LAUNCHES + 1})


def test_the_least_of_all_engines_counts() -> None:
    assert EngineLimits(ranks=2, seed=9).within(EngineLimits(ranks=5, threads=3)) == EngineLimits(
        ranks=2, threads=3, seed=9
    )


_STACKS = tuple(f"{kilo}k" for kilo in range(100, 30_100))
_MANY = ",".join(map(str, range(1, 400)))  # three such axes are 64 million test cases


@pytest.mark.parametrize(
    "keys",
    [
        {"env": {f"A{number}": ("1", "2") for number in range(80)}},
        {"omp": {"wait_policy": ("active", "passive"), "stacksize": _STACKS}},
        {"ranks": ",".join(map(str, range(2, 400))), "bytes": _MANY},
        {"ops": ("mpi.bandwidth",), "params": {"window": tuple(map(float, range(1, 65)))}, "bytes": _MANY,
         "env": {"A": tuple(map(str, range(40)))}},
        {"ops": ("mpi.bcast",), "bytes": _MANY, "ranks": ",".join(map(str, range(2, 400))),
         "exclude": ({"bytes": "1..4Ki"},)},
    ],
)  # fmt: skip
def test_a_plan_with_too_many_test_cases(keys: dict[str, Any]) -> None:
    measure = msgspec.convert({"ops": ["mpi.bcast"], "ranks": 2, "bytes": 8} | keys, Measure)
    with pytest.raises(InputError, match=f"a plan has at most {MOST_TEST_CASES} test cases, and this one"):
        resolve(Plan(measure=(measure,)), _OPS, ("mpich-5.0.2",), cores=4)


def test_a_plan_with_too_many_starts() -> None:
    check_starts(MOST_STARTS)
    with pytest.raises(
        InputError, match=f"at most {MOST_STARTS} starts of an engine, .* {MOST_STARTS + 1}: each"
    ):
        check_starts(MOST_STARTS + 1)


def test_products_are_counted_before_they_are_made() -> None:
    huge = range(10**12)
    with pytest.raises(InputError, match="divide it into several plans"):
        product_of(huge, "ab")
    assert list(product_of("ab", (), "c")) == []
    assert [*omp_axis({})] == [{}]


def test_pairs_of_more_hosts_than_there_are() -> None:
    with pytest.raises(InputError, match=f"at most {MOST_HOSTS} hosts, not 1000000000; give fewer with"):
        stand_ins(("hosts-all",), 10**9)
    with pytest.raises(InputError, match=f"at most {MOST_TEST_CASES} test cases"):
        _pairs("hosts-all", stand_ins(("hosts-all",), 1000))


def _pairs(word: str, hosts: tuple[AllocatedHost, ...]) -> list[tuple[str, ...]]:
    measure = Measure(ops=("mpi.pingpong",))
    return [
        place.hosts for _, place in host_placements([word], measure, _OPS.all["mpi.pingpong"], hosts, True)
    ]


@pytest.mark.parametrize(
    "switches", ["aabb", "abab", "abca", "a", "aaab", (None, "a", "b", "a"), (None, None)]
)
def test_the_first_pair_of_each_class_of_hosts(switches: tuple[str | None, ...]) -> None:
    hosts = tuple(AllocatedHost(f"h{i}", switch=switch) for i, switch in enumerate(switches))
    first: dict[str, tuple[str, str]] = {}
    for i, a in enumerate(hosts):
        for b in hosts[i:]:
            first.setdefault(host_class_of(a, b), (a.name, b.name))
    assert _pairs("hosts-each", hosts) == list(first.values())


def test_a_placement_of_more_places_than_cpus() -> None:
    measure = Measure(ops=("mpi.bcast",), ranks=10**6, bytes=8, placement="same")
    ops = ops_of(_described(SOLO, EngineLimits()), _described(MPI, EngineLimits()))
    with pytest.raises(InputError, match="1000000 places, and a placement at most 65536"):
        resolve(Plan(measure=(measure,)), ops, ("mpich-5.0.2",), cores=4, topology=Topology((), ()))


@pytest.mark.parametrize("key", ["ops", "params", "omp", "env"])
def test_a_measure_has_no_more_entries_than_somebody_writes(key: str) -> None:
    """Each is looked for among all ops: 70,000 names of ops took minutes."""
    names = [f"K{i}" for i in range(1001)]
    value: Any = tuple(names) if key == "ops" else dict.fromkeys(names, "1")
    with pytest.raises(InputError, match=f"{key} has 1001 entries; give at most 1000"):
        _points(**{key: value})


def test_a_plan_has_no_more_measures_than_somebody_writes() -> None:
    with pytest.raises(InputError, match="measure has 1001 entries; give at most 1000"):
        Plan(measure=(Measure(ops=("self.empty",)),) * 1001)


@pytest.mark.parametrize(("cores", "ranks"), [(2, []), (3, []), (4, [4]), (6, [6])])
def test_a_measure_for_all_cores_is_left_out_beside_others_where_they_are_too_few(
    cores: int, ranks: list[int]
) -> None:
    victim = op("mpi.victim", "collective", "8", min_ranks=4)
    ops = ops_of(_described(SOLO, _LIMITS), _described([*MPI, victim], EngineLimits()))
    few = Measure(ops=("mpi.victim",), ranks="cores")
    beside = resolve(Plan(measure=(few, Measure(ops=("mpi.bcast",), bytes=8))), ops, ("mpich-5.0.2",), cores)
    assert [point.ranks for point in beside if point.op == "mpi.victim"] == ranks
    if not ranks:
        with pytest.raises(InputError, match=r"mpi\.victim needs 4 ranks, not \d; give -n 4"):
            resolve(Plan(measure=(few,)), ops, ("mpich-5.0.2",), cores)
