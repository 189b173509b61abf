from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from described import described
from few_ops import METHODS, MPI, RULES, SOLO
from few_ops import op as few_op
from steelyard.base.errors import InputError
from steelyard.engines.description import ops_of
from steelyard.plan.engine_needed import needs_mpi
from steelyard.plan.plan import Measure, Plan, budget_seconds, plan_document
from steelyard.plan.point_line import point_line
from steelyard.plan.resolve import resolve, select_ops
from steelyard.records.campaign_file import PlannedPoint

_OPS = ops_of(described(SOLO, METHODS, RULES), described(MPI, METHODS, RULES))


def _resolve(
    *measures: Measure, mpis: tuple[str, ...] = ("mpich",), cores: int = 4
) -> tuple[PlannedPoint, ...]:
    return resolve(Plan(measure=measures), _OPS, mpis, cores)


# ---- which ops ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("mpi.bcast",), ("mpi.bcast",)),
        (("mpi.*bcast",), ("mpi.bcast", "mpi.ibcast")),
        (("mpi.i*", "self.empty", "mpi.ibcast"), ("mpi.ibcast", "self.empty")),
        (("self.*",), ("self.empty", "self.spin")),  # what fails on purpose must be named
        (("self.fail",), ("self.fail",)),
        (("mpi.[bp]*",), ("mpi.pingpong", "mpi.bandwidth", "mpi.bcast", "mpi.barrier")),
        (("mpi.?bcast",), ("mpi.ibcast",)),
    ],
)
def test_names_and_patterns(patterns: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert select_ops(patterns, _OPS) == expected


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("mpi.bcst", "there is no op 'mpi.bcst'; did you mean 'mpi.bcast'? 'steelyard list' names all"),
        ("pingpong", "there is no op 'pingpong'; did you mean 'mpi.pingpong'? 'steelyard list' names all"),
        ("zzz*", "there is no op 'zzz*'; 'steelyard list' names all"),
        ("", "there is no op ''; 'steelyard list' names all"),
    ],
)
def test_an_unknown_op_names_the_nearest(pattern: str, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        select_ops((pattern,), _OPS)
    assert str(raised.value) == sentence


# ---- points ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "axes"),
    [
        # the op's own sizes, ranks, method; the default rule; who needs no MPI goes without
        (
            Measure(ops=("mpi.pingpong",)),
            [("mpi.pingpong", size, 2, 1, "batch", "median", "mpich") for size in (0, 1, 2, 4)],
        ),
        (
            Measure(ops=("mpi.bcast",)),
            [("mpi.bcast", size, 4, 1, "barrier", "median", "mpich") for size in (1, 8)],
        ),
        (Measure(ops=("self.empty",)), [("self.empty", 0, 1, 1, "batch", "median", None)]),
        (Measure(ops=("self.empty",), ranks=2), [("self.empty", 0, 2, 1, "batch", "median", "mpich")]),
        (
            Measure(ops=("mpi.bcast",), ranks=1, bytes=8),
            [("mpi.bcast", 8, 1, 1, "barrier", "median", "mpich")],
        ),
        # axes as numbers, texts and lists of either; the first comes first, nothing twice
        (
            Measure(ops=("mpi.bcast",), ranks=(2, "3,2"), bytes=("8..16", 0), method="batch", rule="fixed"),
            [
                ("mpi.bcast", size, ranks, 1, "batch", "fixed", "mpich")
                for size in (8, 16, 0)
                for ranks in (2, 3)
            ],
        ),
        (
            Measure(ops=("omp.barrier",), threads=(1, 2)),
            [("omp.barrier", 0, 1, threads, "batch", "median", None) for threads in (1, 2)],
        ),
        # an op between two threads has two; numbers that are too many are for others
        (Measure(ops=("pthread.switch",)), [("pthread.switch", 0, 1, 2, "batch", "median", None)]),
        (
            Measure(ops=("pthread.switch", "omp.barrier", "self.empty"), threads="1,2,4"),
            [
                ("pthread.switch", 0, 1, 2, "batch", "median", None),
                *(("omp.barrier", 0, 1, threads, "batch", "median", None) for threads in (1, 2, 4)),
                ("self.empty", 0, 1, 1, "batch", "median", None),
            ],
        ),
        # each op under all of the named methods that suit it
        (
            Measure(ops=("mpi.pingpong", "mpi.bcast"), ranks=2, bytes=1, method=("barrier,batch",)),
            [
                ("mpi.pingpong", 1, 2, 1, "batch", "median", "mpich"),
                ("mpi.bcast", 1, 2, 1, "barrier", "median", "mpich"),
                ("mpi.bcast", 1, 2, 1, "batch", "median", "mpich"),
            ],
        ),
        # ranks that share cores cannot start at one instant
        (
            Measure(ops=("mpi.scan",), ranks="4,5"),
            [
                ("mpi.scan", 0, 4, 1, "epoch", "median", "mpich"),
                ("mpi.scan", 0, 5, 1, "barrier", "median", "mpich"),
            ],
        ),
        (
            Measure(ops=("mpi.scan",), ranks=5, method="epoch"),
            [("mpi.scan", 0, 5, 1, "epoch", "median", "mpich")],
        ),
        # sizes are for those ops that have one
        (
            Measure(ops=("mpi.barrier", "mpi.bcast"), ranks=2, bytes="8"),
            [
                ("mpi.barrier", 0, 2, 1, "barrier", "median", "mpich"),
                ("mpi.bcast", 8, 2, 1, "barrier", "median", "mpich"),
            ],
        ),
    ],
)
def test_a_measure_is_a_product_of_axes(measure: Measure, axes: list[tuple[object, ...]]) -> None:
    points = _resolve(measure)
    assert [(p.op, p.bytes, p.ranks, p.threads, p.method, p.rule, p.mpi) for p in points] == axes
    assert [point.point for point in points] == list(range(len(axes)))


