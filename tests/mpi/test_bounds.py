"""The package refuses the values of parameters that the engine does: bounded by ranks, threads or size."""

from __future__ import annotations

from pathlib import Path

from points import measure, mpi_or_skip
from steelyard.base.errors import InputError
from steelyard.engines.build import describe, mpi_engine, solo_engine
from steelyard.engines.description import Ops, ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.schema import End

_RANKS, _BYTES = 2, 8
# Op, its parameters, and whether two ranks of one thread can have them.
_CASES: list[tuple[str, dict[str, float | str], bool]] = [
    ("mpi.bcast", {"root": 1.0}, True),
    ("mpi.bcast", {"root": 2.0}, False),
    ("mpi.bcast", {"root": 1.0, "groups": 2.0}, False),
    ("mpi.bcast", {"groups": 2.0}, True),
    ("mpi.bcast", {"groups": 3.0}, False),
    ("mpi.bcast", {"type": "double"}, True),
    ("mpi.bcast", {"type": "complex"}, False),
    ("mpi.allreduce", {"type": "int"}, True),
    ("mpi.pattern.pair", {"b": 1.0}, True),
    ("mpi.pattern.pair", {"b": 2.0}, False),
    ("mpi.pattern.shift", {"d": 2.0}, False),
    ("mpi.pattern.round_robin", {"round": 1.0}, True),
    ("mpi.pattern.round_robin", {"round": 2.0}, False),
    ("mpi.neighbor_allgather", {"topology": "random", "degree": 1.0}, True),
    ("mpi.neighbor_allgather", {"topology": "random", "degree": 2.0}, False),
    ("mpi.message_rate", {"form": "pairs", "peers": 1.0}, True),
    ("mpi.message_rate", {"form": "pairs", "peers": 2.0}, False),
    ("mpi.halo.2d5", {"px": 2.0, "py": 1.0}, True),
    ("mpi.halo.2d5", {"px": 2.0, "py": 2.0}, False),
    ("mpi.halo.2d5", {"movers": 2.0}, False),
    ("mpi.pack", {"type": "vector", "block": 1.0}, True),
    ("mpi.pack", {"type": "vector", "block": 2.0}, False),
]


def _is_planned(op: str, params: dict[str, float | str], ops: Ops) -> bool:
    measure = Measure(ops=(op,), ranks=_RANKS, bytes=_BYTES, params=params)
    try:
        resolve(Plan(measure=(measure,)), ops, ("mpi",), cores=_RANKS)
    except InputError:
        return False
    return True


def test_engine_and_package_refuse_the_same(tmp_path: Path) -> None:
    engine = mpi_engine(mpi_or_skip("embedded"))
    ops = ops_of(describe(solo_engine()), describe(engine))
    words = (" ".join(f"{key}={value}" for key, value in params.items()) for _, params, _ in _CASES)
    lines = [
        f"op={op} bytes={_BYTES} rule=fixed count=1 {given}"
        for (op, *_), given in zip(_CASES, words, strict=True)
    ]
    records = measure(engine, _RANKS, 1, lines, tmp_path / "out.jsonl")
    taken = {record.point: record.status == "ok" for record in records if isinstance(record, End)}
    said = [(taken[number], _is_planned(op, params, ops)) for number, (op, params, _) in enumerate(_CASES)]
    assert dict(zip(map(str, _CASES), said, strict=True)) == {str(one): (one[2], one[2]) for one in _CASES}
