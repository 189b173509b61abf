"""What tests of synchronisation share, in simulation and on this machine."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from steelyard.records import schema as records
from steelyard.records.schema import Sync

TRIES = [
    "op=mpi.bcast bytes=8 method=epoch rule=fixed count=64",
    "op=mpi.bcast bytes=8 method=barrier rule=fixed count=20",
    "op=mpi.allreduce bytes=8 method=epoch rule=fixed count=64",
]


def epochs(*ops: str) -> list[str]:
    return [f"op={op} method=epoch rule=fixed count=64" for op in ops]


def write_points(path: Path, points: list[str]) -> Path:
    path.write_text("".join(f"point={i} {words}\n" for i, words in enumerate(points)))
    return path


def clock_errors(syncs: list[Sync]) -> list[tuple[float, Sync, int]]:
    """By how many ns each offset of each rank is wrong.

    Rank 0's clock is known at its own synchronisations, and straight enough between two of them.
    """
    found = []
    for before, after in itertools.pairwise(syncs):
        assert before.true_ns is not None
        assert after.true_ns is not None
        slope = (after.at_ns[0] - before.at_ns[0]) / (after.true_ns[0] - before.true_ns[0])
        for rank in range(1, len(after.at_ns)):
            reference = after.at_ns[0] + slope * (after.true_ns[rank] - after.true_ns[0])
            found.append((after.offset_ns[rank] - (after.at_ns[rank] - reference), after, rank))
    return found


def assert_refused(read: list[records.Record], wild: int, *, simulated: bool) -> None:
    """Points that need one clock fail and say whose clocks; the others are measured."""
    ends = [record for record in read if isinstance(record, records.End)]
    assert [end.status for end in ends] == ["failed", "ok", "failed"]
    for end in (ends[0], ends[2]):
        assert re.match(r"clock: rank \d+: the clocks of ranks \d+ and \d+ cannot be related", end.why or "")
        assert f" {wild} " in (end.why or "")
        assert "; methods that need no common clock: batch root rank barrier" in (end.why or "")
        assert (" truth" in (end.why or "")) == simulated  # which is known nowhere else