@pytest.mark.parametrize(
    ("measure", "params"),
    [
        (Measure(ops=("mpi.bandwidth",)), [{}]),
        (Measure(ops=("mpi.bandwidth",), params={"window": 16}), [{"window": 16}]),
        (
            Measure(ops=("mpi.bandwidth",), params={"window": (1, 2), "tolerance": (0.1, 0.2)}),
            [
                {"window": window, "rule.tolerance": tolerance}
                for window in (1, 2)
                for tolerance in (0.1, 0.2)
            ],
        ),
        # what only one of the ops, its method or its rule has is for that one
        (
            Measure(ops=("mpi.barrier", "mpi.bandwidth"), params={"window": 4, "reps": 9}),
            [{}, {"window": 4, "method.reps": 9}],
        ),
        (
            Measure(ops=("mpi.barrier", "mpi.bandwidth"), params={"gap": 1, "reps": 9}),
            [{"method.gap": 1}, {"method.reps": 9}],
        ),
    ],
)
def test_params_go_to_whom_they_belong(measure: Measure, params: list[dict[str, float]]) -> None:
    assert [_all_params(point) for point in _resolve(measure)] == params


def _all_params(point: PlannedPoint) -> dict[str, float | str]:
    owners = (("", point.params), ("method.", point.method_params), ("rule.", point.rule_params))
    return {f"{owner}{key}": value for owner, params in owners for key, value in params.items()}


def test_each_mpi_measures_what_needs_one() -> None:
    points = _resolve(Measure(ops=("self.empty", "mpi.barrier")), mpis=("openmpi", "mpich"))
    assert [(point.op, point.mpi) for point in points] == [
        ("self.empty", None),
        ("mpi.barrier", "openmpi"),
        ("mpi.barrier", "mpich"),
    ]


