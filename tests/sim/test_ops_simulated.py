"""Every op on 27 ranks or 64, which no machine for tests has: in simulation, where SimGrid has the call."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from further import further
from simulated import simulate
from steelyard.records.read import read_records
from steelyard.records.schema import End, Point

# What SimGrid 3.32 does wrong, or takes minutes for: a name -> why it is left out.
_LEFT_OUT = {
    "mpi.ibarrier": "lets ranks out before the last has come",
    "mpi.overlap.ibarrier": "the same",
    "mpi.pattern.victim": "the aggressors' messages take minutes",
    "mpi.pattern.victim_allreduce": "the same",
    "mpi.pattern.victim_halo": "the same",
    # Its MPI_Reduce_scatter with the selector `ompi`, from 5 ranks on; real MPIs are right.
    "mpi.mock.reduce_by_reduce_scatter_gatherv": "sums are wrong where some ranks get none of them",
    "mpi.mock.allreduce_by_reduce_scatter_allgatherv": "the same",
}


# Families, and on how many ranks. The others are with overlap, which sends what `coll` does many times over.
@pytest.mark.parametrize(
    ("family", "ranks"),
    [
        ("p2p", 27),
        further("p2p", 64),
        ("coll", 27),
        further("coll", 64),
        further("mock", 27),
        ("pattern and halo", 27),
        further("the others", 27),
    ],
)
def test_every_op_gives_right_answers_on_many_ranks(tmp_path: Path, family: str, ranks: int) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    description = json.loads(simulate(tmp_path, 1, "describe"))
    ops = [
        op
        for op in description["ops"]
        if op["name"].startswith("mpi.") and op["available"] and op["name"] not in _LEFT_OUT
        if _group(op["family"]) == family and (family != "coll" or ranks < 64 or _is_quick(op))
    ]
    assert ops
    how = {op["name"]: "barrier" if op["lasts"] else "batch" for op in ops}
    sizes = {op["name"]: " bytes=24" if op["sized"] else "" for op in ops}
    # of one-sided calls of many ranks, and of messages between them, which SimGrid takes long for
    few = {name: " calls=4" if name.endswith((".pattern", ".halo")) else "" for name in how}
    few["mpi.message_rate"] = " messages=4"
    lines = [
        f"op={name} method={how[name]} reps=1 rule=fixed count=1{size}{few[name]}"
        for name, size in sizes.items()
    ]
    points, out = tmp_path / "points", tmp_path / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    simulate(tmp_path, ranks, "run", "--points", str(points), "--out", str(out), "--ranks", str(ranks))
    ends = {record.point: record for record in read_records(out).records if isinstance(record, End)}
    assert len(ends) == len(lines)
    assert [(lines[i], end.why) for i, end in ends.items() if not end.verified] == []


def _is_quick(op: dict[str, Any]) -> bool:
    """SimGrid sends these from each rank to each other, which takes seconds on 64: they are met on 27."""
    return op["form"] == "blocking" and op["name"] not in ("mpi.alltoallw", "mpi.scan", "mpi.exscan")


def _group(family: str) -> str:
    groups = {
        "p2p": "p2p",
        "coll": "coll",
        "mock": "mock",
        "pattern": "pattern and halo",
        "halo": "pattern and halo",
    }
    return groups.get(family, "the others")


def test_a_rank_with_nothing_to_do_does_not_say_how_long_a_call_takes(tmp_path: Path) -> None:
    """Two of three ranks talk: rank 0 is one of them or idle, and a sample has as many repetitions."""
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    lines = [f"op=mpi.pattern.pair method=batch rule=fixed count=1 bytes=8 a={a} b=2" for a in (0, 1)]
    points, out = tmp_path / "points", tmp_path / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    simulate(tmp_path, 3, "run", "--points", str(points), "--out", str(out), "--ranks", "3")
    one, other = (record for record in read_records(out).records if isinstance(record, Point))
    assert (one.reps, one.warm_up_reps) == (other.reps, other.warm_up_reps)
