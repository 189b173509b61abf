"""What a plan is given beyond what it names: a type that fits the size, and the work alone."""

from __future__ import annotations

import pytest

from described import described
from few_ops import METHODS, RULES, SOLO, Row, op, param
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve

# ---- types that fit ----------------------------------------------------------------------------------------

_TYPE: Row = {"name": "type", "default": "double", "words": ["double", "float", "byte", "short", "int8"]}
_SUMS = ops_of(
    described(SOLO, METHODS, RULES),
    described(
        [op("mpi.sum", "collective", "8", _TYPE | {"word_bytes": [8, 4, 0, 2, 1]}), *SOLO], METHODS, RULES
    ),
)


@pytest.mark.parametrize(
    ("size", "chosen"), [(0, None), (8, None), (4, "float"), (12, "float"), (2, "short"), (3, "int8")]
)
def test_a_size_that_the_default_type_does_not_fill_takes_one_that_does(
    size: int, chosen: str | None
) -> None:
    (point,) = resolve(Plan(measure=(Measure(ops=("mpi.sum",), bytes=size),)), _SUMS, ("m",), 4)
    assert point.params.get("type") == chosen


def test_a_type_that_is_given_is_left_alone() -> None:
    measure = Measure(ops=("mpi.sum",), bytes=8, params={"type": "double"})
    (point,) = resolve(Plan(measure=(measure,)), _SUMS, ("m",), 4)
    assert point.params == {"type": "double"}


# ---- work alone --------------------------------------------------------------------------------------------

_WORKS = ops_of(
    described(SOLO, METHODS, RULES),
    described(
        [
            op("mpi.overlap", "collective", "8", param("work_us", 0, 1e7)),
            op("mpi.part", "p2p", "8", param("work_us", 0, 1e7), param("skew_us", 0, 1e7)),
            op("self.work", "local", None, param("work_us", 0, 1e7)),
        ],
        METHODS,
        RULES,
    ),
)


def test_each_amount_of_work_in_an_op_is_measured_alone_too() -> None:
    measures = (
        Measure(ops=("mpi.overlap",), ranks=3, params={"work_us": (0.0, 50.0, 100.0)}),
        Measure(ops=("mpi.part",), params={"skew_us": 50.0}),
    )
    points = resolve(Plan(measure=measures), _WORKS, ("m",), 4)
    alone = [(point.ranks, point.params, point.mpi) for point in points if point.op == "self.work"]
    assert alone == [(3, {"work_us": 50.0}, "m"), (3, {"work_us": 100.0}, "m"), (2, {"work_us": 50.0}, "m")]
    assert [point.point for point in points] == list(range(len(points)))


def test_work_alone_that_a_plan_names_is_not_added_again() -> None:
    measures = (
        Measure(ops=("self.work",), ranks=2, params={"work_us": 50.0}),
        Measure(ops=("mpi.part",), params={"work_us": 50.0}),
    )
    points = resolve(Plan(measure=measures), _WORKS, ("m",), 4)
    assert [point.op for point in points] == ["self.work", "mpi.part"]


# ---- references --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sizes", "taken"), [("8", [8, 64]), (None, [0])])
def test_a_reference_with_a_size_has_that_of_its_op(sizes: str | None, taken: list[int]) -> None:
    rows = [op("py.call", "collective", "8", reference="c.call"), op("c.call", "collective", sizes)]
    ops = ops_of(described(SOLO, METHODS, RULES), described([*rows, *SOLO], METHODS, RULES))
    points = resolve(Plan(measure=(Measure(ops=("py.call",), bytes="8,64"),)), ops, ("m",), 4)
    calls = {point.point: point for point in points if point.op == "c.call"}
    assert [point.bytes for point in calls.values()] == taken
    of_each = [calls[point.reference].bytes for point in points if point.reference is not None]
    assert of_each == (taken if sizes else taken * 2)