def test_what_two_measures_ask_for_is_measured_once() -> None:
    first = Measure(ops=("mpi.bcast",), bytes="1,8", ranks=2)
    points = _resolve(first, Measure(ops=("mpi.*bcast",), bytes=8, ranks=2, params={"tolerance": 0.1}), first)
    assert [(point.op, point.bytes, point.rule_params) for point in points] == [
        ("mpi.bcast", 1, {}),
        ("mpi.bcast", 8, {}),
        ("mpi.bcast", 8, {"tolerance": 0.1}),
        ("mpi.ibcast", 8, {"tolerance": 0.1}),
    ]


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (Measure(ops=("mpi.barrier",), bytes="8"), "mpi.barrier has no size; leave --bytes out"),
        (Measure(ops=("mpi.pingpong",), ranks=(2, 1)), "mpi.pingpong needs 2 ranks, not 1; give -n 2"),
        (Measure(ops=("mpi.bcast",), threads=2), "mpi.bcast runs in one thread, not in 2"),
        (Measure(ops=("pthread.switch",), threads=4), "pthread.switch runs in 2 threads at most, not in 4"),
        (Measure(ops=("mpi.bcast",), method="bath"), "there is no method 'bath'; did you mean 'batch'?"),
        (Measure(ops=("mpi.pingpong",), method="barrier"), "barrier does not suit mpi.pingpong; use batch"),
        (
            Measure(ops=("mpi.pingpong",), method="epoch,barrier"),
            "epoch suits none of mpi.pingpong; 'steelyard list mpi.pingpong' names others",
        ),
        (Measure(ops=("mpi.scan",), ranks=1, method="ack"), "the method ack needs 2 ranks, not 1; give -n 2"),
        (Measure(ops=("mpi.bcast",), rule="medan"), "there is no stop rule 'medan'; did you mean 'median'?"),
        (
            Measure(ops=("mpi.bandwidth",), params={"windo": 8}),
            "nor the stop rule has a parameter 'windo'; did you mean 'window'?",
        ),
        (
            Measure(ops=("mpi.bcast", "mpi.barrier"), params={"window": 8}),
            "neither mpi.bcast, mpi.barrier, nor the method, nor the stop rule has a parameter 'window'",
        ),
        (Measure(ops=("mpi.bcast",), rule="fixed", params={"tolerance": 0.1}), "has a parameter 'tolerance'"),
        (
            Measure(ops=("mpi.bandwidth",), params={"window": (8, 65)}),
            "window of mpi.bandwidth must be from 1 to 64, not 65",
        ),
        (
            Measure(ops=("mpi.bcast",), params={"tolerance": float("nan")}),
            "tolerance of mpi.bcast must be from 1e-06 to 10, not nan",
        ),
        (
            Measure(ops=("mpi.bandwidth",), params={"window": "wide"}),
            "window of mpi.bandwidth must be a number, not 'wide'",
        ),
        (
            Measure(ops=("mpi.bcast",), params={"cache": ("warm", "tepid")}),
            "cache of mpi.bcast must be one of warm, cold, not tepid",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(measure: Measure, words: str) -> None:
    with pytest.raises(InputError) as raised:
        _resolve(measure)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_star_stands_for_every_word() -> None:
    points = _resolve(Measure(ops=("mpi.bcast",), bytes=8, params={"cache": "*"}))
    assert [point.method_params for point in points] == [{"cache": "warm"}, {"cache": "cold"}]
    assert point_line(points[1], _OPS, None).endswith(" cache=cold")


# ---- a point for the engine --------------------------------------------------------------------------------


def _point(**axes: Any) -> PlannedPoint:
    usual: dict[str, Any] = {"point": 3, "op": "mpi.bcast", "method": "batch", "rule": "median"}
    return PlannedPoint(**usual | axes)


@pytest.mark.parametrize(
    ("point", "most_seconds", "line"),
    [
        (_point(bytes=8), None, "point=3 op=mpi.bcast bytes=8 threads=1 method=batch rule=median"),
        (
            _point(op="mpi.barrier", rule_params={"tolerance": 0.02}),
            1.25,
            "point=3 op=mpi.barrier threads=1 method=batch rule=median most_seconds=1.25 tolerance=0.02",
        ),
        (
            _point(rule="fixed", rule_params={"count": 2}, method_params={"reps": 9}, params={"window": 8}),
            1.25,
            "bytes=0 threads=1 method=batch rule=fixed window=8.0 reps=9.0 count=2.0",
        ),
        (
            _point(rule_params={"most_seconds": 5}),
            1.25,
            "rule=median most_seconds=5.0",
        ),  # who says it means it
    ],
)
def test_a_point_as_the_engine_reads_it(point: PlannedPoint, most_seconds: float | None, line: str) -> None:
    assert point_line(point, _OPS, most_seconds).endswith(line)


_ANY = (Measure(ops=("self.empty",)),)


@pytest.mark.parametrize(("text", "seconds"), [(None, None), ("45s", 45.0), ("1.5m", 90.0)])
def test_time_budget(text: str | None, seconds: float | None) -> None:
    assert budget_seconds(Plan(measure=_ANY, time_budget=text)) == seconds


def test_a_time_budget_is_a_duration() -> None:
    with pytest.raises(InputError, match="'soon' is not a duration"):
        budget_seconds(Plan(measure=_ANY, time_budget="soon"))


@pytest.mark.parametrize(
    ("measure", "needed"),
    [
        (Measure(ops=("self.empty", "omp.barrier")), False),
        (Measure(ops=("self.empty",), ranks="1"), False),
        (Measure(ops=("self.empty",), ranks="1,2"), True),
        (Measure(ops=("self.empty", "mpi.bcast")), True),
        (Measure(ops=("mpi.*",)), True),
        (Measure(ops=("*.barrier",)), True),
        (Measure(ops=("self.*", "omp.b*")), False),
        (Measure(ops=("self.empty",), ranks_per_host=1), False),
        (Measure(ops=("self.empty",), ranks_per_host="1,2"), True),
    ],
)
def test_an_mpi_is_looked_for_only_where_it_is_needed(measure: Measure, needed: bool) -> None:
    assert needs_mpi(Plan(measure=(measure,)), described(SOLO, METHODS)) is needed


@pytest.mark.parametrize("op", ["self.empty", "omp.barrier", "link.pair", "link.all", "mpi.bcast"])
def test_an_mpi_is_looked_for_wherever_a_test_case_runs_with_one(op: str) -> None:
    """However its ranks are told."""
    links = [few_op("link.pair", "p2p", "8"), few_op("link.all", "collective", "8")]
    solo = described([*SOLO, *links], METHODS, RULES)
    ops = ops_of(solo, described([*MPI, *links], METHODS, RULES))
    told = itertools.product((None, 1, 2, "1,2"), (None, 1, "2"), (None, 1, 2), (None, "solo", "mpi"))
    planned = 0
    for ranks, per_host, hosts, engine in told:
        measure = Measure(ops=(op,), ranks=ranks, ranks_per_host=per_host, hosts=hosts, engine=engine)
        try:
            points = resolve(Plan(measure=(measure,)), ops, ("mpich-5.0.2",), cores=4)
        except InputError:
            continue  # no such test case
        planned += 1
        assert needs_mpi(Plan(measure=(measure,)), solo, 4) or not any(p.mpi for p in points), measure
    assert planned > 5


def test_the_document_of_a_plan_says_all_but_the_seed() -> None:
    plan = Plan(measure=(Measure(ops=("self.empty",)),), seed=7, yield_="none")
    document = plan_document(plan)
    assert "seed" not in document
    assert document["yield"] == "none"
    assert msgspec.convert(document, Plan) == msgspec.structs.replace(plan, seed=None, launches=10)
