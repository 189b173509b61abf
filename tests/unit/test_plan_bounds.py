"""Parameters that the ranks, the threads or the size of a test case bound: refused before anything starts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from described import described
from few_ops import METHODS, RULES, op
from steelyard.base.errors import InputError
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.campaign_file import PlannedPoint


def _bound(name: str, word: str, default: float = 1, least: float = 0) -> dict[str, Any]:
    return {"name": name, "default": default, "least": least, "most": 65536, "all": word}


def _words(name: str, *words: str) -> dict[str, Any]:
    return {"name": name, "default": words[0], "words": words}


_TYPE = {"name": "type", "default": "byte", "words": ["byte", "double"], "word_bytes": [1, 8]}
_GROUPS = _bound("groups", "groups", least=1)
_OPS = ops_of(
    described([op("omp.barrier", "local", max_threads=0)], METHODS, RULES),
    described(
        [
            op("mpi.bcast", "collective", "1..64", _bound("root", "members", 0), _GROUPS, _TYPE),
            op("mpi.scan", "collective", "8", _bound("late_rank", "late_ranks", -1, least=-1), _GROUPS),
            op("mpi.graph", "collective", "8", _bound("degree", "degrees", 2, least=1),
               _words("topology", "cart", "random")),
            op("mpi.pair", "collective", "8", _bound("a", "ranks", 0), _bound("d", "shifts"),
               _bound("round", "rounds", least=1)),
            op("mpi.rate", "p2p", "8", _bound("peers", "peers", least=1), _words("form", "single", "pairs")),
            op("mpi.part", "p2p", "8", _bound("partitions", "partitions", 4, least=1), max_threads=0),
            op("mpi.halo", "collective", "8", _bound("px", "extents", 0), _bound("py", "extents", 0),
               _bound("partitions", "face_partitions", least=1), _bound("movers", "threads", least=1),
               _words("back", "isend", "partitioned"), max_threads=0),
            op("mpi.pack", "p2p", "64", _bound("block", "blocks", least=1),
               _words("type", "contiguous", "vector")),
        ],
        METHODS,
        RULES,
    ),
)  # fmt: skip


def _points(ops: str, params: dict[str, Any], **keys: Any) -> tuple[PlannedPoint, ...]:
    measure = Measure(ops=tuple(ops.split()), params=params, **({"ranks": 4} | keys))
    return resolve(Plan(measure=(measure,)), _OPS, ("mpich-5.0.2",), cores=16)


@pytest.mark.parametrize(
    ("name", "params", "keys", "words"),
    [
        ("mpi.bcast", {"root": 9.0}, {}, "root=9 of mpi.bcast .* 4 ranks.*; choose from 0 to 3"),
        ("mpi.bcast", {"root": 2.0, "groups": 2.0}, {}, "root=2 .*; choose from 0 to 1"),
        ("mpi.bcast", {"root": (0.0, 4.0)}, {}, "root=4 of mpi.bcast"),
        ("mpi.bcast mpi.scan", {"root": 4.0}, {}, "root=4 of mpi.bcast"),
        ("mpi.bcast", {"groups": 5.0}, {}, "groups=5 .*; choose from 1 to 4"),
        ("mpi.bcast", {"type": "double"}, {"bytes": "4,12"}, "elements of 8 bytes; give a multiple"),
        ("mpi.scan", {"late_rank": 4.0}, {}, "late_rank=4 .*; choose from -1 to 3"),
        ("mpi.graph", {"degree": 4.0, "topology": "random"}, {}, "degree=4 .*; choose from 1 to 3"),
        ("mpi.graph", {"topology": "random"}, {"ranks": 2}, "degree=2 .*; choose from 1 to 1"),
        ("mpi.pair", {"a": 4.0}, {}, "a=4 .*; choose from 0 to 3"),
        ("mpi.pair", {"d": 4.0}, {}, "d=4 .*; choose from 0 to 3"),
        ("mpi.pair", {"d": 0.0}, {}, None),
        ("mpi.pair", {"round": 4.0}, {}, "round=4 .*; choose from 1 to 3"),
        ("mpi.pair", {"round": 4.0}, {"ranks": 5}, None),
        ("mpi.rate", {"peers": 3.0}, {}, "peers=3 .*; choose from 1 to 2"),
        ("mpi.rate", {"peers": 3.0, "form": "pairs"}, {}, None),
        ("mpi.part", {"partitions": 3.0}, {"ranks": 2}, "divides 8, 1 or more"),
        ("mpi.part", {}, {"ranks": 2, "bytes": 6}, "partitions=4 .* 6 bytes; .* divides 6"),
        ("mpi.part", {"partitions": 2.0}, {"ranks": 2, "threads": 4}, "4 threads .*, 4 or more"),
        ("mpi.halo", {"px": 3.0}, {}, "px=3 .*divides 4"),
        ("mpi.halo", {"px": 2.0, "py": 1.0}, {}, "px=2 .*; leave it out"),
        ("mpi.halo", {"px": 2.0, "py": 2.0}, {}, None),
        ("mpi.halo", {"px": 2.0}, {}, None),
        ("mpi.halo", {"movers": 2.0}, {}, "movers=2 .* 1 thread .*; choose from 1 to 1"),
        ("mpi.halo", {"partitions": 3.0}, {}, None),
        ("mpi.halo", {"partitions": 3.0, "back": "partitioned"}, {}, "divides 8"),
        ("mpi.pack", {"block": 3.0, "type": "vector"}, {"ranks": 2}, "divides 8"),
        ("mpi.pack", {"block": 3.0}, {"ranks": 2}, None),
    ],
)  # fmt: skip
def test_a_value_that_no_test_case_can_have(
    name: str, params: dict[str, Any], keys: dict[str, Any], words: str | None
) -> None:
    if words is None:
        assert _points(name, params, **keys)
    else:
        with pytest.raises(InputError, match=words):
            _points(name, params, **keys)


def test_what_some_test_cases_can_have_is_planned_for_all() -> None:
    """The engine skips the others and says why."""
    assert [point.ranks for point in _points("mpi.bcast", {"root": 3.0}, ranks="2,4", bytes=8)] == [2, 4]
    assert [point.bytes for point in _points("mpi.bcast", {"type": "double"}, bytes="4,8")] == [4, 8]


def test_defaults_of_one_op_among_several_are_the_engines_to_refuse() -> None:
    assert {point.op for point in _points("mpi.bcast mpi.part", {}, ranks=2, bytes=6)} == {
        "mpi.bcast",
        "mpi.part",
    }


@pytest.mark.parametrize(
    ("name", "key", "keys", "values"),
    [
        ("mpi.bcast", "root", {}, (0, 1, 2, 3)),
        ("mpi.bcast", "groups", {}, (1, 2, 3, 4)),
        ("mpi.pair", "d", {}, (1, 2, 3)),
        ("mpi.part", "partitions", {"ranks": 2, "threads": 2}, (2, 4, 8)),
        ("mpi.bcast", "type", {}, ("byte", "double")),
    ],
)
def test_all_values(name: str, key: str, keys: dict[str, Any], values: tuple[float | str, ...]) -> None:
    points = _points(name, {key: "*"}, **({"bytes": 8} | keys))
    assert tuple(point.params[key] for point in points) == values


@pytest.mark.parametrize(
    ("asked", "ranks", "count"), [("16 of *", 1000, 16), ("3 of *", 4, 3), ("9 of *", 4, 4), ("5 of *", 7, 5)]
)
def test_some_of_all_values_are_drawn_once_and_for_all(asked: str, ranks: int, count: int) -> None:
    """Each one once, in their order, from all of them; the same ones again for as many ranks."""
    points, again = (_points("mpi.bcast", {"root": asked}, ranks=ranks, bytes=8) for _ in range(2))
    drawn = [point.params["root"] for point in points]
    assert drawn == [point.params["root"] for point in again] == sorted(set(drawn), key=float)
    assert len(drawn) == count
    assert all(value in range(ranks) for value in drawn)
    assert ranks < 1000 or max(float(value) for value in drawn) > ranks / 2


@pytest.mark.parametrize(("words", "drawn"), [("2 of *", 2), ("*", 4)])
def test_what_is_named_beside_all_or_some_is_measured_too(words: str, drawn: int) -> None:
    alone = {point.params["root"] for point in _points("mpi.bcast", {"root": words}, ranks=4, bytes=8)}
    assert len(alone) == drawn
    for root in (0.0, 1.0, 2.0, 3.0):
        points = _points("mpi.bcast", {"root": (words, root)}, ranks=4, bytes=8)
        assert {point.params["root"] for point in points} == alone | {root}
    with pytest.raises(InputError, match=r"root of mpi\.bcast must be a number, not 'one'"):
        _points("mpi.bcast", {"root": (words, "one")}, ranks=4, bytes=8)


@pytest.mark.parametrize("asked", ["0 of *", "3of*", "3 of all", "-1 of *", "123456 of *"])
def test_words_that_draw_nothing_are_no_values(asked: str) -> None:
    with pytest.raises(InputError, match=r"root of mpi\.bcast must be a number, not"):
        _points("mpi.bcast", {"root": asked}, ranks=4, bytes=8)


@pytest.mark.parametrize(
    ("measure", "plan", "words"),
    [
        (Measure(ops=("omp.barrier",), thread_level="multiple"), {}, "starts MPI; leave --thread-level out"),
        (Measure(ops=("omp.barrier",)), {"refine": True}, "none of these ops has sizes"),
    ],
)
def test_options_without_use(measure: Measure, plan: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        resolve(Plan(measure=(measure,), **plan), _OPS, ("mpich-5.0.2",), cores=4)


@pytest.mark.parametrize(
    ("out", "is_of_use"),
    [
        ({"ops": "mpi.scan"}, False),
        ({"bytes": 9}, False),
        ({"params": {"root": 7.0}}, False),  # not a parameter that is set
        ({"method": "epoch"}, False),
        ({"bytes": 8, "ranks": 64}, True),  # on a larger machine
        ({"mpi": "openmpi"}, True),
        ({"bytes": 8}, True),
    ],
)
def test_an_exclude_without_use(out: dict[str, Any], is_of_use: bool) -> None:
    measure = {"ops": ["mpi.bcast"], "ranks": 4, "bytes": "8,16", "exclude": [out]}
    plan = Plan(measure=(msgspec.convert(measure, Measure),))
    if is_of_use:
        assert resolve(plan, _OPS, ("mpich-5.0.2",), cores=4)
    else:
        with pytest.raises(InputError, match=r"exclude = \[\{.*\}\] leaves out nothing"):
            resolve(plan, _OPS, ("mpich-5.0.2",), cores=4)
