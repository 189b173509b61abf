"""What the package says that ranks, threads and bytes leave of a parameter is what the engine takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from points import describe, engine_of, measure, mpi_or_skip
from steelyard.base.errors import InputError
from steelyard.engines.description import Op, Param
from steelyard.plan.bounds import BoundedParams, Impossible
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.schema import End

pytestmark = pytest.mark.ours

_BYTES = 96  # which has many divisors
_VALUES = (-1, 0, 1, 2, 3, 4, 5)
# Others with which the values of a parameter are bounded in another way.
_WITH: Mapping[str, Mapping[str, float | str]] = {
    "degree": {"topology": "random"},
    "block": {"type": "vector"},
    "late_rank": {"arrival": "late", "groups": 2.0},
    "partitions": {"back": "partitioned"},
    "px": {"py": 1.0, "pz": 1.0},
}


def _bounded(ops: tuple[Op, ...]) -> Iterator[tuple[Op, Param]]:
    """Each bounded parameter, of the first op that has it."""
    seen = set[str]()
    for op in ops:
        for row in op.params:
            if row.all and op.available and not op.lasts and not op.first and row.name not in seen:
                seen.add(row.name)
                yield op, row


def _points(ops: tuple[Op, ...], ranks: int) -> Iterator[tuple[PlannedPoint, Param, bool]]:
    """Test cases with a value each, and whether the package plans them."""
    for op, row in _bounded(ops):
        names = {one.name: one for one in op.params}
        fitting = {name: value for name, value in _WITH.get(row.name, {}).items() if name in names}
        for others in ({}, fitting) if fitting else ({},):
            for value in (float(one) for one in _VALUES if row.least <= one <= row.most):
                point = PlannedPoint(
                    point=0,
                    op=op.name,
                    bytes=_BYTES if op.sized else 0,
                    ranks=max(ranks, op.min_ranks),
                    params={**others, row.name: value},
                )
                impossible = Impossible()
                impossible.look(point, BoundedParams(names), alone=False)
                try:
                    impossible.check()
                    yield point, row, True
                except InputError:
                    yield point, row, False


def _line(point: PlannedPoint, op: Op) -> str:
    method = "batch" if "batch" in op.methods else op.default_method
    params = " ".join(f"{name}={value}" for name, value in point.params.items())
    size = f"bytes={point.bytes}" if op.sized else ""
    return f"op={op.name} {size} {params} rule=fixed count=1 method={method}"


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_engine_refuses_what_the_plan_refuses(tmp_path: Path, ranks: int) -> None:
    """Under an MPI that has all ops."""
    engine = engine_of(mpi_or_skip("embedded"))
    ops = describe(engine).ops
    named = {op.name: op for op in ops}
    points = [one for one in _points(ops, ranks) if one[0].ranks == ranks]
    lines = [_line(point, named[point.op]) for point, _, _ in points]
    records = measure(engine, ranks, 1, lines, tmp_path / "out.jsonl")
    ends = {record.point: record for record in records if isinstance(record, End)}
    other = []
    for number, (_, row, is_planned) in enumerate(points):
        why = ends[number].why or ""
        is_refused = ends[number].status == "skipped" and re.search(rf"\b{row.name}s?\b", why) is not None
        if is_refused == is_planned:
            other.append((lines[number], is_planned, ends[number].status, why))
    assert not other, "\n".join(map(str, other))
    assert {row.all for _, row, is_planned in points if not is_planned} == {row.all for _, row, _ in points}
